package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// alter runs "alter FILE OLD NEW": it replaces the first OLD in a file by NEW.
func alter(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: alter file old new")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s has no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o600))
}

// contextDocuments returns the JSON document of each command about contexts.
func contextDocuments(t *testing.T, env *job.Env, document func(want int, args ...string) []byte) [][]byte {
	t.Helper()
	const scope = "--scope=team/contexts"
	file := clitest.WriteFile(t, env, "profile.txt", strings.Repeat("The deploy to staging wants profile B of the VPN. ", 20))
	account := filepath.Join(t.TempDir(), "account.json")
	for _, args := range [][]string{
		{"put", file, scope, "--type", "transcript", "--id", "talk"},
		{"put", file, scope, "--type", "rag", "--id", "old", "--ttl", "1h", "--created", "2020-01-01"},
	} {
		document(0, args...)
	}
	var docs [][]byte
	for _, tt := range []struct {
		want int
		args []string
	}{
		{0, []string{"assemble", scope, "--query", "deploy", "--budget", "4000"}},
		{0, []string{"assemble", scope, "--query", "deploy", "--budget", "4000", "--tier", "2", "--trace", "-o", account}},
		{0, []string{"triage", scope, "deploy"}},
		{0, []string{"manifest", "list", scope}},
		{exitPolicy, []string{"commit", "@last", scope, "--text", "Nobody needs profile C."}},
		{0, []string{"manifest", "show", "@last", scope}},
		{0, []string{"manifest", "explain", "@last", "talk", scope}},
		{0, []string{"manifest", "verify", "@last", scope}},
		{0, []string{"manifest", "replay", "@last", scope}},
		{0, []string{"manifest", "export", "@last", scope}},
		{0, []string{"manifest", "diff", "@last", "@last", scope}},
		{0, []string{"review", scope}},
		{0, []string{"log", scope}},
		{0, []string{"tier", "--demand", "4000", "--budget", "4000"}},
		{0, []string{"lru-sim", clitest.WriteFile(t, env, "trace.txt", "get a\nget b\n"), "--limit", "1"}},
	} {
		docs = append(docs, document(tt.want, tt.args...))
	}
	var list struct{ Items []struct{ ID string } }
	if err := json.Unmarshal(document(0, "review", scope), &list); err != nil || len(list.Items) != 1 {
		t.Fatalf("reviews: %v, %v", list, err)
	}
	id := list.Items[0].ID
	docs = append(docs, document(0, "review", "show", id, scope), document(0, "review", "approve", id, scope))
	var manifests struct{ Items []struct{ ID string } }
	if err := json.Unmarshal(document(0, "manifest", "list", scope), &manifests); err != nil {
		t.Fatal(err)
	}
	return append(docs, document(exitNo, "manifest", "diff", manifests.Items[1].ID, manifests.Items[0].ID, scope))
}

// The gate commits nothing whose confidence is not a number from 0.7 to 1.
func TestCommitTakesNoOddConfidence(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	for i, c := range []string{"NaN", "nan", "Inf", "-Inf", "-0", "-0.0", "-0.8", "1.0000001", "1.5", "0.6999999", "0", "0x", "abc", "", "1e999", "0,9", " 0.9"} {
		stdout.Reset()
		stderr.Reset()
		text := fmt.Sprintf("The staging machine number %d wants profile B.", i)
		if got := Main(t.Context(), env, []string{"commit", "--text", text, "--confidence", c, "--evaluator", "rules"}); got != exitPolicy && got != exitUsage {
			t.Errorf("confidence %q: status %d, want %d or %d: %s%s", c, got, exitPolicy, exitUsage, stdout, stderr)
		}
	}
	stdout.Reset()
	if got := Main(t.Context(), env, []string{"ls"}); strings.Contains(stdout.String(), "profile") || got != exitDone && got != exitNo {
		t.Errorf("live: status %d: %s", got, stdout)
	}
}

// A terminal gets an aligned report of a context, whatever its text contains.
func TestContextOnTerminal(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	env.StdoutTerminal, env.StderrTerminal = true, true
	env.Width = func() int { return 72 }
	file := filepath.Join(t.TempDir(), "note.txt")
	if err := os.WriteFile(file, []byte("The deploy wants profile B."), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(want int, args ...string) (string, string) {
		t.Helper()
		stdout.Reset()
		stderr.Reset()
		if got := Main(t.Context(), env, append(args, "--color", "never")); got != want {
			t.Fatalf("carrel %q: status %d, want %d: %s", args, got, want, stderr)
		}
		return stdout.String(), stderr.String()
	}
	wants := func(got string, parts ...string) {
		t.Helper()
		for _, p := range parts {
			if !strings.Contains(got, p) && !strings.Contains(oneLine(got), oneLine(p)) {
				t.Errorf("got:\n%s\nwant %q in it", got, p)
			}
		}
	}
	run(0, "put", file, "--type", "memory", "--verified-by", "ada", "--title", "deploy \x1b[31mred\t"+strings.Repeat("long ", 30))
	_, report := run(0, "assemble", "--query", "deploy", "--budget", "4000")
	wants(report, "scope local   1 candidate\n", "tags  1 red · 0 yellow · 0 green · 0 black\n", "  tag  score  class     tok  id", `deploy \x1b[31m…  human-verified`, " / 4,000 tok (", "   tier full   manifest m_")
	shown, _ := run(0, "manifest", "show", "@last")
	wants(shown, "kind      tok  ref       class     score  reason")
	list, _ := run(0, "manifest", "list")
	wants(list, "id          created           format  tier  tok  budget  seal")
	_, report = run(0, "assemble", "--query", "deploy", "--budget", "4000", "--tier", "minimal")
	wants(report, "warning: tier minimal: no artifact that was found", "hint: leave --tier minimal out\n")
	run(exitPolicy, "commit", "@last", "--text", "Production wants profile C,\nand \u202eD.", "--confidence", "0.9", "--evaluator", "rules")
	waiting, _ := run(0, "review")
	wants(waiting, "1 waiting\n", `"Production wants profile C,"`, "hidden controls", "\napprove: carrel review approve ")
	id := strings.Fields(strings.Split(waiting, "\n")[1])[0]
	shown, _ = run(0, "review", "show", id)
	wants(shown, "hidden   1 character made visible\n", "\nProduction wants profile C,\nand [U+202E]D.\n")
	diff, _ := run(exitNo, "manifest", "diff", "@last", list[strings.Index(list, "m_"):][:10])
	wants(diff, " → m_", "   tier minimal → full   prefix kept: ")
}
