package job

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A dryRunStore refuses the changes that a store refuses.
func TestRehearsalValidates(t *testing.T) {
	dir := t.TempDir()
	env := &Env{Terminal: out.Terminal{
		Now:    func() time.Time { return time.Unix(0, 0) },
		Getenv: func(name string) string { return map[string]string{"HOME": dir}[name] },
	}, Dir: dir}
	err := New(env).With(t.Context(), false, func(a *Access) error {
		s := dryRunStore{a.Store}
		fine := &store.Update{Entry: store.Entry{ID: "e", Op: "put", Time: time.UnixMilli(1)}}
		if v, err := s.Update(t.Context(), a.Scope, fine); v != 1 || err != nil {
			t.Errorf("the first update makes version %d, %v, want 1", v, err)
		}
		if r, _ := s.Apply(t.Context(), a.Scope, "s", 4, &store.Change{}); r != 5 {
			t.Errorf("a change of revision 4 makes %d, want 5", r)
		}
		_, err := s.Update(t.Context(), a.Scope, &store.Update{})
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "has no id") {
		t.Errorf("an update without an entry: %v", err)
	}
}

// A readOnlyStore is a store that panics if a method is called that writes.
type readOnlyStore struct{ store.Store }

func (readOnlyStore) Apply(context.Context, governance.Scope, transcript.SessionID, store.Revision, *store.Change) (store.Revision, error) {
	panic("Apply")
}

func (readOnlyStore) Update(context.Context, governance.Scope, *store.Update) (store.Version, error) {
	panic("Update")
}

func (readOnlyStore) BeginJob(context.Context, *store.Job, time.Duration) (*store.Job, error) {
	panic("BeginJob")
}

func (readOnlyStore) Record(context.Context, governance.Scope, []store.Call) error { panic("Record") }

func (readOnlyStore) KeepJob(context.Context, *store.Job, time.Duration) error { panic("KeepJob") }

func (readOnlyStore) EndJob(context.Context, *store.Job) error { panic("EndJob") }

// A dry run of a purge neither begins a job, which another process would finish, nor takes over the
// job that a process has left.
func TestDryRunsWriteNothing(t *testing.T) {
	const scope = governance.DefaultScope
	m := memory.New()
	e, err := carrel.New(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := &carrel.ImportRequest{Name: "s1.json", Data: []byte(`{"messages":[{"role":"user","content":"Keep the heron."}]}`)}
	imported, err := e.Import(t.Context(), scope, in)
	if err != nil {
		t.Fatal(err)
	}
	left := &store.Job{Scope: scope, Name: "purge session " + string(imported.Session), Mark: "dead", Data: []byte(`{}`)}
	dryRun := &Access{Store: readOnlyStore{m}, Opts: &carrel.Options{}}
	for _, prepare := range []func(){
		func() {},
		func() {
			if _, err := m.BeginJob(t.Context(), left, 0); err != nil {
				t.Fatal(err)
			}
		},
	} {
		prepare()
		trial, err := dryRun.DryRun(nil)
		if err != nil {
			t.Fatal(err)
		}
		before, err := m.OpenJobs(t.Context(), scope)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := trial.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: imported.Session}); err != nil || res.Cells == 0 {
			t.Errorf("the dry run: %+v, %v", res, err)
		}
		after, err := m.OpenJobs(t.Context(), scope)
		if diff := cmp.Diff(before, after); err != nil || diff != "" {
			t.Errorf("jobs, %v (-before +after):\n%s", err, diff)
		}
	}
}

