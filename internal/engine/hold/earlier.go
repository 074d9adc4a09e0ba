package hold

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// An EarlierWindow is a part of the conversation before a compaction by the client. Its blocks
// are cold, and the store marks them as off: no request sends them any more.
type EarlierWindow struct {
	Msgs   []transcript.Message
	Blocks []transcript.Block // blocks that are in the store, with the ids of their rows
	Rows   []store.Block
}

// findEarlier finds the rows of earlier windows among the blocks that are off: a row belongs to
// the block with the same cells. Blocks without a row come from an import that did not read
// earlier windows.
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

// cellKey returns the ids of cells as one string, for use as a key.
func cellKey(cells []store.CellID) string {
	var b strings.Builder
	for _, id := range cells {
		b.WriteString(string(id) + " ")
	}
	return b.String()
}

// An unrecorded is a block of an earlier window that the store does not have.
type unrecorded struct {
	Msgs  []transcript.Message
	Block transcript.Block
}

// itemCells returns for each item of the session the cell that holds exactly this item, or "".
func (h *Snapshot) itemCells() []store.CellID {
	cells := make([]store.CellID, len(h.Session.Items))
	k, at := 0, 0     // index of a body, and the byte at which it begins
	item, pos := 0, 0 // index of an item, and the byte at which it begins
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

// CellsOf returns the cells of a block, given the cell of each item.
func CellsOf(msgs []transcript.Message, b *transcript.Block, items []store.CellID) []store.CellID {
	var cells []store.CellID
	for _, k := range b.Messages {
		for _, item := range msgs[k].Items {
			cells = append(cells, items[item])
		}
	}
	return cells
}

// WithEarlier returns the session as if the client had never compacted it: the blocks of the
// earlier windows stand before those of the conversation. It is for reports about the past; a
// window must be made from the original snapshot.
func (h *Snapshot) WithEarlier() *Snapshot {
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

// Shifted returns a copy of blocks whose message indexes are higher by n.
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

// Behind returns the number of blocks in the earlier windows.
func (h *Snapshot) Behind() int {
	n := 0
	for i := range h.Earlier {
		n += len(h.Earlier[i].Blocks)
	}
	return n
}

// WindowOf returns the number of the earlier window that has block i of [Snapshot.WithEarlier]. The
// oldest window is 1; 0 means that the block is in the conversation.
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

// Info describes block i of an earlier window, for a list. The argument window is the index of that
// window.
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
