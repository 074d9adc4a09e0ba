package hold

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// An EarlierWindow is what the conversation was before a compaction by the client. Its blocks are
// cold, and off as the store has it: they are in no window that is still sent.
type EarlierWindow struct {
	Msgs   []transcript.Message
	Blocks []transcript.Block // that the store knows, with the ids of rows
	Rows   []store.Block
}

// findEarlier finds what is stored of the earlier windows, among the blocks that are off:
// a block is the one that has the cells of its items. Blocks that are not stored are of
// a session that was imported when they were none.
func (h *Snapshot) findEarlier(earlier [][]transcript.Block) {
	cells := h.itemCells()
	rows := make(map[string]int, len(h.Off)) // by their cells
	for i := range h.Off {
		rows[cellKey(h.Off[i].Cells)] = i
	}
	used := make([]bool, len(h.Off))
	for w, msgs := range h.Session.Earlier {
		p := EarlierWindow{Msgs: msgs}
		for _, b := range earlier[w] {
			i, ok := rows[cellKey(CellsOf(msgs, &b, cells))]
			if !ok || used[i] {
				h.Unrecorded = append(h.Unrecorded, unrecorded{msgs, b})
				continue
			}
			used[i], b.ID = true, h.Off[i].ID
			p.Blocks, p.Rows = append(p.Blocks, b), append(p.Rows, h.Off[i])
		}
		h.Earlier = append(h.Earlier, p)
	}
	left := h.Off[:0]
	for i := range h.Off {
		if !used[i] {
			left = append(left, h.Off[i])
		}
	}
	h.Off = left
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
	Msgs  []transcript.Message
	Block transcript.Block
}

// itemCells returns the cell of each item that has one to itself.
func (h *Snapshot) itemCells() []store.CellID {
	cells := make([]store.CellID, len(h.Session.Items))
	k, at := 0, 0     // a body, and where it begins
	item, pos := 0, 0 // an item, and where it begins
	for item < len(cells) && k < len(h.Bodies) {
		size := len(h.Session.Items[item].Raw)
		switch {
		case pos < at:
			pos, item = pos+size, item+1
		case at < pos:
			at, k = at+len(h.Bodies[k]), k+1
		default:
			if size == len(h.Bodies[k]) {
				cells[item] = h.Items[k]
			}
			pos, item = pos+size, item+1
			at, k = at+len(h.Bodies[k]), k+1
		}
	}
	return cells
}

// CellsOf returns the cells of a block, given those of the items.
func CellsOf(msgs []transcript.Message, b *transcript.Block, items []store.CellID) []store.CellID {
	var cells []store.CellID
	for _, k := range b.Messages {
		for _, item := range msgs[k].Items {
			cells = append(cells, items[item])
		}
	}
	return cells
}

// Entire returns the session as if the client had never compacted it: the blocks of
// the earlier windows stand before those of the conversation. It is for what looks back;
// a window is made of h itself.
func (h *Snapshot) Entire() *Snapshot {
	if len(h.Earlier) == 0 {
		return h
	}
	s := *h.Session
	all := &Snapshot{Head: h.Head, Session: &s, Off: h.Off, Items: h.Items, Bodies: h.Bodies, Summary: h.Summary, Contract: h.Contract}
	s.Messages = nil
	for _, p := range h.Earlier {
		all.Blocks = append(all.Blocks, Shifted(p.Blocks, len(s.Messages))...)
		all.Rows = append(all.Rows, p.Rows...)
		s.Messages = append(s.Messages, p.Msgs...)
	}
	all.Blocks = append(all.Blocks, Shifted(h.Blocks, len(s.Messages))...)
	all.Rows = append(all.Rows, h.Rows...)
	s.Messages = append(s.Messages, h.Session.Messages...)
	return all
}

// Shifted returns blocks whose messages stand behind n others.
func Shifted(blocks []transcript.Block, n int) []transcript.Block {
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

// Behind returns how many blocks the earlier windows have.
func (h *Snapshot) Behind() int {
	n := 0
	for i := range h.Earlier {
		n += len(h.Earlier[i].Blocks)
	}
	return n
}

// WindowOf returns the number of the earlier window that block i of the entire session
// is in, the oldest is 1, or 0 if it is in the conversation.
func (h *Snapshot) WindowOf(i int) int {
	for w := range h.Earlier {
		if n := len(h.Earlier[w].Blocks); i < n {
			return w + 1
		} else {
			i -= n
		}
	}
	return 0
}

// Info returns block i of the earlier window with an index, for a list.
func (p *EarlierWindow) Info(window, i int) api.BlockInfo {
	r := &p.Rows[i]
	return api.BlockInfo{
		ID: r.ID, ShortID: r.ID.Short(), Earlier: window + 1, Turn: r.Turn, Kind: r.Kind, Tools: r.Tools, Rule: ByClient, State: r.State,
		Form: pager.Form(r.Form), Pinned: r.Pinned, Tokens: r.Tokens, Preview: Preview(p.Msgs, &p.Blocks[i]),
		Kept: "is of an earlier window, which the client compacted",
	}
}

// EarlierRow returns the row of a block of an earlier window, or nil.
func (h *Snapshot) EarlierRow(id transcript.BlockID) *store.Block {
	for w := range h.Earlier {
		rows := h.Earlier[w].Rows
		if i := slices.IndexFunc(rows, func(r store.Block) bool { return r.ID == id }); i >= 0 {
			return &rows[i]
		}
	}
	return nil
}

// ByClient is the rule of a block that the client took out of its window.
const ByClient pager.Rule = "compacted by the client"
