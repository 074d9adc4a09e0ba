package codex

import (
	"time"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/transcript"
)

// A usage holds the token counts that a row reports for a call.
type usage struct {
	id, thread string // ids of the reply and of the thread, or empty
	total      string // total of the thread so far, as JSON
	receipt    transcript.Receipt
}

func (u *usage) prompt() int64 {
	r := &u.receipt
	return r.Uncached + r.Read + r.Write5m
}

// usage returns the token counts of a call in a row, or nil if the row has none. Newer
// versions of the agent write a token_usage_record for each call; a token_count, which is for
// the screen, counts only in files without records.
func (f *rollout) usage(r *row) *usage {
	payload := gjson.ParseBytes(r.payload.Of(r.raw))
	u := &usage{id: payload.Get("response_id").Str, thread: payload.Get("thread_id").Str}
	tokens := payload.Get("usage")
	if r.kind == "event_msg" {
		if payload.Get("type").Str != "token_count" || f.records {
			return nil
		}
		tokens = payload.Get("info.last_token_usage")
		u.total = payload.Get("info.total_token_usage").Raw
	}
	n := func(path string) int64 { return max(0, tokens.Get(path).Int()) }
	input := n("input_tokens")
	read := min(n("cached_input_tokens"), input)
	written := min(n("cache_write_input_tokens"), input-read)
	u.receipt = transcript.Receipt{Uncached: input - read - written, Read: read, Write5m: written, Output: n("output_tokens")}
	if input == 0 {
		return nil
	}
	return u
}

// Receipts implements [transcript.Metered]. A call counts once, by its record. Calls of the
// session from which this one was forked are not included.
func (format) Receipts(s *transcript.Session) []transcript.Receipt {
	f := read(s.Bytes())
	var all []transcript.Receipt
	var said time.Time // time of the newest item of the prompt
	compacted, model, total := false, "", ""
	for i := range f.rows {
		r := &f.rows[i]
		when, _ := time.Parse(time.RFC3339, r.stamp) // zero if the row has no time
		switch r.kind {
		case "turn_context":
			if name := gjson.GetBytes(r.payload.Of(r.raw), "model").Str; name != "" {
				model = name
			}
		case "response_item":
			if asked(r.payload.Of(r.raw)) {
				said = when
			}
		case "compacted":
			compacted = true
		case "token_usage_record", "event_msg":
			u := f.usage(r)
			if u == nil || u.thread != "" && u.thread != f.id || u.total != "" && u.total == total {
				continue // of another thread, or a repeated count
			}
			total = u.total
			c := u.receipt
			c.ID, c.Begun, c.Ended, c.Model = u.id, said, when, model
			c.After, c.Compacted, c.Side = len(all)-1, compacted && len(all) > 0, f.root != ""
			all, compacted = append(all, c), false
		}
	}
	return all
}

// asked reports whether an item is part of the prompt, and not of the reply.
func asked(item []byte) bool {
	kind, role := gjson.GetBytes(item, "type").Str, gjson.GetBytes(item, "role").Str
	switch kind {
	case "", "message":
		return role != "assistant"
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output":
		return true
	}
	return false
}
