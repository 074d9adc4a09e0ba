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

// A register holds the known blocks of a session, and finds the known block that equals a block
// of an import. The key of a block is the provider's id of its message, or its turn if there is
// none. Blocks match if they have the same key and the same bytes, or some of them.
type register struct {
	known []knownBlock
	by    map[string][]int // indexes of known blocks, by key
	gone  map[string][]int // blocks that left the conversation, by their bytes; read at first use
	alone map[string][]int // blocks in a window whose message has no id of the provider, by their bytes
	past  bool             // the session has earlier windows
	ids   map[transcript.BlockID]bool
}

// A knownBlock is a stored block with its original bytes.
type knownBlock struct {
	row   store.Block // without an id if the store does not have the block
	items [][]byte
	place int  // index in the conversation, from 0, or -1
	off   bool // in no window of the session any more
	used  bool
}

// A relation compares a block with a known block.
type relation int

// The relations, from the weakest to the strongest.
const (
	another relation = iota // a different block
	less                    // a part of the known block
	more                    // the known block and more
	alike                   // equal except for line ends
	same                    // equal byte for byte
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

// keyOf returns the key of a block.
func keyOf(msgs []transcript.Message, b *transcript.Block) string {
	if id := msgs[b.Messages[0]].ID; id != "" {
		return "id " + id
	}
	return "turn " + strconv.Itoa(b.Turn)
}

// itemsOf returns the items of a block. An item that several of its messages share occurs once.
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

// find returns the known block with the same key that is most similar to a block, or nil if none
// has bytes in common with it. It marks the known block as used, unless the block is only a part of
// it.
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

// moved returns the block with the same bytes in another window or at another position, because
// the client compacted the text before it. It marks the block as used, and returns nil if there
// is none.
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

// again returns the block with the same bytes that left the conversation, or nil, and marks it as
// used. If the message has no id of the provider, the turn must be the same, too.
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

// missing reports whether the import lacks a block that is in a window of the stored session.
func (r *register) missing() bool {
	return slices.ContainsFunc(r.known, func(k knownBlock) bool { return !k.off && !k.used })
}

// relate returns the relation of the items of a block to those of a known block. In some formats
// items are lines, and the last line may be incomplete.
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

// among reports whether items is a subsequence of others.
func among(items, others [][]byte) bool {
	n := 0
	for _, o := range others {
		if n < len(items) && bytes.Equal(bytes.TrimRight(items[n], "\r\n"), bytes.TrimRight(o, "\r\n")) {
			n++
		}
	}
	return n == len(items)
}
