package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/transcript"
)

// sample returns the absolute path of a file of testdata/conversations.
func sample(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "conversations", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A terminal gets aligned columns, headings, short ids, separators and a bar.
func TestTerminal(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	env.StdoutTerminal, env.StderrTerminal = true, true
	env.Width = func() int { return 72 }
	run := func(args ...string) string {
		t.Helper()
		stdout.Reset()
		stderr.Reset()
		if got := Main(t.Context(), env, args); got != 0 {
			t.Fatalf("carrel %q: status %d: %s", args, got, stderr)
		}
		return stdout.String()
	}
	wants := func(got string, parts ...string) {
		t.Helper()
		for _, p := range parts {
			if !strings.Contains(got, p) && !strings.Contains(oneLine(got), oneLine(p)) {
				t.Errorf("got:\n%s\nwant %q in it", got, p)
			}
		}
		for line := range strings.Lines(got) {
			if strings.Contains(line, "\t") {
				t.Errorf("a tab in %q", line)
			}
		}
	}
	wants(run("import", sample(t, "claude.jsonl"), "--color", "never"), "format ", "claudecode      1 ")
	sessions := run("sessions", "--color", "never")
	wants(sessions, "session   used   project", "5f0c2a7e  0 min  lantern ", "…\n")
	for line := range strings.Lines(sessions) {
		if n := out.Columns(strings.TrimSuffix(line, "\n")); n > 72 {
			t.Errorf("%d columns in %q, want at most 72", n, line)
		}
	}
	if got := run("sessions"); !strings.Contains(got, "\x1b[2mtitle\x1b[0m") {
		t.Errorf("got %q, want a dim heading", got)
	}
	wants(run("context", "--window", "20000", "--color", "never"),
		"session 5f0c2a7e · claude-sonnet-4-5 · 35 messages, 1 operation\n", "\n[", "MMMM", " / 20,000 tokens (", "\n  pinned    4 blocks under hard rules", "\nnext    carrel compress 5f0c2a7e\n")
	wants(run("compress", "--target", "5000", "-n", "--color", "never"), "plan    account · live ", "\ncheck   claudecode ok\n", "\ndry run: nothing was written\n")
	wants(run("compress", "--target", "5000", "-n", "--window", "20000", "--color", "never"),
		"\nbudget  5,000 tokens, 31.2% of the 16,000 of the effective window, which is 80.0% of all\n")
	wants(run("compress", "--target", "25%", "-n", "--color", "never"), "\nbudget  ", " = 25.0% of ", " tokens of conversation + ", " fixed\n")
	wants(run("level", "--used", "4000", "--window", "20000", "--color", "never"),
		"ok\n4,000 tokens, 25.0% of the 16,000 of the effective window, which is 80.0% of all; compress cuts to 8,000\n")
	wants(run("compress", "--strategy", "anchored", "--target", "5000", "-n", "--color", "never"), "plan    anchored · live ", "\nsummary of blocks 1–", "\nprobes  3/3 critical · ", " all (1.00 ≥ 0.90)\n", "\nwould   ", "\ndry run: nothing was written\n")
	wants(run("compress", "--strategy", "anchored", "--target", "5000", "--color", "never"), "\napply   ", "\ncheck   claudecode ok\n", "\nundo    carrel undo op_", " --session 5f0c2a7e\n")
	wants(run("compress", "--target", "5000"), "fits    ", ": nothing to do\n")
	wants(run("context", "--window", "20000", "--color", "never"), "\n  summary   1 item in place of others ", "   stands for ")
	wants(run("summary", "show"), "# Anchored Summary\n", "\n## Decisions Made\n")
	wants(run("recall", "sum_"), "# Anchored Summary\n")
	wants(stderr.String(), "sum_", " · summary of session 5f0c2a7e · ")
	wants(run("probe", "gen", "--color", "never"), "probe     type ", " critical  ")
	wants(run("probe", "run", "--color", "never"), "type ", "[####################]\n", "\nverdict accepted\n")
	wants(run("probe", "report", "--color", "never"), "round  op ", "] 1/1 ", "round 1 1.00   drift: +0.00 over 1 round\n")
	wants(run("stats", "--color", "never"), "task  block ", "\ntokens_per_task ")
	wants(run("cost", "--color", "never"), "part      tokens  of the prompts  ", "\nsession ", " calls of 1 session: ")
	wants(run("sessions", "mark", "--critical"), "5f0c2a7e  critical  now\n")
	wants(run("sessions", "mark", "--no-critical"), "5f0c2a7e  not critical  now\n")
	wants(run("messages", "--color", "never"), "id        turn  kind", "stub ", "[first-task] ")
	wants(run("messages", "--color", "never"), "(one-off) Bash", "\nwindow  ", " of the effective window, which is 80.0% of all; ", " may go\n", "\ntarget  discard tidies to ", ", compress cuts to ")
	low := filepath.Join(env.Dir, "low.toml")
	if err := os.WriteFile(low, []byte("budget.floor = 2000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wants(run("discard", "-c", low, "--auto", "--to", "3000", "-n", "--color", "never"), "id        turn  first  class", "\nwould  ", "\ndry run: nothing was written\n")
	wants(run("discard", "-c", low, "--auto", "--to", "3000", "--color", "never"), "\napply  ", ", target 3,000, floor 2,000\n", "\nundo   carrel undo op_", "Go on with your task.\n")
	wants(run("undo", "--color", "never"), "undone op_", " (discard): ")
	wants(run("search", "mutex", "--color", "never"), "score  block", " user ")
	block := strings.Fields(run("messages", "--jq", ".messages[5].short_id"))[0]
	wants(run("why", block, "--color", "never"), "block    "+block+"\n", "rule     none: the strategy decides\n", "\nstub     $\n         golangci-lint run\n",
		"\naccount  worth ", "\nneeded   chance\n", "kept    ", "\nname ", " lines, 2,004 → ", " passages kept, step account, budget 5,000\n")
	run("recall", block)
	wants(stderr.String(), block+" · tool · ", " bytes · sha256 ", " · stub\n")
	wants(run("undo", "--color", "never"), "undone op_", " (page): ")
	wants(run("pin", block, "-n"), "pinned  now", "dry run")
	wants(run("sessions", "show", "--json"), "{\n  \"schema\": \"carrel.session.v1\",\n  \"session\": ")
}

// A list without entries has no heading, not even on a terminal.
func TestEmptyListsOnATerminal(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	env.StdoutTerminal = true
	run := runner(t, env, stdout, stderr)
	for line, status := range map[string]int{
		"sessions": 0, "sessions --removed": 0, "search lamp": exitNo, "triage lamp": exitNo, "ls": 0, "log": 0, "manifest list": 0, "credential list": 0, "ps": 0,
	} {
		if got := run(status, strings.Fields(line)...); got != "" {
			t.Errorf("carrel %s prints %q", line, got)
		}
	}
}

// A golden file has all keys of all documents: keys may be added, but never removed. Run with
// -update to add keys.
func TestDocumentsKeepTheirKeys(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	contractFile := filepath.Join(t.TempDir(), "c.limn")
	settings := filepath.Join(env.Dir, ".config", "carrel", "config.toml")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte("budget.floor = 2000\n[profile.tight]\nkeep.last = 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	document := func(want int, args ...string) []byte {
		t.Helper()
		stdout.Reset()
		stderr.Reset()
		if got := Main(t.Context(), env, append(args, "--json")); got != want {
			t.Fatalf("carrel %q: status %d, want %d: %s", args, got, want, stderr)
		}
		return bytes.Clone(stdout.Bytes())
	}
	var block struct{ Messages []struct{ ID string } }
	first := document(0, "import", sample(t, ""))
	if err := json.Unmarshal(document(0, "messages", "5f0c"), &block); err != nil {
		t.Fatal(err)
	}
	id := block.Messages[5].ID
	var got []string
	add := func(raw []byte) {
		var v map[string]any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatalf("%v: %s", err, raw)
		}
		name, ok := v["schema"].(string)
		if !ok {
			name = "problem"
		}
		keys(name, v, &got)
	}
	add(first)
	for _, args := range [][]string{
		{"sessions"},
		{"sessions", "show", "5f0c"},
		{"messages", "5f0c"},
		{"context", "5f0c"},
		{"level", "5f0c"},
		{"discard", "--auto", "5f0c", "--to", "6000", "-n"},
		{"compress", "5f0c", "--target", "5000", "--strategy", "pager"},
		{"why", id},
		{"undo", "--session", "5f0c"},
		{"compress", "5f0c", "--target", "3000"},
		{"why", block.Messages[1].ID},
		{"why", block.Messages[4].ID}, // which a later one says again
		{"undo", "--session", "5f0c"},
		{"compress", "5f0c", "--target", "5000", "--strategy", "opaque", "-n"},
		{"compress", "5f0c", "--target", "5000", "--strategy", "anchored"},
		{"export", "5f0c", "-o", filepath.Join(t.TempDir(), "out")},
		{"recall", id},
		{"search", "mutex"},
		{"brief", "5f0c"},
		{"pin", id},
		{"why", id},
		{"contract", "5f0c"},
		{"undo", "--session", "5f0c"},
		{"validate", sample(t, "openai.json")},
		{"repair", sample(t, "openai.json"), "-n"},
		{"pager", "--history", sample(t, "history.json"), "--contract", contractFile},
		{"bench", "pager", "--blocks", "10"},
		{"tokens", sample(t, "openai.json")},
		{"config", "show", "--profile", "tight"},
		{"config", "path"},
		{"store", "info"},
		{"store", "check"},
		{"credential", "create", "--note", "for tests"},
		{"credential", "list"},
		{"credential", "revoke", "tok_"},
		{"version"},
		{"-C", t.TempDir(), "setup", "claude", "--scope", "project", "--yes"},
	} {
		add(document(0, args...))
	}
	for _, raw := range artifactDocuments(t, env, document) {
		add(raw)
	}
	for _, raw := range contextDocuments(t, env, document) {
		add(raw)
	}
	for _, raw := range summaryDocuments(t, env, document) {
		add(raw)
	}
	for _, raw := range contractDocuments(t, env, document) {
		add(raw)
	}
	for _, raw := range limnDocuments(t, env, document) {
		add(raw)
	}
	recordCalls(t, env, "5f0c", "a word")
	add(document(0, "calls", "--since", "7d", "--limit", "9"))
	add(document(0, "report"))
	add(document(0, "calls", "show", "2"))
	add(document(0, "pin", id))
	add(document(0, "diff", "5f0c", "start"))
	add(retentionDocument(t, document))
	for _, raw := range examDocuments(t, document) {
		add(raw)
	}
	add(document(exitNo, "trigger", "5f0c"))
	add(document(exitPolicy, "discard", block.Messages[0].ID))
	add(document(exitBudget, "compress", "5f0c", "--target", "1"))
	add(document(exitInput, "pager", "--history", sample(t, "openai.json"), "--contract", contractFile))
	slices.Sort(got)
	compare(t, "testdata/keys.txt", strings.Join(slices.Compact(got), "\n")+"\n")
}

// keys adds the paths of all keys of a value, except those that depend on the build.
func keys(at string, v any, to *[]string) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if at+" "+k != "carrel.version.v1 revision" {
				*to = append(*to, at+" "+k)
				keys(at+" "+k, e, to)
			}
		}
	case []any:
		for _, e := range v {
			keys(at+"[]", e, to)
		}
	}
}

