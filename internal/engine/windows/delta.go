package windows

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// journalData has the fields about the window that occur in journal entries, of whatever kind.
type journalData struct {
	Before  token.Count         `json:"before"`
	After   token.Count         `json:"after"`
	Moves   []hold.Move         `json:"moves"`
	Pins    []pinning           `json:"pins"`
	Summary *hold.SummaryChange `json:"summary"`

	Added     int                   `json:"added"`
	Compacted *hold.CompactionEntry `json:"compacted"`
	Back      []transcript.BlockID  `json:"back"`
}

// sizes reports whether the entry records the size of the window.
func (j *journalData) sizes() bool { return j.Before+j.After > 0 }

// DiffSession returns how the window of a session changed between two moments.
func (e *Windows) DiffSession(ctx context.Context, scope governance.Scope, req *api.DiffSessionRequest) (_ *api.SessionDelta, err error) {
	defer base.During("compare moments", &err, "of session "+string(req.Session))

	head, err := e.Head(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	kept, err := hold.View(&e.Views, scope, head, fmt.Sprintf("delta %q %q", req.From, req.To), func() (made hold.Viewed[*api.SessionDelta], err error) {
		h, err := e.Load(ctx, scope, req.Session)
		if err != nil {
			return made, err
		}
		res, err := e.delta(ctx, scope, h, req)
		if err != nil {
			return made, err
		}
		made = hold.Viewed[*api.SessionDelta]{Value: res, Head: h.Head, Bytes: blockBytes * (1 + len(res.Ops))}
		for i := range res.Blocks {
			made.Bytes += blockBytes + len(res.Blocks[i].Preview)
		}
		return made, nil
	})
	if err != nil {
		return nil, err
	}
	res := new(*kept)
	res.Ops, res.Blocks = slices.Clone(res.Ops), slices.Clone(res.Blocks)
	return res, nil
}

// delta compares two moments of a session, which h holds.
func (e *Windows) delta(ctx context.Context, scope governance.Scope, h *hold.Snapshot, req *api.DiffSessionRequest) (*api.SessionDelta, error) {
	ops, err := e.Ops(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	d := &delta{h: h, ops: ops, data: make([]journalData, len(ops)), places: h.IndexByID(), blocks: make(map[transcript.BlockID]*api.BlockDelta)}
	for i := range ops {
		if err := hold.ReadEntry(&ops[i].Entry, &d.data[i]); err != nil {
			return nil, err
		}
	}
	to, err := d.moment(cmp.Or(req.To, string(api.MomentNow)))
	if err != nil {
		return nil, &api.FieldError{Field: "to", Text: err.Error()}
	}
	from, err := d.moment(cmp.Or(req.From, string(api.MomentPass)))
	if err != nil {
		return nil, &api.FieldError{Field: "from", Text: err.Error()}
	}
	if from > to {
		return nil, &api.FieldError{Field: "from", Text: "is later than to: exchange them"}
	}
	return d.between(from, to), nil
}

// A delta compares two moments of a session. A moment is given by the number of operations that had
// been done by then.
type delta struct {
	h      *hold.Snapshot
	ops    []hold.Op
	data   []journalData
	places map[transcript.BlockID]int
	blocks map[transcript.BlockID]*api.BlockDelta
	forms  map[transcript.BlockID]*hold.Move // last move of each block before the first moment, set at first use
}

// moment returns the moment that a word names: [api.Moment], a revision or the id of an
// operation.
func (d *delta) moment(word string) (int, error) {
	switch api.Moment(word) {
	case api.MomentNow:
		return len(d.ops), nil
	case api.MomentStart:
		return min(1, len(d.ops)), nil
	case api.MomentPass:
		for i := range slices.Backward(d.data) {
			if len(d.data[i].Moves) > 0 {
				return i, nil
			}
		}
		return min(1, len(d.ops)), nil
	}
	if n, err := strconv.ParseInt(word, 10, 64); err == nil && n <= int64(d.h.Head.Revision) {
		for i := range slices.Backward(d.ops) {
			if int64(d.ops[i].Revision) <= n {
				return i + 1, nil
			}
		}
	}
	for i := range d.ops {
		if d.ops[i].ID == word {
			return i + 1, nil
		}
	}
	return 0, fmt.Errorf("is %q, which is neither an operation nor a revision of the session: carrel log --session lists them", word)
}

// between returns what changed from one moment to a later one.
func (d *delta) between(from, to int) *api.SessionDelta {
	res := &api.SessionDelta{
		Session: d.h.Head.ID, From: d.at(from), To: d.at(to),
		Ops: []api.DeltaOp{}, Blocks: []api.BlockDelta{},
	}
	var order []transcript.BlockID
	pinned := make(map[transcript.BlockID]bool) // pins before the first change
	for i := from; i < to; i++ {
		o, j := &d.ops[i], &d.data[i]
		op := api.DeltaOp{Op: o.ID, Kind: o.Op, Actor: o.Actor, Time: o.Time, Revision: o.Revision, Undone: o.Undone, Added: j.Added}
		if j.sizes() {
			op.Before, op.After = new(j.Before), new(j.After)
		}
		change := func(id transcript.BlockID) *api.BlockDelta {
			b := d.blocks[id]
			if b == nil {
				b = &api.BlockDelta{Block: id}
				d.blocks[id] = b
				order = append(order, id)
			}
			b.Op = o.ID
			return b
		}
		for k := range j.Moves {
			if m := &j.Moves[k]; m.Changed() {
				b := change(m.Block)
				b.Turn = m.Turn
				if b.From == "" {
					b.From, b.Before = m.From, m.Before
				}
				b.To, b.After, b.Rule, b.Step = m.To, m.After, m.Rule, m.Step
				op.Blocks++
			}
		}
		for _, p := range j.Pins {
			if _, known := pinned[p.Block]; !known {
				pinned[p.Block] = !p.Pinned
			}
			b := change(p.Block)
			if b.Pinned = nil; p.Pinned != pinned[p.Block] {
				b.Pinned = new(p.Pinned)
			}
			op.Blocks++
		}
		if c := j.Compacted; c != nil {
			for _, id := range c.Blocks {
				b := change(id)
				if b.From == "" {
					b.From, b.Before = d.place(id, from)
				}
				b.To, b.After, b.Rule = pager.Gone, 0, c.Rule
				op.Blocks++
			}
		}
		for _, id := range j.Back {
			b := change(id)
			b.From = cmp.Or(b.From, pager.Gone)
			b.To, b.After = pager.Whole, d.whole(id)
			op.Blocks++
		}
		res.Ops = append(res.Ops, op)
	}
	for _, id := range order {
		b := d.blocks[id]
		if b.From == b.To && b.Before == b.After && b.Pinned == nil {
			continue // no change in the end
		}
		d.describe(b)
		res.Blocks = append(res.Blocks, *b)
	}
	slices.SortStableFunc(res.Blocks, func(a, b api.BlockDelta) int { return cmp.Compare(a.Turn, b.Turn) })
	return res
}

// place returns the form of a block at a moment, and its tokens in the window.
func (d *delta) place(id transcript.BlockID, n int) (pager.Form, token.Count) {
	if d.forms == nil {
		d.forms = make(map[transcript.BlockID]*hold.Move)
		for i := range n {
			j := &d.data[i]
			for k := range j.Moves {
				d.forms[j.Moves[k].Block] = &j.Moves[k]
			}
			if j.Compacted != nil {
				for _, id := range j.Compacted.Blocks {
					d.forms[id] = &hold.Move{BlockDecision: pager.BlockDecision{To: pager.Gone}}
				}
			}
			for _, id := range j.Back {
				delete(d.forms, id)
			}
		}
	}
	if m := d.forms[id]; m != nil {
		return m.To, m.After
	}
	return pager.Whole, d.whole(id)
}

// whole returns the tokens of a block that is in the window whole, or 0 if the block is no longer
// of the session.
func (d *delta) whole(id transcript.BlockID) token.Count {
	if r := d.row(id); r != nil {
		return r.Tokens
	}
	return 0
}

// row returns the row of a block that is in the conversation or an earlier window, or nil.
func (d *delta) row(id transcript.BlockID) *store.Block {
	if i, there := d.places[id]; there {
		return &d.h.Rows[i]
	}
	return d.h.EarlierRow(id)
}

// describe adds kind, tools, turn and tokens of a block that is still in the conversation or an
// earlier window.
func (d *delta) describe(b *api.BlockDelta) {
	if r := d.row(b.Block); r != nil {
		b.Kind, b.Tools, b.Turn, b.Tokens = r.Kind, r.Tools, r.Turn, r.Tokens
	}
	if i, there := d.places[b.Block]; there {
		b.Preview = hold.Preview(d.h.Session.Messages, &d.h.Blocks[i])
	}
}

// at describes moment n. The operation before the moment may record the size of the window;
// otherwise at takes the size from the next operation that records one. If an import comes before
// that operation, at leaves the size out.
func (d *delta) at(n int) api.SessionMoment {
	var m api.SessionMoment
	if n > 0 {
		o := &d.ops[n-1]
		m.Revision, m.Op, m.Kind, m.Time = o.Revision, o.ID, o.Op, o.Time
	}
	switch {
	case n == len(d.ops):
		m.Window = new(d.h.Head.Window)
		m.Revision = d.h.Head.Revision
	case n > 0 && d.data[n-1].sizes():
		m.Window = new(d.data[n-1].After)
	default:
		for i := n; i < len(d.ops) && d.ops[i].Op != hold.OpImport; i++ {
			if d.data[i].sizes() {
				m.Window = new(d.data[i].Before)
				break
			}
		}
	}
	return m
}
