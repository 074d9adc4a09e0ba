package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/internal/exam"
	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/pager/seed"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/transcript"
)

// The exit codes. They are part of the interface.
const (
	exitDone        = 0
	exitNo          = api.ExitNo
	exitUsage       = api.ExitUsage
	exitInput       = api.ExitInput
	exitNotFound    = api.ExitNotFound
	exitBudget      = api.ExitBudget
	exitIntegrity   = api.ExitIntegrity
	exitBusy        = api.ExitBusy
	exitNetwork     = api.ExitNetwork
	exitPolicy      = api.ExitPolicy
	exitConsent     = 10
	exitStore       = api.ExitStore
	exitBug         = api.ExitBug
	exitInterrupted = api.ExitInterrupt
	exitTerminated  = 143
)

// A SignalError is the cause of a context that a signal has canceled.
type SignalError struct{ Signal os.Signal }

func (e *SignalError) Error() string { return e.Signal.String() }

// A usageError is a command line that makes no sense.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{err: fmt.Errorf(format, args...)} }

// errNo means that the answer is no, and that it was printed.
var errNo = errors.New("no")

// A panicError is a bug in Carrel.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("this is a bug in carrel: %v", e.value) }

// A brokenError says that a check of the store found something.
type brokenError struct {
	path     string
	problems []string
}

func (e *brokenError) Error() string {
	return fmt.Sprintf("store %s does not verify: %s", e.path, count(len(e.problems), "problem"))
}

// A contractError is a contract that cannot be replayed.
type contractError struct {
	path string
	err  *contract.SyntaxError
}

func (e *contractError) Error() string { return e.path + ": " + e.err.Error() }
func (e *contractError) Unwrap() error { return e.err }

// An inputError is about a file that is not what it should be.
type inputError struct {
	file string
	err  error
}

