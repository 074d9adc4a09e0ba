package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/internal/exam"
	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/pager/seed"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/server/hook"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/postgres"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/transcript"
)

// A SignalError is the cause of a context that was canceled by a signal.
type SignalError struct{ Signal os.Signal }

// A PanicError is a bug in Carrel.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("this is a bug in carrel: %v", e.Value) }

func (e *SignalError) Error() string { return e.Signal.String() }

// A ToleratedError is printed on standard error, but the exit code is 0. [errors.Is] and
// [errors.As] do not find Err in it.
type ToleratedError struct{ Err error }

func (e *ToleratedError) Error() string { return e.Err.Error() }

// An AgentError says that a program which Carrel ran for the user ended with an exit code other
// than 0. Carrel exits with the same code.
type AgentError struct {
	Name string
	Code int
}

func (e *AgentError) Error() string { return fmt.Sprintf("%s ended with code %d", e.Name, e.Code) }

// Status returns the exit code of an error. No other function maps errors to exit codes.
func Status(err error) int {
	code, _ := classify(err)
	return code
}

// classify returns the exit code of an error and the name of its kind.
func classify(err error) (code int, slug string) {
	switch kind := out.KindOf(err); {
	case err == nil:
		return 0, ""
	case Is[*PanicError](err):
		return api.ExitBug, "bug"
	case Is[*AgentError](err):
		e, _ := errors.AsType[*AgentError](err)
		return e.Code, "agent"
	case Is[*SignalError](err):
		if s, _ := errors.AsType[*SignalError](err); s.Signal == syscall.SIGTERM {
			return 143, "terminated"
		}
		return api.ExitInterrupt, "interrupted"
	case kind == out.KindSomeFiles && api.KindOf(err).Exit == api.ExitStore:
		return api.ExitStore, api.KindOf(err).Slug
	case kind != out.Kind{}:
		return kind.Exit, kind.Slug
	case Is[*config.Error](err), Is[*config.FileError](err):
		return api.ExitUsage, "usage"
	case errors.Is(err, fs.ErrExist), Is[*config.ContractsError](err):
		return api.ExitPolicy, "refused"
	case Is[*exam.Error](err), Is[*hook.EventError](err):
		return api.ExitInput, "input"
	case errors.Is(err, exam.ErrNoRun):
		return api.ExitNotFound, "not-found"
	case errors.Is(err, exam.ErrStale), errors.Is(err, llm.ErrSpend):
		return api.ExitPolicy, "refused"
	case errors.Is(err, llm.ErrUnavailable), errors.Is(err, llm.ErrRefused), errors.Is(err, llm.ErrReply):
		return api.ExitNetwork, "model"
	}
	if k := api.KindOf(err); k != api.Unexpected {
		return k.Exit, k.Slug
	}
	switch {
	case errors.Is(err, sqlite.ErrForeign), Is[*store.SchemaError](err), Is[*postgres.UnsafeError](err):
		return api.ExitInput, "store"
	case Is[*fs.PathError](err), Is[*os.LinkError](err), Is[*auth.KeyError](err):
		return api.ExitInput, "file"
	}
	return api.ExitBug, "unexpected"
}

// Is reports whether the chain of err has an error of the type E.
func Is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// titles has the titles of two sorts of kinds of errors: those that only the command line has, and
// those for which it uses another title.
var titles = lazy.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"bug":        "bug in carrel",
		"terminated": "terminated",
		"no":         "the answer is no",
		"usage":      "wrong command line",
		"refused":    "refused by policy",
		"consent":    "consent is needed",
		"some-files": "some files failed",
		"store":      "store cannot be read",
		"file":       "file cannot be read or written",
		"input":      "input cannot be read",
		"model":      "the model gives no reply that can be used",
		"integrity":  "does not verify",
	}
}}

