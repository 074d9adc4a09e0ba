package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// hostile tries to control a terminal in every way: it sets the title, clears the screen, forges
// a color of Carrel, starts a sequence with one byte, changes the direction of writing, and hides
// text.
const hostile = "evil\x1b]0;owned\x07\x1b[2J\x1b[32mforged\x1b[0m\u009b31m\x7f\x00\u202elive\u2066\u200bzero\u200d\ufeff\u00ad\U000e0041end"

// ours are the control sequences that Carrel itself writes.
var ours = regexp.MustCompile(`\x1b\[(0|2|3[123])m|\r\x1b\[K`)

// A stage is a store full of hostile content.
type stage struct {
	t              *testing.T
	env            *job.Env
	stdout, stderr *bytes.Buffer
	said           map[string]bool // commands that printed something
	names          []string        // pairs of a placeholder and what it stands for
}

// run runs a valid command line and checks its output for control sequences.
func (s *stage) run(args ...string) (stdout string) {
	s.t.Helper()
	if code := s.look(args...); code == exitUsage || code == exitBug {
		s.t.Fatalf("carrel %q: status %d: %s", args, code, s.stderr)
	}
	return s.stdout.String()
}

// look runs a command line and checks its output for control sequences.
func (s *stage) look(args ...string) (code int) {
	s.t.Helper()
	s.stdout.Reset()
	s.stderr.Reset()
	code = Main(s.t.Context(), s.env, args)
	for name, text := range map[string]string{"output": s.stdout.String(), "error": s.stderr.String()} {
		if strings.Contains(text, "\x1b[32mforged") {
			s.t.Errorf("carrel %q: standard %s has a forged color", args, name)
		}
		if r := clitest.Commands(ours.ReplaceAllString(text, ""), "\n\t"); r != "" {
			s.t.Errorf("carrel %q: standard %s has %q:\n%q", args, name, r, text)
		}
	}
	return code
}

// file writes a file with a hostile name and content.
func (s *stage) file(name, content string) {
	s.t.Helper()
	path := filepath.Join(s.env.Dir, "bell\x07 "+name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		s.t.Skip("names of files are restricted here:", err)
	}
	s.names = append(s.names, "{"+name+"}", path)
}

// name stores the first result of a query under a placeholder.
func (s *stage) name(name, query string, args ...string) {
	s.t.Helper()
	found := strings.Fields(s.run(append(args, "--jq", query)...))
	if len(found) == 0 {
		s.t.Fatalf("carrel %q --jq %s finds nothing", args, query)
	}
	s.names = append(s.names, "{"+name+"}", found[0])
}

func (s *stage) perform(root *cobra.Command, args ...string) {
	s.t.Helper()
	for i := range args {
		args[i] = strings.NewReplacer(s.names...).Replace(args[i])
	}
	cmd, _, err := root.Find(current(root, args))
	if err != nil {
		s.t.Fatalf("carrel %q: %v", args, err)
	}
	s.run(append(args, "--color", "always")...)
	if s.stdout.Len()+s.stderr.Len() > 0 {
		s.said[cmd.CommandPath()] = true
	}
}

// silent are the commands that print no content of the store, or not to a terminal, with the
// reason.
var silent = map[string]string{
	"carrel demo":           "it prints built-in data",
	"carrel demo assemble":  "it prints built-in data",
	"carrel doctor":         "it starts programs, and prints how they answered",
	"carrel serve":          "it prints an address",
	"carrel mcp":            "it speaks with a program",
	"carrel hook":           "it speaks with a program",
	"carrel setup claude":   "it shows our own settings in a diff, and asks",
	"carrel setup codex":    "it shows our own settings in a diff, and asks",
	"carrel setup gemini":   "it shows our own settings in a diff, and asks",
	"carrel setup opencode": "it shows our own settings in a diff, and asks",
	"carrel stop":           "it prints ids of processes",
	"carrel ps":             "it prints records of servers that run",
	"carrel completion":     "it prints a script for a shell",
	"carrel debug man":      "it prints pages for roff",
	"carrel proxy":          "it prints an address",
	"carrel ui":             "it prints an address",
	"carrel run":            "it prints what an agent prints, and figures",
}

