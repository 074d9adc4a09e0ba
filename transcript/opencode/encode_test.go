package opencode

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/formattest"
	"github.com/carrel-dev/carrel/transcript/openai"
)

// encoded encodes a window, validates the result, and decodes it again.
func encoded(t *testing.T, w *transcript.Window) (*transcript.Session, *document, *transcript.Encoded) {
	t.Helper()
	enc := formattest.Encode(t, format{}, w)
	if found, err := (format{}).Validate(enc.Data); err != nil || len(found) > 0 {
		t.Fatalf("the encoding is refused: %v, %v\n%s", found, err, enc.Data)
	}
	d, err := read("", enc.Data)
	if err != nil {
		t.Fatal(err)
	}
	s := formattest.Decode(t, format{}, string(enc.Data))
	if s.ID != enc.Session {
		t.Errorf("session %s has the id %s", enc.Session, s.ID)
	}
	return s, d, enc
}

const interrupted = `tool has "[carrel: interrupted, no result was rec…", error true`

// OpenCode ignores ids that it has: a changed window has no id of its session, its ids and
// times rise, and its usage is 0.
func TestChangedWindowIsAnotherSession(t *testing.T) {
	for name, data := range samples(t) {
		from := formattest.Decode(t, format{}, string(data))
		w := transcript.Whole(from)
		w.Entries = append(w.Entries, transcript.Stub("", transcript.Mark+": more]"))
		s, d, enc := encoded(t, w)
		old, err := read("", data)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(enc.Data), string(from.ID)) && name != "tools" && name != "compacted" {
			t.Errorf("%s: the id of the session is still there", name)
		}
		for i := range old.msgs {
			if strings.Contains(string(enc.Data), old.msgs[i].id) {
				t.Errorf("%s: message %s has its old id", name, old.msgs[i].id)
			}
			for _, p := range old.msgs[i].parts {
				if strings.Contains(string(enc.Data), p.id) {
					t.Errorf("%s: part %s has its old id", name, p.id)
				}
			}
		}
		if len(format{}.Receipts(s)) > 0 || s.Sent != 0 {
			t.Errorf("%s: the calls are paid for again", name)
		}
		want := shown(from.Messages)
		if name == "tail" {
			want = append(want, interrupted)
		}
		want = append(want, "user: "+transcript.Mark+": more]")
		same(t, name, want, shown(s.Messages))
		if len(s.Earlier) > strings.Count(string(data), `"compacted":`) {
			t.Errorf("%s: windows before the compaction are there", name)
		}
		for i := 1; i < len(d.msgs); i++ {
			if d.msgs[i].role == "assistant" && !strings.HasPrefix(d.msgs[i].parent, "msg_0000") {
				t.Errorf("%s: a reply answers %q", name, d.msgs[i].parent)
			}
		}
	}
}

// A new session from an unchanged window differs in ids only, and keeps its earlier windows.
func TestRenew(t *testing.T) {
	for name, data := range samples(t) {
		from := formattest.Decode(t, format{}, string(data))
		w := transcript.Whole(from)
		w.As = "ses_anotherOne"
		s, _, enc := encoded(t, w)
		if s.ID != "ses_anotherOne" || len(s.Earlier) != len(from.Earlier) || len(s.Branches) != len(from.Branches) || s.Sent != from.Sent {
			t.Errorf("%s: session %s with %d earlier windows and %d branches", name, s.ID, len(s.Earlier), len(s.Branches))
		}
		same(t, name, shown(from.Messages), shown(s.Messages))
		if got, want := strings.Count(string(enc.Data), "\n"), strings.Count(string(data), "\n"); got != want {
			t.Errorf("%s: %d lines, want %d", name, got, want)
		}
	}
}

// The data of a session may be nothing but the address at which it is shared, which is dropped.
func TestRenewWithoutData(t *testing.T) {
	const message = `{"info":{"id":"msg_1","role":"user","time":{"created":1}},"parts":[{"id":"prt_1","type":"text","text":"go"}]}`
	w := transcript.Whole(formattest.Decode(t, format{}, `{"info":{"share":{"url":"u"}},"messages":[`+message+`]}`))
	w.As = "ses_anotherOne"
	enc := formattest.Encode(t, format{}, w)
	if !strings.HasPrefix(string(enc.Data), `{"info":{"id": "ses_anotherOne"},`) {
		t.Errorf("the session is written as\n%s", enc.Data)
	}
}

