package sessions

import (
	"context"
	"slices"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A merge matches a session to import with its stored state. Its slices are parallel: first the
// blocks of the earlier windows, then those of the conversation.
type merge struct {
	meter   hold.Meter
	msgs    []transcript.Message
	blocks  []transcript.Block
	rows    []store.Block        // new rows have no cells yet
	fresh   []bool               // the row is new, or its bytes are
	changed []bool               // the row differs from the stored one
	now     int                  // index of the first block of the conversation
	off     []store.Block        // stored blocks that are in no window any more
	cooled  []transcript.BlockID // blocks that have moved to an earlier window
	revived []transcript.BlockID // blocks that are in the conversation again, whole
	tokens  token.Count
	window  token.Count
	added   int
	resets  bool            // the summary covers blocks that are no longer there
	shorter bool            // nothing is new, and blocks are missing
	begin   hold.FilePrefix // the part of the file that was not read
}

// merge matches the blocks of a session with the stored blocks. A block is the same block if it has
// the same bytes in the same message, or if it only grew. A block that left the conversation before
// is the same block when it comes back.
func (e *Sessions) merge(ctx context.Context, scope governance.Scope, s *transcript.Session, old *hold.Snapshot) (*merge, error) {
	m := newMerge(s)
	if old.Prefix != nil {
		m.begin = *old.Prefix
	}
	for i := range m.blocks {
		m.blocks[i].Turn += m.begin.Blocks
	}
	var err error
	if m.meter, err = e.MeterFor(s, old.Head.Encoding); err != nil {
		return nil, err
	}
	reg := newRegister(old)
	if err := e.match(ctx, scope, s, m, reg); err != nil {
		return nil, err
	}
	m.name(s, old, reg)
	m.number(s)
	m.leave(reg)
	e.measure(ctx, m)
	m.window = m.meter.Fixed(s)
	if old.Prefix != nil {
		m.tokens, m.window = tokensAhead(old)
	}
	if old.Summary != nil {
		if m.resets = !m.covered(old, reg); m.resets {
			m.reset(old)
		} else {
			m.window += old.Summary.Tokens
		}
	}
	for i := m.now; i < len(m.rows); i++ {
		m.tokens += m.rows[i].Tokens
		m.window += m.rows[i].Window
	}
	return m, nil
}

// tokensAhead returns the tokens of the part of a session that h does not have, because h has only
// the end of the file. The first result counts all tokens of that part, and the second those that
// are in the window. Both include the tokens that belong to no block.
func tokensAhead(h *hold.Snapshot) (tokens, window token.Count) {
	tokens, window = h.Head.Tokens, h.Head.Window
	for i := range h.Rows {
		tokens, window = tokens-h.Rows[i].Tokens, window-h.Rows[i].Window
	}
	return tokens, window
}

// onlyGrew reports whether the stored blocks are the first blocks of the merge, unchanged except
// that the last may have grown.
func (m *merge) onlyGrew(old *hold.Snapshot) bool {
	return !m.shorter && len(m.off)+len(m.cooled)+len(m.revived) == 0 && len(m.rows) >= len(old.Rows) &&
		slices.EqualFunc(m.rows[:len(old.Rows)], old.Rows, func(is, was store.Block) bool { return is.ID == was.ID })
}

func newMerge(s *transcript.Session) *merge {
	m := &merge{}
	now, earlier := s.Blocks()
	for i, blocks := range earlier {
		m.blocks = append(m.blocks, hold.Shifted(blocks, len(m.msgs))...)
		m.msgs = append(m.msgs, s.Earlier[i]...)
	}
	m.now = len(m.blocks)
	m.blocks = append(m.blocks, hold.Shifted(now, len(m.msgs))...)
	m.msgs = append(m.msgs, s.Messages...)
	m.rows = make([]store.Block, len(m.blocks))
	m.fresh, m.changed = make([]bool, len(m.blocks)), make([]bool, len(m.blocks))
	return m
}

// match finds the stored row of each block, the newest block first. If two stored blocks have parts
// of the same message, the one that is in the stored conversation wins. A block with the same bytes
// as one that left the conversation is that block, even if another stored block has a part of its
// bytes.
func (e *Sessions) match(ctx context.Context, scope governance.Scope, s *transcript.Session, m *merge, reg *register) error {
	type candidate struct {
		block int
		known *knownBlock // known block that is a part of this one, or nil
	}
	var open []candidate
	partial, grown := false, false
	for i := len(m.blocks) - 1; i >= 0; i-- {
		k, rel := reg.find(m.msgs, &m.blocks[i], itemsOf(s, m.msgs, &m.blocks[i]))
		switch rel {
		case same, alike:
			if k.row.ID != "" {
				m.keep(i, k, rel)
				continue
			}
			k = nil // it is in the stored file, but was not read as a block there
		case less:
			partial, k = true, nil
		case more, another:
			grown = true
			if k != nil && k.row.ID == "" {
				k = nil
			}
		}
		open = append(open, candidate{i, k})
	}
	if len(s.Earlier) > 0 || reg.past {
		left := open[:0]
		for _, c := range open {
			if k := reg.moved(m.msgs, &m.blocks[c.block], itemsOf(s, m.msgs, &m.blocks[c.block])); k != nil {
				if c.known != nil {
					c.known.used = false
				}
				m.keep(c.block, k, same)
			} else {
				left = append(left, c)
			}
		}
		open = left
	}
	m.shorter = !grown && (partial || reg.missing())
	if len(open) > 0 && reg.left() {
		if err := e.readLeft(ctx, scope, reg); err != nil {
			return err
		}
	}
	for _, c := range open {
		if k := reg.again(m.msgs, &m.blocks[c.block], itemsOf(s, m.msgs, &m.blocks[c.block])); k != nil {
			if c.known != nil {
				c.known.used = false
			}
			m.keep(c.block, k, same)
		} else if c.known != nil {
			m.keep(c.block, c.known, more)
		}
	}
	return nil
}

// keep gives block i the row of a known block, with its state in the present window. It sets the
// kind and the tools of the row anew, because the same bytes decode differently if the file lost
// the item that they refer to: a result without its call has no tool.
func (m *merge) keep(i int, k *knownBlock, rel relation) {
	r := &m.rows[i]
	*r = k.row
	m.blocks[i].ID = r.ID
	m.fresh[i] = rel != same || r.Kind != m.blocks[i].Kind || !slices.Equal(r.Tools, hold.ToolNames(m.msgs, &m.blocks[i]))
	r.Kind = m.blocks[i].Kind
	switch {
	case i < m.now && (!r.Off || r.State != store.StateCold):
		hold.SetEarlier(r)
		m.cooled = append(m.cooled, r.ID)
	case i >= m.now && (r.Off && r.State == store.StateCold || rel == more && r.Form != string(pager.Whole)):
		hold.SetLive(r)
		m.revived = append(m.revived, r.ID)
	}
	r.Off, r.Turn = i < m.now, m.blocks[i].Turn
	m.changed[i] = m.fresh[i] || r.Off != k.row.Off || r.State != k.row.State || r.Form != k.row.Form || r.Turn != k.row.Turn
}

// name gives new blocks an id and a row.
func (m *merge) name(s *transcript.Session, old *hold.Snapshot, reg *register) {
	for i := range m.blocks {
		b := &m.blocks[i]
		if m.rows[i].ID != "" {
			continue
		}
		for try := 0; reg.ids[b.ID]; try++ {
			b.ID = transcript.NewBlockID(s.ID, int(old.Head.Revision), b.Turn, m.msgs[b.Messages[0]].ID, try)
		}
		reg.ids[b.ID] = true
		m.rows[i] = store.Block{ID: b.ID, Turn: b.Turn, Kind: b.Kind, State: store.StateLive, Form: string(pager.Whole)}
		m.fresh[i], m.changed[i] = true, true
		m.added++
		if i < m.now {
			hold.SetEarlier(&m.rows[i])
			m.cooled = append(m.cooled, b.ID)
		}
	}
}

// number sets the window number of the blocks of earlier windows.
func (m *merge) number(s *transcript.Session) {
	window, end := 0, 0 // number of a window, and the first message behind it
	for i := range m.rows {
		number := 0
		if i < m.now {
			for m.blocks[i].Messages[0] >= end {
				end += len(s.Earlier[window])
				window++
			}
			number = window
		}
		m.changed[i] = m.changed[i] || m.rows[i].Earlier != number
		m.rows[i].Earlier = number
	}
}

// leave records the blocks that are in no window any more: blocks that left the conversation,
// blocks of an earlier window that no longer counts because the client went back, and blocks of a
// purged session.
func (m *merge) leave(reg *register) {
	for i := range reg.known {
		if k := &reg.known[i]; !k.used && (k.place >= 0 || k.row.Earlier > 0 || k.off && !k.row.Off) {
			k.row.Off, k.row.Earlier = true, 0
			m.off = append(m.off, k.row)
		}
	}
}

// measure counts the tokens of the blocks that are new or have new bytes.
func (e *Sessions) measure(ctx context.Context, m *merge) {
	var todo []transcript.Block
	var rows []*store.Block
	for i := range m.blocks {
		if m.fresh[i] {
			todo, rows = append(todo, m.blocks[i]), append(rows, &m.rows[i])
		}
	}
	for k, n := range e.CountBlocks(ctx, m.meter, m.msgs, todo) {
		r := rows[k]
		r.Tokens = n
		if r.Form == string(pager.Whole) {
			r.Window = n
		}
		r.Tools = hold.ToolNames(m.msgs, &todo[k])
	}
}

// covered reports whether the conversation still begins with the blocks that its summary covers.
func (m *merge) covered(old *hold.Snapshot, reg *register) bool {
	n := old.Summary.Covers
	if len(m.rows)-m.now < n {
		return false
	}
	for i := range n {
		if m.rows[m.now+i].ID != old.Rows[i].ID || reg.known[i].row.Form != m.rows[m.now+i].Form {
			return false
		}
	}
	return true
}

// reset brings back, whole, the blocks that a summary covered, because the summary also covers
// blocks that are no longer there.
func (m *merge) reset(old *hold.Snapshot) {
	stood := make(map[transcript.BlockID]bool)
	for i := range min(old.Summary.Covers, len(old.Rows)) {
		stood[old.Rows[i].ID] = true
	}
	for i := m.now; i < len(m.rows); i++ {
		if r := &m.rows[i]; stood[r.ID] {
			m.changed[i] = m.changed[i] || r.Form != string(pager.Whole)
			hold.SetLive(r)
		}
	}
}