// Who adds a method to a store decides whether a dry run may call it.
func TestDryRunStoreHasAllMethodsThatWrite(t *testing.T) {
	reads := strings.Fields("Artifacts Block Blocks Brought Calls Cells Check Derived Entries Find Head Heads Hits Info Items Log Manifest Manifests Numbered OpenJobs Pick Postings Rewrites Scopes Sources Statements Users Version")
	writes := strings.Fields("Apply Backup BeginJob Close EndJob KeepJob Record Update")
	kind := reflect.TypeFor[store.Store]()
	for m := range kind.Methods() {
		if name := m.Name; !slices.Contains(reads, name) && !slices.Contains(writes, name) {
			t.Errorf("%s is a new method of a store: list it, and if it writes, let dryRunStore implement it", name)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, tt := range []struct {
		path, dir string
		want      bool
	}{
		{"/a/b", "/a/b", true},
		{"/a/b", "/a/b/", true},
		{"/a/b/c", "/a/b", true},
		{"/a/bc", "/a/b", false},
		{"/a", "/a/b", false},
		{"", "/a", false},
		{"/a", "/", true},
		{"/", "/", true},
		{"a", "/", false},
		{"", "/", false},
		{`C:\a\b`, `C:\a`, true},
		{`C:\a\b`, `C:\a\`, true},
		{`C:\ab`, `C:\a\`, false},
	} {
		if got := Within(tt.path, tt.dir); got != tt.want {
			t.Errorf("within(%q, %q) = %v, want %v", tt.path, tt.dir, got, tt.want)
		}
	}
}

func TestParseTokens(t *testing.T) {
	for in, want := range map[string]token.Count{"0": 0, "40000": 40_000, "40,000": 40_000, "1_0": 10, "2147483647": 2_147_483_647} {
		if got, err := ParseTokens("--to", in); err != nil || got != want {
			t.Errorf("%q is %d, %v, want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "-1", "x", "1.5", "2147483648", "0x10"} {
		if got, err := ParseTokens("--to", in); err == nil || err.Error() != "--to: \""+in+"\" is not a number of tokens: give one such as 4000" {
			t.Errorf("%q is %d, %v, want an error", in, got, err)
		}
	}
}

// A share has six decimals at most, or four as a percentage, and zeros behind them do not count.
func TestParseShare(t *testing.T) {
	for in, want := range map[string]ratio.Ratio{
		"0": 0, "1": ratio.One, "0.95": 950_000, "95%": 950_000, "100%": ratio.One, ".5": 500_000, "5.": 5 * ratio.One,
		"0.123456": 123_456, "12.3456%": 123_456, "0.1234560000": 123_456, "999999%": 9999*ratio.One + 990_000,
	} {
		if got, err := ParseShare("--min", in); err != nil || got != want {
			t.Errorf("%q is %v, %v, want %v", in, got, err, want)
		}
	}
	const none, fine = " is not a share: give one such as 0.95 or 95%", " has more than 6 decimals: round it"
	for in, want := range map[string]string{
		"": none, "%": none, ".": none, "-1": none, "1e3": none, "1,5": none, "1000000": none, "+1": none,
		"0.1234567": fine, "12.34567%": fine,
	} {
		if got, err := ParseShare("--min", in); err == nil || err.Error() != "--min: \""+in+"\""+want {
			t.Errorf("%q is %v, %v, want %q", in, got, err, want)
		}
	}
}

// A command that erases asks at a terminal, and does not go on if the question could not be seen.
func TestErasingAsks(t *testing.T) {
	for _, tt := range []struct{ stdin, stderr, yes, asks, fails bool }{
		{stdin: true, stderr: true, asks: true},
		{stdin: true, fails: true},
		{stdin: true, yes: true},
		{stdin: true, stderr: true, yes: true},
		{stderr: true},
		{},
	} {
		j, _ := newTestJob(t)
		j.StdinTerminal, j.StderrTerminal = tt.stdin, tt.stderr
		cmd := &cobra.Command{}
		Writes(cmd, new(bool))
		if err := cmd.ParseFlags([]string{fmt.Sprintf("--yes=%t", tt.yes)}); err != nil {
			t.Fatal(err)
		}
		if asks, err := j.Asks(cmd); asks != tt.asks || (err != nil) != tt.fails {
			t.Errorf("%+v: %v, %v", tt, asks, err)
		}
	}
}

// Only a y is consent, and a question whose answer breaks off is not answered.
func TestAsk(t *testing.T) {
	for in, want := range map[string]bool{"y\n": true, " Y \r\n": true, "n\n": false, "yes\n": false, "\n": false, "y": false, "": false} {
		var stderr strings.Builder
		j := New(&Env{Terminal: out.Terminal{Stderr: &stderr}, Stdin: strings.NewReader(in)})
		if got := j.Ask("erase\x1b it"); got != want {
			t.Errorf("answer %q: %v, want %v", in, got, want)
		}
		if got := stderr.String(); got != `erase\x1b it? [y/N] ` {
			t.Errorf("asked %q", got)
		}
	}
}

// -v turns the log on, -vv and CARREL_LOG=debug turn on details too.
func TestLogger(t *testing.T) {
	for _, tt := range []struct {
		verbose     int
		log, format string
		want        string // "" if nothing is logged
	}{
		{0, "", "", ""},
		{1, "", "", "level=INFO msg=info"},
		{0, "info", "", "level=INFO msg=info"},
		{2, "", "", "level=INFO msg=info\nlevel=DEBUG msg=debug"},
		{0, "debug", "", "level=INFO msg=info\nlevel=DEBUG msg=debug"},
		{1, "", "json", `"level":"INFO","msg":"info"}`},
	} {
		var stderr strings.Builder
		j := New(&Env{Terminal: out.Terminal{Stderr: &stderr, Getenv: func(name string) string {
			return map[string]string{"CARREL_LOG": tt.log, "CARREL_LOG_FORMAT": tt.format}[name]
		}}})
		j.Verbose = tt.verbose
		if l := j.Logger(); l != nil {
			l.Info("info")
			l.Debug("debug")
		}
		var lines []string
		for line := range strings.Lines(stderr.String()) {
			_, rest, _ := strings.Cut(strings.TrimSpace(line), " ") // the time
			if tt.format == "json" {
				_, rest, _ = strings.Cut(strings.TrimSpace(line), ",")
			}
			lines = append(lines, rest)
		}
		if got := strings.Join(lines, "\n"); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

// A word names a session once: in an argument or by a flag such as -2, and no file beside it.
func TestSessionsAreNamedOnce(t *testing.T) {
	j, _ := newTestJob(t)
	for _, tt := range []struct {
		flags, args []string
		file, says  string
	}{
		{[]string{"-1", "-2"}, nil, "", "-1 and -2 name two sessions: give only one"},
		{[]string{"-9"}, []string{"s"}, "", "-9 and s name two sessions: give only one"},
		{[]string{"-0"}, nil, "f", "f: a stored session is named, too: give only one"},
		{nil, []string{"s"}, "f", "f: a stored session is named, too: give only one"},
	} {
		cmd := &cobra.Command{Use: "x"}
		s := TakesSession(cmd)
		err := cmd.ParseFlags(tt.flags)
		if err == nil {
			err = s.On(t.Context(), j, tt.file, tt.args, func(*Access, transcript.SessionID) error { return nil })
		}
		if got := errText(err); !strings.Contains(got, tt.says) {
			t.Errorf("%q %q %q: %q, want %q", tt.flags, tt.args, tt.file, got, tt.says)
		}
	}
	cmd := &cobra.Command{Use: "x"}
	TakesSession(cmd)
	if err := cmd.ParseFlags([]string{"-10"}); err == nil {
		t.Error("-10 is taken for a session")
	}
}

func TestFilesThatMayHaveConversations(t *testing.T) {
	for name, want := range map[string]bool{
		"a.json": true, "a.jsonl": true, "a.jsonl.zst": true, "a.json.zst": false, "a.meta.json": false, "a.txt": false, "json": false, "meta.json": true,
	} {
		if got := IsFile(name); got != want {
			t.Errorf("IsFile(%q) = %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]bool{"subagents": false, "tool-results": false, "other": true} {
		if got := IsFolder(name); got != want {
			t.Errorf("IsFolder(%q) = %v, want %v", name, got, want)
		}
	}
}

// A flag for a text excludes the flag for a file with it.
func TestFlagOrFile(t *testing.T) {
	j, home := newTestJob(t)
	if err := os.WriteFile(filepath.Join(home, "f"), []byte("in it"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ said, file, want, says string }{
		{"", "", "", ""},
		{"said", "", "said", ""},
		{"", "f", "in it", ""},
		{"said", "f", "", "--text and --file: use only one"},
		{"", "absent", "", "no such file"},
	} {
		got, err := j.FlagOrFile("--text", tt.said, "--file", tt.file)
		if got != tt.want || (err == nil) != (tt.says == "") || !strings.Contains(errText(err), tt.says) {
			t.Errorf("%+v: %q, %v", tt, got, err)
		}
	}
	j.Stdin = strings.NewReader("piped")
	if got, err := j.FlagOrFile("--text", "", "--file", "-"); got != "piped" || err != nil {
		t.Errorf("standard input: %q, %v", got, err)
	}
	if _, err := j.FlagOrFile("--text", "", "--file", "-"); out.KindOf(err) != out.KindUsage {
		t.Errorf("standard input for a second time: %v", err)
	}
	run := Group("probe", "gen, run")
	if got, want := errText(run(nil, nil)), "probe: name one of gen, run"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := errText(run(nil, []string{"x", "y"})), `unknown command "x" for "carrel probe"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFilesOfConversations(t *testing.T) {
	for name, want := range map[string]bool{"a.json": true, "a.jsonl": true, "a.jsonl.zst": true, "a.meta.json": false, "a.json.zst": false, "json": false} {
		if IsFile(name) != want {
			t.Errorf("%s is a file of a conversation: %v, want %v", name, !want, want)
		}
	}
	if IsFolder("subagents") || IsFolder("tool-results") || !IsFolder("a") {
		t.Error("a folder with parts of a session is read, or another is not")
	}
}
