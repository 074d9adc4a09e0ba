package claudecode

import (
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/transcript"
)

// sent returns the tokens of the newest request that was answered, as the provider reports
// them with the reply, or 0 if no row has usage. It adds the tokens read from and written to
// the cache, which the provider reports separately.
func (t *tree) sent(s *transcript.Session) int64 {
	for i := len(t.rows) - 1; i >= 0; i-- {
		r := &t.rows[i]
		if r.kind != "assistant" || r.hidden {
			continue
		}
		if n := promptOf(reading(gjson.Get(view(s.Items[r.item].Raw), "message.usage"))); n > 0 { // rows made by the client or Carrel have no usage
			return n
		}
	}
	return 0
}

// reading returns the token counts in the usage of a reply. Cache writes without a lifetime
// count as writes for five minutes.
func reading(usage gjson.Result) transcript.Receipt {
	n := func(path string) int64 { return max(0, usage.Get(path).Int()) }
	written, hour := n("cache_creation_input_tokens"), n("cache_creation.ephemeral_1h_input_tokens")
	hour = min(hour, written)
	return transcript.Receipt{
		Uncached: n("input_tokens"), Read: n("cache_read_input_tokens"),
		Write5m: written - hour, Write1h: hour, Output: n("output_tokens"),
	}
}

func promptOf(r transcript.Receipt) int64 { return r.Uncached + r.Read + r.Write5m + r.Write1h }

// Receipts implements [transcript.Metered]. A reply in several rows counts once, with the
// usage of the row that reports most output. The client does not record its requests outside
// the conversation, such as those for a title or a compaction summary. Calls of sub-agents
// are included if the file has their rows.
func (format) Receipts(s *transcript.Session) []transcript.Receipt {
	m := meter{at: make(map[string]int), calls: make(map[string]int)}
	for i := range s.Items {
		m.row(view(s.Items[i].Raw))
	}
	return m.all
}

// A meter collects the receipts of a session: how many tokens each call of the model used. It reads
// the rows of the session in their order.
type meter struct {
	all   []transcript.Receipt // so far
	calls map[string]int       // indexes in all, by message id
	at    map[string]int       // indexes in seen, by uuid
	seen  []place              // places of the rows so far
}

// A place is the position of a row in the conversation.
type place struct {
	call      int // the newest reply at or before the row, or -1
	compacted bool
	said      time.Time
}

// row reads a row.
func (m *meter) row(raw string) {
	f := gjson.GetMany(raw, "type", "uuid", "parentUuid", "logicalParentUuid", "subtype", "timestamp", "isSidechain")
	kind, id := f[0].String(), f[1].String()
	if id == "" {
		return
	}
	here := place{call: -1}
	parent, known := m.at[f[2].String()]
	before, cut := m.at[f[3].String()]
	switch {
	case known:
		here = m.seen[parent]
	case f[4].String() == "compact_boundary" && cut:
		here.call, here.compacted = m.seen[before].call, true
	case f[4].String() == "compact_boundary", f[2].String() != "" && !f[6].Bool():
		here.call = m.newest() // the rows before it are not in the file
		here.compacted = f[2].String() == ""
	}
	when, _ := time.Parse(time.RFC3339, f[5].String()) // zero if the row has no time
	if kind == "assistant" {
		m.reply(raw, &here, when, f[6].Bool())
	}
	if kind == "user" || here.said.IsZero() {
		here.said = when
	}
	m.at[id] = len(m.seen)
	m.seen = append(m.seen, here)
}

// newest returns the index of the newest reply of the conversation itself, or -1.
func (m *meter) newest() int {
	for i, r := range slices.Backward(m.all) {
		if !r.Side {
			return i
		}
	}
	return -1
}

// reply reads the usage of a row of a reply, and sets here.call to that reply.
func (m *meter) reply(raw string, here *place, when time.Time, side bool) {
	f := gjson.GetMany(raw, "message.id", "message.model", "message.usage", "requestId")
	id := f[0].String()
	r := reading(f[2])
	if i, ok := m.calls[id]; ok && id != "" {
		if known := &m.all[i]; r.Output >= known.Output && promptOf(r) > 0 {
			known.Uncached, known.Read, known.Write5m, known.Write1h, known.Output = r.Uncached, r.Read, r.Write5m, r.Write1h, r.Output
			if when.After(known.Ended) {
				known.Ended = when
			}
		}
		here.call, here.compacted = i, false
		return
	}
	if promptOf(r) == 0 {
		return // a message by the client itself
	}
	r.ID, r.Model, r.Begun, r.Ended, r.Side = id, f[1].String(), here.said, when, side
	r.After, r.Compacted = here.call, here.compacted
	m.calls[id] = len(m.all)
	here.call, here.compacted = len(m.all), false
	m.all = append(m.all, r)
}
