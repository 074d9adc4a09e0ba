// Package base is the base of the engine: its options, and what all jobs share. A job reads a
// session at a revision and writes one change. If another writer was faster, the job reads again,
// at most [attempts] times.
package base

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/triage"
)

// A Base has what every job needs: the store, the options, and methods that write changes.
type Base struct {
	Store store.Store
	Opts  Options
}

// Options adjusts an [Engine]. The zero value of every field is a sensible
// default, so a nil *Options is too.
type Options struct {
	// Weights are the weights of the retention score. The default is
	// [pager.DefaultWeights].
	Weights pager.Weights

	// Cuts are the scores at which directives change. The default is
	// [pager.DefaultCuts].
	Cuts pager.Cuts

	// Tools tells rules what the tools of agents do. The default is the built-in table of package
	// tool.
	Tools *tool.Table

	// KeepLast is how many of the newest blocks never leave the window. The
	// default is 5; a negative number means none.
	KeepLast int

	// Strategy is the default strategy of compressions. The default is [api.StrategyAccount].
	Strategy api.Strategy

	// Model estimates how likely the agent needs a name or a line again. The default is
	// [facts.DefaultModel].
	Model *facts.Model

	// Prior estimates which units of an account a reader must know, apart from the chance that
	// they are needed again. The default is [account.DefaultPrior].
	Prior *account.Prior

	// Trigger says how full a window may become, the size that a pass brings it to, and the floor
	// below which no discard and no automatic pass goes. The zero value has the defaults of
	// [pager.Trigger].
	Trigger pager.Trigger

	// Window is the size of the context window, in tokens. The default is that
	// of the session's model, see [token.ContextWindow].
	Window token.Count

	// Counter counts tokens. The default is that of the session's model, see
	// [token.ForModel].
	Counter token.Counter

	// Prices has the prices of models and the rules of their providers' caches. The default is
	// [economy.Published].
	Prices *economy.Table

	// Triage is the policy that selects artifacts for a context. The default is
	// [triage.DefaultPolicy].
	Triage *triage.Policy

	// Ladder says at which demand a context goes to a lower tier. The default is
	// [tier.DefaultLadder].
	Ladder tier.Ladder

	// Confidence is the least confidence of an evaluator for which the gate passes a memory. The
	// default is [assembly.DefaultThreshold].
	Confidence ratio.Ratio

	// Redact removes e-mail addresses and telephone numbers from every artifact, stashed output
	// and memory before it is stored, see [secret.RedactPersonal].
	Redact bool

	// Sources fetches artifacts again. If it is nil, artifacts with a source that would have to
	// be asked enter no context.
	Sources artifact.Source

	// Embedder computes vectors of texts. If it is nil, texts are compared by words and parts of
	// words, and nothing leaves the machine.
	Embedder llm.Embedder

	// Generator is a model that writes drafts of summaries and answers probes. If it is nil,
	// programs do both.
	Generator llm.Generator

	// Patience is how long the generator may take for a draft, or for the answers
	// to probes. The default is two minutes.
	Patience time.Duration

	// Page is the most tokens of one artifact in a context. A larger artifact is cut to its
	// passages that fit the query best. The default is [DefaultPage]; a negative number means no
	// limit. Pinned artifacts are always whole.
	Page token.Count

	// Resident is the most bytes of artifacts in memory. The default is 256 MiB.
	Resident int64

	// Snapshots is the path prefix of snapshot files, one for each scope with many artifacts. A
	// snapshot spares a new process from reading the records of all artifacts. Snapshots contain
	// no text and may be removed at any time. The default writes none.
	Snapshots string

	// Actor is the author of the jobs in the journal. The default is [governance.ActorUser].
	Actor governance.Actor

	// Now returns the present time, for records and for the age and expiry of artifacts. The
	// default is time.Now.
	Now func() time.Time

	// Rand is the source of ids and of the salts of commitments. It influences no decision; the
	// id of an artifact stands in its fence. The default is crypto/rand.
	Rand io.Reader

	// Progress is called now and then with the progress of a long job, in steps of the job. It
	// must be safe for concurrent use. The default does nothing.
	Progress func(job string, done, total int)

	// Logger receives a line for each job that writes. The default discards them.
	Logger *slog.Logger
}