// No command prints control sequences from content. The commands come from the command tree; the
// test fails for a command that it does not run.
func TestNoContentCommandsATerminal(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	env.StdinTerminal, env.StdoutTerminal, env.StderrTerminal = true, true, true
	s := &stage{t: t, env: env, stdout: stdout, stderr: stderr, said: map[string]bool{}}
	root := newRoot(job.New(env))
	s.prepare()
	recordCalls(t, env, "session "+hostile, "word "+hostile)
	for _, args := range performance() {
		switch args[0] {
		case "=":
			s.name(args[1], args[2], args[3:]...)
		case "?":
			if out := s.run(append([]string{cobra.ShellCompRequestCmd}, args[1:]...)...); !strings.Contains(out, "\t") {
				t.Errorf("nothing with a description completes carrel %q: %q", args[1:], out)
			}
		default:
			s.perform(root, args...)
		}
	}
	for _, args := range [][]string{{"-C", "none" + hostile, "sessions"}, {hostile}, {"recall", "--" + hostile}, {"export", "--to", hostile}} {
		if code := s.look(args...); code == exitDone {
			t.Errorf("carrel %q: status %d, want an error", args, code)
		}
	}
	for cmd := range leaves(root) {
		if !s.said[cmd.CommandPath()] && silent[cmd.CommandPath()] == "" {
			t.Errorf("%s was not run, or printed nothing: add it to performance", cmd.CommandPath())
		}
	}
}

// leaves yields the commands without subcommands.
func leaves(cmd *cobra.Command) func(yield func(*cobra.Command) bool) {
	return func(yield func(*cobra.Command) bool) {
		for _, c := range cmd.Commands() {
			switch {
			case c.HasSubCommands():
				for l := range leaves(c) {
					if !yield(l) {
						return
					}
				}
			case c.Runnable() && c.Name() != "help":
				if !yield(c) {
					return
				}
			}
		}
	}
}