// The id of a new session has the form of OpenCode's ids.
func TestIsSessionID(t *testing.T) {
	f, _ := Format.(transcript.Resumed)
	for id, want := range map[transcript.SessionID]bool{
		"ses_df67b5c32ffef79giXaOrGD9lw": true, "ses_": false, "ses_x": false, "ses_df67b5c3/2ff": false, "msg_df67b5c32ffef79giXaOrGD9lw": false, "": false,
	} {
		if got := f.IsSessionID(id); got != want {
			t.Errorf("%q is an id: %t", id, got)
		}
	}
}

// The summary of a compaction stays before the later messages. If a message stands before the
// compaction, its part becomes a text, since OpenCode would leave out that message.
func TestCompactionInAWindow(t *testing.T) {
	from := formattest.Decode(t, format{}, string(samples(t)["compacted"]))
	w := transcript.Whole(from)
	w.Entries = append([]transcript.Entry{transcript.Stub("", "[carrel: before]")}, w.Entries...)
	s, _, enc := encoded(t, w)
	same(t, "messages", append([]string{"user: [carrel: before]"}, shown(from.Messages)...), shown(s.Messages))
	if strings.Contains(string(enc.Data), `"compaction",`) && strings.Contains(string(enc.Data), `"auto"`) {
		t.Errorf("the compaction is told of:\n%s", enc.Data)
	}
	w.Entries = w.Entries[2:] // begins with the summary
	s, _, _ = encoded(t, w)
	same(t, "messages", append([]string{"user: " + transcript.Opening}, shown(from.Messages)[1:]...), shown(s.Messages))
}

// A changed result keeps only its new text and loses OpenCode's data for the screen. Other
// results keep their bytes.
func TestResults(t *testing.T) {
	from := formattest.Decode(t, format{}, string(samples(t)["tools"]))
	w := transcript.Whole(from)
	for i := range w.Entries {
		for _, r := range w.Entries[i].Results() {
			switch {
			case strings.Contains(r.Text(), "oops"), strings.Contains(r.Text(), "a.txt\nhi"), strings.Contains(r.Text(), "not found"):
				w.Entries[i] = w.Entries[i].WithResult(r.CallID, "[carrel: <short>]")
			}
		}
	}
	_, d, enc := encoded(t, w)
	var states []string
	for i := range d.msgs {
		for _, p := range d.msgs[i].parts {
			if p.kind == "tool" {
				states = append(states, string(compact(t, p.object["state"].Of(d.Data))))
			}
		}
	}
	for at, want := range map[int]string{
		0: `{"status":"completed","input":{"command":"ls; echo hi","description":"list"},"output":"[carrel: <short>]","metadata":{},"title":"ls; echo hi","time":{"start":1795456036231,"end":1795456037978}}`,
		3: `{"status":"completed","input":{"command":"echo oops >&2; exit 3","description":"fail"},"output":"[carrel: <short>]","metadata":{},"title":"echo oops >&2; exit 3","time":{"start":1795456042969,"end":1795456043206}}`,
		9: `{"status":"error","input":{"filePath":"/srv/pool/none.txt"},"error":"[carrel: <short>]","time":{"start":1795456050205,"end":1795456050431}}`,
	} {
		if diff := cmp.Diff(want, states[at]); diff != "" {
			t.Errorf("state %d (-want +got):\n%s", at, diff)
		}
	}
	for _, kept := range []string{`"preview": "one\ntwo\nthree"`, `"output": "Found 1 matches\n/srv/pool/b.txt:\n  Line 1: hello\n"`} {
		if !strings.Contains(string(enc.Data), kept) {
			t.Errorf("%s is not as it was", kept)
		}
	}
}

func compact(t *testing.T, raw []byte) []byte {
	t.Helper()
	var v json.RawMessage
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return []byte(strings.TrimSpace(b.String()))
}

// Without its reasoning, a message loses metadata that refers to the reasoning.
func TestBare(t *testing.T) {
	data := strings.Replace(string(samples(t)["tail"]), `"text":"After.",`, `"text":"After.","metadata":{"openai":{"itemId":"msg_1"}},`, 1)
	w := transcript.Whole(formattest.Decode(t, format{}, data))
	for i := range w.Entries {
		w.Entries[i] = w.Entries[i].WithoutThinking()
	}
	_, _, enc := encoded(t, w)
	for _, gone := range []string{"I think.", "c2ln", "itemId"} {
		if strings.Contains(string(enc.Data), gone) {
			t.Errorf("%s is still there", gone)
		}
	}
	if !strings.Contains(string(enc.Data), `"status":"running"`) {
		t.Error("the call that has not ended is not as it was")
	}
}

