package fakesession

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Logged returns a session file of Claude Code with the given number of tool calls, a minute
// apart, and with the client's own log of its requests. The first message is in the log only,
// because the client sent it with a reminder. Most requests continue the request before; each
// tenth request lists all its messages anew. The prompts grow: that of the first call has 9,600
// tokens, and that of each later call has 600 tokens more.
func Logged(seed uint64, calls int) []byte {
	s := newStory(seed, 1)
	session := fmt.Sprintf("%08x-0000-4000-8000-%012x", seed&0xffffffff, seed)
	f := &file{story: s, session: session}
	at := time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	stamp := func() string { return at.Format("2006-01-02T15:04:05.000Z") }
	message := func(kind string, fields object) {
		fields["timestamp"] = stamp()
		f.row(kind, fields)
	}
	entry := func(kind string, fields object) {
		fields["type"], fields["sessionId"] = "api-request"+kind, session
		f.line(fields)
	}
	shape := object{"tools": []any{object{"name": "Bash", "description": s.prose(1)}}, "system": s.prose(3)}
	begin := object{"role": "user", "content": []any{object{"type": "text", "text": "<system-reminder>" + s.prose(1) + "</system-reminder>"}, object{"type": "text", "text": "Mend the mill."}}}
	message("user", object{"message": object{"role": "user", "content": "Mend the mill."}})
	entry("-shape", object{"shapeHash": hashOf(shape), "timestamp": stamp(), "version": "2.1.330", "shape": shape})
	entry("-blob", object{"hash": hashOf(begin), "message": begin})
	hashes, known, base := []string{hashOf(begin)}, 0, ""
	for i := range calls {
		at = at.Add(time.Minute)
		if i%10 == 0 {
			known, base = 0, ""
		}
		request := object{
			"id": s.id("request"), "timestamp": stamp(), "version": "2.1.330", "querySource": "sdk", "shapeHash": hashOf(shape),
			"params": object{"model": "claude-sonnet-4-5", "max_tokens": 32000}, "keep": known, "tail": hashes[known:],
		}
		if base != "" {
			request["base"] = base
		}
		entry("", request)
		known, base = len(hashes), request["id"].(string)
		call := s.id("toolu")
		reply := []any{object{"type": "text", "text": s.prose(1)}, object{"type": "tool_use", "id": call, "name": "Bash", "input": object{"command": "mill log", "a": 1.5}}}
		id, size := s.id("msg"), 9000+600*(i+1)
		at = at.Add(10 * time.Second)
		for _, block := range reply { // a row for each block
			message("assistant", object{"requestRef": base, "message": object{
				"id": id, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []any{block}, "stop_reason": "tool_use",
				"usage": object{"input_tokens": 3, "cache_read_input_tokens": max(size-600, 0), "cache_creation_input_tokens": 597, "output_tokens": 40},
			}})
		}
		result := []any{object{"type": "tool_result", "tool_use_id": call, "content": s.prose(2)}}
		message("user", object{"message": object{"role": "user", "content": result}})
		hashes = append(hashes, hashOf(object{"role": "assistant", "content": reply}), hashOf(object{"role": "user", "content": result}))
	}
	return f.Bytes()
}

// line writes a row that does not belong to the conversation.
func (f *file) line(row object) {
	f.Write(encode(row))
	f.WriteByte('\n')
}

// hashOf returns the digest by which the client's log names a value. It is the digest of the
// value's JSON with sorted keys.
func hashOf(value any) string {
	sum := sha256.Sum256(encode(value))
	return hex.EncodeToString(sum[:])
}