// prepare writes the files that the commands read.
func (s *stage) prepare() {
	s.t.Helper()
	result := "FAIL: " + hostile + "\n" + strings.Repeat("ok "+hostile+" of many\n", 60) + "/srv/" + hostile + ".go:12: error: lost\n"
	call := map[string]any{"id": "call_1", "type": "function", "function": map[string]any{
		"name": "Bash", "arguments": toJSON(map[string]string{"command": "make " + hostile}),
	}}
	type object = map[string]any
	messages := []object{
		{"role": "system", "content": "You are " + hostile},
		{"role": "user", "content": "Fix crimson " + hostile + " in src/" + hostile + ".go. We must never use " + hostile},
		{"role": "assistant", "content": "I run it " + hostile, "tool_calls": []object{call}},
		{"role": "tool", "tool_call_id": "call_1", "content": result},
		{"role": "assistant", "content": "We decided to use " + hostile + " because of " + hostile + ". Should I deploy " + hostile + "?"},
	}
	for range 8 {
		messages = append(messages, object{"role": "user", "content": "Go on, crimson. " + hostile},
			object{"role": "assistant", "content": strings.Repeat("Done with "+hostile+". ", 60)})
	}
	session := toJSON(object{"model": "gpt-4o" + hostile, "messages": messages})
	s.file("session.json", session)
	s.file("broken.json", `{"messages": [`+hostile)
	s.file("note.md", "# crimson "+hostile+"\n\nThe deploy of "+hostile+" wants profile B.\n"+strings.Repeat(hostile+"\n", 400))
	s.file("rules.limn", "remember a thing called bell with \""+hostile+"\"\nshow bell\nfrobnicate "+hostile+"\n")
	s.file("good.limn", "remember a thing called bell with \""+hostile+"\"\nshow bell\n")
	s.file("history.json", toJSON([]object{{"id": "b1" + hostile, "kind": "note", "text": "crimson " + hostile, "turn": 1}}))
	s.file("prompts.txt", "Deploy crimson "+hostile+" to staging by Friday")
	s.file("summary.md", "# Anchored Summary\n\n## Session Intent\n\n"+hostile+"\n\n## Decisions Made\n\n- Use "+hostile+"\n")
	s.file("summary.json", toJSON(object{"session_intent": "crimson " + hostile, "current_state": hostile, "next_steps": []string{hostile}}))
	s.file("probes.json", toJSON([]object{{"id": "p1", "type": "recall", "question": "Which " + hostile + "?", "answer": hostile, "critical": true}}))
	s.file("cases.json", toJSON([]object{{"prompt": "Fix " + hostile, "expected": object{"verb": "fix"}}}))
	s.file("conform.json", toJSON([]object{{"name": "case " + hostile, "source": "show \"" + hostile + "\"", "expected": object{"results": []object{}}}}))
	questions := []object{{"id": "q1", "type": "fact " + hostile, "q": hostile, "answer": hostile, "must_have": []string{"fix crimson"}}}
	s.file("exam.json", toJSON(object{"sessions": []object{{"id": "s1", "conversation": "bell\x07 session.json", "questions": questions}}}))
	held := map[string]string{
		"key.json":               toJSON(object{"share": 50, "methods": []string{"window"}, "sessions": []object{{"id": "s1", "conversation": hostile, "questions": questions}}}),
		"answers/window/s1.json": toJSON(object{"answers": object{"q1": hostile}, "helped": hostile, "confused": hostile}),
		"grades/s1.json":         toJSON(object{"grades": object{"q1": object{"A": 1}}}),
	}
	for path, text := range held {
		path = filepath.Join(s.env.Dir, "bell\a.held", path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			s.t.Fatal(err)
		}
	}
	s.file("trace.txt", hostile+"\nb\n"+hostile+"\n")
}

func toJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// performance returns command lines that print content of the stage. One that begins with "="
// stores the result of a query under a placeholder, and one with "?" is completed.
func performance() [][]string {
	return slices.Concat(
		[][]string{
			{"import", "{session.json}"},
			{"import", "{broken.json}"},
			{"import", "{session.json}", "--json"},
			{"=", "session", ".sessions[0].session", "sessions"},
			{"=", "result", ".messages[2].id", "messages"},
			{"=", "block", ".messages[3].id", "messages"},
			{"?", "recall", ""},
			{"?", "sessions", "show", ""},
			{"?", "export", ""},
			{"sessions", "list"},
			{"sessions", "show", "--json"},
			{"sessions", "show"},
			{"sessions", "mark", "--critical"},
			{"sessions", "mark", "--no-critical"},
			{"messages"},
			{"messages", "--tree"},
			{"messages", "--json"},
			{"context", "--window", "9000"},
			{"level"},
			{"trigger"},
			{"recall", "{result}"},
			{"recall", "{result}", "--text"},
			{"recall", "{result}", "--json"},
			{"recall", "{result}", "--jq", ".data"},
			{"search", "crimson"},
			{"search", hostile},
			{"brief"},
			{"page", "{block}"},
			{"undo"},
			{"pin", "{block}"},
			{"unpin", "{block}"},
			{"compress", "--target", "6000", "-n"},
			{"compress", "--target", "1"},
			{"compress", "--target", "6000", "--strategy", "anchored", "--probe-min", "0"},
			{"summary", "show"},
			{"state"},
			{"state", "--compat"},
			{"stats"},
			{"context", "diff"},
			{"context", "diff", "@last", "start"},
			{"calls"},
			{"calls", "session " + hostile},
			{"calls", "show", "1"},
			{"report"},
			{"cost"},
			{"probe", "gen"},
			{"probe", "run"},
			{"probe", "report"},
			{"probe", "lint", "{probes.json}"},
			{"why", "{result}"},
			{"messages"},
			{"context", "--window", "9000"},
			{"discard", "{block}"},
			{"discard", "--auto", "--to", "100", "-n"},
			{"export"},
			{"export", "--to", "anthropic"},
			{"undo"},
			{"handoff", "--next", hostile, "--notes", hostile, "--for", hostile},
			{"summary", "check", "{summary.md}", "--session", "@last"},
			{"summary", "merge", "{summary.json}", "{summary.json}"},
			{"summary", "merge", "{summary.json}", "{summary.json}", "--format", "markdown"},
			{"summary", "accept", "{summary.md}", "--session", "@last"},
		},
		[][]string{
			{"put", "{note.md}", "--type", "memory", "--verified-by", hostile, "--title", "crimson " + hostile, "--source", "src " + hostile, "--subject", hostile},
			{"=", "note", ".artifacts[0].id", "ls"},
			{"?", "get", ""},
			{"?", "purge", ""},
			{"ls"},
			{"get", "{note}"},
			{"get", "{note}", "--meta"},
			{"get", "{note}", "--meta", "--json"},
			{"recall", "{note}"},
			{"stash", "put", "{note.md}", "--title", hostile},
			{"=", "stash", ".artifacts[0].id", "stash", "ls"},
			{"?", "stash", "get", ""},
			{"stash", "ls"},
			{"stash", "get", "{stash}"},
			{"stash", "gc"},
			{"triage", "crimson " + hostile},
			{"assemble", "--query", "crimson " + hostile, "--budget", "4000", "--session", "@last"},
			{"assemble", "--query", "crimson " + hostile, "--budget", "9000", "--trace"},
			{"assemble", "--query", "crimson", "--budget", "2"},
			{"?", "manifest", "show", ""},
			{"?", "manifest", "explain", "@last", ""},
			{"manifest", "list"},
			{"manifest", "show", "@last", "--all"},
			{"manifest", "explain", "@last", "{note}"},
			{"manifest", "diff", "@last", "@last"},
			{"manifest", "verify", "@last"},
			{"manifest", "replay", "@last"},
			{"manifest", "export", "@last"},
			{"tier", "--demand", "5,4,3,2"},
			{"recency", "--ages", "0,1"},
			{"lru-sim", "{trace.txt}", "--limit", "1"},
			{"commit", "@last", "--text", "The bell " + hostile + " rings at noon.", "--confidence", "0.1", "--evaluator", hostile},
			{"=", "held", ".held[0].id", "review", "list"},
			{"?", "review", "show", ""},
			{"review", "list"},
			{"review", "show", "{held}"},
			{"review", "edit", "{held}", "--text", "It rings " + hostile, "--by", hostile, "--reason", hostile},
			{"commit", "@last", "--text", "The gong " + hostile + " is struck.", "--confidence", "0.1", "--evaluator", hostile},
			{"=", "held", ".held[0].id", "review", "list"},
			{"review", "reject", "{held}", "--reason", hostile},
			{"commit", "@last", "--text", "The drum " + hostile + " is beaten.", "--confidence", "0.1", "--evaluator", hostile},
			{"=", "held", ".held[0].id", "review", "list"},
			{"review", "approve", "{held}", "--reason", hostile},
			{"log"},
			{"log", "--session", "{session}"},
			{"refute", "{note}"},
			{"rm", "{note}"},
			{"purge", "{note}", "-y"},
			{"sessions", "rm", "{session}"},
			{"sessions", "rm", "{session}", "--undo"},
			{"sessions", "purge", "{session}", "-y"},
		},
		[][]string{
			{"contract", "add", "--decision", hostile, "--claim", "odd=" + hostile, "--correction", hostile, "--source", "src=" + hostile},
			{"contract", "add-decision", "use " + hostile},
			{"contract", "init", "fresh"},
			{"contract", "show"},
			{"contract", "check"},
			{"contract", "check", "{rules.limn}"},
			{"contract", "path"},
			{"contract", "save"},
			{"contract", "corrections"},
			{"contract", "close"},
			{"handoff"},
			{"handoff", "check", "{broken.json}"},
			{"handoff", "-o", "packet.md"},
			{"handoff", "check", "packet.md", "--session", "@last"},
			{"accept", "packet.md"},
			{"limn", "run", "{rules.limn}"},
			{"limn", "run", "{good.limn}"},
			{"limn", "check", "{rules.limn}"},
			{"limn", "fmt", "{good.limn}"},
			{"limn", "fmt", "-d", "{good.limn}"},
			{"limn", "repl"},
			{"limn", "conform", "{conform.json}"},
			{"intent", "{prompts.txt}"},
			{"intent", "{prompts.txt}", "--compat"},
			{"intent", "--score", "{cases.json}"},
			{"pager", "--history", "{history.json}", "--contract", "pass.limn"},
			{"validate", "{session.json}"},
			{"validate", "{broken.json}"},
			{"repair", "{broken.json}", "-n"},
			{"schema"},
			{"schema", "check", "probes", "{session.json}"},
			{"tokens", "{note.md}"},
			{"bench", "pager", "--blocks", "10", "--verbose"},
			{"bench", "exam", "{exam.json}", "--share", "50", "--methods", "window", "--each"},
			{"bench", "exam", "prepare", "{exam.json}", "--share", "50", "--methods", "window", "--out", "bell\a.run"},
			{"bench", "exam", "ask", "bell\a.held"},
			{"bench", "exam", "grade", "bell\a.held", "--sheets"},
			{"bench", "exam", "grade", "bell\a.held"},
			{"bench", "retention", "{session.json}", "--min", "10", "--budgets", "50%", "--strategy", "importance"},
		},
		[][]string{
			{"credential", "create", "--note", "for tests", "--actor", "ada"},
			{"?", "credential", "revoke", ""},
			{"credential", "list"},
			{"credential", "revoke", "tok_"},
			{"store", "info"},
			{"store", "check"},
			{"store", "migrate", "-n"},
			{"store", "move", "bell\a.db", "moved.db", "-n"},
			{"store", "backup", "bell\a.db"},
			{"store", "backup", "bell\a.db"},
			{"store", "restore", "bell\a.db", "--force"},
			{"config", "show"},
			{"config", "path"},
			{"version"},
			{"import", "absent" + hostile},
			{"recall", "absent" + hostile},
			{"budget"},
			{"contracts"},
			{"env"},
			{"exit-codes"},
			{"formats"},
			{"gate"},
			{"handoffs"},
			{"hooks"},
			{"summaries"},
			{"tiers"},
			{"tools"},
		},
	)
}

// The completions of a shell contain no control sequences either.
func TestCompletionsCommandNothing(t *testing.T) {
	env, stdout, _ := clitest.Env(t)
	clitest.WriteFile(t, env, ".config/carrel/config.toml", "[profile.\"bell\\u001b\"]\nkeep.last = 2\n")
	Main(t.Context(), env, []string{cobra.ShellCompRequestCmd, "sessions", "--profile", ""})
	if got, want := stdout.String(), `bell\x1b`+"\n"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
}

// JSON on a terminal is valid JSON with the same values.
func TestJSONOnATerminal(t *testing.T) {
	text := "\x7f\u009b\u202e\u200b\U000e0041\x1b"
	var got string
	if err := json.Unmarshal([]byte(out.Readable(toJSON(text))), &got); err != nil || got != text {
		t.Errorf("got %q, %v, want %q", got, err, text)
	}
}
