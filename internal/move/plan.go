package move

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A plan says how far the copy of a scope is.
type plan struct {
	scope    governance.Scope
	survey   *survey
	sessions []sessionPlan // by time of creation, then by id

	have, want store.Version // last versions of the log in the target and in the source
	calls      int64         // number of calls that the target has
	lastCall   int64         // position of the source's last call
}

// A sessionPlan says how far the copy of a session is.
type sessionPlan struct {
	id         transcript.SessionID
	blocks     int
	have, want store.Revision // revisions in the target and in the source
}

// compareAll compares the scopes of the source with the target.
func (m *mover) compareAll(ctx context.Context, scopes []governance.Scope) ([]*plan, error) {
	there, err := m.to.Scopes(ctx)
	if err != nil {
		return nil, err
	}
	for _, scope := range there {
		if !slices.Contains(scopes, scope) {
			return nil, &OtherError{scope, "it is not in the source"}
		}
	}
	plans := make([]*plan, len(scopes))
	for i, scope := range scopes {
		m.o.Progress("compare: scope", i+1, len(scopes))
		p := &plan{scope: scope}
		for _, part := range []func(context.Context, *plan) error{m.compareSessions, m.compareLog, m.compareCalls, m.compareText} {
			if err := part(ctx, p); err != nil {
				return nil, err
			}
		}
		plans[i] = p
	}
	return plans, nil
}