// A session of another format is written in the form that opencode import reads.
func TestEncodeIsExplicit(t *testing.T) {
	from := formattest.Decode(t, openai.Format, `{"model":"gpt-4o","messages":[{"role":"system","content":"S"},{"role":"user","content":[{"type":"text","text":"look"},
		{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},
		{"role":"assistant","content":"on","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},{"id":"d","type":"function","function":{"name":"g","arguments":"x"}}]},
		{"role":"tool","tool_call_id":"c","content":"done"}]}`)
	w := transcript.Whole(from)
	w.Entries = append(w.Entries, transcript.Stub("", "[carrel: stub]"))
	s, d, enc := encoded(t, w)
	same(t, "messages", []string{
		"user: look", "user shows image/png AAAA", "assistant: on", "assistant calls f", "assistant calls g",
		`tool has "done", error false`, interrupted, "user: [carrel: stub]",
	}, shown(s.Messages))
	var lost []string
	for _, l := range enc.Losses {
		lost = append(lost, l.What)
	}
	same(t, "losses", []string{"system text (the agent has its own)", "arguments that are not an object (wrapped)"}, lost)
	if got := d.msgs[0].info.in(d.Data, "model").text(d.Data, "providerID"); got != "openai" {
		t.Errorf("the provider is %q", got)
	}
	last := d.msgs[2].parts[0]
	if !last.flag("synthetic") || d.msgs[0].parts[0].flag("synthetic") {
		t.Error("what a program wrote is not marked, or what a person wrote is")
	}
}

// Each violation is reported by exactly its rule.
func TestValidate(t *testing.T) {
	good := string(samples(t)["tools"])
	change := func(old, with string) string {
		t.Helper()
		if !strings.Contains(good, old) {
			t.Fatalf("the sample has no %s", old)
		}
		return strings.Replace(good, old, with, 1)
	}
	for _, tt := range []struct {
		rule, field, data string
	}{
		{"", "", good},
		{"N0", "info.slug", change(`"slug"`, `"slugs"`)},
		{"N0", "info.time.updated", change(`"updated"`, `"updates"`)},
		{"N0", "messages.0.info.model.modelID", change(`"modelID"`, `"model"`)},
		{"N0", "messages.1.info.tokens.input", change(`"input": 10060`, `"inputs": 10060`)},
		{"N0", "messages.1.parts.2.state.status", change(`"status": "completed"`, `"status": "done"`)},
		{"N0", "messages.1.parts.2.state.output", change(`"output": "a.txt\nhi\n",`, ``)},
		{"N0", "messages.1.parts.0.type", change(`"type": "step-start"`, `"type": "step-begin"`)},
		{"N1", "messages.1.info.id", strings.ReplaceAll(good, "msg_20984ccdc001OGIa7eVf5eVvTl", "m_20984ccdc001OGIa7eVf5eVvTl")},
		{"N2", "messages.1.parts.1.id", strings.ReplaceAll(good, "prt_20984ecc5001BlFo1ekfa3tDoa", "prt_20984c9aa004j7pPEWJIFoMn5A")},
		{"N3", "messages.1.info.time.created", change(`"created": 1795456027868`, `"created": 17954560278`)},
		{"A16", "messages.2", change(`call_000016`, `call_000015`)},
		{"X7", "messages.0", change(`"role": "user"`, `"role": "assistant"`)},
	} {
		found, err := format{}.Validate([]byte(tt.data))
		if err != nil {
			t.Fatalf("%s: %v", tt.rule, err)
		}
		ok := tt.rule == "" && len(found) == 0
		for _, v := range found {
			ok = ok || v.Rule == tt.rule && v.Field == tt.field
		}
		if !ok {
			t.Errorf("rule %s at %s: %v", tt.rule, tt.field, found)
		}
	}
	formattest.Refuses(t, format{}, []formattest.Refusal{
		{Name: "nothing of the session", In: `{"messages":[]}`, Says: "there is no object that describes the session"},
		{Name: "no messages", In: `{"info":{"id":"ses_1"}}`, Says: "no list of messages"},
		{Name: "no role", In: `{"info":{"id":"ses_1"},"messages":[{"info":{"id":"msg_1"},"parts":[]}]}`, Says: "messages.0: a message needs an info with the role user or assistant"},
		{Name: "no parts", In: `{"info":{"id":"ses_1"},"messages":[{"info":{"role":"user"}}]}`, Says: "messages.0: a message needs a list of parts"},
		{Name: "no type", In: `{"info":{"id":"ses_1"},"messages":[{"info":{"role":"user"},"parts":[{}]}]}`, Says: "messages.0.parts.0: a part needs a type"},
	})
}

