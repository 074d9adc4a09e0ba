package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/pager/seed"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

func TestStatus(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want int
		slug string
	}{
		{"no error", nil, 0, ""},
		{"the answer is no", errNo, 1, "no"},
		{"a result that would be refused", &carrel.InvalidError{Violations: make([]transcript.Violation, 1)}, 1, "invalid-result"},
		{"a window that does not answer", &carrel.ProbesError{Attempts: make([]carrel.Attempt, 1)}, 1, "probes"},
		{"a wrong command line", usagef("unknown flag"), 2, "usage"},
		{"a wrong command line about a file", usagef("%w", fs.ErrNotExist), 2, "usage"},
		{"a setting without sense", &config.Error{Name: "--now", Err: errors.New("x")}, 2, "usage"},
		{"a settings file without sense", &config.FileError{Err: fs.ErrPermission}, 2, "usage"},
		{"an option of the pager without sense", &seed.OptionError{}, 2, "usage"},
		{"an encoding that is not known", token.ErrEncoding, 2, "encoding"},
		{"an abbreviation of several things", carrel.ErrAmbiguous, 2, "ambiguous"},
		{"a format that is not known", carrel.ErrFormat, 3, "format"},
		{"a file with a wrong line", &transcript.SyntaxError{}, 3, "input"},
		{"a summary that cannot be read", inFile("f", &summary.SyntaxError{}), 3, "input"},
		{"probes that cannot be read", inFile("f", &probe.ParseError{}), 3, "input"},
		{"a payload that cannot be read", inFile("f", &contract.PayloadError{}), 3, "input"},
		{"a folder that is not for contracts", &config.ContractsError{}, 9, "refused"},
		{"consent that was not given", errConsent, 10, "consent"},
		{"a history without sense", &seed.InputError{}, 3, "input"},
		{"a contract that cannot be replayed", &contractError{"f", &contract.SyntaxError{}}, 3, "input"},
		{"some of several files", &someFailed{1, 2, store.ErrBusy}, 3, "some-files"},
		{"a file that is not there", &fs.PathError{Op: "open", Path: "f", Err: fs.ErrNotExist}, 3, "file"},
		{"a rename that fails", &os.LinkError{Op: "rename", Old: "f", New: "g", Err: fs.ErrPermission}, 3, "file"},
		{"another program's database", sqlite.ErrForeign, 3, "store"},
		{"a newer store", &sqlite.SchemaError{}, 3, "store"},
		{"what does not exist", store.ErrNotFound, 4, "not-found"},
		{"what was erased", carrel.ErrGone, 4, "gone"},
		{"what its source no longer has", artifact.ErrGone, 4, "source-gone"},
		{"a source that does not answer", artifact.ErrUnavailable, 8, "unavailable"},
		{"a source that no setting allows", artifact.ErrForbidden, 9, "forbidden"},
		{"a line of a file that makes no sense", &lineError{"f", 1, carrel.ErrRequest}, 3, "input"},
		{"a line of a file with a credential", &lineError{"f", 1, carrel.ErrPolicy}, 9, "refused"},
		{"a budget below the floor", &pager.FloorError{}, 5, "budget-floor"},
		{"a damaged store", store.ErrCorrupt, 6, "corrupt"},
		{"a damaged store whose cell is not found", fmt.Errorf("%w: %w", store.ErrCorrupt, store.ErrNotFound), 6, "corrupt"},
		{"a check that found something", &brokenError{"f", []string{"x"}}, 6, "integrity"},
		{"a record that was changed", carrel.ErrIntegrity, 6, "integrity"},
		{"a manifest without its seal", manifest.ErrSeal, 6, "seal"},
		{"a manifest in another form", manifest.ErrFormat, 6, "manifest-format"},
		{"what the gate did not let through", errGate, 9, "refused"},
		{"an error with another hint", &hintedError{store.ErrNotFound, "x"}, 4, "not-found"},
		{"a store that is locked", store.ErrBusy, 7, "busy"},
		{"another writer", store.ErrConflict, 7, "conflict"},
		{"time is up", context.DeadlineExceeded, 7, "timeout"},
		{"a policy", carrel.ErrPolicy, 9, "refused"},
		{"a shorter copy of a known session", &carrel.ShorterError{}, 9, "shorter"},
		{"a file that is there already", fs.ErrExist, 9, "refused"},
		{"a bug", &panicError{value: "x"}, 70, "bug"},
		{"an error that nobody has thought of", errors.New("x"), 70, "unexpected"},
		{"an interrupt", &SignalError{os.Interrupt}, 130, "interrupted"},
		{"a canceled job", context.Canceled, 130, "interrupted"},
		{"a termination", &SignalError{syscall.SIGTERM}, 143, "terminated"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.err
			if err != nil {
				err = fmt.Errorf("import: %w", err)
			}
			if got := status(err); got != tt.want {
				t.Errorf("status(%v) = %d, want %d", err, got, tt.want)
			}
			_, slug := classify(err)
			if slug != tt.slug {
				t.Errorf("classify(%v) is %q, want %q", err, slug, tt.slug)
			}
			if err != nil && newProblem(err).Title == "" {
				t.Errorf("%q has no title", slug)
			}
		})
	}
}