// hint returns what to try next, or "".
func hint(err error) string {
	if text := out.HintOf(err); text != "" || out.KindOf(err) == out.KindUsage {
		return text
	}
	for _, of := range [...]func(error) string{fileHint, budgetHint, contractHint} {
		if text := of(err); text != "" {
			return text
		}
	}
	if e, ok := errors.AsType[*sqlite.NotStoreError](err); ok {
		if e.Empty {
			return "remove the file if it never had content; if it was a store, carrel store restore BACKUP puts a backup in its place"
		}
		return "name another store with --store; if this file was one, carrel store restore BACKUP puts a backup in its place"
	}
	_, slug := classify(err)
	switch {
	case slug == "ambiguous":
		if list := lists.Get()[api.SubjectOf(err)]; list != "" {
			return "give more of the id; " + list
		}
		return "give more of the id"
	case slug == "not-found":
		return afterNotFound.Get()[api.SubjectOf(err)]
	case slug == "refused" && api.SubjectOf(err) == api.SubjectSession:
		return "carrel sessions rm --undo, with its id, restores it"
	case slug == "refused" && errors.Is(err, fs.ErrExist):
		return "name another file, or replace this one with --force"
	case slug == "refused" && api.SubjectOf(err) == api.SubjectCritical:
		return "take another --strategy, or carrel sessions mark --no-critical"
	case slug == "refused" && api.SubjectOf(err) == api.SubjectCredential:
		return "take it out, or store it as it is with --allow-secret"
	case slug == "forbidden" && errors.Is(err, artifact.ErrOffline):
		return "leave out --offline, which CARREL_OFFLINE and the settings turn on, too"
	case slug == "store" && errors.Is(err, sqlite.ErrForeign):
		return "choose another file with --store"
	case Is[*postgres.UnsafeError](err):
		return "" // the error itself says what to do
	}
	return hints.Get()[slug]
}

// restore is the hint for damaged records.
const restore = "carrel store check, then carrel store restore BACKUP"

// hints are the hints for kinds of errors, by the name of the kind.
var hints = lazy.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"probes":          "nothing was changed; try a larger --target, --strategy account, or --probe-min 0 to accept any result",
		"invalid-result":  "nothing was changed; please report this with the session's format",
		"shorter":         "import the whole file, or give --rewind to drop the missing messages from the conversation",
		"forbidden":       "carrel help config says how; carrel config show --origin lists what is set",
		"unavailable":     "try again when the source can be reached",
		"gone":            "its content is erased for good, and nothing brings it back",
		"source-gone":     "put the source back, or remove the artifact with carrel rm",
		"integrity":       restore,
		"corrupt":         restore,
		"seal":            restore,
		"manifest-format": restore,
		"busy":            "try again",
		"conflict":        "try again",
		"format":          "carrel help formats",
		"timeout":         "give more time with --timeout; completed writes stay",
		"store":           "use a carrel at least as new as the store",
		"bug":             "carrel version, and report it with the command line",
		"unexpected":      "carrel version, and report it with the command line",
	}
}}

// fileHint returns the hint for an error in the content of a file, or "".
func fileHint(err error) string {
	if e, ok := errors.AsType[*config.FileError](err); ok {
		return cmp.Or(e.Hint, "carrel help config")
	}
	if e, ok := errors.AsType[*transcript.SyntaxError](err); ok && e.Hint != "" {
		return e.Hint
	}
	if e, ok := errors.AsType[*seed.InputError](err); ok && e.Hint != "" {
		return e.Hint
	}
	if e, ok := errors.AsType[*contract.SyntaxError](err); ok && e.Hint != "" {
		return e.Hint
	}
	switch {
	case Is[*hook.EventError](err):
		return "the agent sends an event as JSON on standard input: carrel hook --help"
	case Is[*probe.ParseError](err):
		return "carrel debug schema probes; carrel probe gen writes such a list"
	case Is[*summary.SyntaxError](err):
		return "carrel help summaries"
	}
	switch _, slug := classify(err); {
	case slug != "file":
	case errors.Is(err, fs.ErrNotExist):
		return "check the name: a relative one begins in the current folder, or in the folder of -C"
	case errors.Is(err, fs.ErrPermission):
		return "change the permissions of the file or folder, or name another"
	}
	return ""
}

