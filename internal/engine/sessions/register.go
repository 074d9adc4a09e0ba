package sessions

import (
	"bytes"
	"context"
	"slices"
	"strconv"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A register has what is known of a session's blocks, and finds there which of them a
// block of a conversation is. A block is known by the provider's id of its message, or
// where that has none by its turn; and it must have the same bytes, or some of them.
type register struct {
	known []knownBlock
	by    map[string][]int // known blocks by what they are known by
	gone  map[string][]int // those that left the conversation, by their bytes; once asked for
	alone map[string][]int // those in a window whose message has no id, by their bytes
	past  bool             // there are earlier windows
	ids   map[transcript.BlockID]bool
}

// A knownBlock is a block with the bytes that it was read from.
type knownBlock struct {
	row   store.Block // without an id if the store does not have it
	items [][]byte
	place int  // in the conversation, from 0, or -1
	off   bool // in no window of the session any more
	used  bool
}

// A relation is what a block is to one that is known.
type relation int

// The relations, the weakest first.
const (
	another relation = iota
	less             // a part of it
	more             // it, and more
	alike            // it, but for the ends of lines
	same             // it, byte for byte
)

func newRegister(h *hold.Snapshot) *register {
	r := &register{by: make(map[string][]int), alone: make(map[string][]int), ids: make(map[transcript.BlockID]bool)}
	add := func(msgs []transcript.Message, b *transcript.Block, row store.Block, place int) {
		key := keyOf(msgs, b)
		r.by[key] = append(r.by[key], len(r.known))
		k := knownBlock{row: row, items: itemsOf(h.Session, msgs, b), place: place}
		if msgs[b.Messages[0]].ID == "" {
			text := string(bytes.Join(k.items, nil))
			r.alone[text] = append(r.alone[text], len(r.known))
		}
		r.known = append(r.known, k)
		r.ids[row.ID] = true
	}
	for i := range h.Blocks {
		add(h.Session.Messages, &h.Blocks[i], h.Rows[i], i)
	}
	for _, p := range h.Earlier {
		r.past = true
		for i := range p.Blocks {
			add(p.Msgs, &p.Blocks[i], p.Rows[i], -1)
		}
	}
	for i := range h.Unrecorded {
		add(h.Unrecorded[i].Msgs, &h.Unrecorded[i].Block, store.Block{}, -1)
	}
	for i := range h.Off {
		r.known = append(r.known, knownBlock{row: h.Off[i], place: -1, off: true})
		r.ids[h.Off[i].ID] = true
	}
	return r
}

// keyOf returns what a block is known by.
func keyOf(msgs []transcript.Message, b *transcript.Block) string {
	if id := msgs[b.Messages[0]].ID; id != "" {
		return "id " + id
	}
	return "turn " + strconv.Itoa(b.Turn)
}

// itemsOf returns the items of a block. One that several of its messages share is there
// once.
func itemsOf(s *transcript.Session, msgs []transcript.Message, b *transcript.Block) [][]byte {
	var items [][]byte
	last := -1
	for _, k := range b.Messages {
		for _, item := range msgs[k].Items {
			if item != last {
				items = append(items, s.Items[item].Raw)
			}
			last = item
		}
	}
	return items
}

// find returns the known block that is nearest to a block, and takes it unless there is
// none or it is only a part.
func (r *register) find(msgs []transcript.Message, b *transcript.Block, items [][]byte) (*knownBlock, relation) {
	var found *knownBlock
	best := another
	for _, i := range r.by[keyOf(msgs, b)] {
		k := &r.known[i]
		if k.used {
			continue
		}
		if rel := relate(k.items, items); rel > best {
			found, best = k, rel
		}
	}
	if best > less {
		found.used = true
	}
	return found, best
}

// moved returns the block that has the bytes of a block and stands in another window, or at
// another place of it, and takes it: its client compacted what stood in front of it. It
// returns nil if there is none.
func (r *register) moved(msgs []transcript.Message, b *transcript.Block, items [][]byte) *knownBlock {
	if msgs[b.Messages[0]].ID != "" {
		return nil
	}
	for _, i := range slices.Backward(r.alone[string(bytes.Join(items, nil))]) {
		if k := &r.known[i]; !k.used {
			k.used = true
			return k
		}
	}
	return nil
}

// again returns the block that left the conversation and has the bytes of a block, and
// takes it, or returns nil.
func (r *register) again(msgs []transcript.Message, b *transcript.Block, items [][]byte) *knownBlock {
	for _, i := range r.gone[string(bytes.Join(items, nil))] {
		k := &r.known[i]
		if !k.used && (k.row.Turn == b.Turn || msgs[b.Messages[0]].ID != "") {
			k.used = true
			return k
		}
	}
	return nil
}

// readLeft reads the bytes of the blocks that left the conversation.
func (e *Sessions) readLeft(ctx context.Context, scope governance.Scope, r *register) error {
	var cells []store.CellID
	var owners []int // of cells
	for i := range r.known {
		if k := &r.known[i]; k.off && k.row.State != store.StatePurged {
			for _, cell := range k.row.Cells {
				cells, owners = append(cells, cell), append(owners, i)
			}
		}
	}
	bodies, err := e.Bodies(ctx, scope, cells)
	if err != nil {
		return err
	}
	r.gone = make(map[string][]int)
	for from := 0; from < len(owners); {
		to := from + 1
		for to < len(owners) && owners[to] == owners[from] {
			to++
		}
		raw := string(bytes.Join(bodies[from:to], nil))
		r.gone[raw] = append(r.gone[raw], owners[from])
		from = to
	}
	return nil
}

// left reports whether blocks left the conversation.
func (r *register) left() bool {
	return slices.ContainsFunc(r.known, func(k knownBlock) bool { return k.off })
}

// missing reports whether a block that was in a window of the session is not any more.
func (r *register) missing() bool {
	return slices.ContainsFunc(r.known, func(k knownBlock) bool { return !k.off && !k.used })
}

// relate returns what items are to those that are known. Items are lines in some
// formats, of which the last may not have ended yet.
func relate(was, is [][]byte) relation {
	switch in, has := among(was, is), among(is, was); {
	case slices.EqualFunc(was, is, bytes.Equal):
		return same
	case in && has:
		return alike
	case in:
		return more
	case has:
		return less
	}
	return another
}

// among reports whether all items are among others, in the same order.
func among(items, others [][]byte) bool {
	n := 0
	for _, o := range others {
		if n < len(items) && bytes.Equal(bytes.TrimRight(items[n], "\r\n"), bytes.TrimRight(o, "\r\n")) {
			n++
		}
	}
	return n == len(items)
}