// compare compares got with a golden file.
func compare(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// watch imports changes: a file that appears before the first result is printed, a file that grows,
// and a file in a folder that is created later.
func TestWatch(t *testing.T) {
	env, _, stderr := clitest.Env(t)
	dir := t.TempDir()
	first, err := os.ReadFile(sample(t, "torn.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	grown, err := os.ReadFile("testdata/grown.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(sample(t, "openai.json"))
	if err != nil {
		t.Fatal(err)
	}
	early, err := os.ReadFile(sample(t, "anthropic.json"))
	if err != nil {
		t.Fatal(err)
	}
	put := func(name string, data []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("a.jsonl", first)

	r, w := io.Pipe()
	er, ew := io.Pipe()
	env.Stdout, env.Stderr = w, ew
	deadline, stop := context.WithTimeout(t.Context(), time.Minute) // for a watcher that misses a change
	defer stop()
	ctx, cancel := context.WithCancelCause(deadline)
	var code int
	var done sync.WaitGroup
	done.Go(func() {
		code = Main(ctx, env, []string{"import", "--watch", dir})
		_ = w.Close()
		_ = ew.Close()
	})
	watching, skipped := make(chan struct{}), make(chan struct{})
	done.Go(func() {
		lines := bufio.NewScanner(er)
		for lines.Scan() {
			fmt.Fprintln(stderr, lines.Text())
			if strings.HasPrefix(lines.Text(), "watching") {
				close(watching)
			}
			if strings.HasPrefix(lines.Text(), "skipped: "+filepath.Join(dir, "old.jsonl")) {
				close(skipped)
			}
		}
	})
	out := bufio.NewScanner(r)
	next := func(want string) {
		t.Helper()
		for out.Scan() {
			if strings.HasPrefix(out.Text(), want) {
				return
			}
		}
		t.Errorf("output ended without %q", want)
	}
	if _, err := io.ReadFull(r, make([]byte, 1)); err != nil { // the first import is done, and waits for its output to be read
		t.Fatal(err)
	}
	put("early.json", early)
	next("failed\t0")
	<-watching
	next("anthropic\t")
	put("a.jsonl", grown)
	next("claudecode\t7a11b0d2-3c55-4f0e-9e77-52a1c4d8e6f3\t6\t")
	put("old.jsonl", first) // an older copy takes nothing back, and the watcher goes on
	<-skipped
	put(filepath.Join("later", "b.json"), other)
	next("openai\toa-")
	cancel(&job.SignalError{Signal: os.Interrupt})
	done.Wait()
	if code != exitInterrupted {
		t.Errorf("status %d, want %d: %s", code, exitInterrupted, stderr)
	}
}

// A watched window is printed at once and after each change, as a line of JSON.
func TestContextWatch(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	run := func(args ...string) {
		t.Helper()
		if code := Main(t.Context(), env, args); code != 0 {
			t.Fatalf("%v: status %d: %s", args, code, stderr)
		}
	}
	run("import", sample(t, "torn.jsonl"))

	r, w := io.Pipe()
	watched := *env
	watched.Stdout = w
	deadline, stop := context.WithTimeout(t.Context(), time.Minute) // for a watcher that misses a change
	defer stop()
	ctx, cancel := context.WithCancelCause(deadline)
	var code int
	var done sync.WaitGroup
	done.Go(func() {
		code = Main(ctx, &watched, []string{"context", "@last", "--watch", "--json"})
		_ = w.Close()
	})
	lines := json.NewDecoder(r)
	next := func() (now struct{ Revision int }) {
		t.Helper()
		if err := lines.Decode(&now); err != nil {
			t.Error(err)
		}
		return now
	}
	before := next()
	run("import", sample(t, "../grown.jsonl"))
	if after := next(); after.Revision <= before.Revision {
		t.Errorf("revision %d is printed behind %d", after.Revision, before.Revision)
	}
	cancel(&job.SignalError{Signal: os.Interrupt})
	var end struct{ Detail string }
	if err := lines.Decode(&end); err != nil || end.Detail == "" {
		t.Errorf("it ends with %+v, %v", end, err)
	}
	done.Wait()
	if code != exitInterrupted {
		t.Errorf("status %d, want %d: %s%s", code, exitInterrupted, stdout, stderr)
	}
}

// Concurrent passes take turns: they leave one contract with a marker for each pass.
func TestPagerPassesTakeTurns(t *testing.T) {
	const passes = 8
	file := filepath.Join(t.TempDir(), "c.limn")
	history := sample(t, "history.json")
	var all sync.WaitGroup
	for i := range passes {
		all.Go(func() {
			env, _, stderr := clitest.Env(t)
			alpha := fmt.Sprintf("--alpha=0.%d", 1+i)
			if got := Main(t.Context(), env, []string{"pager", "--history", history, "--contract", file, alpha}); got != 0 {
				t.Errorf("status %d: %s", got, stderr)
			}
		})
	}
	all.Wait()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(text), "last-pager-pass"); got != passes {
		t.Errorf("%d markers, want %d:\n%s", got, passes, text)
	}
	env, _, stderr := clitest.Env(t)
	if got := Main(t.Context(), env, []string{"pager", "--history", history, "--contract", file}); got != 0 {
		t.Errorf("the contract cannot be continued: status %d: %s", got, stderr)
	}
}

// oneLine returns a text without the places where its lines are broken.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Screens fit a terminal of 80 columns. Documents, such as briefs, summaries and packets, are
// printed unchanged.
func TestScreensFit(t *testing.T) {
	s := newDesk(t)
	s.env.StdoutTerminal, s.env.StderrTerminal = true, true
	recordCalls(t, s.env, transcript.SessionID(strings.TrimSpace(s.run(0, "sessions", "--jq", ".items[0].session"))), "claude-sonnet-4-5-20250929")
	seen := 0
	for _, line := range []string{
		"", "sessions", "sessions show", "context", "context --window 20000", "messages", "compress --target 5000 -n", "compress --target 5000 --strategy anchored",
		"compress --target 4000", "why BLOCK", "search beam", "probe gen", "probe run", "context stats", "context level", "calls", "log",
		"log --session @last", "contract", "contract check", "ls", "manifest list", "manifest show @last", "review", "doctor", "store info", "store check",
		"discard --auto --to 3000 -n", "export -n", "undo", "config path", "version", "ps", "cost", "cost @last", "report", "probe report", "calls", "calls show 1",
	} {
		var stdout, stderr bytes.Buffer
		env := *s.env
		env.Stdout, env.Stderr = &stdout, &stderr
		if Main(t.Context(), &env, append(strings.Fields(strings.ReplaceAll(line, "BLOCK", s.block)), "--color", "never")) == exitUsage {
			t.Errorf("carrel %s: %s", line, stderr.String())
		}
		width := 80
		if strings.Contains(stdout.String(), s.env.Dir) {
			width += len(s.env.Dir) // so wide are the columns of its table, too
		}
		for l := range strings.Lines(stdout.String()) {
			seen++
			if n := out.Columns(strings.TrimSuffix(l, "\n")); n > width && len(strings.Fields(l)) > 1 && !strings.Contains(l, s.env.Dir) {
				t.Errorf("carrel %s: %d columns: %s", line, n, l)
			}
		}
	}
	if seen < 200 {
		t.Errorf("%d lines were seen, want 200 at least", seen)
	}
}
