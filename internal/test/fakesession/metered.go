package fakesession

import (
	"bytes"
	"fmt"
	"time"
)

// Metered returns a session file of Claude Code with the given number of tool calls, each with
// a result of the given number of lines. A minute passes between two calls, but an hour after
// every tenth call. The usage of each reply is recorded: tools and system text take 9,000
// tokens, each call 30 tokens for every additional line. Earlier tokens are read from the
// cache unless it has expired.
func Metered(seed uint64, calls, lines int) []byte {
	s := newStory(seed, 1)
	f := &file{story: s, session: fmt.Sprintf("%08x-0000-4000-8000-%012x", seed&0xffffffff, seed)}
	at := time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	row := func(kind string, fields object) {
		fields["timestamp"] = at.Format("2006-01-02T15:04:05.000Z")
		f.row(kind, fields)
	}
	row("user", object{"message": object{"role": "user", "content": "Find out why the mill stops, and mend it. " + s.prose(2)}})
	kept, size := 0, 9000
	for i := range calls {
		at = at.Add(time.Minute)
		size += 30 * lines
		if i%10 == 9 {
			at, kept = at.Add(time.Hour), 0
			row("user", object{"message": object{"role": "user", "content": "Go on."}})
		}
		usage := object{
			"input_tokens": 3, "cache_read_input_tokens": kept, "cache_creation_input_tokens": size - kept - 3, "output_tokens": 40,
			"cache_creation": object{"ephemeral_5m_input_tokens": size - kept - 3, "ephemeral_1h_input_tokens": 0},
		}
		kept = size - 3
		id := s.id("toolu")
		row("assistant", object{"message": object{
			"id": s.id("msg"), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "usage": usage,
			"content": []any{object{"type": "tool_use", "id": id, "name": "Bash", "input": object{"command": fmt.Sprintf("mill log --part %d", i)}}},
		}})
		var result bytes.Buffer
		for n := range lines {
			fmt.Fprintf(&result, "part %d, line %d: %s\n", i, n, s.prose(1))
		}
		row("user", object{"message": object{"role": "user", "content": []any{object{"type": "tool_result", "tool_use_id": id, "content": result.String()}}}})
	}
	return f.Bytes()
}
