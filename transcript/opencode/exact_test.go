package opencode

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/formattest"
)

// exported returns a document with messages, each as "role:id fields; parts".
func exported(t *testing.T, msgs ...string) *document {
	t.Helper()
	d, err := read("", []byte(`{"info":{"id":"ses_12345678"},"messages":[`+strings.Join(msgs, ",")+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// said returns a message with parts; info are further fields of it.
func said(role, id, info string, parts ...string) string {
	return `{"info":{"id":"` + id + `","role":"` + role + `"` + strings.TrimSuffix(","+info, ",") + `},"parts":[` + strings.Join(parts, ",") + `]}`
}

const (
	words    = `{"id":"p","type":"text","text":"x"}`
	finished = `"summary":true,"finish":"stop","parentID":`
)

func compaction(tail string) string {
	return `{"id":"p","type":"compaction","tail_start_id":"` + tail + `"}`
}

// Of a session with compactions OpenCode sends the newest one, its summary, the messages that
// it kept, and the later ones. The windows before have the others.
func TestWhatIsSentAfterACompaction(t *testing.T) {
	user := func(id string) string { return said("user", id, "", words) }
	reply := func(id string) string { return said("assistant", id, "", words) }
	for _, tt := range []struct {
		name    string
		msgs    []string
		sent    []int
		windows string
	}{
		{"none", []string{user("a"), reply("b"), user("c")}, []int{0, 1, 2}, "[[0 1 2]]"},
		{"one that keeps nothing", []string{user("a"), reply("b"), said("user", "c", "", compaction("")), said("assistant", "d", finished+`"c"`, words), user("e")}, []int{2, 3, 4}, "[[0 1] [2 3 4]]"},
		{"one that keeps a message", []string{user("a"), user("b"), said("user", "c", "", compaction("b")), said("assistant", "d", finished+`"c"`, words), user("e")}, []int{2, 3, 1, 4}, "[[0] [2 3 1 4]]"},
		{"one that keeps itself", []string{user("a"), said("user", "c", "", compaction("c")), said("assistant", "d", finished+`"c"`, words), user("e")}, []int{1, 2, 3}, "[[0] [1 2 3]]"},
		{"one without a summary", []string{user("a"), said("user", "c", "", compaction("")), reply("d")}, []int{0, 1, 2}, "[[0 1 2]]"},
		{"one whose summary is of another", []string{user("a"), said("user", "c", "", compaction("")), said("assistant", "d", finished+`"x"`, words)}, []int{0, 1, 2}, "[[0 1 2]]"},
		{"one whose summary failed", []string{user("a"), said("user", "c", "", compaction("")), said("assistant", "d", finished+`"c","error":{"name":"x"}`, words)}, []int{0, 1, 2}, "[[0 1 2]]"},
		{"one whose summary has not ended", []string{user("a"), said("user", "c", "", compaction("")), said("assistant", "d", `"summary":true,"parentID":"c"`, words)}, []int{0, 1, 2}, "[[0 1 2]]"},
		{"a compaction in a reply", []string{user("a"), said("assistant", "c", "", compaction("")), said("assistant", "d", finished+`"c"`, words)}, []int{0, 1, 2}, "[[0 1 2]]"},
		{"two", []string{user("a"), said("user", "b", "", compaction("")), said("assistant", "c", finished+`"b"`, words), user("d"), said("user", "e", "", compaction("d")), said("assistant", "f", finished+`"e"`, words), user("g")}, []int{4, 5, 3, 6}, "[[0] [1 2] [4 5 3 6]]"},
		{"one that keeps an earlier one", []string{user("a"), said("user", "b", "", compaction("")), said("assistant", "c", finished+`"b"`, words), said("user", "d", "", compaction("b")), said("assistant", "e", finished+`"d"`, words)}, []int{3, 4, 1, 2}, "[[0] [] [3 4 1 2]]"},
		{"one that keeps a message and has no summary", []string{user("a"), user("b"), said("user", "c", "", compaction("b")), reply("d")}, []int{0, 1, 2, 3}, "[[0 1 2 3]]"},
		{"one that keeps what is not there", []string{user("a"), said("user", "c", "", compaction("z")), said("assistant", "d", finished+`"c"`, words)}, []int{0, 1, 2}, "[[] [0 1 2]]"},
	} {
		d := exported(t, tt.msgs...)
		if got := d.sent(len(d.msgs)); !slices.Equal(got, tt.sent) {
			t.Errorf("%s: sent are %v, want %v", tt.name, got, tt.sent)
		}
		if got := fmt.Sprint(d.windows(len(d.msgs))); got != tt.windows {
			t.Errorf("%s: the windows are %s, want %s", tt.name, got, tt.windows)
		}
	}
}

// How a call ended is told by its status, by the status of the program, and by an interruption.
func TestHowCallsEnd(t *testing.T) {
	for state, want := range map[string]string{
		`"status":"completed","output":"x"`: "x passed", `"status":"completed","output":"x","metadata":{"exit":0}`: "x passed", `"status":"completed","output":"x","metadata":{"exit":1}`: "x failed", `"status":"completed","output":"x","metadata":{"exit":null}`: "x failed", `"status":"error","error":"no"`: "no failed",
		`"status":"error","error":"no","metadata":{"interrupted":true,"output":"half"}`: "half failed", `"status":"error","error":"no","metadata":{"interrupted":true}`: "no failed", `"status":"error","error":"no","metadata":{"output":"half"}`: "no failed", `"status":"running"`: "none", `"status":"pending"`: "none", ``: "none",
		`"status":"completed","output":"x","time":{"compacted":7}`: "[Old tool result content cleared] passed", `"status":"completed","output":"x","time":{"compacted":"7"}`: "x passed", `"status":"error","error":"no","time":{"compacted":7}`: "no failed",
	} {
		d := exported(t, said("assistant", "a", "", `{"id":"p","type":"tool","tool":"bash","callID":"c","state":{`+state+`}}`))
		v := &viewer{document: d, items: []int{0}}
		got := "none"
		if r, ok := v.result(&d.msgs[0].parts[0]); ok {
			got = r.Text() + map[bool]string{true: " failed", false: " passed"}[r.Error]
			if r.CallID != "c" || r.Passed == r.Error && !strings.Contains(state, `"error"`) {
				t.Errorf("%s: %+v", state, r)
			}
		}
		if got != want {
			t.Errorf("a call with %s: %s, want %s", state, got, want)
		}
		v.whole = true
		if r, ok := v.result(&d.msgs[0].parts[0]); ok && strings.HasPrefix(r.Text(), "[Old") {
			t.Errorf("%s: the old text is not read", state)
		}
	}
	d := exported(t, said("assistant", "a", "", `{"id":"p","type":"tool","tool":"invalid","callID":"c","state":{"status":"completed","output":"x"}}`))
	if r, _ := (&viewer{document: d, items: []int{0}}).result(&d.msgs[0].parts[0]); !r.Error || r.Passed {
		t.Errorf("a call of no tool: %+v", r)
	}
}

// Replies that OpenCode does not send are no part of the conversation, and a user's words stand
// apart from what OpenCode adds.
func TestViewsOfMessages(t *testing.T) {
	const failed, aborted = `"error":{"name":"x"}`, `"error":{"name":"MessageAbortedError"}`
	step, thinking := `{"id":"s","type":"step-start"}`, `{"id":"r","type":"reasoning","text":"hm"}`
	for _, tt := range []struct {
		name string
		msg  string
		want string // role and parts of each view
	}{
		{"a reply", said("assistant", "a", "", words), "assistant x"},
		{"one that failed", said("assistant", "a", failed, words), ""},
		{"one that was aborted", said("assistant", "a", aborted, words), "assistant x"},
		{"one that was aborted before it said anything", said("assistant", "a", aborted, step, thinking), ""},
		{"aborted, with nothing", said("assistant", "a", aborted), ""},
		{"two steps", said("assistant", "a", "", words, step, words), "assistant x; assistant x"},
		{"a step that says nothing", said("assistant", "a", "", step, step, words), "assistant x"},
		{"an empty text", said("assistant", "a", "", `{"id":"p","type":"text","text":""}`), ""},
		{"words", said("user", "a", "", words, words), "user x|x"},
		{"words and an addition", said("user", "a", "", words, `{"id":"q","type":"text","text":"y","synthetic":true}`, words), "user x; user y; user x"},
		{"words that are ignored", said("user", "a", "", `{"id":"p","type":"text","text":"x","ignored":true}`), ""},
		{"a compaction", said("user", "a", "", compaction("")), "user What did we do so far?"},
		{"a subtask", said("user", "a", "", `{"id":"p","type":"subtask"}`), "user The following tool was executed by the user"},
		{"a part that is not sent", said("user", "a", "", `{"id":"p","type":"agent"}`), ""},
	} {
		d := exported(t, tt.msg)
		var all []string
		ids := make(map[string]bool)
		for _, view := range (&viewer{document: d, items: []int{0}}).views(0) {
			var parts []string
			for _, p := range view.Parts {
				parts = append(parts, fmt.Sprint(p))
			}
			all = append(all, string(view.Role)+" "+strings.Join(parts, "|"))
			if view.ID != "a" && len(ids) == 0 || !strings.HasPrefix(view.ID, "a") {
				t.Errorf("%s: the view has the id %s", tt.name, view.ID)
			}
			ids[view.ID] = true
		}
		if got := strings.Join(all, "; "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestValuesOfAnExport(t *testing.T) {
	for value, want := range map[string]int64{"7": 7, "-7": -7, "1.9": 1, "1e3": 1000, `"7"`: 0, "1e300": 1 << 53, "-1e300": -1 << 53, "null": 0} {
		d := exported(t, said("user", "a", `"time":{"created":`+value+`}`, words))
		if got := d.msgs[0].created; got != want {
			t.Errorf("a message of time %s is of %d, want %d", value, got, want)
		}
	}
	for file, want := range map[string]string{
		`"mime":"image/png","url":"data:image/png;base64,QUJD"`: "image QUJD ", `"mime":"audio/wav","url":"https://a.io/x"`: "audio  https://a.io/x", `"mime":"application/pdf","url":"u"`: "document  u", `"mime":"text/plain","url":"u"`: "none", `"mime":"application/x-directory","url":"u"`: "none", `"mime":"imagex","url":"u"`: "document  u",
	} {
		d := exported(t, said("user", "a", "", `{"id":"p","type":"file",`+file+`}`))
		got := "none"
		if m, ok := d.msgs[0].parts[0].media(d.Data, d.msgs[0].parts[0].Span); ok {
			got = fmt.Sprintf("%s %s %s", m.(transcript.Media).Kind, m.(transcript.Media).Data, m.(transcript.Media).URL)
		}
		if got != want {
			t.Errorf("a file with %s is %q, want %q", file, got, want)
		}
	}
	for id, want := range map[transcript.SessionID]bool{"ses_12345678": true, "ses_azAZ0909": true, "ses_1234567": false, "ses-12345678": false, "ses_1234567-": false, "ses_1234567{": false, "ses_1234567`": false, "ses_1234567@": false, "ses_1234567[": false, "ses_1234567/": false, "ses_1234567:": false, "12345678": false} {
		if got := (format{}).IsSessionID(id); got != want {
			t.Errorf("%s is the id of a session: %v, want %v", id, got, want)
		}
	}
	for data, want := range map[string]bool{`{"info":{"id":"ses_1"}}`: true, `{"x":1,"info":{"y":2,"id":"ses_1"},"z":3}`: true, `{"info":{"id":"x"}}`: false, `{"info":"ses_1"}`: false, `{"id":"ses_1"}`: false, `{"info":{"id":"ses_1"},"messages":[`: true, `{"info":{"id":"ses_1"}} x`: false, `[]`: false, ``: false} {
		if got := (format{}).Sniff([]byte(data)); got != want {
			t.Errorf("%s is a session of OpenCode: %v, want %v", data, got, want)
		}
	}
}

// The rules of an export, each with the field that breaks it.
func TestFieldsThatBreakRules(t *testing.T) {
	const base = `"sessionID":"ses_12345678","messageID":"msg_1"`
	part := func(id, fields string) string { return `{"id":"` + id + `",` + base + `,` + fields + `}` }
	user := func(id, created string, parts ...string) string {
		return said("user", id, `"sessionID":"ses_12345678","time":{"created":`+created+`},"agent":"a","model":{"providerID":"p","modelID":"m"}`, parts...)
	}
	text := part("prt_1", `"type":"text","text":"x"`)
	for _, tt := range []struct {
		name string
		msgs []string
		want string // rules and fields
	}{
		{"none", []string{user("msg_1", "1", text)}, ""},
		{"parts in order", []string{user("msg_1", "1", text, part("prt_2", `"type":"text","text":"x"`))}, ""},
		{"parts out of order", []string{user("msg_1", "1", part("prt_2", `"type":"text","text":"x"`), text)}, "N3 messages.0.parts.1.id"},
		{"an id twice", []string{user("msg_1", "1", text, text)}, "N2 messages.0.parts.1.id"},
		{"an id of another kind", []string{user("msg_1", "1", part("x", `"type":"text","text":"x"`))}, "N1 messages.0.parts.0.id"},
		{"a message that is older", []string{user("msg_1", "2", text), user("msg_2", "1", part("prt_2", `"type":"text","text":"x"`))}, "N3 messages.1.info.time.created"},
		{"messages of one time", []string{user("msg_1", "1", text), user("msg_2", "1", part("prt_2", `"type":"text","text":"x"`))}, ""},
		{"messages of one time out of order", []string{user("msg_2", "1", text), user("msg_1", "1", part("prt_2", `"type":"text","text":"x"`))}, "N3 messages.1.info.time.created"},
		{"messages of one id", []string{user("msg_1", "1", text), user("msg_1", "1", part("prt_2", `"type":"text","text":"x"`))}, "N2 messages.1.info.id"},
		{"a part that is not known", []string{user("msg_1", "1", text, part("prt_2", `"type":"x"`))}, "N0 messages.0.parts.1.type"},
		{"a text without its text", []string{user("msg_1", "1", text, part("prt_2", `"type":"text"`))}, "N0 messages.0.parts.1.text"},
		{"a compaction", []string{user("msg_1", "1", part("prt_1", `"type":"compaction","auto":false`))}, ""},
		{"a compaction of its own will", []string{user("msg_1", "1", part("prt_1", `"type":"compaction","auto":true`))}, ""},
		{"a compaction that does not say so", []string{user("msg_1", "1", part("prt_1", `"type":"compaction","auto":1`))}, "N0 messages.0.parts.0.auto"},
	} {
		found, err := (format{}).Validate([]byte(`{"info":{"id":"ses_12345678","slug":"s","projectID":"p","directory":"/","title":"t","version":"1","time":{"created":1,"updated":1}},"messages":[` + strings.Join(tt.msgs, ",") + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range found {
			if strings.HasPrefix(v.Field, "messages.") {
				got = append(got, v.Rule+" "+v.Field)
			}
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The model of a session is that of its newest reply, also if no reply has usage.
func TestModelOfTheNewestReply(t *testing.T) {
	reply := func(id, model, tokens string) string {
		return `{"info":{"id":"` + id + `","role":"assistant","modelID":"` + model + `","tokens":{"input":` + tokens + `}},"parts":[{"id":"p` + id + `","type":"text","text":"x"}]}`
	}
	for _, tt := range []struct {
		name, replies, model string
		sent                 int64
	}{
		{"no usage", reply("a", "old", "0") + "," + reply("b", "new", "0"), "new", 0},
		{"usage of the older", reply("a", "old", "5") + "," + reply("b", "new", "0"), "new", 5},
		{"usage of one token", reply("a", "old", "1"), "old", 1},
		{"a newest without a model", reply("a", "old", "5") + "," + reply("b", "", "0"), "old", 5},
	} {
		s := formattest.Decode(t, format{}, `{"info":{"id":"ses_1"},"messages":[`+tt.replies+`]}`)
		if s.Model != tt.model || s.Sent != tt.sent {
			t.Errorf("%s: model %q with %d tokens, want %q with %d", tt.name, s.Model, s.Sent, tt.model, tt.sent)
		}
	}
}

// Each call finds its result at once: with a walk over all results for each call, this would take
// minutes.
func TestManyCallsInAReply(t *testing.T) {
	const n = 20_000
	said := func(role transcript.Role, p ...transcript.Part) transcript.Message {
		return transcript.Message{Role: role, Parts: p}
	}
	var calls, results []transcript.Part
	for i := range n {
		id := fmt.Sprint("c", i)
		calls = append(calls, transcript.ToolCall{ID: id, Name: "f", Input: []byte("{}")})
		results = append(results, transcript.ToolResult{CallID: id, Content: []transcript.Part{transcript.Text(id)}})
	}
	s := &transcript.Session{ID: "x", Format: "anthropic", Messages: []transcript.Message{
		said(transcript.RoleUser, transcript.Text("go")), said(transcript.RoleAssistant, calls...), said(transcript.RoleTool, results...),
	}}
	enc, err := format{}.Encode(transcript.Whole(s))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(enc.Data), `"status": "completed"`); got != n {
		t.Errorf("%d calls have their result", got)
	}
}

// The usage of a reply is that of its steps, or its own. The second step has an id of its own.
func TestReceiptsOfSteps(t *testing.T) {
	step := func(id, input string) string {
		return `{"id":"` + id + `","type":"step-finish","tokens":{"input":` + input + `}}`
	}
	for _, tt := range []struct{ name, info, want string }{
		{"two steps", said("assistant", "a", `"tokens":{"input":9},"time":{"created":1}`, words, step("s1", "1"), step("s2", "0"), step("s3", "7")), "a 1 true; a/s3 7 true"},
		{"no step", said("assistant", "a", `"tokens":{"input":1},"time":{"created":0}`, words), "a 1 false"},
		{"no usage", said("assistant", "a", "", words), ""},
	} {
		s := formattest.Decode(t, format{}, `{"info":{"id":"ses_1"},"messages":[`+tt.info+`]}`)
		var got []string
		for _, r := range (format{}).Receipts(s) {
			got = append(got, fmt.Sprint(r.ID, " ", promptOf(r), " ", !r.Begun.IsZero()))
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What a person took back is a branch, which goes on from the message before it.
func TestBranchOfARevert(t *testing.T) {
	for id, want := range map[string][]transcript.Branch{
		"a": {{Kind: transcript.BranchFork, Root: "a", Leaf: "c", Messages: 3}}, "b": {{Kind: transcript.BranchFork, Root: "b", Leaf: "c", Parent: "a", Messages: 2}}, "z": nil,
	} {
		s := formattest.Decode(t, format{}, `{"info":{"id":"ses_1","revert":{"messageID":"`+id+`"}},"messages":[`+said("user", "a", "", words)+","+said("assistant", "b", "", words)+","+said("user", "c", "", words)+"]}")
		if diff := cmp.Diff(want, s.Branches); diff != "" {
			t.Errorf("of message %s (-want +got):\n%s", id, diff)
		}
	}
	s := formattest.Decode(t, format{}, "{\"info\":{\"id\":\"ses_1\"},\"messages\":[\n"+said("user", "", "", words)+"]}")
	if diff := cmp.Diff([]transcript.Warning{{Line: 2, Text: "message 0 has no id"}}, s.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// Reasoning has the signature of its provider, a call its input, and a result its attachments.
func TestPartsOfAReply(t *testing.T) {
	const file = `{"type":"file","mime":"image/png","url":"data:image/png;base64,QUJD"}`
	for part, want := range map[string]transcript.Part{
		`"type":"reasoning","text":"hm","metadata":{"anthropic":{"signature":"sig"},"openai":{"reasoningEncryptedContent":"enc"}}`: transcript.Thinking{Text: "hm", Signature: "sig"},
		`"type":"reasoning","text":"hm","metadata":{"openai":{"reasoningEncryptedContent":"enc"}}`:                                 transcript.Thinking{Text: "hm", Signature: "enc"},
		`"type":"reasoning","text":"","metadata":{"anthropic":{"redactedData":"red"}}`:                                             transcript.Thinking{Signature: "red", Redacted: true},
		`"type":"tool","tool":"bash","callID":"c","state":{"status":"running"}`:                                                    transcript.ToolCall{ID: "c", Name: "bash"},
		`"type":"tool","tool":"bash","callID":"c","state":{"status":"completed","output":"x","attachments":[` + file + `,{"type":"file","mime":"text/plain","url":"u"},{"type":"x"},7]}`: transcript.ToolResult{
			CallID: "c", Content: []transcript.Part{transcript.Text("x"), transcript.Media{Kind: "image", MIME: "image/png", Data: "QUJD", Raw: []byte(file)}}, Passed: true,
		},
		`"type":"tool","tool":"bash","callID":"c","state":{"status":"completed","output":"x","attachments":{}}`: transcript.ToolResult{CallID: "c", Content: []transcript.Part{transcript.Text("x")}, Passed: true},
	} {
		d := exported(t, said("assistant", "a", "", words, `{"id":"p",`+part+`}`))
		views := (&viewer{document: d, items: []int{0}}).views(0)
		parts := views[len(views)-1].Parts
		if diff := cmp.Diff(want, parts[len(parts)-1]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", part, diff)
		}
	}
}