func (e *inputError) Error() string { return e.file + ": " + e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

func inFile(file string, err error) error { return &inputError{file, err} }

// A someFailed error says that some of several files failed.
type someFailed struct {
	failed, all int
	first       error
}

func (e *someFailed) Error() string { return fmt.Sprintf("%d of %d files failed", e.failed, e.all) }
func (e *someFailed) Unwrap() error { return e.first }

// status is the one place where an error becomes an exit code.
func status(err error) int {
	code, _ := classify(err)
	return code
}

// classify returns the exit code of an error and a word for its kind.
func classify(err error) (code int, slug string) {
	switch {
	case err == nil:
		return exitDone, ""
	case is[*panicError](err):
		return exitBug, "bug"
	case is[*SignalError](err):
		if s, _ := errors.AsType[*SignalError](err); s.Signal == syscall.SIGTERM {
			return exitTerminated, "terminated"
		}
		return exitInterrupted, "interrupted"
	case errors.Is(err, errNo):
		return exitNo, "no"
	case errors.Is(err, errGate):
		return exitPolicy, "refused"
	case errors.Is(err, errConsent):
		return exitConsent, "consent"
	case is[*someFailed](err) && api.KindOf(err).Exit != exitStore:
		return exitInput, "some-files"
	case is[*lineError](err) && errors.Is(err, carrel.ErrRequest):
		return exitInput, "input"
	case is[*usageError](err), is[*config.Error](err), is[*config.FileError](err):
		return exitUsage, "usage"
	case errors.Is(err, fs.ErrExist), errors.Is(err, errForeign), is[*config.ContractsError](err):
		return exitPolicy, "refused"
	case is[*brokenError](err):
		return exitIntegrity, "integrity"
	case is[*contractError](err), is[*exam.Error](err):
		return exitInput, "input"
	case errors.Is(err, exam.ErrNoRun):
		return exitNotFound, "not-found"
	case errors.Is(err, exam.ErrStale), errors.Is(err, llm.ErrSpend):
		return exitPolicy, "refused"
	case errors.Is(err, llm.ErrUnavailable), errors.Is(err, llm.ErrRefused), errors.Is(err, llm.ErrReply):
		return exitNetwork, "model"
	}
	if k := api.KindOf(err); k != api.Unexpected {
		return k.Exit, k.Slug
	}
	switch {
	case errors.Is(err, sqlite.ErrForeign), is[*sqlite.SchemaError](err):
		return exitInput, "store"
	case is[*fs.PathError](err), is[*os.LinkError](err), is[*auth.KeyError](err):
		return exitInput, "file"
	}
	return exitBug, "unexpected"
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// titles say what each kind of error is that only the command line has, or that is
// something else there.
var titles = map[string]string{
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

// hint returns what to try next, or "".
func hint(err error) string {
	if e, ok := errors.AsType[*usageError](err); ok {
		return e.hint
	}
	if e, ok := errors.AsType[*hintedError](err); ok {
		return e.hint
	}
	if e, ok := errors.AsType[*config.FileError](err); ok {
		return cmp.Or(e.Hint, "carrel help config")
	}
	if is[*someFailed](err) {
		return "the others are imported; carrel import FILE says more of one"
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
	if e, ok := carrel.Refused(err); ok {
		if e.Target > 0 {
			return fmt.Sprintf("carrel discard --auto --to %d", e.Floor)
		}
		if e.Paging {
			return "nothing was paged; carrel messages says which blocks are under a rule, and carrel unpin lifts a pin"
		}
		return "nothing was discarded; carrel messages says what may go, and carrel discard --auto chooses"
	}
	if e, ok := carrel.Floor(err); ok {
		return fmt.Sprintf("carrel compress --target %d, which --smallest stands for, or carrel unpin what is pinned", e.Need)
	}
	if is[*probe.ParseError](err) {
		return "carrel schema probes; carrel probe gen writes such a list"
	}
	if is[*summary.SyntaxError](err) {
		return "carrel help summaries"
	}
	if text := contractHint(err); text != "" {
		return text
	}
	_, slug := classify(err)
	switch slug {
	case "ambiguous":
		list := cmp.Or(map[api.Subject]string{
			api.SubjectManifest: "carrel manifest list has them", api.SubjectArtifact: "carrel ls lists them",
		}[api.SubjectOf(err)], "carrel sessions and carrel messages list them")
		return "give more of the id; " + list
	case "not-found":
		return afterNotFound[api.SubjectOf(err)]
	case "probes":
		return "nothing was changed; try a larger --target, --strategy account, or --probe-min 0 for whatever comes"
	case "invalid-result":
		return "nothing was changed; please report this with the session's format"
	case "refused":
		if errors.Is(err, fs.ErrExist) {
			return "name another file, or replace this one with --force"
		}
		if api.SubjectOf(err) == api.SubjectCritical {
			return "take another --strategy, or carrel sessions mark --no-critical"
		}
		if api.SubjectOf(err) == api.SubjectCredential {
			return "take it out, or let it in with --allow-secret"
		}
	case "shorter":
		return "import the whole file, or give --rewind if what is missing is to leave the conversation"
	case "forbidden":
		if strings.Contains(err.Error(), "offline") {
			return "try again without --offline, which CARREL_OFFLINE and the settings turn on, too"
		}
		return "carrel help config; carrel config show --origin says what is allowed"
	case "unavailable":
		return "try again when the source can be reached"
	case "source-gone":
		return "carrel rm, or put it back where it was"
	case "integrity", "corrupt", "seal", "manifest-format":
		return "carrel store check, then carrel store restore BACKUP"
	case "busy", "conflict":
		return "try again"
	case "timeout":
		return "nothing was changed; give more time with --timeout"
	case "format":
		return "carrel help formats"
	case "store":
		if errors.Is(err, sqlite.ErrForeign) {
			return "choose another file with --store"
		}
		return "use a carrel at least as new as the store"
	case "bug", "unexpected":
		return "carrel version, and report it with the command line"
	}
	return ""
}

// afterNotFound says what to try when something was not found, by what it is.
var afterNotFound = map[api.Subject]string{
	"":                   "carrel search QUERY, or carrel messages",
	api.SubjectBlock:     "carrel search QUERY, or carrel messages",
	api.SubjectNoSummary: "carrel compress --strategy anchored makes one, if the window is above its --target",
	api.SubjectSummary:   "carrel summary show, or carrel probe report",
	api.SubjectManifest:  "carrel manifest list",
	api.SubjectArtifact:  "carrel ls",
	api.SubjectStore:     "carrel import --all, or carrel demo",
	api.SubjectSession:   "carrel sessions",
}

// newProblem returns an error for programs to read. At the command line its status
// is the exit code.
func newProblem(err error) *api.Problem {
	code, slug := classify(err)
	p := api.NewProblem(err)
	p.Type, p.Title, p.Status, p.Hint = api.TypePrefix+slug, cmp.Or(titles[slug], p.Title), code, hint(err)
	if e, ok := errors.AsType[*brokenError](err); ok {
		p.Problems = e.problems
	}
	if e, ok := errors.AsType[*config.FileError](err); ok {
		p.File, p.Line, p.Field = e.File, e.Line, e.Key
	}
	if e, ok := errors.AsType[*inputError](err); ok {
		p.File = e.file
	}
	if e, ok := errors.AsType[*contractError](err); ok {
		p.File, p.Line = e.path, e.err.Line
	}
	if e, ok := errors.AsType[*lineError](err); ok {
		p.File, p.Line = e.file, e.line
	}
	return p
}

// heaviest is how many blocks of a floor are listed for a person.
const heaviest = 5

// fail reports an error and returns the exit code.
func (g *globals) fail(ctx context.Context, err error) int {
	if g.release != nil {
		defer g.release()
	}
	if cause := context.Cause(ctx); err != nil && is[*SignalError](cause) {
		err = cause // whatever it led to
	} else if g.limited != nil && g.limited.Err() != nil && status(err) == exitBug {
		err = g.limited.Err()
	}
	code := status(err)
	if err == nil || errors.Is(err, errNo) || errors.Is(err, errGate) || errors.Is(err, errConsent) {
		return code
	}
	p := newProblem(err)
	if g.json != "" {
		doc, _ := jsonText(p, g.env.StdoutTerminal) // strings and numbers
		_, _ = g.env.Stdout.Write(doc)              // the code says it all
	}
	fmt.Fprintln(g.env.Stderr, "carrel: "+visible(p.Detail))
	if g.json != "" {
		return code
	}
	if p.Floor != nil {
		g.printFloor(p.Floor)
	}
	g.printRefused(p.Refused)
	g.printProbes(p.Attempts, p.Probes)
	g.printContract(p)
	for _, v := range p.Violations {
		fmt.Fprintln(g.env.Stderr, "  "+visible(v.String()))
	}
	if e, ok := errors.AsType[*panicError](err); ok && (g.verbose > 0 || g.env.Getenv("CARREL_LOG") == "debug") {
		_, _ = g.env.Stderr.Write(e.stack) // there is nobody left to tell
	}
	if p.Hint != "" {
		fmt.Fprintln(g.env.Stderr, "hint: "+visible(p.Hint))
	}
	return code
}

// complain reports what is wrong with one file of several.
func (g *globals) complain(p *api.Problem) {
	fmt.Fprintln(g.env.Stderr, "carrel: "+visible(p.Detail))
}

// printFloor lists what holds a budget up.
func (g *globals) printFloor(f *api.FloorFigures) {
	w := g.env.Stderr
	if f.Fixed > 0 {
		fmt.Fprintf(w, "  %10s  framing and tools\n", thousands(int64(f.Fixed)))
	}
	for _, r := range f.Rules {
		fmt.Fprintf(w, "  %10s  %s, %d %s\n", thousands(int64(r.Tokens)), r.Rule, r.Blocks, plural(r.Blocks, "block", "blocks"))
	}
	fmt.Fprintln(w, "largest blocks:")
	for _, h := range f.Held[:min(heaviest, len(f.Held))] {
		fmt.Fprintf(w, "  %10s  %s  %s\n", thousands(int64(h.Tokens)), h.Block.Short(), h.Rule)
	}
}