// The encoding of a session of another format breaks no rule.
func TestWholeSessions(t *testing.T) {
	_, _, enc := encoded(t, transcript.Whole(formattest.Decode(t, openai.Format, string(fakesession.Chat(5, 4)))))
	if len(enc.Losses) == 0 {
		t.Error("nothing was lost, though the system text was")
	}
}

// The same window gives the same file, with the same ids, in every version.
func TestEncodeIsTheSame(t *testing.T) {
	said := func(role transcript.Role, parts ...transcript.Part) transcript.Message {
		return transcript.Message{Role: role, Parts: parts}
	}
	s := &transcript.Session{ID: "x", Format: "anthropic", Model: "claude-x", Messages: []transcript.Message{
		said(transcript.RoleUser, transcript.Text("go")), said(transcript.RoleAssistant, transcript.Text("on"), transcript.ToolCall{ID: "c", Name: "f", Input: []byte(`{"a":1}`)}, transcript.ToolCall{ID: "d"}),
		said(transcript.RoleTool, transcript.ToolResult{CallID: "c", Content: []transcript.Part{transcript.Text("ok"), transcript.Media{Kind: "image", MIME: "image/png", Data: "QQ=="}}}, transcript.ToolResult{CallID: "d", Error: true, Content: []transcript.Part{transcript.Text("no")}}),
	}}
	const part, times = `", "sessionID": "S", "messageID": "`, `"time": {"start": 946684800000, "end": 946684800000}`
	want := strings.NewReplacer("S", "ses_8cf7091febf3cc9a1e94b82e5d", "M1", "msg_000000000001766469724eda6c", "P1", "prt_0000000000027e0a86a1d240e3", "M2", "msg_0000000000030d213b6ced4445",
		"P2", "prt_0000000000044ace7e992375c2", "F", "prt_0000000000058c6ec8f080f6da", "P3", "prt_0000000000069129e877f03985", "P4", "prt_0000000000071bd409c05ebaa6").Replace(
		`{"info": {"id": "S", "slug": "carrel-8cf7091f", "projectID": "global", "directory": "/", "title": "go", "version": "0.0.0", "time": {"created": 946684800000, "updated": 946684800000}},` + "\n" +
			`"messages": [{"info": {"id": "M1", "sessionID": "S", "role": "user", "time": {"created": 946684800000}, "agent": "build", "model": {"providerID": "anthropic", "modelID": "claude-x"}}, "parts": [{"id": "P1` + part + `M1", "type": "text", "text": "go"}]},` + "\n" +
			`{"info": {"id": "M2", "sessionID": "S", "role": "assistant", "time": {"created": 946684800000, "completed": 946684800000}, "parentID": "M1", "modelID": "claude-x", "providerID": "anthropic", "mode": "build", "agent": "build", "path": {"cwd": "/", "root": "/"}, "cost": 0, "tokens": ` + free + `, "finish": "tool-calls"}, ` +
			`"parts": [{"id": "P2` + part + `M2", "type": "text", "text": "on"}, {"id": "P3` + part + `M2", "type": "tool", "callID": "c", "tool": "f", "state": {"status": "completed", "input": {"a":1}, "output": "ok", "title": "f", "metadata": {}, ` + times + `, "attachments": [{"id": "F` + part + `M2", "type": "file", "mime": "image/png", "url": "data:image/png;base64,QQ=="}]}}, ` +
			`{"id": "P4` + part + `M2", "type": "tool", "callID": "d", "tool": "unknown", "state": {"status": "error", "input": {"_raw": ""}, "error": "no", ` + times + `}}]}]}` + "\n")
	s.Title = "go"
	if diff := cmp.Diff(want, string(formattest.Encode(t, format{}, transcript.Whole(s)).Data)); diff != "" {
		t.Errorf("encoding (-want +got):\n%s", diff)
	}
}

