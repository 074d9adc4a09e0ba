package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
)

// alter runs "alter FILE OLD NEW": the first OLD in a file becomes NEW.
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

// contextDocuments returns a document of each command about contexts.
func contextDocuments(t *testing.T, env *Env, document func(want int, args ...string) []byte) [][]byte {
	t.Helper()
	const scope = "--scope=team/contexts"
	file := writeFile(t, env, "profile.txt", strings.Repeat("The deploy to staging wants profile B of the VPN. ", 20))
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
		{0, []string{"lru-sim", writeFile(t, env, "trace.txt", "get a\nget b\n"), "--limit", "1"}},
	} {
		docs = append(docs, document(tt.want, tt.args...))
	}
	var list struct{ Reviews []struct{ ID string } }
	if err := json.Unmarshal(document(0, "review", scope), &list); err != nil || len(list.Reviews) != 1 {
		t.Fatalf("reviews: %v, %v", list, err)
	}
	id := list.Reviews[0].ID
	docs = append(docs, document(0, "review", "show", id, scope), document(0, "review", "approve", id, scope))
	var manifests struct{ Manifests []struct{ ID string } }
	if err := json.Unmarshal(document(0, "manifest", "list", scope), &manifests); err != nil {
		t.Fatal(err)
	}
	return append(docs, document(exitNo, "manifest", "diff", manifests.Manifests[1].ID, manifests.Manifests[0].ID, scope))
}

// A share in decimals and the same share in tokens have the same tier, on
// either side of every edge.
func TestDemandsAreExact(t *testing.T) {
	l := tier.DefaultLadder
	edge := rapid.Custom(func(t *rapid.T) int64 {
		percent := rapid.SampledFrom([]int{l.Summarized, l.Core, l.Minimal}).Draw(t, "percent")
		return int64(percent)*10_000 + rapid.Int64Range(-2, 2).Draw(t, "off")
	})
	rapid.Check(t, func(t *rapid.T) {
		millionths := rapid.OneOf(rapid.Int64Range(0, 2_000_000), edge).Draw(t, "millionths")
		text := ratio.Ratio(millionths).String()
		demand, of, err := parseDemand(text, 0)
		if err != nil {
			t.Fatalf("parseDemand(%q): %v", text, err)
		}
		got := tier.DefaultLadder.Tier(demand, of)
		if want := tier.DefaultLadder.Tier(millionths, 1_000_000); got != want {
			t.Errorf("tier of %s = %s, want %s", text, got, want)
		}
	})
	for _, bad := range []string{"", ".", "1e3", "-1", "0.1234567", "99.12345%", "1/2", "0,8", "NaN", "1234567"} {
		if n, of, err := parseDemand(bad, 0); err == nil {
			t.Errorf("parseDemand(%q) = %d of %d, want an error", bad, n, of)
		}
	}
}

// The budget that a hint names lifts the context out of its tier, and a token
// less does not.
func TestEnoughIsTheLeast(t *testing.T) {
	l := tier.DefaultLadder
	rapid.Check(t, func(t *rapid.T) {
		demand := token.Count(rapid.IntRange(1, 10_000_000).Draw(t, "demand"))
		for _, edge := range []struct {
			share int
			want  tier.Tier
		}{{l.Summarized, tier.Full}, {l.Core, tier.Summarized}} {
			n := enough(demand, edge.share)
			if got := l.Tier(int64(demand), int64(n)); got != edge.want && got != tier.Full { // of tiny demands, all at once
				t.Errorf("a demand of %d under %d is %s, want %s", demand, n, got, edge.want)
			}
			if n > 1 && l.Tier(int64(demand), int64(n-1)) == edge.want {
				t.Errorf("a demand of %d is %s under %d already", demand, edge.want, n-1)
			}
		}
	})
}

// Nobody gets something through the gate that is no number from 0.7 to 1.
func TestCommitTakesNoOddConfidence(t *testing.T) {
	env, stdout, stderr := newEnv(t)
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

// A person sees the report of a context aligned, whatever its text does.
func TestContextOnTerminal(t *testing.T) {
	env, stdout, stderr := newEnv(t)
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
			if !strings.Contains(got, p) {
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
	wants(report, "warning: tier minimal: nothing that was found", "hint: leave --tier minimal out\n")
	run(exitPolicy, "commit", "@last", "--text", "Production wants profile C,\nand \u202eD.", "--confidence", "0.9", "--evaluator", "rules")
	waiting, _ := run(0, "review")
	wants(waiting, "1 waiting\n", `"Production wants profile C,"`, "hidden controls", "\napprove: carrel review approve ")
	id := strings.Fields(strings.Split(waiting, "\n")[1])[0]
	shown, _ = run(0, "review", "show", id)
	wants(shown, "hidden   1 character made visible\n", "\nProduction wants profile C,\nand [U+202E]D.\n")
	diff, _ := run(exitNo, "manifest", "diff", "@last", list[strings.Index(list, "m_"):][:10])
	wants(diff, " → m_", "   tier minimal → full   prefix kept: ")
}

func TestHintOfACommand(t *testing.T) {
	if got := hint(&hintedError{store.ErrNotFound, "try y"}); got != "try y" {
		t.Errorf("hint = %q, want that of the command", got)
	}
}
