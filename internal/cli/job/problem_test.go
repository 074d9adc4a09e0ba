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
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/pager/seed"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/postgres"
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

// Each hint names the next step for its kind of error, and for what the error is about.
func TestHints(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"a wrong command line", out.Usagef("%w", store.ErrNotFound), ""},
		{"a session that is not found", api.About(api.SubjectSession, store.ErrNotFound), "carrel sessions lists them"},
		{"a block that is not found", api.About(api.SubjectBlock, store.ErrNotFound), "carrel search QUERY finds blocks, and carrel messages lists them"},
		{"what is not found", store.ErrNotFound, ""},
		{"a summary that is not made", api.About(api.SubjectNoSummary, store.ErrNotFound), "carrel compress --strategy anchored writes one when the window is larger than its --target"},
		{"a summary that is not found", api.About(api.SubjectSummary, store.ErrNotFound), "carrel summary show prints the summary of a session"},
		{"a manifest that is not found", api.About(api.SubjectManifest, store.ErrNotFound), "carrel manifest list prints the manifests of a scope; --scope names another scope"},
		{"an artifact that is not found", api.About(api.SubjectArtifact, store.ErrNotFound), "carrel ls lists the artifacts of a scope; --scope names another scope"},
		{"a store that is not found", api.About(api.SubjectStore, store.ErrNotFound), "carrel import --all imports the sessions of your agents, and carrel demo shows an example"},
		{"an ambiguous id", carrel.ErrAmbiguous, "give more of the id"},
		{"an ambiguous manifest", api.About(api.SubjectManifest, carrel.ErrAmbiguous), "give more of the id; carrel manifest list has them"},
		{"an ambiguous artifact", api.About(api.SubjectArtifact, carrel.ErrAmbiguous), "give more of the id; carrel ls lists them"},
		{"a file that is there", fs.ErrExist, "name another file, or replace this one with --force"},
		{"a file that is not there", &fs.PathError{Op: "open", Path: "f", Err: fs.ErrNotExist}, "check the name: a relative one begins in the current folder, or in the folder of -C"},
		{"a file of others", &fs.PathError{Op: "open", Path: "f", Err: fs.ErrPermission}, "change the permissions of the file or folder, or name another"},
		{"a discard of a block that the conversation lacks", &pager.DiscardError{Named: 1, Floor: 9, Before: 5, Refused: []pager.Refusal{{Block: "x", Reason: "is no block of the conversation"}}}, "nothing was discarded; carrel messages shows the blocks that may leave, and carrel discard --auto chooses"},
		{"a discard from a small window", &pager.DiscardError{Named: 1, Floor: 9, Before: 5, Refused: []pager.Refusal{{Block: "x", Reason: "is pinned"}}}, "nothing was discarded, and nothing needs to be: the window is not above its floor, the setting budget.floor"},
		{"a critical session", api.About(api.SubjectCritical, carrel.ErrPolicy), "take another --strategy, or carrel sessions mark --no-critical"},
		{"a credential", api.About(api.SubjectCredential, carrel.ErrPolicy), "take it out, or store it as it is with --allow-secret"},
		{"another policy", carrel.ErrPolicy, ""},
		{"a conflict about a credential", api.About(api.SubjectCredential, store.ErrConflict), "try again"},
		{"a fetch without a network", fmt.Errorf("%w: %w", artifact.ErrForbidden, artifact.ErrOffline), "leave out --offline, which CARREL_OFFLINE and the settings turn on, too"},
		{"a fetch without leave", artifact.ErrForbidden, "carrel help config says how; carrel config show --origin lists what is set"},
		{"another program's database", sqlite.ErrForeign, "choose another file with --store"},
		{"a newer store", &store.SchemaError{}, "use a carrel at least as new as the store"},
		{"a database that is not safe", &postgres.UnsafeError{}, ""},
		{"a damaged store", store.ErrCorrupt, "carrel store check, then carrel store restore BACKUP"},
		{"a record that was changed", carrel.ErrIntegrity, "carrel store check, then carrel store restore BACKUP"},
		{"time is up", context.DeadlineExceeded, "give more time with --timeout; completed writes stay"},
		{"a settings file with a hint", &config.FileError{Err: fs.ErrInvalid, Hint: "do x"}, "do x"},
		{"a settings file", &config.FileError{Err: fs.ErrInvalid}, "carrel help config"},
		{"a transcript with a hint", &transcript.SyntaxError{Hint: "do x"}, "do x"},
		{"a transcript", &transcript.SyntaxError{}, ""},
		{"a history with a hint", &seed.InputError{Hint: "do x"}, "do x"},
		{"a contract with a hint", &contract.SyntaxError{Hint: "do x"}, "do x"},
		{"probes that cannot be read", &probe.ParseError{}, "carrel debug schema probes; carrel probe gen writes such a list"},
		{"a summary that cannot be read", &summary.SyntaxError{}, "carrel help summaries"},
		{"a folder that is not for contracts", &config.ContractsError{Hint: "do x"}, "do x"},
		{"a decision against another", &contract.ConflictError{}, "give --on-conflict, or leave it as it was decided"},
		{"a closed contract", contract.ErrClosed, "carrel contract init --inherit SESSION begins another"},
		{"a contract that is there", contract.ErrInitialized, "carrel contract show, or carrel contract add"},
		{"a payload that cannot be read", &contract.PayloadError{}, "carrel contract init --help shows a payload"},
		{"a run that fails", &contract.RunError{}, "nothing was changed; carrel contract show lists the rules, carrel contract check the failures"},
		{"a budget below the floor", &pager.FloorError{Need: 1234}, "carrel compress --target 1234, or --strategy account --smallest, or carrel unpin ID for a pinned block"},
		{"a discard below the floor", &pager.DiscardError{Target: 5, Floor: 4321}, "carrel discard --auto --to 4321"},
		{"a paging that is refused", &pager.DiscardError{Paging: true}, "nothing was paged; carrel messages shows the blocks under rules, and carrel unpin lifts a pin"},
		{"a discard of all but a token", &pager.DiscardError{Target: 1, Floor: 9}, "carrel discard --auto --to 9"},
		{"a discard at the floor", &pager.DiscardError{Before: 5, Floor: 5}, "nothing was discarded, and nothing needs to be: the window is not above its floor, the setting budget.floor"},
		{"a discard that is refused", &pager.DiscardError{Before: 6, Floor: 5}, "nothing was discarded; carrel messages shows the blocks that may leave, and carrel discard --auto chooses"},
	} {
		if got := hint(fmt.Errorf("job: %w", tt.err)); got != tt.want {
			t.Errorf("%s: hint %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A problem names the file, the line and the key that an error is about, and lists what is wrong.
func TestProblemsNameTheirPlace(t *testing.T) {
	for _, tt := range []struct {
		name     string
		err      error
		file     string
		line     int
		field    string
		problems []string
	}{
		{"no file", store.ErrNotFound, "", 0, "", nil},
		{"a settings file", &config.FileError{Err: fs.ErrInvalid, File: "f", Line: 3, Key: "k"}, "f", 3, "k", nil},
		{"a line of a file", &out.Error{Err: carrel.ErrRequest, File: "f", Line: 4}, "f", 4, "", nil},
		{"a file as a whole", out.InFile("f", carrel.ErrRequest), "f", 0, "", nil},
		{"a settings file that another name stands for", &out.Error{Err: &config.FileError{Err: fs.ErrInvalid, File: "f", Line: 3}, File: "g"}, "g", 3, "", nil},
		{"a line of a contract", out.InFile("f", &contract.SyntaxError{Line: 5}), "f", 5, "", nil},
		{"problems", &out.Error{Text: "broken", Kind: out.KindIntegrity, Problems: []string{"x", "y"}}, "", 0, "", []string{"x", "y"}},
	} {
		p := NewProblem(fmt.Errorf("job: %w", tt.err))
		if p.File != tt.file || p.Line != tt.line || p.Field != tt.field || fmt.Sprint(p.Problems) != fmt.Sprint(tt.problems) {
			t.Errorf("%s: %q line %d, field %q, problems %q, want %+v", tt.name, p.File, p.Line, p.Field, p.Problems, tt)
		}
	}
	if code, slug := classify(out.SomeFailed(1, 2, &store.SchemaError{})); code != 3 || slug != "some-files" {
		t.Errorf("some files: %d %s", code, slug)
	}
}

// A signal and a timeout stand for the errors that they cause, but not for the exit code of a
// program.
func TestCauses(t *testing.T) {
	signaled, stop := context.WithCancelCause(t.Context())
	stop(&SignalError{syscall.SIGTERM})
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	other := errors.New("x")
	agent := &AgentError{Name: "sh", Code: 5}
	for _, tt := range []struct {
		name    string
		ctx     context.Context //nolint:containedctx // a case of a table
		limited context.Context //nolint:containedctx // the same
		err     error
		want    int
	}{
		{"no error", signaled, nil, nil, 0},
		{"a signal", signaled, nil, other, 143},
		{"a program that ended after a signal", signaled, nil, agent, 5},
		{"another error", t.Context(), t.Context(), other, 70},
		{"no timeout", t.Context(), nil, other, 70},
		{"a timeout", t.Context(), late, other, 7},
		{"an error beside a timeout", t.Context(), late, store.ErrNotFound, 4},
	} {
		if got := Status((&Job{limited: tt.limited}).Cause(tt.ctx, tt.err)); got != tt.want {
			t.Errorf("%s: status %d, want %d", tt.name, got, tt.want)
		}
	}
}