// budgetHint returns the hint for a target that cannot be reached because rules keep blocks in the
// window. It returns "" for other errors.
func budgetHint(err error) string {
	if e, ok := carrel.Refused(err); ok {
		switch {
		case e.Target > 0:
			return fmt.Sprintf("carrel discard --auto --to %d", e.Floor)
		case e.Paging:
			return "nothing was paged; carrel messages shows the blocks under rules, and carrel unpin lifts a pin"
		}
		if e.Before <= e.Floor && !slices.ContainsFunc(e.Refused, unknown) {
			return "nothing was discarded, and nothing needs to be: the window is not above its floor, the setting budget.floor"
		}
		return "nothing was discarded; carrel messages shows the blocks that may leave, and carrel discard --auto chooses"
	}
	if e, ok := carrel.Floor(err); ok {
		return fmt.Sprintf("carrel compress --target %d, or --strategy account --smallest, or carrel unpin ID for a pinned block", e.Need)
	}
	return ""
}

// unknown reports whether a block was refused because the conversation does not have it.
func unknown(r pager.Refusal) bool { return strings.HasPrefix(r.Reason, "is no block") }

// lists are the hints for ambiguous ids: the command that lists the candidates.
var lists = lazy.Value[map[api.Subject]string]{Make: func() map[api.Subject]string {
	return map[api.Subject]string{
		api.SubjectSession:  "carrel sessions lists them",
		api.SubjectBlock:    "carrel messages lists them",
		api.SubjectManifest: "carrel manifest list has them",
		api.SubjectArtifact: "carrel ls lists them",
	}
}}

// afterNotFound are the hints for things that were not found, by their kind.
var afterNotFound = lazy.Value[map[api.Subject]string]{Make: func() map[api.Subject]string {
	return map[api.Subject]string{
		api.SubjectBlock:     "carrel search QUERY finds blocks, and carrel messages lists them",
		api.SubjectNoSummary: "carrel compress --strategy anchored writes one when the window is larger than its --target",
		api.SubjectSummary:   "carrel summary show prints the summary of a session",
		api.SubjectManifest:  "carrel manifest list prints the manifests of a scope; --scope names another scope",
		api.SubjectArtifact:  "carrel ls lists the artifacts of a scope; --scope names another scope",
		api.SubjectStore:     "carrel import --all imports the sessions of your agents, and carrel demo shows an example",
		api.SubjectSession:   "carrel sessions lists them",
	}
}}

// NewProblem returns an error as a document for programs. Its status is the exit code.
func NewProblem(err error) *api.Problem {
	code, slug := classify(err)
	p := api.NewProblem(err)
	p.Type, p.Title, p.Status, p.Hint = api.TypePrefix+slug, cmp.Or(titles.Get()[slug], p.Title), code, hint(err)
	p.Detail = strings.ReplaceAll(p.Detail, context.DeadlineExceeded.Error(), "the time is up")
	if e, ok := errors.AsType[*config.FileError](err); ok {
		p.File, p.Line, p.Field = e.File, e.Line, e.Key
	}
	if e := out.FindError(err, func(e *out.Error) bool { return e.File != "" }); e.File != "" {
		p.File, p.Line = e.File, cmp.Or(e.Line, p.Line)
		if bad, ok := errors.AsType[*contract.SyntaxError](e.Err); ok {
			p.Line = bad.Line
		}
	}
	if e := out.FindError(err, func(e *out.Error) bool { return e.Problems != nil }); e.Problems != nil {
		p.Problems = e.Problems
	}
	return p
}

// contractHint returns the hint for an error in a contract, or "".
func contractHint(err error) string {
	if e, ok := errors.AsType[*config.ContractsError](err); ok {
		return e.Hint
	}
	switch {
	case Is[*contract.ConflictError](err):
		return "give --on-conflict, or leave it as it was decided"
	case errors.Is(err, contract.ErrClosed):
		return "carrel contract init --inherit SESSION begins another"
	case errors.Is(err, contract.ErrInitialized):
		return "carrel contract show, or carrel contract add"
	case Is[*contract.PayloadError](err):
		return "carrel contract init --help shows a payload"
	case Is[*contract.RunError](err):
		return "nothing was changed; carrel contract show lists the rules, carrel contract check the failures"
	}
	return ""
}

// PrintProblem prints an error about one of several files.
func (j *Job) PrintProblem(p *api.Problem) {
	fmt.Fprintln(j.Stderr, "carrel: "+out.Visible(p.Detail))
}
