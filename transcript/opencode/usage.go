package opencode

import (
	"time"

	"github.com/carrel-dev/carrel/transcript"
)

// reading returns the token counts of a reply or of one of its steps. The count input excludes
// cached tokens. Cache writes have no lifetime in the file and count as writes for five minutes.
func reading(data []byte, o object) transcript.Receipt {
	tokens := o.in(data, "tokens")
	cache := tokens.in(data, "cache")
	n := func(o object, key string) int64 { return max(0, o.number(data, key)) }
	return transcript.Receipt{
		Uncached: n(tokens, "input"), Read: n(cache, "read"), Write5m: n(cache, "write"),
		Output: n(tokens, "output") + n(tokens, "reasoning"),
	}
}

func promptOf(r transcript.Receipt) int64 { return r.Uncached + r.Read + r.Write5m }

// Receipts implements [transcript.Metered]. It returns one receipt for each step with usage,
// or one for the reply if only the reply has usage. A summary is a call outside the conversation.
func (format) Receipts(s *transcript.Session) []transcript.Receipt {
	d, err := read("", s.Bytes())
	if err != nil {
		return nil // Decode has read these bytes before
	}
	var all []transcript.Receipt
	newest, compacted := -1, false
	child := d.info.text(d.Data, "parentID") != ""
	for at := range d.msgs {
		m := &d.msgs[at]
		if m.role != "assistant" {
			continue
		}
		steps := d.steps(m)
		for i, r := range steps {
			r.ID = m.id
			if i > 0 {
				r.ID += "/" + d.finishes(m)[i].id
			}
			r.Model, r.Begun, r.Ended = m.info.text(d.Data, "modelID"), moment(m.created), moment(m.info.in(d.Data, "time").number(d.Data, "completed"))
			r.After, r.Side = newest, child
			if m.summary {
				r.After, r.Side, compacted = -1, true, true
			} else {
				r.Compacted, compacted, newest = compacted, false, len(all)
			}
			all = append(all, r)
		}
	}
	return all
}

// finishes returns the parts of a reply that hold the usage of a step.
func (d *document) finishes(m *message) []*part {
	var list []*part
	for i := range m.parts {
		if p := &m.parts[i]; p.kind == "step-finish" && promptOf(reading(d.Data, p.object)) > 0 {
			list = append(list, p)
		}
	}
	return list
}

// steps returns the usage of each step of a reply.
func (d *document) steps(m *message) []transcript.Receipt {
	var list []transcript.Receipt
	for _, p := range d.finishes(m) {
		list = append(list, reading(d.Data, p.object))
	}
	if r := reading(d.Data, m.info); len(list) == 0 && promptOf(r) > 0 {
		list = append(list, r)
	}
	return list
}

// moment returns the time of ms, milliseconds since 1970, or the zero time for 0.
func moment(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
