package codex

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/formattest"
)

// at returns a timestamp the given seconds after the first.
func at(seconds int) string { return fmt.Sprintf("2026-11-01T10:00:%02d.000Z", seconds) }

func rowAt(seconds int, kind, payload string) string {
	return `{"timestamp":"` + at(seconds) + `","type":"` + kind + `","payload":` + payload + "}\n"
}

const (
	asks = `{"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}]}`
	said = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I do."}]}`
)

func record(thread, id string, input, cached, written, output int) string {
	return fmt.Sprintf(`{"thread_id":%q,"response_id":%q,"usage":{"input_tokens":%d,"cached_input_tokens":%d,"cache_write_input_tokens":%d,"output_tokens":%d}}`,
		thread, id, input, cached, written, output)
}

func counted(total, input, cached, output int) string {
	return fmt.Sprintf(`{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d},"last_token_usage":{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d}}}`,
		total, input, cached, output)
}

// A call counts once, by its record. Calls of the session before a fork do not count.
func TestReceipts(t *testing.T) {
	meta := rowAt(0, "session_meta", `{"id":"s"}`) + rowAt(0, "turn_context", `{"model":"m"}`)
	side := rowAt(0, "session_meta", `{"id":"s","session_id":"r"}`) + rowAt(0, "turn_context", `{"model":"m"}`)
	turn := rowAt(1, "response_item", asks) + rowAt(3, "response_item", said)
	when := func(seconds int) time.Time {
		w, err := time.Parse(time.RFC3339, at(seconds))
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	one := transcript.Receipt{ID: "r1", Begun: when(1), Ended: when(4), Model: "m", Uncached: 10, Read: 70, Write5m: 20, Output: 5, After: -1}
	for _, tt := range []struct {
		name, data string
		want       []transcript.Receipt
		sent       int64
	}{
		{"a record and what a screen shows of it", meta + turn + rowAt(4, "token_usage_record", record("s", "r1", 100, 70, 20, 5)) + rowAt(5, "event_msg", counted(100, 100, 70, 5)), []transcript.Receipt{one}, 100},
		{
			"a call after a compaction, with another model",
			meta + turn + rowAt(4, "token_usage_record", record("s", "r1", 100, 70, 20, 5)) + rowAt(6, "compacted", `{"message":"x"}`) + rowAt(6, "turn_context", `{"model":"n"}`) +
				rowAt(7, "response_item", said) + rowAt(8, "token_usage_record", record("s", "r2", 9, 0, 0, 1)),
			[]transcript.Receipt{one, {ID: "r2", Begun: when(1), Ended: when(8), Model: "n", Uncached: 9, Output: 1, Compacted: true}},
			9,
		},
		{"a call of the session before a fork", meta + turn + rowAt(2, "token_usage_record", record("before", "r0", 50, 0, 0, 5)) + rowAt(4, "token_usage_record", record("s", "r1", 100, 70, 20, 5)), []transcript.Receipt{one}, 100},
		{
			"an older version, which shows a count twice",
			meta + turn + rowAt(4, "event_msg", counted(100, 100, 70, 5)) + rowAt(5, "event_msg", counted(100, 100, 70, 5)) + rowAt(6, "event_msg", counted(130, 30, 0, 1)),
			[]transcript.Receipt{
				{Begun: when(1), Ended: when(4), Model: "m", Uncached: 30, Read: 70, Output: 5, After: -1},
				{Begun: when(1), Ended: when(6), Model: "m", Uncached: 30, Output: 1},
			},
			30,
		},
		{
			"a sub-agent", side + turn + rowAt(4, "token_usage_record", record("s", "r1", 100, 70, 20, 5)),
			[]transcript.Receipt{{ID: "r1", Begun: when(1), Ended: when(4), Model: "m", Uncached: 10, Read: 70, Write5m: 20, Output: 5, After: -1, Side: true}},
			100,
		},
		{"more read than sent", meta + turn + rowAt(4, "token_usage_record", record("s", "r1", 10, 70, 20, -5)), []transcript.Receipt{{ID: "r1", Begun: when(1), Ended: when(4), Model: "m", Read: 10, After: -1}}, 10},
		{
			"what is no part of a prompt, and a row without a thread", meta + turn + rowAt(3, "response_item", `{"type":"reasoning","summary":[]}`) + rowAt(2, "compacted", `{}`) + rowAt(2, "response_item", asks) + rowAt(3, "response_item", `{"role":"assistant","content":"x"}`) + rowAt(3, "turn_context", `{"model":""}`) + rowAt(4, "token_usage_record", record("", "r1", 100, 70, 20, 5)),
			[]transcript.Receipt{{ID: "r1", Begun: when(2), Ended: when(4), Model: "m", Uncached: 10, Read: 70, Write5m: 20, Output: 5, After: -1}},
			100,
		},
		{
			"the output of a call", meta + turn + rowAt(2, "response_item", `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`) + rowAt(3, "response_item", `{"type":"function_call_output","call_id":"c","output":"x"}`) + rowAt(4, "token_usage_record", record("s", "r1", 9, 0, 0, 1)),
			[]transcript.Receipt{{ID: "r1", Begun: when(3), Ended: when(4), Model: "m", Uncached: 9, Output: 1, After: -1}},
			9,
		},
		{"nothing", meta + turn + rowAt(4, "event_msg", `{"type":"token_count","info":null}`), nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := formattest.Decode(t, format{}, tt.data)
			if diff := cmp.Diff(tt.want, format{}.Receipts(s)); diff != "" {
				t.Errorf("receipts (-want +got):\n%s", diff)
			}
			if s.Sent != tt.sent {
				t.Errorf("sent %d tokens, want %d", s.Sent, tt.sent)
			}
		})
	}
}

