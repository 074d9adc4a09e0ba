package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// contractDocuments returns the JSON document of each command about contracts and packets.
func contractDocuments(t *testing.T, env *job.Env, document func(want int, args ...string) []byte) [][]byte {
	t.Helper()
	const scope = "--scope=team/contracts"
	payload := clitest.WriteFile(t, env, "payload.json", `{"decisions": ["pin-go-1.26"], "resume_state": "half way"}`)
	failing := clitest.WriteFile(t, env, "failing.limn", "require absent is above 3\n")
	packet := filepath.Join(t.TempDir(), "packet.json")
	document(0, "import", sample(t, "claude.jsonl"), scope)
	var docs [][]byte
	for _, tt := range []struct {
		want int
		args []string
	}{
		{0, []string{"contract", "init", "first", "--from", payload}},
		{exitPolicy, []string{"contract", "add", "first", "--decision", "pin-go-1.25"}},
		{exitPolicy, []string{"contract", "add", "first", "--statement", `require tracked-decisions includes "never"`}},
		{0, []string{"contract", "add", "first", "--claim", "vault=the password is elsewhere"}},
		{0, []string{"contract", "show", "first"}},
		{exitNo, []string{"contract", "check", "first", failing}},
		{0, []string{"contract", "path", "first"}},
		{exitConsent, []string{"contract", "save", "first", "--attended"}},
		{0, []string{"contract", "close", "first"}},
		{0, []string{"contract", "corrections"}},
		{0, []string{"handoff", "5f0c", "-o", packet}},
		{0, []string{"handoff", "check", packet, "--session", "5f0c"}},
		{exitNo, []string{"handoff", "check", packet, "--session", "first"}},
		{0, []string{"accept", packet}},
	} {
		doc := document(tt.want, append(tt.args, scope)...)
		if len(doc) > 0 { // a packet goes to its file
			docs = append(docs, doc)
		}
	}
	return docs
}

// A terminal gets aligned contracts and packets, without control sequences from their content.
func TestTerminalOfContracts(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	env.StdoutTerminal, env.StderrTerminal = true, true
	env.Width = func() int { return 100 }
	run := runner(t, env, stdout, stderr)
	wants := func(got string, parts ...string) {
		t.Helper()
		for _, p := range parts {
			if !strings.Contains(got, p) {
				t.Errorf("got:\n%s\nwant %q in it", got, p)
			}
		}
		if strings.ContainsAny(got, "\t\x1b\u202e") {
			t.Errorf("a tab or a command in %q", got)
		}
	}
	run(0, "import", sample(t, "claude.jsonl"))
	wants(run(0, "contract", "init", "@last", "-n", "--color", "never"), "session     5f0c2a7e\n", "\nremember a list called tracked-decisions\n", "\ndry run: nothing was written\n")
	wants(run(0, "contract", "init", "@last", "--color", "never"), "statements  ")
	run(0, "contract", "add", "--claim", "odd=turn \u202e back", "--color", "never")
	wants(run(0, "contract", "show"), `turn \u202e back`)
	wants(run(0, "contract", "check", "--color", "never"), ": holds\n", "form        holds  ", "decisions   holds  0 decisions, none contradicts another\n")
	wants(run(0, "contract", "corrections", "--color", "never"), "name  ", "keep-it-short  ")
	packet := clitest.WriteFile(t, env, "packet.md", "")
	run(0, "handoff", "-o", packet, "--force")
	wants(run(0, "accept", packet, "--color", "never"), "session  ", "decisions  ", "next  carrel export ")
	wants(run(0, "handoff", "check", packet, "--session", "5f0c"), "ok: 8 rules, and the record of session 5f0c2a7e\n")
	run(0, "contract", "init", "empty")
	wants(run(exitNo, "handoff", "check", packet, "--session", "empty", "--color", "never"), "rule  ", "error  corrections-stay  ")
}

// The sources of a contract may come from the command line; a long text becomes one line of the
// contract.
func TestSourcesBecomeOneLine(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	run := runner(t, env, stdout, stderr)
	file := clitest.WriteFile(t, env, "long.txt", strings.Repeat("It says \"so\".\r\n", 3))
	run(0, "contract", "init", "one")
	run(0, "contract", "add", "one", "--source", "doc=@"+file, "--source", "Doc Two=a=b")
	got := run(0, "contract", "show", "one")
	for _, want := range []string{
		fmt.Sprintf("remember a source called doc with %q\n", "It says 'so'.  It says 'so'.  It says 'so'."),
		"remember a source called doc-two with \"a=b\"\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got:\n%s\nwant %q in it", got, want)
		}
	}
}

// The file of a source is in the folder that -C names, wherever -C stands. It is read only if the
// command line is valid.
func TestSourcesAreBelowDirectory(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	run := runner(t, env, stdout, stderr)
	clitest.WriteFile(t, env, "doc.txt", "of the current folder")
	clitest.WriteFile(t, env, "proj/doc.txt", "of the project")
	run(0, "contract", "init", "one")
	run(0, "contract", "add", "one", "--source", "first=@doc.txt", "--claim", "second=@doc.txt", "-C", "proj")
	got := run(0, "contract", "show", "one")
	for _, want := range []string{"remember a source called first with \"of the project\"\n", "\"of the project\""} {
		if !strings.Contains(got, want) {
			t.Errorf("got:\n%s\nwant %q in it", got, want)
		}
	}
	if strings.Contains(got, "of the current folder") {
		t.Errorf("a file of the current folder was read:\n%s", got)
	}
	run(exitInput, "contract", "add", "one", "--source", "third=@absent.txt")
	run(0, "contract", "add", "one", "--source", "third=@absent.txt", "--help")
}
