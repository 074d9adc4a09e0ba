package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/internal/text"
)

// A flag whose help says that it writes a file is checked before its command runs, and the
// command has --force.
func TestEveryOutputIsGuarded(t *testing.T) {
	env, _, _ := clitest.Env(t)
	seen := 0
	for cmd := range leaves(newRoot(job.New(env))) {
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			arg, usage := pflag.UnquoteUsage(f)
			if arg != "file" || !writesWords(usage) {
				return
			}
			seen++
			if _, ok := f.Annotations["file"]; !ok || cmd.Flags().Lookup("force") == nil {
				t.Errorf("%s --%s writes a file that nothing guards", cmd.CommandPath(), f.Name)
			}
		})
	}
	if seen < 12 {
		t.Errorf("%d flags that write files, want the 12 there were, at least", seen)
	}
}

func writesWords(usage string) bool {
	return slices.ContainsFunc([]string{"write", "export to", "draw "}, func(w string) bool { return strings.Contains(usage, w) })
}

// No command replaces a file without --force, nor starts its work.
func TestOutputReplacesNoFile(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string // "FILE" is the file
	}{
		{"export", []string{"export", "-o", "FILE"}},
		{"a new session", []string{"export", "--as-new-session", "-o", "FILE"}},
		{"compress", []string{"compress", "--target", "5000", "-o", "FILE"}},
		{"compress: the state", []string{"compress", "--target", "5000", "--state", "FILE"}},
		{"compress: the list", []string{"compress", "--target", "5000", "--todos", "todos.json", "--todos-out", "FILE"}},
		{"handoff", []string{"handoff", "-o", "FILE"}},
		{"assemble", []string{"assemble", "--query", "x", "--budget", "9000", "-o", "FILE"}},
		{"replay", []string{"manifest", "replay", "@last", "-o", "FILE"}},
		{"account", []string{"manifest", "export", "@last", "-o", "FILE"}},
		{"recall", []string{"recall", "BLOCK", "-o", "FILE"}},
		{"get", []string{"get", "note", "-o", "FILE"}},
		{"state", []string{"state", "-o", "FILE"}},
		{"merge", []string{"summary", "merge", "sum.json", "sum.json", "-o", "FILE"}},
		{"bench", []string{"bench", "retention", "work.json", "--min", "1000", "--budgets", "10%", "--strategy", "importance", "--svg", "FILE"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newDesk(t)
			const id = "0b5f2c1e-7d7a-4c3b-9e0f-5a6b7c8d9e0f"
			file := clitest.WriteFile(t, s.env, id+".jsonl", "precious")
			args := s.fill(tt.args, file)
			before := s.run(0, "sessions", "--json")
			s.run(exitPolicy, args...)
			if got := s.stderr.String(); !strings.Contains(got, "--force") {
				t.Errorf("standard error is %q, want --force in it", got)
			}
			if got, _ := os.ReadFile(file); string(got) != "precious" {
				t.Errorf("the file is %.50q now", got)
			}
			if after := s.run(0, "sessions", "--json"); after != before {
				t.Errorf("the store has changed:\n%s\n%s", before, after)
			}
			want := 0
			if slices.Contains(args, "--as-new-session") {
				want = exitUsage
			}
			s.run(want, append(args, "--force")...)
			if got, _ := os.ReadFile(file); (string(got) == "precious") != (want != 0) {
				t.Errorf("with --force the file is %.50q", got)
			}
		})
	}
}

// A desk is a store with a session, an artifact and a context.
type desk struct {
	t      *testing.T
	env    *job.Env
	stderr interface{ String() string }
	run    func(want int, args ...string) string
	block  string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	env, stdout, stderr := clitest.Env(t)
	s := &desk{t: t, env: env, stderr: stderr}
	s.run = func(want int, args ...string) string {
		t.Helper()
		stdout.Reset()
		stderr.Reset()
		if got := Main(t.Context(), env, args); got != want {
			t.Fatalf("carrel %q: status %d, want %d: %s", args, got, want, stderr)
		}
		return stdout.String()
	}
	s.run(0, "import", sample(t, "claude.jsonl"))
	s.block = strings.TrimSpace(s.run(0, "messages", "--jq", ".messages[3].id"))
	s.run(0, "put", clitest.WriteFile(t, env, "note.md", "Mind the lamp."), "--type", "doc", "--id", "note")
	s.run(0, "assemble", "--query", "lamp", "--budget", "9000")
	clitest.WriteFile(t, env, "work.json", string(workSession(1, 12)))
	clitest.WriteFile(t, env, "todos.json", "[]")
	clitest.WriteFile(t, env, "sum.json", `{"session_intent": "Fix the lamp"}`)
	return s
}

// fill replaces placeholders in arguments.
func (s *desk) fill(args []string, file string) []string {
	args = slices.Clone(args)
	for i := range args {
		args[i] = strings.NewReplacer("FILE", file, "BLOCK", s.block).Replace(args[i])
	}
	return args
}

// Commands that write several files into a folder replace none without --force.
func TestOutputReplacesNoFolder(t *testing.T) {
	s := newDesk(t)
	pages := filepath.Join(s.env.Dir, "man")
	s.run(0, "man", pages)
	last := clitest.WriteFile(t, s.env, "man/carrel-why.1", "precious")
	if err := os.Remove(filepath.Join(pages, "carrel.1")); err != nil {
		t.Fatal(err)
	}
	s.run(exitPolicy, "man", pages)
	if got, _ := os.ReadFile(last); string(got) != "precious" {
		t.Errorf("the page is %.50q now", got)
	}
	if _, err := os.Stat(filepath.Join(pages, "carrel.1")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a page was written before the refusal: %v", err)
	}
	s.run(0, "man", pages, "--force")
	s.run(exitPolicy, "demo", "--keep", pages)
	s.run(0, "handoff", "-o", s.env.Dir)
	s.run(exitPolicy, "handoff", "-o", s.env.Dir)
	s.run(0, "handoff", "-o", s.env.Dir, "--force")
	s.run(0, "store", "backup", "copy.db")
	s.run(exitPolicy, "store", "backup", "copy.db")
}