// The session of a sub-agent has an id under that of its parent session, and a fork whose
// earlier history is missing has a warning.
func TestOrigins(t *testing.T) {
	turn := rowAt(1, "response_item", asks)
	base := `,"history_base":{"thread_id":"b","end_ordinal_exclusive":3,"end_byte_offset":99}`
	for _, tt := range []struct {
		name, data string
		id         transcript.SessionID
		warned     bool
	}{
		{"a session", rowAt(0, "session_meta", `{"id":"s","session_id":"s"}`) + turn, "s", false},
		{"a sub-agent", rowAt(0, "session_meta", `{"session_id":"r","id":"s","parent_thread_id":"r"}`) + turn, "r/agent-s", false},
		{"a sub-agent with the history of the other", rowAt(0, "session_meta", `{"id":"s","session_id":"r"}`) + rowAt(0, "session_meta", `{"id":"r","session_id":"r"}`) + turn, "r/agent-s", false},
		{"a fork", rowAt(0, "session_meta", `{"id":"s","session_id":"s"`+base+`}`) + rowAt(0, "session_meta", `{"id":"b"}`) + turn, "s", false},
		{"fields of other kinds", `{"type":7,"timestamp":7,"payload":7}` + "\n" + rowAt(0, "session_meta", `{"id":7,"session_id":7,"cwd":7,"history_base":7,"base_instructions":7}`) + rowAt(0, "session_meta", `{"id":"s","base_instructions":{"text":""}}`) + turn, "s", false},
		{"instructions without an id", rowAt(0, "session_meta", `{"base_instructions":"I"}`) + rowAt(0, "session_meta", `{"id":"s"}`) + turn, "talk", false},
		{"a fork without its beginning", rowAt(0, "session_meta", `{"id":"s","session_id":"s"`+base+`}`) + turn, "s", true},
	} {
		s := formattest.Decode(t, format{}, tt.data)
		if s.ID != tt.id || (len(s.Warnings) > 0) != tt.warned {
			t.Errorf("%s: id %q, warnings %v", tt.name, s.ID, s.Warnings)
		}
	}
}

// A window encoded as a new session is neither a sub-agent's session nor a fork.
func TestEncodeAsNewSession(t *testing.T) {
	const as = "019a7c1e-0000-7000-8000-0000000000ff"
	data := rowAt(0, "session_meta", `{"session_id":"r","id":"s","forked_from_id":"r","parent_thread_id":"r","cwd":"/srv","source":{"subagent":{}},"thread_source":"subagent","base_instructions":{"text":"I"},"history_mode":"paginated","history_base":{"thread_id":"r"}}`) +
		rowAt(0, "session_meta", `{"id":"r"}`) + rowAt(0, "turn_context", `{"model":"m"}`) + rowAt(1, "response_item", asks) + rowAt(2, "event_msg", `{"type":"x"}`) + rowAt(3, "response_item", said)
	w := transcript.Whole(formattest.Decode(t, format{}, data))
	w.As = as
	enc := formattest.Encode(t, format{}, w)
	want := rowAt(0, "session_meta", `{"session_id":"`+as+`","id":"`+as+`","forked_from_id":null,"parent_thread_id":null,"cwd":"/srv","source":"cli","thread_source":"user","base_instructions":{"text":"I"},"history_mode":"legacy","history_base":null}`) +
		rowAt(0, "turn_context", `{"model":"m"}`) + rowAt(1, "response_item", asks) + rowAt(3, "response_item", said)
	if diff := cmp.Diff(want, string(enc.Data)); diff != "" || enc.Session != as {
		t.Errorf("session %s (-want +got):\n%s", enc.Session, diff)
	}
	if s := formattest.Decode(t, format{}, string(enc.Data)); s.ID != as || len(s.Warnings) > 0 || s.Messages[0].Text() != "I" {
		t.Errorf("id %s, warnings %v", s.ID, s.Warnings)
	}
	for id, want := range map[transcript.SessionID]bool{as: true, "s": false, "r/agent-" + as: false} {
		if got := (format{}).IsSessionID(id); got != want {
			t.Errorf("IsSessionID(%q) = %t", id, got)
		}
	}
}
