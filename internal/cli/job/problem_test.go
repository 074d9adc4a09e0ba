package job

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/internal/cli/out"
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
		{"the answer is no", out.ErrNo, 1, "no"},
		{"a result that would be refused", &carrel.InvalidError{Violations: make([]transcript.Violation, 1)}, 1, "invalid-result"},
		{"a window that does not answer", &carrel.ProbesError{Attempts: make([]carrel.Attempt, 1)}, 1, "probes"},
		{"a wrong command line", out.Usagef("unknown flag"), 2, "usage"},
		{"a wrong command line about a file", out.Usagef("%w", fs.ErrNotExist), 2, "usage"},
		{"a setting without sense", &config.Error{Name: "--now", Err: errors.New("x")}, 2, "usage"},
		{"a settings file without sense", &config.FileError{Err: fs.ErrPermission}, 2, "usage"},
		{"an option of the pager without sense", &seed.OptionError{}, 2, "usage"},
		{"an encoding that is not known", token.ErrEncoding, 2, "encoding"},
		{"an abbreviation of several things", carrel.ErrAmbiguous, 2, "ambiguous"},
		{"a format that is not known", carrel.ErrFormat, 3, "format"},
		{"a file with a wrong line", &transcript.SyntaxError{}, 3, "input"},
		{"a summary that cannot be read", out.InFile("f", &summary.SyntaxError{}), 3, "input"},
		{"probes that cannot be read", out.InFile("f", &probe.ParseError{}), 3, "input"},
		{"a payload that cannot be read", out.InFile("f", &contract.PayloadError{}), 3, "input"},
		{"a folder that is not for contracts", &config.ContractsError{}, 9, "refused"},
		{"consent that was not given", out.ErrConsent, 10, "consent"},
		{"a history without sense", &seed.InputError{}, 3, "input"},
		{"a contract that cannot be replayed", &out.Error{Err: &contract.SyntaxError{}, Kind: out.KindInput, File: "f"}, 3, "input"},
		{"some of several files", out.SomeFailed(1, 2, store.ErrBusy), 3, "some-files"},
		{"a file that is not there", &fs.PathError{Op: "open", Path: "f", Err: fs.ErrNotExist}, 3, "file"},
		{"a rename that fails", &os.LinkError{Op: "rename", Old: "f", New: "g", Err: fs.ErrPermission}, 3, "file"},
		{"another program's database", sqlite.ErrForeign, 3, "store"},
		{"a newer store", &store.SchemaError{}, 3, "store"},
		{"what does not exist", store.ErrNotFound, 4, "not-found"},
		{"what was erased", carrel.ErrGone, 4, "gone"},
		{"what its source no longer has", artifact.ErrGone, 4, "source-gone"},
		{"a source that does not answer", artifact.ErrUnavailable, 8, "unavailable"},
		{"a source that no setting allows", artifact.ErrForbidden, 9, "forbidden"},
		{"a line of a file that makes no sense", &out.Error{Err: carrel.ErrRequest, Kind: out.KindInput, File: "f", Line: 1}, 3, "input"},
		{"a line of a file with a credential", &out.Error{Err: carrel.ErrPolicy, File: "f", Line: 1}, 9, "refused"},
		{"a budget below the floor", &pager.FloorError{}, 5, "budget-floor"},
		{"a damaged store", store.ErrCorrupt, 6, "corrupt"},
		{"a damaged store whose cell is not found", fmt.Errorf("%w: %w", store.ErrCorrupt, store.ErrNotFound), 6, "corrupt"},
		{"a check that found something", &out.Error{Text: "broken", Kind: out.KindIntegrity, Problems: []string{"x"}}, 6, "integrity"},
		{"a record that was changed", carrel.ErrIntegrity, 6, "integrity"},
		{"a manifest without its seal", manifest.ErrSeal, 6, "seal"},
		{"a manifest in another form", manifest.ErrFormat, 6, "manifest-format"},
		{"what the gate did not let through", &out.Error{Text: "held", Kind: out.KindRefused, Said: true}, 9, "refused"},
		{"an error with another hint", out.Hinted(store.ErrNotFound, "x"), 4, "not-found"},
		{"a store that is locked", store.ErrBusy, 7, "busy"},
		{"another writer", store.ErrConflict, 7, "conflict"},
		{"time is up", context.DeadlineExceeded, 7, "timeout"},
		{"a policy", carrel.ErrPolicy, 9, "refused"},
		{"a shorter copy of a known session", &carrel.ShorterError{}, 9, "shorter"},
		{"a file that is there already", fs.ErrExist, 9, "refused"},
		{"a bug", &PanicError{Value: "x"}, 70, "bug"},
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
			if got := Status(err); got != tt.want {
				t.Errorf("status(%v) = %d, want %d", err, got, tt.want)
			}
			_, slug := classify(err)
			if slug != tt.slug {
				t.Errorf("classify(%v) is %q, want %q", err, slug, tt.slug)
			}
			if err != nil && NewProblem(err).Title == "" {
				t.Errorf("%q has no title", slug)
			}
		})
	}
}

func TestHintOfACommand(t *testing.T) {
	if got := hint(out.Hinted(store.ErrNotFound, "try y")); got != "try y" {
		t.Errorf("hint = %q, want that of the command", got)
	}
}