// Devices can always be written.
func TestOutputToADevice(t *testing.T) {
	if _, err := os.Stat("/dev/null"); err != nil {
		t.Skip("there is no such device here")
	}
	s := newDesk(t)
	s.run(0, "export", "-o", "/dev/null")
	if err := os.Symlink(filepath.Join(s.env.Dir, "absent"), filepath.Join(s.env.Dir, "link")); err != nil {
		t.Skip("there are no links here")
	}
	s.run(exitPolicy, "export", "-o", "link")
}

// In the folder of Claude Code's sessions only an export of a new session writes a file, by
// whatever path the folder is named.
func TestNewSessionOfClaudeCode(t *testing.T) {
	s := newDesk(t)
	project := filepath.Join(s.env.Dir, ".claude", "projects", "-srv-app")
	old := clitest.WriteFile(t, s.env, ".claude/projects/-srv-app/5f0c2a7e-0000-4000-8000-000000000000.jsonl", "{}\n")
	link := filepath.Join(s.env.Dir, "link")
	if err := os.Symlink(filepath.Dir(project), link); err != nil {
		t.Skip("there are no links here")
	}
	for _, args := range [][]string{
		{"export", "-o", filepath.Join(project, "next.jsonl")},
		{"export", "-o", old, "--force"},
		{"export", "-o", filepath.Join(link, "-srv-app", "next.jsonl")},
		{"compress", "--target", "5000", "-o", filepath.Join(project, "next.jsonl")},
		{"recall", s.block, "-o", filepath.Join(project, "deep", "next.jsonl")},
		{"handoff", "-o", project},
		{"store", "backup", filepath.Join(project, "copy.db")},
	} {
		s.run(exitPolicy, args...)
		if got := s.stderr.String(); !strings.Contains(got, "--as-new-session") {
			t.Errorf("carrel %q: standard error is %q, want --as-new-session in it", args, got)
		}
	}
	for _, args := range [][]string{
		{"--as-new-session"},
		{"--as-new-session", "-o", "-"},
		{"--as-new-session", "-o", filepath.Join(project, "next.jsonl")},
		{"--as-new-session", "-o", project, "--force"},
		{"--as-new-session", "-o", filepath.Join(s.env.Dir, "nowhere")},
	} {
		s.run(exitUsage, append([]string{"export"}, args...)...)
	}
	s.run(exitUsage, "export", "--as-new-session", "--to", "openai", "-o", project)

	s.run(0, "export", "--as-new-session", "-o", project)
	said := s.stderr.String()
	var made []string
	entries, err := os.ReadDir(project)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".jsonl"); filepath.Join(project, e.Name()) != old {
			made = append(made, name)
		}
	}
	if len(made) != 1 || !text.IsUUID(made[0]) || !strings.Contains(said, "claude --resume "+made[0]+"\n") {
		t.Fatalf("made %q and said %q, want one session and how to resume it", made, said)
	}
	data, err := os.ReadFile(filepath.Join(project, made[0]+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var row struct {
			Session string `json:"sessionId"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil || row.Session != made[0] && row.Session != "" {
			t.Fatalf("a row is of session %q, %v, want %q", row.Session, err, made[0])
		}
	}
	if got, _ := os.ReadFile(old); string(got) != "{}\n" {
		t.Errorf("the old session is %q now", got)
	}
	s.env.Getenv = func(string) string { return "" } // an agent that is nowhere
	s.run(0, "-s", "other.db", "validate", filepath.Join(project, made[0]+".jsonl"))
}

// Content for programs is printed unchanged to a pipe, to a file, and with --raw to a terminal.
func TestRawBytes(t *testing.T) {
	for _, tt := range []struct {
		name     string
		terminal bool
		args     []string
		want     string
	}{
		{"a pipe", false, nil, hostile},
		{"a terminal", true, nil, out.Readable(hostile)},
		{"a terminal that is meant", true, []string{"--raw"}, hostile},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env, stdout, stderr := clitest.Env(t)
			run := func(args ...string) string {
				t.Helper()
				stdout.Reset()
				if got := Main(t.Context(), env, append(args, tt.args...)); got != 0 {
					t.Fatalf("carrel %q: status %d: %s", args, got, stderr)
				}
				return stdout.String()
			}
			in := clitest.WriteFile(t, env, "in.json", toJSON(map[string]any{"model": "gpt-4o", "messages": []map[string]string{{"role": "user", "content": hostile}}}))
			run("import", in)
			block := strings.TrimSpace(run("messages", "--jq", ".messages[0].id"))
			run("put", clitest.WriteFile(t, env, "note.md", hostile), "--type", "doc", "--id", "note")
			env.StdoutTerminal, env.StderrTerminal = tt.terminal, tt.terminal
			for _, args := range [][]string{{"recall", block, "--text"}, {"get", "note"}} {
				if got := strings.TrimSuffix(run(args...), "\n"); got != tt.want {
					t.Errorf("carrel %q prints %q, want %q", args, got, tt.want)
				}
			}
			run("get", "note", "-o", "copy")
			if got, err := os.ReadFile(filepath.Join(env.Dir, "copy")); err != nil || string(got) != hostile {
				t.Errorf("the file is %q, %v, want %q", got, err, hostile)
			}
		})
	}
}
