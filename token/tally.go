package token

import "strings"

// A Tally counts a growing text. It counts only the text after the last seam (see [Seam])
// again. Its counts equal those of the Counter for the whole text. It is not safe for
// concurrent use.
type Tally struct {
	counter Counter
	bounds  []bound // bounds around counter, the inner one first
	sum     Count   // count of the text before the last seam
	rest    string  // text after the last seam
}

// NewTally returns a Tally of the empty text. It is incremental if c is an
// exact Counter or a [Bound] of one; otherwise it counts the whole text each
// time.
func NewTally(c Counter) *Tally {
	t := &Tally{counter: c}
	for b, ok := c.(bound); ok; b, ok = t.counter.(bound) {
		t.bounds = append([]bound{b}, t.bounds...)
		t.counter = b.base
	}
	return t
}

// With returns the tokens of the text with part appended, without appending it. With("") returns
// those of the text so far.
func (t *Tally) With(part string) Count {
	n := t.sum + t.counter.Count(t.rest+part)
	for _, b := range t.bounds {
		n = b.of(n)
	}
	return n
}

// Add appends part to the text.
func (t *Tally) Add(part string) {
	t.rest += part
	if _, ok := t.counter.(*exact); !ok {
		return
	}
	for end := len(t.rest); end > 0; {
		end = strings.LastIndexByte(t.rest[:end], '\n')
		if end >= 0 && end+1 < len(t.rest) && Seam(t.rest[:end+1], t.rest[end+1:]) {
			t.sum += t.counter.Count(t.rest[:end+1])
			t.rest = t.rest[end+1:]
			return
		}
	}
}
