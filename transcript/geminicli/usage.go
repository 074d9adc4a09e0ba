package geminicli

import (
	"bytes"
	"time"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// A usage holds the provider's token counts of one call.
type usage struct{ input, output, cached, thoughts, tool int64 }

// usage returns the token counts in a record, all zero if it has none.
func (r *record) usage() (u usage) {
	reader := rawjson.NewReader(r.tokens.Of(r.raw))
	err := reader.Object(func(key string) error {
		span, err := reader.Skip()
		to := map[string]*int64{"input": &u.input, "output": &u.output, "cached": &u.cached, "thoughts": &u.thoughts, "tool": &u.tool}[key]
		if to == nil || err != nil {
			return err
		}
		*to = count(reader.Of(span))
		return nil
	})
	if err != nil {
		return usage{}
	}
	return u
}

// count returns a whole number of at least 0, and 0 for any other value.
func count(raw []byte) (n int64) {
	const most = 1 << 40
	for _, c := range raw {
		if c < '0' || c > '9' || n > most {
			return 0
		}
		n = 10*n + int64(c-'0')
	}
	return n
}

// prompt returns the tokens of the request.
func (u usage) prompt() int64 { return u.input + u.tool }

// Receipts implements [transcript.Metered]. A reply counts once, by its last line in the
// file. The client does not record its requests outside the conversation, such as the choice
// of a model or the summary of a compaction.
func (format) Receipts(s *transcript.Session) []transcript.Receipt {
	f := read(s.Bytes())
	at := make(map[string]int) // indexes of receipts, by record id
	var all []transcript.Receipt
	var said time.Time
	last, compacted := -1, false
	summaries := make(map[string]bool) // ids of the summaries seen so far
	for i := range f.records {
		r := &f.records[i]
		when, _ := time.Parse(time.RFC3339, r.stamp) // zero if the record has no time
		u := r.usage()
		if r.kind != "gemini" || u.prompt() == 0 {
			if r.kind == "user" {
				said = when
			}
			if r.kind == "user" && !summaries[r.id] && bytes.Contains(r.raw, []byte("<state_snapshot>")) {
				summaries[r.id], compacted = true, true
			}
			continue
		}
		k, known := at[r.id]
		if !known {
			k = len(all)
			at[r.id] = k
			all = append(all, transcript.Receipt{ID: r.id, Model: r.model, Begun: said, Ended: when, After: last, Compacted: compacted})
			last, compacted = k, false
		}
		c := &all[k]
		c.Read = min(u.cached, u.prompt())
		c.Uncached, c.Output = u.prompt()-c.Read, u.output+u.thoughts
	}
	return all
}