// DefaultPage is the default of [Options.Page], in tokens.
const DefaultPage = 2000

// Progress returns the function that receives the progress of a job. It is the function in ctx or,
// if there is none, that in the options.
func (e *Base) Progress(ctx context.Context) func(job string, done, total int) {
	if f := api.ProgressFrom(ctx); f != nil {
		return f
	}
	return e.Opts.Progress
}

// Complete returns o with its defaults filled in, or an error if a field is invalid.
func (o Options) Complete() (Options, error) {
	c := o
	if c.Weights == (pager.Weights{}) {
		c.Weights = pager.DefaultWeights
	}
	if c.Cuts == (pager.Cuts{}) {
		c.Cuts = pager.DefaultCuts
	}
	c.Strategy = cmp.Or(c.Strategy, api.StrategyAccount)
	if !slices.Contains(api.Strategies(), c.Strategy) {
		return Options{}, fmt.Errorf("no strategy is called %q: there are %v", c.Strategy, api.Strategies())
	}
	if err := c.Trigger.Validate(); err != nil {
		return Options{}, err
	}
	if c.Prices == nil {
		c.Prices = economy.Published()
	}
	if c.Triage == nil {
		c.Triage = triage.DefaultPolicy()
	}
	if err := c.Triage.Validate(); err != nil {
		return Options{}, err
	}
	if c.Ladder == (tier.Ladder{}) {
		c.Ladder = tier.DefaultLadder
	}
	if c.Confidence == 0 {
		c.Confidence = assembly.DefaultThreshold
	}
	if c.Page == 0 {
		c.Page = DefaultPage
	}
	if c.Patience == 0 {
		c.Patience = 2 * time.Minute
	}
	if c.Resident == 0 {
		c.Resident = 256 << 20
	}
	c.Actor = cmp.Or(c.Actor, governance.ActorUser)
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // this is the default clock
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.Progress == nil {
		c.Progress = func(string, int, int) {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Window < 0 {
		return Options{}, fmt.Errorf("the window is %d tokens: want 0 or more", c.Window)
	}
	for name, r := range map[string]ratio.Ratio{"relevance": c.Weights.Relevance, "recency": c.Weights.Recency} {
		if r < 0 {
			return Options{}, fmt.Errorf("the weight of %s is %v: want 0 or more", name, r)
		}
	}
	if c.Cuts.Evict > c.Cuts.Retain {
		return Options{}, fmt.Errorf("the evict cut %v is above the retain cut %v: lower it", c.Cuts.Evict, c.Cuts.Retain)
	}
	return c, nil
}

// An opError adds the operation of the engine to an error.
type opError struct {
	op  string
	err error
}

func (e *opError) Error() string { return e.op + ": " + e.err.Error() }

func (e *opError) Unwrap() error { return e.err }

// During adds the operation op to the error at errp, if there is one, and what it is about, such as
// "session x". It leaves that out if the error is a [Statement], which names what it is about. Each
// exported method of the engine defers it once.
func During(op string, errp *error, about ...string) {
	if *errp == nil {
		return
	}
	words := append([]string{op}, about...)
	if _, named := errors.AsType[Statement](*errp); named {
		words = words[:1]
	}
	if op = strings.TrimSpace(strings.Join(words, " ")); op != "" {
		*errp = &opError{op, *errp}
	}
}

// A Statement is an error whose text is a sentence that names the thing it is about.
type Statement interface {
	error
	States() // does nothing
}

// Statef returns a [Statement] that errors.Is finds kind in. Its text does not have that of kind.
func Statef(kind error, format string, args ...any) error {
	return &statement{kind, fmt.Sprintf(format, args...)}
}

type statement struct {
	kind error
	text string
}

func (s *statement) Error() string { return s.text }

func (s *statement) Unwrap() error { return s.kind }

func (*statement) States() {}

// attempts is how often [Retry] runs a job at most, if another writer was faster each time.
const attempts = 3

// Retry runs a job until it does not conflict with another writer, at most [attempts] times, and
// returns its result.
func Retry[T any](ctx context.Context, job func() (T, error)) (res T, err error) {
	for range attempts {
		if res, err = job(); !errors.Is(err, store.ErrConflict) {
			return res, err
		}
		if ctx.Err() != nil {
			return res, ctx.Err()
		}
	}
	return res, err
}

// Capacity returns the context window that the options set, or that of the model, in tokens.
func (e *Base) Capacity(model string) token.Count {
	return cmp.Or(e.Opts.Window, token.ContextWindow(model))
}

// Now returns the time in UTC, truncated to milliseconds, which every store keeps exactly.
func (e *Base) Now() time.Time { return e.Opts.Now().UTC().Truncate(time.Millisecond) }

// Apply writes a change of a session, with an entry for its journal, and returns the id of the
// entry. head is the head of the session at the revision that the change is made for.
func (e *Base) Apply(ctx context.Context, scope governance.Scope, head *store.Head, c *store.Change, op string, data any) (string, error) {
	var err error
	if c.Entry, err = e.Entry(scope, head, op, data); err != nil {
		return "", err
	}
	_, err = e.Store.Apply(ctx, scope, head.ID, head.Revision, c)
	return c.Entry.ID, err
}

// Entry returns a journal entry for the next change of a session. head is the head of the session
// before the change.
func (e *Base) Entry(scope governance.Scope, head *store.Head, op string, data any) (store.Entry, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return store.Entry{}, err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "op/v1\x00%s\x00%s\x00%d", scope, head.ID, head.Revision+1))
	return store.Entry{
		ID: "op_" + hex.EncodeToString(sum[:4]), Op: op, Actor: e.Opts.Actor, Time: e.Now(), Data: raw,
	}, nil
}

