package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/doc/topic"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// runner returns a function that runs a command line, checks its exit code and returns its
// output.
func runner(t *testing.T, env *job.Env, stdout, stderr *bytes.Buffer) func(want int, args ...string) string {
	return func(want int, args ...string) string {
		t.Helper()
		stdout.Reset()
		stderr.Reset()
		if got := Main(t.Context(), env, args); got != want {
			t.Fatalf("carrel %q: status %d, want %d: %s", args, got, want, stderr)
		}
		return stdout.String()
	}
}

// artifactDocuments returns the JSON document of each command for artifacts.
func artifactDocuments(t *testing.T, env *job.Env, document func(want int, args ...string) []byte) [][]byte {
	t.Helper()
	settings := clitest.WriteFile(t, env, "sources.toml", "[sources]\nfiles = ['docs']\n")
	policy := clitest.WriteFile(t, env, "docs/policy.md", "The limit is 400.\n")
	docs := [][]byte{
		document(0, "put", policy, "-c", settings, "--live", "--type", "memory", "--verified-by", "ada", "--id", "policy",
			"--title", "limits", "--subject", "refunds", "--ttl", "7d", "--pin"),
		document(0, "put", policy, "--type", "doc", "--from", "policy", "--id", "copy"),
	}
	for _, args := range [][]string{
		{"get", "policy", "-c", settings},
		{"ls"},
		{"pin", "copy"},
		{"refute", "policy", "-n"},
		{"rm", "copy"},
		{"stash", "put", policy},
		{"purge", "policy"},
	} {
		docs = append(docs, document(0, args...))
	}
	return append(docs, document(exitInput, "put", "--type", "doc", "--lines", clitest.WriteFile(t, env, "bad.ndjson", "{\"title\":\"x\"}\n")))
}

// A terminal gets aligned columns, a question before anything is erased, and no tabs.
func TestArtifactsOnATerminal(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	run := runner(t, env, stdout, stderr)
	file := clitest.WriteFile(t, env, "policy.md", "The limit is 400.\n")
	run(0, "put", file, "--type", "doc", "--id", "policy")
	run(0, "put", file, "--type", "memory", "--from", "policy", "--title", "a memory", "--ttl", "1d")
	env.StdinTerminal, env.StdoutTerminal, env.StderrTerminal = true, true, true
	for _, tt := range []struct {
		want int
		args []string
		out  string
	}{
		{0, []string{"ls"}, "type      status  tokens  age    expires           title\n"},
		{0, []string{"put", file, "--type", "rag", "--ttl", "1d", "-n"}, " tok  expires 2026-02-04 12:00  policy.md\ndry run: nothing was written\n"},
		{0, []string{"get", "policy", "--meta"}, "\nclass    document\nstatus   live\n"},
		{exitUsage, []string{"put", "--type", "doc"}, ""},
		{exitUsage, []string{"stash", "put"}, ""},
	} {
		got := run(tt.want, append(tt.args, "--color", "never")...)
		if !strings.Contains(got, tt.out) || strings.Contains(got, "\t") {
			t.Errorf("carrel %q:\n%s\nwant %q in it, and no tab", tt.args, got, tt.out)
		}
	}
	run(0, "get", "policy")
	if got := stderr.String(); !strings.HasPrefix(got, "policy · document · ") || !strings.HasSuffix(got, " · live\n") {
		t.Errorf("the line about the artifact is %q", got)
	}

	env.Stdin = strings.NewReader("no\n")
	if got := run(exitNo, "purge", "policy"); got != "" {
		t.Errorf("after no: %s", got)
	}
	if got := stderr.String(); !strings.HasPrefix(got, "erase 2 artifacts for good? [y/N] ") {
		t.Errorf("the question is %q", got)
	}
	run(0, "get", "policy")
	env.Stdin = strings.NewReader("y\n")
	if got := run(0, "purge", "policy"); !strings.HasPrefix(got, "purged 2 artifacts, 1 of them made from the others, 4 cells erased\n") {
		t.Errorf("after yes: %s", got)
	}
	run(exitNotFound, "get", "policy")
	run(0, "purge", "policy", "-y")
	if got := stderr.String(); got != "" {
		t.Errorf("with -y it said %q", got)
	}
}