// newEnv returns an environment without a process, in which HOME is a folder
// of its own.
func newEnv(t *testing.T) (env *Env, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	home := t.TempDir()
	return &Env{
		Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr, Dir: home,
		Now: func() time.Time { return time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC) },
		Getenv: func(name string) string {
			return map[string]string{"HOME": home}[name]
		},
	}, stdout, stderr
}

func TestMainReportsABug(t *testing.T) {
	env, stdout, stderr := newEnv(t)
	env.Now = func() time.Time { panic("no clock") }
	if got := Main(t.Context(), env, []string{"bench", "pager", "--json"}); got != exitBug {
		t.Errorf("status %d, want %d", got, exitBug)
	}
	if got := stderr.String(); got != "carrel: this is a bug in carrel: no clock\n" {
		t.Errorf("standard error is %q", got)
	}
	if got := stdout.String(); !strings.Contains(got, `"type":"carrel:problem/bug"`) {
		t.Errorf("standard output is %q", got)
	}
}

// A signal is what an error is about, whatever it led to, and the store is as
// it was.
func TestMainIsInterrupted(t *testing.T) {
	env, _, stderr := newEnv(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&SignalError{os.Interrupt})
	if got := Main(ctx, env, []string{"import", sample(t, "claude.jsonl")}); got != exitInterrupted {
		t.Errorf("status %d, want %d: %s", got, exitInterrupted, stderr)
	}
	if got := stderr.String(); got != "carrel: interrupt\n" {
		t.Errorf("standard error is %q", got)
	}
	env, stdout, _ := newEnv(t)
	if got := Main(t.Context(), env, []string{"sessions"}); got != 0 || stdout.Len() > 0 {
		t.Errorf("status %d, sessions %q, want none", got, stdout)
	}
}

func TestVisible(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain, größer 日本 😀", "plain, größer 日本 😀"},
		{"a\tb\nc\r", `a\tb\nc\r`},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"\x9b31m", `\x9b31m`},
		{"\u009b31m", `\u009b31m`},
		{"abc\u202edcba", `abc\u202edcba`},
		{"\x00\x7f", `\x00\u007f`}, // as JSON wants it
		{"\u2028", `\u2028`},
		{"pay\u200bpal\ufeff\u00ad", `pay\u200bpal\ufeff\u00ad`},
		{"\U000e0041", `\udb40\udc41`},
		{"\ufffd", `\ufffd`},
		{"👩\u200d💻 نامه\u200cای", "👩\u200d💻 نامه\u200cای"}, // writing needs these
	} {
		if got := visible(tt.in); got != tt.want {
			t.Errorf("visible(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[2J\n\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := visible(s)
		if r := commands(got, ""); r != "" {
			t.Errorf("visible(%q) = %q has %q", s, got, r)
		}
		if again := visible(got); again != got {
			t.Errorf("visible(%q) = %q, want it as it is", got, again)
		}
	})
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{"lantern", 7, "lantern"},
		{"lantern", 6, "lante…"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"e\u0301tude", 5, "e\u0301tude"},
	} {
		if got := cut(tt.in, tt.n); got != tt.want {
			t.Errorf("cut(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 12904: "12,904"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for id, want := range map[transcript.SessionID]string{
		"7a11b0d2-3c55-4f0e-9e77-52a1c4d8e6f3": "7a11b0d2",
		"an-bae12088015a7fe3":                  "an-bae12088",
		"history":                              "history",
		"my-notes":                             "my-notes",
	} {
		if got := short(id); got != want {
			t.Errorf("short(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestParseSince(t *testing.T) {
	now := time.Date(2026, 2, 10, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ in, want string }{
		{"36h", "2026-02-09T00:00:00Z"},
		{"7d", "2026-02-03T12:00:00Z"},
		{"2w", "2026-01-27T12:00:00Z"},
		{"2026-01-31", "2026-01-31T00:00:00Z"},
		{"2026-01-31T08:00:00+01:00", "2026-01-31T08:00:00+01:00"},
		{"-1d", ""},
		{"d", ""},
		{"soon", ""},
	} {
		got := ""
		if at, err := parseSince(tt.in, now); err == nil {
			got = at.Format(time.RFC3339)
		}
		if got != tt.want {
			t.Errorf("parseSince(%q) = %q, want %q", tt.in, got, tt.want)
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
		{`C:\a\b`, `C:\a`, true},
	} {
		if got := within(tt.path, tt.dir); got != tt.want {
			t.Errorf("within(%q, %q) = %v, want %v", tt.path, tt.dir, got, tt.want)
		}
	}
}
