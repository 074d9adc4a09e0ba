package carrel

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A past is what the conversation was before a compaction by the client. Its blocks are
// cold, and off as the store has it: they are in no window that is still sent.
type past struct {
	msgs   []transcript.Message
	blocks []transcript.Block // that the store knows, with the ids of rows
	rows   []store.Block
}

// remember finds what is stored of the earlier windows, among the blocks that are off:
// a block is the one that has the cells of its items. Blocks that are not stored are of
// a session that was imported when they were none.
func (h *held) remember(earlier [][]transcript.Block) {
	cells := h.itemCells()
	rows := make(map[string]int, len(h.off)) // by their cells
	for i := range h.off {
		rows[cellKey(h.off[i].Cells)] = i
	}
	used := make([]bool, len(h.off))
	for w, msgs := range h.session.Earlier {
		p := past{msgs: msgs}
		for _, b := range earlier[w] {
			i, ok := rows[cellKey(cellsOf(msgs, &b, cells))]
			if !ok || used[i] {
				h.unrecorded = append(h.unrecorded, unrecorded{msgs, b})
				continue
			}
			used[i], b.ID = true, h.off[i].ID
			p.blocks, p.rows = append(p.blocks, b), append(p.rows, h.off[i])
		}
		h.earlier = append(h.earlier, p)
	}
	left := h.off[:0]
	for i := range h.off {
		if !used[i] {
			left = append(left, h.off[i])
		}
	}
	h.off = left
}

// cellKey returns cells as one word.
func cellKey(cells []store.CellID) string {
	var b strings.Builder
	for _, id := range cells {
		b.WriteString(string(id) + " ")
	}
	return b.String()
}

// An unrecorded block is one of an earlier window that the store does not know.
type unrecorded struct {
	msgs  []transcript.Message
	block transcript.Block
}

// itemCells returns the cell of each item that has one to itself.
func (h *held) itemCells() []store.CellID {
	cells := make([]store.CellID, len(h.session.Items))
	k, at := 0, 0     // a body, and where it begins
	item, pos := 0, 0 // an item, and where it begins
	for item < len(cells) && k < len(h.bodies) {
		size := len(h.session.Items[item].Raw)
		switch {
		case pos < at:
			pos, item = pos+size, item+1
		case at < pos:
			at, k = at+len(h.bodies[k]), k+1
		default:
			if size == len(h.bodies[k]) {
				cells[item] = h.items[k]
			}
			pos, item = pos+size, item+1
			at, k = at+len(h.bodies[k]), k+1
		}
	}
	return cells
}

// cellsOf returns the cells of a block, given those of the items.
func cellsOf(msgs []transcript.Message, b *transcript.Block, items []store.CellID) []store.CellID {
	var cells []store.CellID
	for _, k := range b.Messages {
		for _, item := range msgs[k].Items {
			cells = append(cells, items[item])
		}
	}
	return cells
}

// entire returns the session as if the client had never compacted it: the blocks of
// the earlier windows stand before those of the conversation. It is for what looks back;
// a window is made of h itself.
func (h *held) entire() *held {
	if len(h.earlier) == 0 {
		return h
	}
	s := *h.session
	all := &held{head: h.head, session: &s, off: h.off, items: h.items, bodies: h.bodies, summary: h.summary, agreed: h.agreed}
	s.Messages = nil
	for _, p := range h.earlier {
		all.blocks = append(all.blocks, shifted(p.blocks, len(s.Messages))...)
		all.rows = append(all.rows, p.rows...)
		s.Messages = append(s.Messages, p.msgs...)
	}
	all.blocks = append(all.blocks, shifted(h.blocks, len(s.Messages))...)
	all.rows = append(all.rows, h.rows...)
	s.Messages = append(s.Messages, h.session.Messages...)
	return all
}

// shifted returns blocks whose messages stand behind n others.
func shifted(blocks []transcript.Block, n int) []transcript.Block {
	out := slices.Clone(blocks)
	for i := range out {
		messages := make([]int, len(out[i].Messages))
		for k, m := range out[i].Messages {
			messages[k] = m + n
		}
		out[i].Messages = messages
	}
	return out
}

// behind returns how many blocks the earlier windows have.
func (h *held) behind() int {
	n := 0
	for i := range h.earlier {
		n += len(h.earlier[i].blocks)
	}
	return n
}

// windowOf returns the number of the earlier window that block i of the entire session
// is in, the oldest is 1, or 0 if it is in the conversation.
func (h *held) windowOf(i int) int {
	for w := range h.earlier {
		if n := len(h.earlier[w].blocks); i < n {
			return w + 1
		} else {
			i -= n
		}
	}
	return 0
}

// info returns block i of the earlier window with an index, for a list.
func (p *past) info(window, i int) BlockInfo {
	r := &p.rows[i]
	return BlockInfo{
		ID: r.ID, ShortID: r.ID.Short(), Earlier: window + 1, Turn: r.Turn, Kind: r.Kind, Tools: r.Tools, Rule: byClient, State: r.State,
		Form: pager.Form(r.Form), Pinned: r.Pinned, Tokens: r.Tokens, Preview: preview(p.msgs, &p.blocks[i]),
		Kept: "is of an earlier window, which the client compacted",
	}
}

// cold returns the row of a block of an earlier window, or nil.
func (h *held) cold(id transcript.BlockID) *store.Block {
	for w := range h.earlier {
		rows := h.earlier[w].rows
		if i := slices.IndexFunc(rows, func(r store.Block) bool { return r.ID == id }); i >= 0 {
			return &rows[i]
		}
	}
	return nil
}

// byClient is the rule of a block that the client took out of its window.
const byClient pager.Rule = "compacted by the client"

// cool makes a row that of a block of an earlier window.
func cool(r *store.Block) {
	r.Off, r.State, r.Form, r.Stub, r.Window = true, store.StateCold, string(pager.Gone), "", 0
}

// revive makes a row that of a block as it came in.
func revive(r *store.Block) {
	r.State, r.Form, r.Stub, r.Window = store.StateLive, string(pager.Whole), "", r.Tokens
}
