package anthropic

import (
	"slices"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/transcript"
)

// eachMark calls the function see for each cache mark, in the order in which the provider reads
// them: marks of tools, of system text, of messages, and of the request. The arguments i and k are
// the indexes of the message and of the block, or -1; holder is the block, or nil if the mark is
// not on a block.
func (b *body) eachMark(see func(m *mark, holder *block, i, k int)) {
	for t := range b.marks {
		see(&b.marks[t], nil, -1, -1)
	}
	look := func(holder *block, i, k int) {
		if holder.mark != nil {
			see(holder.mark, holder, i, k)
		}
	}
	for k := range b.system.blocks {
		look(&b.system.blocks[k], -1, k)
	}
	for i := range b.messages {
		for k := range b.messages[i].blocks {
			outer := &b.messages[i].blocks[k]
			for n := range outer.content.blocks {
				look(&outer.content.blocks[n], i, k)
			}
			look(outer, i, k)
		}
	}
	if b.whole != nil {
		see(b.whole, nil, -1, -1)
	}
}

// mayBeMarked reports whether the provider allows a cache mark on a block.
func (k *block) mayBeMarked() bool { return !k.thought() && (k.kind != "text" || k.text != "") }

// Tidy implements [transcript.Tidier]. It removes the cache marks for which the provider
// would refuse the request: marks on thinking and on empty text, marks of one hour after one
// of five minutes, and, if there are more marks than allowed, the first ones in messages. The
// mark of the request itself stays.
func (format) Tidy(data []byte) ([]byte, []transcript.Fix, error) {
	b, err := parse("", data)
	if err != nil {
		return nil, nil, err
	}
	type placed struct {
		*mark
		message int
	}
	var kept, gone []placed
	short, first, room := false, 0, maxMarks
	b.eachMark(func(m *mark, holder *block, i, _ int) {
		switch {
		case m == b.whole:
			room--
			return
		case holder != nil && !holder.mayBeMarked(), m.hour && short:
			gone = append(gone, placed{m, i})
			return
		}
		short = short || !m.hour
		if kept = append(kept, placed{m, i}); i < 0 {
			first = len(kept)
		}
	})
	for len(kept) > room {
		at := min(first, len(kept)-1)
		gone, kept = append(gone, kept[at]), slices.Delete(kept, at, at+1)
	}
	var cuts []transcript.Cut
	var fixes []transcript.Fix
	for _, m := range gone {
		cuts = append(cuts, chat.Dropping(m.Of(data), m.Start, func(key string) bool { return key == "cache_control" })...)
		fixes = append(fixes, transcript.Fix{Rule: "A11", Message: m.message, What: "cache mark left out"})
	}
	return transcript.Splice(data, cuts...), fixes, nil
}