// Media with an address are written as files with a type that OpenCode sends, and all others are
// named in the text. Other parts of an entry with results are written after them.
func TestEncodeOfMedia(t *testing.T) {
	said := func(role transcript.Role, parts ...transcript.Part) transcript.Message {
		return transcript.Message{Role: role, Parts: parts}
	}
	media := func(kind, mime, data, url string) transcript.Media {
		return transcript.Media{Kind: kind, MIME: mime, Data: data, URL: url, Raw: []byte("12345")}
	}
	s := &transcript.Session{ID: "x", Format: "anthropic", Messages: []transcript.Message{
		said(transcript.RoleSystem, transcript.Text("S"), media("image", "image/png", "QQ==", "")),
		said(transcript.RoleUser, transcript.Text(""), transcript.Text("look"), media("image", "", "", "u1"), media("audio", "", "", "u2"), media("document", "", "", "u3"), media("document", "text/plain", "", "u4"), media("image", "image/png", "", "")),
		said(transcript.RoleAssistant, media("image", "image/png", "QQ==", ""), transcript.ToolCall{ID: "c", Name: "f", Input: []byte("{x")}),
		said(transcript.RoleTool, transcript.ToolResult{CallID: "c", Error: true, Content: []transcript.Part{transcript.Text("no"), media("image", "image/png", "QQ==", "")}}, transcript.Text("and more")),
	}}
	_, d, enc := encoded(t, transcript.Whole(s))
	var got, lost []string
	for i := range d.msgs {
		for _, p := range d.msgs[i].parts {
			got = append(got, strings.Join([]string{d.msgs[i].role, p.kind, p.text(d.Data, "text"), p.text(d.Data, "mime"), p.text(d.Data, "url"), string(p.state["input"].Of(d.Data))}, "|"))
		}
	}
	same(t, "parts", []string{
		"user|text|look|||", "user|file||image/png|u1|", "user|file||audio/wav|u2|", "user|file||application/octet-stream|u3|", "user|file||application/octet-stream|u4|",
		"user|text|[image image/png]|||", "assistant|text|[image image/png]|||", `assistant|tool||||{"_raw": "{x"}`, "user|text|and more|||",
	}, got)
	for _, l := range enc.Losses {
		lost = append(lost, l.What)
	}
	same(t, "losses", []string{"image", "image", "image", "system text (the agent has its own)", "arguments that are not an object (wrapped)", "image"}, lost)
}

// A changed window of a session keeps what it can of the calls, their times and the metadata of
// calls that the provider ran, and drops the address at which the session is shared.
func TestChangedWindowKeepsCalls(t *testing.T) {
	tool := func(id, meta, time string) string {
		return `{"id":"p` + id + `","type":"tool","tool":"bash","callID":"` + id + `","metadata":` + meta + `,"state":{"status":"completed","input":{},"output":"x","time":` + time + `}}`
	}
	const message = `{"info":{"id":"msg_2","role":"assistant","parentID":"msg_1"TIME},"parts":[{"id":"r","type":"reasoning","text":"hm"},`
	data := `{"info":{"id":"ses_1","share":{"url":"u"},"revert":{"messageID":"z"}},"messages":[{"info":{"id":"msg_1","role":"user"},"parts":[` + words + `]},` +
		message + tool("a", `{"providerExecuted":true}`, `{"compacted":7}`) + "," + tool("b", `{"itemId":"i"}`, `{"start":5,"end":6,"compacted":7}`) + `]}]}`
	for time, want := range map[string]string{"": `{"created": 946684800000}`, `,"time":{}`: `{"created": 946684800000}`, `,"time":{"completed":5}`: `{"completed":5, "created": 946684800000}`} {
		w := transcript.Whole(formattest.Decode(t, format{}, strings.Replace(data, "TIME", time, 1)))
		for i := range w.Entries {
			w.Entries[i] = w.Entries[i].WithoutThinking()
			for _, r := range w.Entries[i].Results() {
				w.Entries[i] = w.Entries[i].WithResult(r.CallID, "[short]")
			}
		}
		enc := formattest.Encode(t, format{}, w)
		d, err := read("", enc.Data)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(d.msgs[1].info["time"].Of(d.Data)); got != want {
			t.Errorf("the time%s becomes %s, want %s", time, got, want)
		}
		var got []string
		for _, p := range d.msgs[1].parts {
			got = append(got, string(p.object["metadata"].Of(d.Data))+" "+string(p.object["state"].Of(d.Data)))
		}
		same(t, "calls", []string{
			`{"providerExecuted":true} {"status":"completed","input":{},"output":"[short]","time":{}, "metadata": {}}`,
			` {"status":"completed","input":{},"output":"[short]","time":{"start":5,"end":6}, "metadata": {}}`,
		}, got)
		if d.info["share"].kind != 0 || d.info["revert"].kind != 0 {
			t.Errorf("the session is still shared or reverted:\n%s", enc.Data)
		}
	}
}
