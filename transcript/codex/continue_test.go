package codex

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/transcript"
)

// drawRow returns a row with one of few ids, so that rows refer to one another often.
func drawRow(t *rapid.T, n int) string {
	id := func(kind string) string {
		if rapid.IntRange(1, 8).Draw(t, "again") == 1 {
			return fmt.Sprintf("%s%d", kind, rapid.IntRange(0, 12).Draw(t, kind))
		}
		return fmt.Sprintf("%s%d", kind, n)
	}
	item := func(payload string) string { return `{"type":"response_item","payload":` + payload + "}" }
	switch rapid.IntRange(0, 15).Draw(t, "kind") {
	case 0, 1:
		return item(`{"type":"message","role":"user","content":[{"type":"input_text","text":"words"}]}`)
	case 2, 3:
		return item(`{"type":"message","id":"` + id("msg") + `","role":"assistant","content":[{"type":"output_text","text":"said"}]}`)
	case 4, 5, 6:
		return item(`{"type":"function_call","call_id":"` + id("call") + `","name":"f","arguments":"{}"}`)
	case 7, 8, 9:
		back := max(0, n-rapid.IntRange(1, 3).Draw(t, "back"))
		return item(fmt.Sprintf(`{"type":"function_call_output","call_id":"call%d","output":"out"}`, back))
	case 10:
		return item(`{"type":"reasoning","id":"` + id("rs") + `","summary":[],"encrypted_content":"x"}`)
	case 11:
		return item(`{"type":"message","role":"developer","content":[{"type":"input_text","text":"a hook spoke"}]}`)
	case 12:
		return `{"type":"event_msg","payload":{"type":"task_started"}}`
	case 13:
		return rapid.SampledFrom([]string{"", "torn {", `{"type":"turn_context","payload":{"model":"m"}}`, `{"type":"session_meta","payload":{"id":"s"}}`}).Draw(t, "line")
	case 14:
		return `{"type":"compacted","payload":{"message":"words","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"words"}]}]}}`
	}
	return `{"type":"world_state","payload":{}}`
}

// linesOf returns one line per message, with item numbers raised by behind.
func linesOf(msgs []transcript.Message, behind int) (lines []string) {
	for i := range msgs {
		items := slices.Clone(msgs[i].Items)
		for k := range items {
			items[k] += behind
		}
		lines = append(lines, fmt.Sprintf("%s %v %t %v", msgs[i].Role, items, msgs[i].Summary, msgs[i].Parts))
	}
	return lines
}

// If Continue decodes the end of a file, Decode of the whole file gives the messages of the
// rows before the end, followed by those of the end.
func TestContinueIsDecode(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var lines []string
		for n := range rapid.IntRange(2, 14).Draw(rt, "rows") {
			lines = append(lines, drawRow(rt, n)+"\n")
		}
		whole, err := format{}.Decode("s", []byte(strings.Join(lines, "")))
		if err != nil {
			return
		}
		for n := 1; n < len(lines); n++ {
			before, err := format{}.Decode("s", []byte(strings.Join(lines[:n], "")))
			if err != nil || !slices.ContainsFunc(whole.Messages, func(m transcript.Message) bool { return slices.Min(m.Items) == n }) {
				continue // no message begins here
			}
			var names []string
			for _, item := range before.Items {
				names = slices.Concat(names, item.Brings, item.Mentions)
			}
			end := format{}.Continue("s", []byte(strings.Join(lines[n:], "")), func(id string) bool { return slices.Contains(names, id) })
			if end == nil {
				continue
			}
			want := append(linesOf(before.Messages, 0), linesOf(end.Messages, n)...)
			if diff := cmp.Diff(linesOf(whole.Messages, 0), want); diff != "" || end.ID != whole.ID && whole.ID == "s" {
				rt.Fatalf("lines from %d on are read alone, as of %s (-whole +pieces):\n%s\n%s", n+1, end.ID, diff, strings.Join(lines, ""))
			}
		}
	})
}

// A session that has only grown is read from its last message on.
func TestContinueReadsAPlainEnd(t *testing.T) {
	lines := strings.SplitAfter(string(samples(t)["tools"]), "\n")
	var end string
	from := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `"again"`) })
	for _, l := range lines[from:] {
		end += l
	}
	none := func(string) bool { return false }
	if s := (format{}).Continue("s", []byte(end), none); s == nil || s.ID != "s" || s.Messages[0].Text() != "again" {
		t.Errorf("%+v", s)
	}
	for name, text := range map[string]string{
		"no line end":         strings.TrimSuffix(end, "\n"),
		"another session":     end + `{"type":"session_meta","payload":{"id":"x"}}` + "\n",
		"a compaction":        end + `{"type":"compacted","payload":{"message":"words"}}` + "\n",
		"a result of before":  end + `{"type":"response_item","payload":{"type":"function_call_output","call_id":"gone","output":""}}` + "\n",
		"a row of no message": `{"type":"world_state","payload":{}}` + "\n" + end,
		"what cannot be read": end + "torn\n",
		"nothing":             "",
		"no row at all":       "torn\n",
	} {
		if s := (format{}).Continue("s", []byte(text), none); s != nil {
			t.Errorf("%s is read alone", name)
		}
	}
}
