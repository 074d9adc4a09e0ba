package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/pager/seed"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A Kind is a kind of error: its name and its codes. A remote client tells
// kinds apart by their slugs.
type Kind struct {
	Slug   string
	Title  string
	Exit   int   // exit code of the command line
	Status int   // HTTP status
	Is     error // sentinel that errors.Is finds in errors of this kind, or nil
}

// The exit codes of the kinds. They are part of the interface.
const (
	ExitNo        = 1 // the job was done, and the answer is no: a check failed
	ExitUsage     = 2
	ExitInput     = 3
	ExitNotFound  = 4
	ExitBudget    = 5
	ExitIntegrity = 6
	ExitBusy      = 7
	ExitNetwork   = 8
	ExitPolicy    = 9
	ExitStore     = 11
	ExitBug       = 70
	ExitInterrupt = 130
)

// Kinds of errors of the engine and of its access control; [Kinds] returns others, too. Among them,
// [ErrBudget] has the slug "budget-floor" and the status 422, [ErrShorter] "shorter" and 422,
// [ErrFormat] "format" and 422, [ErrIntegrity] "integrity" and 500, [ErrTooMany] "too-many" and
// 429.
var (
	Unauthenticated  = Kind{"unauthenticated", "a credential is needed", ExitPolicy, http.StatusUnauthorized, ErrUnauthenticated}
	Denied           = Kind{"denied", "the credential does not allow it", ExitPolicy, http.StatusForbidden, governance.ErrDenied}
	Request          = Kind{"usage", "bad request", ExitUsage, http.StatusBadRequest, ErrRequest}
	encoding         = Kind{"encoding", "bad request", ExitUsage, http.StatusBadRequest, token.ErrEncoding}
	Ambiguous        = Kind{"ambiguous", "abbreviation fits several things", ExitUsage, http.StatusBadRequest, ErrAmbiguous}
	budgetKind       = Kind{"budget-floor", "budget is below the floor", ExitBudget, http.StatusUnprocessableEntity, ErrBudget}
	Invalid          = Kind{"invalid-result", "result would be refused by the provider", ExitNo, http.StatusUnprocessableEntity, ErrInvalid}
	ProbesFailed     = Kind{"probes", "result does not answer the probes", ExitNo, http.StatusUnprocessableEntity, ErrProbes}
	shorter          = Kind{"shorter", "shorter copy of a known session", ExitPolicy, http.StatusUnprocessableEntity, ErrShorter}
	Refused          = Kind{"refused", "refused by policy", ExitPolicy, http.StatusUnprocessableEntity, ErrPolicy}
	forbidden        = Kind{"forbidden", "source may not be asked", ExitPolicy, http.StatusUnprocessableEntity, artifact.ErrForbidden}
	unavailable      = Kind{"unavailable", "source cannot be reached", ExitNetwork, http.StatusBadGateway, artifact.ErrUnavailable}
	sourceGone       = Kind{"source-gone", "source is no longer there", ExitNotFound, http.StatusNotFound, artifact.ErrGone}
	Gone             = Kind{"gone", "bytes were erased", ExitNotFound, http.StatusGone, ErrGone}
	integrity        = Kind{"integrity", "does not verify", ExitIntegrity, http.StatusInternalServerError, ErrIntegrity}
	seal             = Kind{"seal", "does not verify", ExitIntegrity, http.StatusInternalServerError, manifest.ErrSeal}
	manifestFormat   = Kind{"manifest-format", "does not verify", ExitIntegrity, http.StatusInternalServerError, manifest.ErrFormat}
	corrupt          = Kind{"corrupt", "does not verify", ExitIntegrity, http.StatusInternalServerError, store.ErrCorrupt}
	Conflict         = Kind{"conflict", "changed by another writer", ExitBusy, http.StatusConflict, store.ErrConflict}
	Busy             = Kind{"busy", "store is busy", ExitBusy, http.StatusServiceUnavailable, store.ErrBusy}
	storeFull        = Kind{"store-full", "no space is left for the store", ExitStore, http.StatusInsufficientStorage, store.ErrFull}
	storeReadOnly    = Kind{"store-read-only", "the store cannot be written", ExitStore, http.StatusServiceUnavailable, store.ErrReadOnly}
	storeUnreadable  = Kind{"store-unreadable", "the store cannot be read", ExitStore, http.StatusServiceUnavailable, store.ErrUnreadable}
	storeFailing     = Kind{"store-failing", "the disk of the store fails", ExitStore, http.StatusServiceUnavailable, store.ErrFailing}
	storeMoved       = Kind{"store-moved", "the store's file was moved, removed or replaced", ExitStore, http.StatusServiceUnavailable, store.ErrMoved}
	storeUnreachable = Kind{"store-unreachable", "the server of the store cannot be reached", ExitStore, http.StatusServiceUnavailable, store.ErrUnreachable}
	tooMany          = Kind{"too-many", "too many large jobs at once", ExitBusy, http.StatusTooManyRequests, ErrTooMany}
	Timeout          = Kind{"timeout", "time is up", ExitBusy, http.StatusServiceUnavailable, context.DeadlineExceeded}
	Canceled         = Kind{"interrupted", "interrupted", ExitInterrupt, http.StatusServiceUnavailable, context.Canceled}
	NotFound         = Kind{"not-found", "not found", ExitNotFound, http.StatusNotFound, store.ErrNotFound}
	unknownFormat    = Kind{"format", "input cannot be read", ExitInput, http.StatusUnprocessableEntity, ErrFormat}
	Input            = Kind{"input", "input cannot be read", ExitInput, http.StatusUnprocessableEntity, nil}
	Unexpected       = Kind{"unexpected", "unexpected error", ExitBug, http.StatusInternalServerError, nil}
)

