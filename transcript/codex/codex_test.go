package codex

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/anthropic"
	"github.com/carrel-dev/carrel/transcript/claudecode"
	"github.com/carrel-dev/carrel/transcript/formattest"
	"github.com/carrel-dev/carrel/transcript/openai"
	"github.com/carrel-dev/carrel/transcript/responses"
)

// samples returns the files in testdata.
func samples(tb testing.TB) map[string][]byte {
	tb.Helper()
	return formattest.Samples(tb, "*.jsonl", "tools")
}

func TestFormat(t *testing.T) { formattest.Run(t, format{}, samples(t)) }

func FuzzDecode(f *testing.F) { formattest.Fuzz(f, format{}, samples(f)) }

// Conversations can be converted from this format into every other, and back.
func TestOtherFormats(t *testing.T) {
	formattest.RunOthers(t, format{}, samples(t), map[transcript.Format][]byte{
		openai.Format:     fakesession.Chat(3, 3),
		anthropic.Format:  fakesession.Messages(3, 3),
		responses.Format:  fakesession.Responses(3, 3),
		claudecode.Format: fakesession.ClaudeCode(3, 3),
	})
}

// The history of a compaction replaces everything before it. The replaced messages, without
// those that the history keeps, are an earlier window.
func TestCompacted(t *testing.T) {
	s := formattest.Decode(t, format{}, string(samples(t)["compacted"]))
	said := func(msgs []transcript.Message) (list []string) {
		for i := range msgs {
			what := string(msgs[i].Role) + " " + msgs[i].Text()
			if msgs[i].Summary {
				what += " (summary)"
			}
			list = append(list, what)
		}
		return list
	}
	want := []string{
		"system You are a coding agent.", "system <permissions>", "user mend the pool", "user Summary:\nWe looked at the pool. (summary)", "user go on", "assistant I go on.",
	}
	if diff := cmp.Diff(want, said(s.Messages)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	before := []string{"assistant ", "system a hook spoke", "tool ", "tool ", "assistant Done."}
	if len(s.Earlier) != 1 {
		t.Fatalf("%d earlier windows", len(s.Earlier))
	}
	if diff := cmp.Diff(before, said(s.Earlier[0])); diff != "" {
		t.Errorf("earlier (-want +got):\n%s", diff)
	}
	if s.ID != "019a7c1e-0000-7000-8000-000000000001" || s.Project != "/srv/pool" || s.Model != "gpt-6-codex" || s.Title != "mend the pool" || len(s.Warnings) > 0 {
		t.Errorf("id %q, project %q, model %q, title %q, warnings %v", s.ID, s.Project, s.Model, s.Title, s.Warnings)
	}
}

// A compaction without a history leaves its message, once.
func TestCompactedToAMessage(t *testing.T) {
	row := func(kind, payload string) string { return `{"type":"` + kind + `","payload":` + payload + "}\n" }
	say := func(text string) string { return `{"type":"message","role":"user","content":"` + text + `"}` }
	for rest, want := range map[string][]string{
		`{"message":"We looked."}`: {"We looked. (summary)", "go on", "We looked."},
		`{"message":""}`:           {"", "go on", "We looked."},
		`{"message":"We looked.","replacement_history":[` + say("start") + `]}`:                                     {"start", "go on", "We looked."},
		`{"message":"start","replacement_history":[` + strings.Replace(say("start"), "user", "assistant", 1) + `]}`: {"start", "go on", "We looked."},
		`{"message":7,"replacement_history":7}`:                                                                     {"go on", "We looked."},
	} {
		s := formattest.Decode(t, format{}, row("response_item", say("mend"))+row("compacted", rest)+row("response_item", say("go on"))+row("response_item", say("We looked.")))
		var got []string
		for i := range s.Messages {
			got = append(got, s.Messages[i].Text()+map[bool]string{true: " (summary)"}[s.Messages[i].Summary])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", rest, diff)
		}
	}
}

// What is said again after a compaction does not take the place of what was said before it.
func TestSaidAgainAfterACompaction(t *testing.T) {
	say := func(role, text string) string {
		return `{"type":"message","role":"` + role + `","content":"` + text + `"}`
	}
	row := func(item string) string { return `{"type":"response_item","payload":` + item + `}` }
	lines := []string{
		row(say("user", "start")), row(say("assistant", "Done.")), row(say("user", "start")), row(say("user", "continue")), row(say("assistant", "Done two.")),
		`{"type":"compacted","payload":{"message":"","replacement_history":[` + say("user", "start") + `]}}`,
		row(say("user", "continue")), row(say("assistant", "Done.")),
	}
	s := formattest.Decode(t, format{}, strings.Join(lines, "\n"))
	if len(s.Earlier) != 1 {
		t.Fatalf("%d earlier windows", len(s.Earlier))
	}
	var got []string
	for i := range s.Earlier[0] {
		got = append(got, s.Earlier[0][i].Text())
	}
	if diff := cmp.Diff([]string{"start", "Done.", "continue", "Done two."}, got); diff != "" {
		t.Errorf("earlier (-want +got):\n%s", diff)
	}
	lines[5] = `{"type":"compacted","payload":{}}`
	if s := formattest.Decode(t, format{}, strings.Join(lines, "\n")); len(s.Earlier) != 1 || len(s.Earlier[0]) != 5 {
		t.Errorf("a compaction to nothing leaves %+v", s.Earlier)
	}
}

// A window has the rows of items that are said twice, the items of a compaction in rows of their
// own, and neither instructions that are left out nor what cannot be read.
func TestEncodeRows(t *testing.T) {
	item := `{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}`
	row := func(at, payload string) string {
		return `{"timestamp":"` + at + `","type":"response_item","payload":` + payload + "}\n"
	}
	meta := `{"type":"session_meta","payload":{"id":"s","base_instructions":"I","cwd":"/srv"}}` + "\n"
	data := meta + `{"type":"world_state","payload":{}} x` + "\n" + `{"timestamp":"a","type":"compacted","payload":{"replacement_history":[` + item + "," + item + "]}}\n" + row("b", item) + strings.TrimSuffix(row("c", item), "\n")
	w := transcript.Whole(formattest.Decode(t, format{}, data))
	w.Entries = append(w.Entries[1:], transcript.Stub("", "stub"))
	want := strings.Replace(meta, `"I"`, "null", 1) + row("a", item) + row("a", item) + row("b", item) + row("c", item) + row("c", `{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "stub"}]}`)
	if diff := cmp.Diff(want, string(formattest.Encode(t, format{}, w).Data)); diff != "" {
		t.Errorf("encoding (-want +got):\n%s", diff)
	}
}

// A new session has its id in its first row, also if the source has no such row.
func TestNewSessionOfAFileWithoutItsBeginning(t *testing.T) {
	row := func(text string) string {
		return `{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}}`
	}
	for _, first := range []string{"", "{\"type\":\"session_meta\",\n"} {
		w := transcript.Whole(formattest.Decode(t, format{}, first+row("one")+"\n"+row("two")+"\n"))
		w.As, w.Entries = "019a7c1e-0000-7000-8000-000000000009", w.Entries[1:]
		enc := formattest.Encode(t, format{}, w)
		if s := formattest.Decode(t, format{}, string(enc.Data)); s.ID != w.As || enc.Session != w.As || len(s.Messages) != 1 {
			t.Errorf("session %s is written as %s:\n%s", enc.Session, s.ID, enc.Data)
		}
	}
}

// A changed window keeps the rows of unchanged items and of settings, and drops events for
// the screen.
func TestEncodeOwn(t *testing.T) {
	data := samples(t)["tools"]
	w := transcript.Whole(formattest.Decode(t, format{}, string(data)))
	for i := range w.Entries {
		for _, r := range w.Entries[i].Results() {
			if r.CallID == "call_a" {
				w.Entries[i] = w.Entries[i].WithResult(r.CallID, "<short>")
			}
		}
	}
	enc := formattest.Encode(t, format{}, w)
	lines := strings.SplitAfter(string(data), "\n")
	want := lines[0] + lines[1] + lines[2] + lines[3] + lines[5] + lines[6] + lines[8] + lines[9] +
		`{"timestamp":"2026-11-01T10:00:09.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_a","output":"<short>"}}` + "\n" +
		lines[12] + lines[10] + lines[13] + lines[15] + lines[16] + lines[17]
	if diff := cmp.Diff(want, string(enc.Data)); diff != "" {
		t.Errorf("encoding (-want +got):\n%s", diff)
	}
}

// Messages are written in the only form that Codex reads.
func TestEncodeIsExplicit(t *testing.T) {
	s := formattest.Decode(t, responses.Format, `{"instructions":"I","model":"m","input":[{"role":"user","name":"assistant","content":"a\u0022"},
		{"role" : "assistant", "content" : "b"},{"role":"system","content":"S"},{"type":"function_call",
		"call_id":"c","name":"f","arguments":"{}"}]}`)
	w := transcript.Whole(s)
	w.Entries = append(w.Entries[:2:2], transcript.Stub("", "stub"), w.Entries[2], w.Entries[3], w.Entries[4])
	enc := formattest.Encode(t, format{}, w)
	row := func(kind, payload string) string {
		return `{"timestamp":"` + dawn + `","type":"` + kind + `","payload":` + payload + "}\n"
	}
	_, got, _ := strings.Cut(string(enc.Data), "\n") // after session_meta
	want := row("turn_context", `{"model":"m"}`) +
		row("response_item", `{"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "I"}]}`) +
		row("response_item", `{"type":"message","role":"user","name":"assistant","content":[{"type":"input_text","text":"a\u0022"}]}`) +
		row("response_item", `{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "stub"}]}`) +
		row("response_item", `{"type":"message","role" : "assistant", "content" : [{"type":"output_text","text":"b"}]}`) +
		row("response_item", `{"type":"message","role":"system","content":[{"type":"input_text","text":"S"}]}`) +
		row("response_item", `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	other := &transcript.Session{Format: "anthropic", ID: "c", Messages: []transcript.Message{{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("go")}}}}
	const id = "71c99893-f54e-84b7-b282-7b55bd41f674" // the hash of the format and the id, as a UUID of version 8
	enc = formattest.Encode(t, format{}, transcript.Whole(other))
	want = row("session_meta", `{"id":"`+id+`","timestamp":"`+dawn+`","cwd":"/","originator":"carrel","cli_version":"0.0.0"}`) + row("response_item", `{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}`)
	if string(enc.Data) != want || enc.Session != id {
		t.Errorf("session %s is written as\n%s\nwant\n%s", enc.Session, enc.Data, want)
	}
}

// A warning names the line of an unreadable row, and a violation the line of its item.
func TestBroken(t *testing.T) {
	data := samples(t)["broken"]
	s := formattest.Decode(t, format{}, string(data))
	var lines []int
	for _, w := range s.Warnings {
		lines = append(lines, w.Line)
	}
	if diff := cmp.Diff([]int{16, 17, 22}, lines); diff != "" {
		t.Errorf("warnings %v (-want +got):\n%s", s.Warnings, diff)
	}
	found, err := format{}.Validate(data)
	if err != nil {
		t.Fatal(err)
	}
	want := []transcript.Violation{
		{Rule: "R2", Message: 1, Field: "line 19", Text: "No tool call found for function call output with call_id gone"},
		{Rule: "R1", Message: 2, Field: "line 20", Text: "No tool output found for function call call_d"},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
	found, err = format{}.Validate([]byte(`{"type":"session_meta","payload":{"id":"x"}}` + "\n" + `{"type":"response_item","payload":{"type":"function_call_output","call_id":"gone","output":""}}` + "\n"))
	if err != nil || len(found) == 0 || found[0].Field != "line 2" {
		t.Errorf("violations %v, %v, want one in line 2", found, err)
	}
	var a, b string
	if err := texts([]byte(`{"a":7,"b":"x","c":1}`), map[string]*string{"a": &a, "b": &b}); err != nil || a != "" || b != "x" {
		t.Errorf("the texts are %q and %q, %v", a, b, err)
	}
	if got := (format{}).Piece([][]byte{[]byte("torn\n")}); got != nil {
		t.Errorf("a torn row is read as %v", got)
	}
	for row, want := range map[string]bool{`{"type":"session_meta","payload":{}}`: true, `{"type":"session_meta"}`: false, `{"type":"x","payload":{}}`: false, `[]`: false, "": false} {
		if got := (format{}).Sniff([]byte(row)); got != want {
			t.Errorf("%s begins a session: %v, want %v", row, got, want)
		}
	}
	formattest.Refuses(t, format{}, []formattest.Refusal{
		{Name: "a file without items", In: `{"type":"session_meta","payload":{"id":"x"}}`, Says: "the conversation has no items"},
		{Name: "no rows", In: "\nnone", Says: "x.json:2: the conversation has no items; "},
		{Name: "a row of one character", In: " \n7", Says: "x.json:2: the conversation has no items; "},
	})
}