func (m *mover) compareSessions(ctx context.Context, p *plan) error {
	there := make(map[transcript.SessionID]store.Revision)
	for h, err := range m.to.Heads(ctx, p.scope) {
		if err != nil {
			return err
		}
		there[h.ID] = h.Revision
	}
	heads, err := collect(m.from.Heads(ctx, p.scope))
	if err != nil {
		return source(err)
	}
	slices.SortFunc(heads, func(a, b *store.Head) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	for _, h := range heads {
		s := sessionPlan{id: h.ID, blocks: h.Blocks, have: there[h.ID], want: h.Revision}
		delete(there, h.ID)
		if s.have > 0 {
			err := begins(s.have, m.to.Entries(ctx, p.scope, s.id, 0), m.from.Entries(ctx, p.scope, s.id, 0))
			if err := other(err, p.scope, "session %s has another journal", s.id); err != nil {
				return err
			}
		}
		m.res.Has.Revisions += int(s.want)
		m.res.Present.Revisions += int(s.have)
		p.sessions = append(p.sessions, s)
	}
	for _, id := range slices.Sorted(maps.Keys(there)) {
		return &OtherError{p.scope, fmt.Sprintf("session %s is not in the source", id)}
	}
	return nil
}

// errOther means that two lists differ.
var errOther = errors.New("another list")

// other turns an errOther into an OtherError.
func other(err error, scope governance.Scope, format string, args ...any) error {
	if errors.Is(err, errOther) {
		return &OtherError{scope, fmt.Sprintf(format, args...)}
	}
	return err
}

// begins compares two journals or logs: copied is that of the copy, and all is that of the source.
// It fails with errOther unless copied has exactly n entries, which are equal to the first n
// entries in all.
func begins[N ~int64](n N, copied, all iter.Seq2[*store.Entry, error]) error {
	next, stop := iter.Pull2(all)
	defer stop()
	for e, err := range copied {
		if err != nil {
			return err
		}
		want, err, ok := next()
		if err != nil {
			return source(err)
		}
		if !ok || e.Revision != want.Revision || e.ID != want.ID || e.Op != want.Op || e.Actor != want.Actor ||
			!e.Time.Equal(want.Time) || !bytes.Equal(e.Data, want.Data) {
			return errOther
		}
		n--
	}
	if n != 0 {
		return errOther
	}
	return nil
}

func (m *mover) compareLog(ctx context.Context, p *plan) (err error) {
	if p.want, err = m.from.Version(ctx, p.scope); err != nil {
		return source(err)
	}
	if p.have, err = m.to.Version(ctx, p.scope); err != nil {
		return err
	}
	m.res.Has.Versions += int(p.want)
	m.res.Present.Versions += int(p.have)
	if p.have == 0 {
		return nil
	}
	err = begins(p.have, m.to.Log(ctx, p.scope, 0), m.from.Log(ctx, p.scope, 0))
	return other(err, p.scope, "its log of artifacts is another")
}

// callsAtOnce is the number of calls that are read and written at a time.
const callsAtOnce = 500

// callsAfter returns the calls of a scope after a position, the earliest call first. It returns at
// most callsAtOnce calls.
func callsAfter(ctx context.Context, s store.Store, scope governance.Scope, after int64) ([]*store.Call, error) {
	calls, err := collect(s.Calls(ctx, scope, store.CallFilter{Before: after + callsAtOnce + 1, Limit: callsAtOnce}))
	if err != nil {
		return nil, err
	}
	slices.Reverse(calls)
	return slices.DeleteFunc(calls, func(c *store.Call) bool { return c.Seq <= after }), nil
}

func (m *mover) compareCalls(ctx context.Context, p *plan) error {
	for c, err := range m.from.Calls(ctx, p.scope, store.CallFilter{Limit: 1}) {
		if err != nil {
			return source(err)
		}
		p.lastCall = c.Seq
	}
	for {
		there, err := callsAfter(ctx, m.to, p.scope, p.calls)
		if err != nil {
			return err
		}
		if len(there) == 0 {
			break
		}
		want, err := callsAfter(ctx, m.from, p.scope, p.calls)
		if err != nil {
			return source(err)
		}
		for i, c := range there {
			if i >= len(want) || c.ID != want[i].ID || c.Session != want[i].Session || !c.Begun.Equal(want[i].Begun) ||
				!bytes.Equal(c.Intent, want[i].Intent) || !sameEnd(c, want[i]) && !want[i].Ends(c.State) {
				return &OtherError{p.scope, fmt.Sprintf("call %s is another in the source, or is not there", c.ID)}
			}
		}
		p.calls += int64(len(there))
	}
	m.res.Has.Calls += int(p.lastCall)
	m.res.Present.Calls += int(p.calls)
	return nil
}

func sameEnd(a, b *store.Call) bool {
	return a.State == b.State && a.Ended.Equal(b.Ended) && bytes.Equal(a.Outcome, b.Outcome)
}

// compareText compares the lists of cells and edges.
func (m *mover) compareText(ctx context.Context, p *plan) error {
	want, have, err := m.text(ctx, p.scope)
	if err != nil {
		return err
	}
	m.res.Has.Cells += len(want.cells)
	m.res.Present.Cells += len(have.cells)
	if extra := without(have.cells, want.cells); len(extra) > 0 {
		return &OtherError{p.scope, fmt.Sprintf("cell %s is not in the source", extra[0])}
	}
	if extra := without(have.edges, want.edges); len(extra) > 0 {
		return &OtherError{p.scope, fmt.Sprintf("the edge from cell %s to %s is not in the source", extra[0].Derived, extra[0].Source)}
	}
	return nil
}

// A text lists the cells of a scope and the edges between them.
type text struct {
	cells []store.CellID
	edges []store.Edge
}

// text returns the cells and edges that a scope has in the source, and those that the target has.
func (m *mover) text(ctx context.Context, scope governance.Scope) (want, have *text, err error) {
	if want, err = textOf(ctx, m.from, scope); err != nil {
		return nil, nil, source(err)
	}
	have, err = textOf(ctx, m.to, scope)
	return want, have, err
}

func textOf(ctx context.Context, s store.Database, scope governance.Scope) (*text, error) {
	cells, err := s.AllCells(ctx, scope)
	if err != nil {
		return nil, err
	}
	edges, err := s.AllEdges(ctx, scope)
	return &text{cells, edges}, err
}

// without returns the elements of the list all that are not in the list some.
func without[T comparable](all, some []T) (rest []T) {
	has := make(map[T]bool, len(some))
	for _, v := range some {
		has[v] = true
	}
	for _, v := range all {
		if !has[v] {
			rest = append(rest, v)
		}
	}
	return rest
}

// collect returns the values of an iteration.
func collect[T any](seq iter.Seq2[T, error]) (all []T, err error) {
	for v, err := range seq {
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}