// ReadCell reads one cell. It fails with [store.ErrGone] if the cell was purged.
func (e *Base) ReadCell(ctx context.Context, scope governance.Scope, id store.CellID) (*store.Cell, error) {
	for c, err := range e.Store.Cells(ctx, scope, []store.CellID{id}) {
		return c, err
	}
	return nil, fmt.Errorf("read cell %s: %w", id, store.ErrNotFound)
}

// ReadCells reads cells and yields for each, in order, the cell or a [store.ErrGone] if it was
// purged. Another error ends the iteration.
func (e *Base) ReadCells(ctx context.Context, scope governance.Scope, ids []store.CellID) iter.Seq2[*store.Cell, error] {
	return func(yield func(*store.Cell, error) bool) {
		for at := 0; at < len(ids); { // the store ends its iteration at a cell that is gone
			before := at
			for c, err := range e.Store.Cells(ctx, scope, ids[at:]) {
				at++
				if !yield(c, err) || err != nil && !errors.Is(err, store.ErrGone) {
					return
				}
			}
			if at == before {
				yield(nil, fmt.Errorf("read cell %s: %w", ids[at], store.ErrNotFound))
				return
			}
		}
	}
}

// JSONCell returns a new cell with a value as JSON.
func (e *Base) JSONCell(kind store.CellKind, v any) (store.Cell, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return store.Cell{}, err
	}
	return e.Cell(kind, body)
}

// Cell returns a new cell. Its id begins with the time, so that successive ids are adjacent in an
// index.
func (e *Base) Cell(kind store.CellKind, body []byte) (store.Cell, error) {
	var id [16]byte
	var salt digest.Salt
	if _, err := io.ReadFull(e.Opts.Rand, id[6:]); err != nil {
		return store.Cell{}, err
	}
	if _, err := io.ReadFull(e.Opts.Rand, salt[:]); err != nil {
		return store.Cell{}, err
	}
	ms := e.Now().UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	return store.Cell{
		ID: store.CellID(hex.EncodeToString(id[:])), Kind: kind, Salt: salt,
		Commit: digest.Commit(salt, string(kind), body), Body: body,
	}, nil
}