// ErrUnauthenticated means that a request has no credential or an invalid
// one.
var ErrUnauthenticated = errors.New("no valid credential")

// ErrTooMany means that an actor runs as many large jobs as a server lets it run at once; it may
// try again. Large jobs read or write a whole conversation, or make a context. The engine never
// returns it.
var ErrTooMany = errors.New("too many large jobs at once")

// Kinds returns the kinds that have a sentinel for errors.Is. If errors of one kind wrap errors of
// another, the first comes earlier.
func Kinds() []Kind {
	return []Kind{
		Unauthenticated, Denied, tooMany, Request, encoding, Ambiguous, budgetKind, Invalid, ProbesFailed, shorter, Refused, forbidden, unavailable,
		sourceGone, Gone, corrupt, integrity, seal, manifestFormat,
		storeFull, storeReadOnly, storeUnreadable, storeFailing, storeMoved, storeUnreachable, Conflict, Busy, Timeout, Canceled, NotFound, unknownFormat,
	}
}

// KindOf returns the kind of err: the first of [Kinds] whose sentinel
// matches, or else the kind that belongs to the type of err. It is [Unexpected]
// for any other error and for nil.
func KindOf(err error) Kind {
	for _, k := range Kinds() {
		if errors.Is(err, k.Is) {
			return k
		}
	}
	switch {
	case is[*seed.OptionError](err):
		return Request
	case is[*transcript.SyntaxError](err), is[*seed.InputError](err), is[*summary.SyntaxError](err), is[*probe.ParseError](err),
		is[*contract.PayloadError](err):
		return Input
	}
	return Unexpected
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// A Problem is an error in machine-readable form, see RFC 9457.
type Problem struct {
	Type       string                 `json:"type"` // TypePrefix and a slug
	Title      string                 `json:"title"`
	Status     int                    `json:"status"` // HTTP status; at the command line, the exit code
	Detail     string                 `json:"detail"`
	Hint       string                 `json:"hint,omitempty"`     // suggested next step
	About      Subject                `json:"about,omitempty"`    // subject of the error
	Floor      *FloorFigures          `json:"floor,omitempty"`    // of an [ErrBudget] of a window
	Refused    []pager.Refusal        `json:"refused,omitempty"`  // blocks that may not be discarded
	Attempts   []Attempt              `json:"attempts,omitempty"` // attempts of a compression
	Probes     []probe.Result         `json:"probes,omitempty"`   // probes that the best attempt did not answer
	Violations []transcript.Violation `json:"violations,omitempty"`
	Conflict   *Contradiction         `json:"conflict,omitempty"` // of decisions
	Failures   []contract.Failure     `json:"failures,omitempty"` // of a contract
	Shorter    *ShorterCopy           `json:"shorter,omitempty"`
	Problems   []string               `json:"problems,omitempty"` // of the store
	File       string                 `json:"file,omitempty"`
	Line       int                    `json:"line,omitempty"`
	Field      string                 `json:"field,omitempty"`
	Request    string                 `json:"request,omitempty"` // id of the request
}

// TypePrefix is the prefix of Problem.Type.
const TypePrefix = "carrel:problem/"

// FloorFigures explain why a budget is too small.
type FloorFigures struct {
	Budget token.Count     `json:"budget"` // requested size of the window
	Need   token.Count     `json:"need"`   // smallest possible window
	Fixed  token.Count     `json:"fixed"`  // part of Need for framing and tools
	Rules  []RuleSum       `json:"rules"`  // sizes of the kept blocks, by rule
	Held   []pager.Holding `json:"held"`   // kept blocks, largest first
}

// A ShorterCopy compares the stored session with a shorter file.
type ShorterCopy struct {
	Session    transcript.SessionID `json:"session"`
	Known      int                  `json:"known"` // messages in the store
	Has        int                  `json:"has"`   // messages in the file
	KnownBytes int64                `json:"known_bytes"`
	Bytes      int64                `json:"bytes"`
}

// A RuleSum is the size of the blocks that one rule keeps.
type RuleSum struct {
	Rule   pager.Rule  `json:"rule"`
	Blocks int         `json:"blocks"`
	Tokens token.Count `json:"tokens"`
}

// A Contradiction is a decision and the decisions that it contradicts.
type Contradiction struct {
	Decision string          `json:"decision"`
	Others   []Contradicting `json:"conflicts_with"`
}

// A Contradicting is a decision of a contract that a new decision contradicts.
type Contradicting struct {
	Decision string        `json:"decision"`
	List     contract.List `json:"list"`  // list of the contract that has the decision
	About    string        `json:"about"` // subject of both decisions, such as "version"
	Value    string        `json:"value"` // its value in Decision, such as "0.10"
}

// detail returns the text of err. If the cause follows the kind's sentinel, and the sentinel adds
// nothing to it, detail leaves out the text of the sentinel: the title says the same.
func (k *Kind) detail(err error) string {
	s := err.Error()
	switch k.Slug {
	case Request.Slug, Refused.Slug, NotFound.Slug, unknownFormat.Slug:
	default:
		return s
	}
	if before, cause, ok := strings.Cut(s, k.Is.Error()+": "); ok && (before == "" || strings.HasSuffix(before, " ")) && cause != "" {
		return before + cause
	}
	return s
}

// NewProblem returns err as a Problem, with the details of its typed errors.
func NewProblem(err error) *Problem {
	kind := KindOf(err)
	p := &Problem{Type: TypePrefix + kind.Slug, Title: kind.Title, Status: kind.Status, Detail: kind.detail(err), Hint: kind.next(), About: SubjectOf(err)}
	if e, ok := FloorOf(err); ok {
		p.Floor = newFloor(e)
	} else if errors.Is(err, ErrBudget) { // of a context, in which no rules keep blocks
		p.Hint = "give a budget of as many tokens as are needed"
	}
	if e, ok := RefusedOf(err); ok {
		p.Refused = e.Refused
	}
	if e, ok := errors.AsType[*ProbesError](err); ok {
		if p.Attempts = e.Attempts; e.Report != nil {
			p.Probes = e.Report.Failed()
		}
	}
	if e, ok := errors.AsType[*InvalidError](err); ok {
		p.Violations = e.Violations
	}
	if e, ok := errors.AsType[*contract.ConflictError](err); ok {
		p.Conflict = newContradiction(e)
	}
	if e, ok := errors.AsType[*ShorterError](err); ok {
		p.Shorter = new(ShorterCopy(*e))
	}
	if e, ok := errors.AsType[*contract.RunError](err); ok {
		p.Failures = e.Failures
	}
	if e, ok := errors.AsType[*transcript.SyntaxError](err); ok {
		p.File, p.Line, p.Field = e.Name, e.Line, e.Field
	}
	if e, ok := errors.AsType[*summary.SyntaxError](err); ok {
		p.Line, p.Field = e.Line, e.Field
	}
	if e, ok := errors.AsType[*probe.ParseError](err); ok {
		p.Field = e.Field
	}
	if e, ok := errors.AsType[*FieldError](err); ok {
		p.Field = e.Field
	}
	return p
}

// next returns the suggested next step of all errors of a kind, or "".
func (k Kind) next() string {
	switch k.Slug {
	case Unauthenticated.Slug:
		return "send Authorization: Bearer CREDENTIAL; carrel credential create makes a credential"
	case Denied.Slug:
		return "carrel credential create makes a credential that may, with --allow and --for"
	case Request.Slug, encoding.Slug:
		return Prefix + "/openapi.json describes the request"
	case Ambiguous.Slug:
		return "give more of the id"
	case shorter.Slug:
		return "import the whole file, or give rewind if what is missing is to leave the conversation"
	case budgetKind.Slug:
		return "give at least floor.need tokens, ask for the smallest, or release what floor.held names"
	case Conflict.Slug, Busy.Slug, Timeout.Slug, tooMany.Slug:
		return "try again"
	}
	return ""
}

// newFloor sums the kept blocks by rule, in the order of each rule's largest
// block.
func newFloor(e *pager.FloorError) *FloorFigures {
	f := &FloorFigures{Budget: e.Budget, Need: e.Need, Fixed: e.Fixed, Rules: []RuleSum{}, Held: append([]pager.Holding{}, e.Held...)}
	at := make(map[pager.Rule]int)
	for _, h := range e.Held {
		i, ok := at[h.Rule]
		if !ok {
			i = len(f.Rules)
			at[h.Rule] = i
			f.Rules = append(f.Rules, RuleSum{Rule: h.Rule})
		}
		f.Rules[i].Blocks++
		f.Rules[i].Tokens += h.Tokens
	}
	return f
}

func newContradiction(e *contract.ConflictError) *Contradiction {
	c := &Contradiction{Decision: e.Decision}
	for _, o := range e.Conflicts {
		c.Others = append(c.Others, Contradicting{o.Decision, o.List, o.Stem, o.Value})
	}
	return c
}