// An artifact from a URL has the URL as its source, and the source is asked again at each use.
func TestPutURL(t *testing.T) {
	text := "The limit is 400.\n"
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		if text == "" {
			w.WriteHeader(http.StatusGone)
			return
		}
		_, _ = w.Write([]byte(text)) // the client will notice
	}))
	defer server.Close()
	env, stdout, stderr := clitest.Env(t)
	run := runner(t, env, stdout, stderr)
	settings := clitest.WriteFile(t, env, "s.toml", "[sources]\nprivate = true\nhosts = ['"+strings.TrimPrefix(server.URL, "http://")+"']\n")

	run(exitPolicy, "put", server.URL+"/limits?page=1", "--type", "rag")
	if asked > 0 {
		t.Error("the server was asked, though no setting allows it")
	}
	var list carrel.List[carrel.Artifact]
	if err := json.Unmarshal([]byte(run(0, "put", server.URL+"/limits?page=1", "--type", "rag", "-c", settings, "--json")), &list); err != nil {
		t.Fatal(err)
	}
	a := list.Items[0]
	if a.Title != "limits" || a.Source != server.URL+"/limits?page=1" {
		t.Errorf("title %q, source %q", a.Title, a.Source)
	}
	text = "The limit is 500.\n"
	if got := run(0, "get", string(a.ID), "-c", settings); got != text {
		t.Errorf("got %q, want %q", got, text)
	}
	before := asked
	run(exitPolicy, "get", string(a.ID), "-c", settings, "--offline")
	if asked > before {
		t.Error("the server was asked offline")
	}
	text = ""
	run(exitNotFound, "get", string(a.ID), "-c", settings)
	server.Close()
	run(exitNetwork, "get", string(a.ID), "-c", settings)
}

// A dry run writes nothing to the store.
func TestRehearsalWritesNothing(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	run := runner(t, env, stdout, stderr)
	file := clitest.WriteFile(t, env, "policy.md", "The limit is 400.\n")
	run(0, "put", file, "--type", "doc", "--id", "policy")
	before := run(0, "ls", "--all", "--json")
	for _, args := range [][]string{
		{"put", file, "--type", "doc"},
		{"put", file, "--type", "rag", "--id", "policy"},
		{"put", "--type", "rag", "--lines", clitest.WriteFile(t, env, "l.ndjson", "{\"text\":\"x\"}\n")},
		{"rm", "policy"},
		{"refute", "policy"},
		{"purge", "policy"},
		{"pin", "policy"},
		{"stash", "put", file},
		{"stash", "gc", "--now", "2030-01-01"},
	} {
		run(0, append(args, "-n")...)
		if after := run(0, "ls", "--all", "--json"); after != before {
			t.Errorf("after carrel %q -n:\n%s\nwant\n%s", args, after, before)
		}
	}
}

// The help shows exactly the settings that exist.
func TestHelpShowsSettings(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	run := runner(t, env, stdout, stderr)
	_, rest, _ := strings.Cut(topic.Text("config"), "with examples:\n\n")
	example, _, _ := strings.Cut(rest, "\n\nPaths are")
	file := clitest.WriteFile(t, env, "help.toml", example)
	got := run(0, "config", "show", "--origin", "-c", file)
	for _, want := range []string{"scope\tacme/web\t", "tiers.core\t1.1\t", "sources.mcp.notes.command\tnotes-server, --stdio\t", "triage.half_life.tool\t1d\t"} {
		if !strings.Contains(got, want) {
			t.Errorf("settings are\n%s\nwant %q in them", got, want)
		}
	}
	for line := range strings.Lines(got) {
		name, rest, _ := strings.Cut(line, "\t")
		family := regexp.MustCompile(`^triage\.(half_life|weights)\.|\.key$|^blobs\.(access_key|secret_key|token)$`) // one of each is shown; keys are in no file
		if !strings.Contains(rest, "help.toml") && !family.MatchString(name) {
			t.Errorf("setting %s has no line in the help", name)
		}
	}
}
