package geminicli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/anthropic"
	"github.com/carrel-dev/carrel/transcript/claudecode"
	"github.com/carrel-dev/carrel/transcript/formattest"
	"github.com/carrel-dev/carrel/transcript/gemini"
	"github.com/carrel-dev/carrel/transcript/openai"
	"github.com/carrel-dev/carrel/transcript/responses"
)

// samples returns the files in testdata.
func samples(tb testing.TB) map[string][]byte {
	tb.Helper()
	return formattest.Samples(tb, "*.json*", "compacted")
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
		gemini.Format:     []byte(`{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"text":"hm","thought":true},{"functionCall":{"name":"f","args":{}},"thoughtSignature":"c2ln"}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"x"}}}]},{"role":"model","parts":[{"text":"Done."}]}]}`),
	})
}

// said returns the texts of messages, with their ids and items.
func said(msgs []transcript.Message) (list []string) {
	for i := range msgs {
		m := &msgs[i]
		what := m.ID + " " + string(m.Role) + " " + m.Text()
		for _, c := range m.Calls() {
			what += " calls " + c.Name + string(c.Input)
		}
		for _, r := range m.Results() {
			what += " result " + r.Text()
		}
		if m.HasThinking() {
			what += " (thinks)"
		}
		if m.Summary {
			what += " (summary)"
		}
		list = append(list, what)
	}
	return list
}

// A log of changes is read as the client reads it: later lines replace earlier ones, a rewind
// removes messages, and a compaction leaves an earlier window without the kept messages.
func TestDecode(t *testing.T) {
	s := formattest.Decode(t, format{}, string(samples(t)["compacted"]))
	want := []string{
		"ctx user <session_context>\nThis is the Gemini CLI.\n</session_context>",
		"s1 user <state_snapshot>\n<overall_goal>Mend the pool.</overall_goal>\n</state_snapshot> (summary)",
		"s2 assistant Got it. Thanks for the additional context!",
		"n3 user go on",
		`g4 assistant  calls run{"command":"make"} calls read{"path":"a"} (thinks)`,
		"g4_response tool  result make: *** stopped result text",
		"g5 assistant Done.",
	}
	if diff := cmp.Diff(want, said(s.Messages)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	before := []string{"u1 user mend the pool", `g1 assistant I look. calls run{"command":"ls"} (thinks)`, "a1 tool  result pool.go\nmain.go", "g2 assistant It is in pool.go."}
	if len(s.Earlier) != 1 {
		t.Fatalf("%d earlier windows", len(s.Earlier))
	}
	if diff := cmp.Diff(before, said(s.Earlier[0])); diff != "" {
		t.Errorf("earlier (-want +got):\n%s", diff)
	}
	branches := []transcript.Branch{{Kind: transcript.BranchFork, Root: "u2", Leaf: "g3", Parent: "g2", Messages: 2}}
	if diff := cmp.Diff(branches, s.Branches); diff != "" {
		t.Errorf("branches (-want +got):\n%s", diff)
	}
	if s.ID != "5b8d7c1e-0000-4000-8000-000000000001" || s.Title != "Mend the pool" || s.Model != "gemini-3.1-pro" || s.Sent != 600 || len(s.Warnings) > 0 {
		t.Errorf("id %q, title %q, model %q, sent %d, warnings %v", s.ID, s.Title, s.Model, s.Sent, s.Warnings)
	}
}

// What is said again after a compaction does not take the place of what was said before it.
func TestSaidAgainAfterACompaction(t *testing.T) {
	say := func(kind, id, text string) string {
		return `{"id":"` + id + `","type":"` + kind + `","content":[{"text":"` + text + `"}]}`
	}
	lines := []string{
		`{"sessionId":"s","projectHash":"p"}`,
		say("user", "u1", "continue"), say("gemini", "g1", "ok"), say("user", "u2", "ok"), say("user", "u3", "ok"), say("gemini", "g2", "Done."),
		`{"$set":{"messages":[` + say("user", "s1", "<state_snapshot>x</state_snapshot>") + "," + say("user", "s2", "ok") + `]}}`,
		say("gemini", "g3", "ok"), say("user", "u4", "continue"),
	}
	s := formattest.Decode(t, format{}, strings.Join(lines, "\n"))
	if len(s.Earlier) != 1 {
		t.Fatalf("%d earlier windows", len(s.Earlier))
	}
	want := []string{"u1 user continue", "g1 assistant ok", "u2 user ok", "g2 assistant Done."} // s2 is u3
	if diff := cmp.Diff(want, said(s.Earlier[0])); diff != "" {
		t.Errorf("earlier (-want +got):\n%s", diff)
	}
}

// In a file of the program, each result is read once, and the directory of the workspace is
// read from the client's first message.
func TestDecodeRecorded(t *testing.T) {
	for name, replies := range map[string]int{"tools": 4, "resumed": 5} {
		s := formattest.Decode(t, format{}, string(samples(t)[name]))
		calls, results, assistant := 0, 0, 0
		for i := range s.Messages {
			calls += len(s.Messages[i].Calls())
			results += len(s.Messages[i].Results())
			if s.Messages[i].Role == transcript.RoleAssistant {
				assistant++
			}
		}
		if calls != 9 || results != 9 || assistant != replies || s.Project != "/srv/pool" || s.Title != "mend the pool" || s.Sent == 0 || len(s.Earlier) > 0 || len(s.Warnings) > 0 {
			t.Errorf("%s: %d calls, %d results, %d replies, project %q, title %q, sent %d, %d earlier, %v", name, calls, results, assistant, s.Project, s.Title, s.Sent, len(s.Earlier), s.Warnings)
		}
		found, err := format{}.Validate(samples(t)[name])
		if err != nil || len(found) > 0 {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}

// lines returns the lines of a sample, without their line ends.
// A result is read once, whether it stands in its reply, or in the message behind it, too, and
// wherever in it the id stands.
func TestDecodeResultsOnce(t *testing.T) {
	for _, response := range []string{`"id":"c","name":"read","response":{"output":"x"}`, `"name":"read","id":"c","response":{"output":"x"}`, `"name":"read","response":{"output":"x"},"id":"c"`} {
		part := `[{"functionResponse":{` + response + `}}]`
		for row, want := range map[string]string{`{"id":"a","type":"user","content":` + part + "}\n": "a tool  result x", "": "g_response tool  result x"} {
			s := formattest.Decode(t, format{}, `{"sessionId":"s","projectHash":"h"}
{"id":"u","type":"user","content":"go"}
{"id":"g","type":"gemini","content":"","toolCalls":[{"id":"c","name":"read","args":{"file":"a"},"result":`+part+`}]}
`+row+`{"id":"h","type":"gemini","content":"Done."}
`)
			if diff := cmp.Diff([]string{"u user go", `g assistant  calls read{"file":"a"}`, want, "h assistant Done."}, said(s.Messages)); diff != "" {
				t.Errorf("%s, and then %q (-want +got):\n%s", response, row, diff)
			}
		}
	}
}

func lines(t *testing.T, name string) []string {
	return strings.Split(strings.TrimSuffix(string(samples(t)[name]), "\n"), "\n")
}

// A changed window keeps the lines of unchanged messages. A changed result is written in a new
// line, and so is its reply, whose line had the result too; the reply's token counts stay.
func TestEncodeOwn(t *testing.T) {
	w := transcript.Whole(formattest.Decode(t, format{}, string(samples(t)["tools"])))
	changed := false
	for i := range w.Entries {
		for _, r := range w.Entries[i].Results() {
			if strings.HasPrefix(r.CallID, "write_file") {
				w.Entries[i] = w.Entries[i].WithResult(r.CallID, "<short>")
				changed = true
			}
		}
	}
	if !changed {
		t.Fatal("no file was written")
	}
	enc := formattest.Encode(t, format{}, w)
	got := strings.Split(strings.TrimSuffix(string(enc.Data), "\n"), "\n")
	if len(got) != 10 {
		t.Fatalf("%d lines:\n%s", len(got), enc.Data)
	}
	for at, line := range got {
		if at != 5 && at != 6 && !strings.Contains(string(samples(t)["tools"]), line) {
			t.Errorf("line %d is not as it was: %s", at, line)
		}
	}
	if !strings.Contains(got[5], `"functionCall":{"id":"write_file__call_x"`) || strings.Contains(got[5], "toolCalls") || !strings.Contains(got[5], `"tokens":{"input":1002,`) {
		t.Errorf("the reply is %s", got[5])
	}
	if !strings.Contains(got[6], `"response": {"output": "<short>"}`) || strings.Contains(string(enc.Data), "Successfully created") {
		t.Errorf("the result is %s", got[6])
	}
	if len(enc.Losses)+len(enc.Repairs) > 0 || enc.Session != w.Session.ID {
		t.Errorf("losses %v, repairs %v, session %s", enc.Losses, enc.Repairs, enc.Session)
	}
}

// A new session has its own id, and each result once: in a message after its reply.
func TestEncodeNew(t *testing.T) {
	for name, data := range samples(t) {
		w := transcript.Whole(formattest.Decode(t, format{}, string(data)))
		w.As = "11111111-2222-4333-8444-555555555555"
		enc := formattest.Encode(t, format{}, w)
		s := formattest.Decode(t, format{}, string(enc.Data))
		if s.ID != w.As || enc.Session != w.As || strings.Contains(string(enc.Data), "toolCalls") || strings.Contains(string(enc.Data), string(w.Session.ID)) || len(s.Earlier) > 0 {
			t.Errorf("%s: session %s, encoded as %s:\n%s", name, s.ID, enc.Session, enc.Data)
		}
	}
}

// The file that the client leaves behind when it resumes a session is not a session.
// A loss names the message in the window, also behind system texts.
func TestLossesBehindSystemTexts(t *testing.T) {
	say := func(role transcript.Role, p transcript.Part) transcript.Message {
		return transcript.Message{Role: role, Parts: []transcript.Part{p}}
	}
	s := &transcript.Session{Format: "anthropic", Messages: []transcript.Message{
		say(transcript.RoleSystem, transcript.Text("be brief")), say(transcript.RoleUser, transcript.Text("go")), say(transcript.RoleAssistant, transcript.Thinking{Text: "hm"}),
	}}
	var got []string
	for _, l := range formattest.Encode(t, format{}, transcript.Whole(s)).Losses {
		got = append(got, fmt.Sprint(l.Message, " ", l.What))
	}
	if diff := cmp.Diff([]string{"0 system text", "2 thinking"}, got); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}

func TestSniff(t *testing.T) {
	in := lines(t, "tools")
	for n, want := range map[int]bool{1: false, 2: false, 3: true, 21: true} {
		if got := Format.Sniff([]byte(strings.Join(in[:n], "\n") + "\n")); got != want {
			t.Errorf("with %d lines: %v, want %v", n, got, want)
		}
	}
}

// A faulty line is kept, with a warning that names the line.
func TestBroken(t *testing.T) {
	data := samples(t)["broken"]
	s := formattest.Decode(t, format{}, string(data))
	var at []int
	for _, w := range s.Warnings {
		at = append(at, w.Line)
	}
	if diff := cmp.Diff([]int{3, 6, 16, 13}, at); diff != "" {
		t.Errorf("warnings %v (-want +got):\n%s", s.Warnings, diff)
	}
	found, err := format{}.Validate(data)
	if err != nil || len(found) == 0 || found[0].Field != "line 4" {
		t.Errorf("violations %v, %v", found, err)
	}
	formattest.Refuses(t, format{}, []formattest.Refusal{
		{Name: "a chat in which nothing was said", In: strings.Join(lines(t, "tools")[:2], "\n"), Says: "nothing was said in this chat"},
		{Name: "no lines", In: "\nnone", Says: "x.json:2: nothing was said in this chat; "},
	})
}

// Each reply counts once, by its last line, and the first after a compaction is marked.
func TestReceipts(t *testing.T) {
	s := formattest.Decode(t, format{}, string(samples(t)["compacted"]))
	got := Format.(transcript.Metered).Receipts(s)
	for i := range got {
		if got[i].Begun.IsZero() || !got[i].Ended.After(got[i].Begun) {
			t.Errorf("receipt %d began %v and ended %v", i, got[i].Begun, got[i].Ended)
		}
		got[i].Begun, got[i].Ended = time.Time{}, time.Time{}
	}
	want := []transcript.Receipt{
		{ID: "g1", Model: "gemini-3-pro", Uncached: 1000, Output: 25, After: -1},
		{ID: "g2", Model: "gemini-3-pro", Uncached: 200, Read: 900, Output: 10, After: 0},
		{ID: "g3", Model: "gemini-3-pro", Uncached: 202, Read: 1000, Output: 1, After: 1},
		{ID: "g4", Model: "gemini-3-pro", Uncached: 500, Output: 10, After: 2, Compacted: true},
		{ID: "g5", Model: "gemini-3.1-pro", Uncached: 100, Read: 500, Output: 3, After: 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("receipts (-want +got):\n%s", diff)
	}
}
