package claudecode

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/transcript"
)

// A made is the content of a row that the encoder created.
type made struct {
	Type      string
	Cwd       string
	Version   string
	Branch    string `json:"gitBranch"`
	Timestamp string
	Message   struct {
		ID, Role, Model string
		Content         any
	}
}

func madeRows(t *testing.T, data []byte) []made {
	t.Helper()
	var rows []made
	for line := range strings.Lines(string(data)) {
		var r made
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

// parts returns messages with every kind of part.
func parts() []transcript.Message {
	return []transcript.Message{
		{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("look"), transcript.Text(""), transcript.Media{Kind: "image", MIME: "image/png", Data: "AA"}, transcript.Media{Kind: "document", URL: "https://x"}}},
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{
			transcript.Thinking{Text: "hm", Signature: "s"},
			transcript.Thinking{Signature: "r", Redacted: true},
			transcript.Text("so"),
			transcript.Opaque{Type: "odd", Raw: []byte(`{"type":"odd"}`)},
			transcript.Opaque{Type: "bad", Raw: []byte(`{`)},
			transcript.ToolCall{ID: "1", Name: "f", Input: []byte(`{"a": 1}`)},
			transcript.ToolCall{ID: "2", Name: "g", Input: []byte(`oops`)},
		}},
		{Role: transcript.RoleTool, Parts: []transcript.Part{
			transcript.ToolResult{CallID: "1", Content: []transcript.Part{transcript.Text("ok")}}, transcript.ToolResult{CallID: "2", Error: true},
		}},
		{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("")}},
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.Text("done <&>")}},
	}
}

// Each part becomes a block of Anthropic's API. Blocks that only Anthropic understands are
// written only if the session came from there.
func TestMadeBlocks(t *testing.T) {
	for from, kept := range map[string]bool{"anthropic": true, "openai": false} {
		s := &transcript.Session{ID: "x", Format: from, Model: "big", Project: "/srv", Messages: parts()}
		out, err := format{}.Encode(transcript.Whole(s))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		replies := make(map[string]bool)
		before := "2000-01-01T00:00:01.000Z"
		for i, r := range madeRows(t, out.Data) {
			content, err := json.Marshal(r.Message.Content)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r.Type+" "+string(content))
			if r.Timestamp < before || r.Cwd != "/srv" || r.Version == "" || r.Branch != "" {
				t.Errorf("row %d has the frame %+v, behind %s", i, r, before)
			}
			before = r.Timestamp
			if r.Type == "assistant" {
				replies[r.Message.ID] = true
				if r.Message.Model != "big" || !regexp.MustCompile(`^msg_carrel_[0-9a-f]{16}$`).MatchString(r.Message.ID) {
					t.Errorf("reply %+v", r.Message)
				}
			}
		}
		want := []string{
			`user [{"text":"look","type":"text"},{"source":{"data":"AA","media_type":"image/png","type":"base64"},"type":"image"},{"source":{"type":"url","url":"https://x"},"type":"document"}]`,
			`assistant [{"signature":"s","thinking":"hm","type":"thinking"}]`, `assistant [{"data":"r","type":"redacted_thinking"}]`,
			`assistant [{"text":"so","type":"text"}]`, `assistant [{"type":"odd"}]`,
			`assistant [{"id":"1","input":{"a":1},"name":"f","type":"tool_use"}]`, `assistant [{"id":"2","input":{"_raw":"oops"},"name":"g","type":"tool_use"}]`,
			`user [{"content":[{"text":"ok","type":"text"}],"tool_use_id":"1","type":"tool_result"},{"is_error":true,"tool_use_id":"2","type":"tool_result"}]`,
			`assistant [{"text":"done \u003c\u0026\u003e","type":"text"}]`,
		}
		losses := []transcript.Loss{
			{Message: 1, What: "bad", Count: 1, Bytes: 1}, {Message: 1, What: "arguments that are not an object (wrapped)", Count: 1, Bytes: 4},
		}
		if !kept {
			want = append(want[:1:1], append(want[3:4:4], want[5:]...)...)
			losses = append([]transcript.Loss{{Message: 1, What: "thinking", Count: 1, Bytes: 2}, {Message: 1, What: "thinking", Count: 1}, {Message: 1, What: "odd", Count: 1, Bytes: 14}}, losses...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("from %s: rows (-want +got):\n%s", from, diff)
		}
		if diff := cmp.Diff(losses, out.Losses); diff != "" {
			t.Errorf("from %s: losses (-want +got):\n%s", from, diff)
		}
		if len(replies) != 2 || !strings.Contains(string(out.Data), "done <&>") {
			t.Errorf("from %s: replies %v in\n%s", from, replies, out.Data)
		}
	}
}

// A made row has the working directory of the session's first row, or "/" without one.
func TestFramesOfMadeRows(t *testing.T) {
	for _, replies := range []int{0, 1} {
		var f file
		f.row("user", "u1", "", `"build it"`, `,"version":"9.8.7","gitBranch":"main"`)
		if replies > 0 {
			f.row("assistant", "a1", "u1", `m1 {"type":"text","text":"done"}`, `,"cwd":"/other"`)
		}
		s, err := format{}.Decode("x.jsonl", []byte(f.String()))
		if err != nil {
			t.Fatal(err)
		}
		w := transcript.Whole(s)
		w.Entries = append(w.Entries, transcript.Stub("b", "more"))
		out, err := format{}.Encode(w)
		if err != nil {
			t.Fatal(err)
		}
		rows := madeRows(t, out.Data)
		if r := rows[len(rows)-1]; r.Cwd != "/srv/app" || r.Version != "9.8.7" || r.Branch != "main" || r.Timestamp != rows[len(rows)-2].Timestamp {
			t.Errorf("behind %d replies the made row has the frame %+v", replies, r)
		}
	}
	out, err := format{}.Encode(transcript.Whole(&transcript.Session{Format: "openai", Messages: []transcript.Message{
		{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("a")}}, {Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.Text("b")}},
	}}))
	if err != nil {
		t.Fatal(err)
	}
	if rows := madeRows(t, out.Data); rows[0].Cwd != "/" || rows[1].Message.Model != "unknown" || rows[0].Message.Content != "a" {
		t.Errorf("rows %+v", rows)
	}
}

// A session of this format without messages is encoded with the added messages.
func TestMadeRowsWithoutASession(t *testing.T) {
	s := &transcript.Session{Format: format{}.Name()}
	out, err := format{}.Encode(&transcript.Window{Session: s, Entries: []transcript.Entry{transcript.Stub("b", "added")}})
	if err != nil {
		t.Fatal(err)
	}
	if rows := madeRows(t, out.Data); len(rows) != 1 || rows[0].Message.Content != "added" {
		t.Errorf("rows %+v", rows)
	}
}

// The id of a new session is a uuid of version 8, and changes with each text, result, role
// or number of messages.
func TestNewSessionsHaveTheirOwnIDs(t *testing.T) {
	base := func() []transcript.Entry {
		return []transcript.Entry{
			{Message: transcript.Message{ID: "1", Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("a")}}},
			{Message: transcript.Message{ID: "2", Role: transcript.RoleTool, Parts: []transcript.Part{transcript.ToolResult{CallID: "c", Content: []transcript.Part{transcript.Text("b")}}}}},
		}
	}
	seen := make(map[string]string)
	for name, change := range map[string]func(e []transcript.Entry) []transcript.Entry{
		"nothing": func(e []transcript.Entry) []transcript.Entry { return e },
		"a text": func(e []transcript.Entry) []transcript.Entry {
			e[0].Parts = []transcript.Part{transcript.Text("x")}
			return e
		},
		"a result": func(e []transcript.Entry) []transcript.Entry {
			e[1].Parts = []transcript.Part{transcript.ToolResult{CallID: "c"}}
			return e
		},
		"a call": func(e []transcript.Entry) []transcript.Entry {
			e[1].Parts = []transcript.Part{transcript.ToolResult{CallID: "d", Content: []transcript.Part{transcript.Text("b")}}}
			return e
		},
		"a role":    func(e []transcript.Entry) []transcript.Entry { e[0].Role = transcript.RoleAssistant; return e },
		"an id":     func(e []transcript.Entry) []transcript.Entry { e[0].ID = "3"; return e },
		"thinking":  func(e []transcript.Entry) []transcript.Entry { e[0].Bare = true; return e },
		"a message": func(e []transcript.Entry) []transcript.Entry { return e[:1] },
	} {
		id := sessionUUID(&transcript.Session{ID: "s"}, change(base()))
		if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
			t.Errorf("%s: %s is no uuid of version 8", name, id)
		}
		if other, ok := seen[id]; ok {
			t.Errorf("with another %s and another %s the session is %s", name, other, id)
		}
		seen[id] = name
	}
	if other := sessionUUID(&transcript.Session{ID: "t"}, base()); seen[other] != "" {
		t.Errorf("two sessions with the same words are both %s", other)
	}
	if got := uuid([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xffmore")); got != "ffffffff-ffff-8fff-bfff-ffffffffffff" {
		t.Errorf("the uuid of ones is %s", got)
	}
	if got := uuid(make([]byte, 32)); got != "00000000-0000-8000-8000-000000000000" {
		t.Errorf("the uuid of zeros is %s", got)
	}
}

// Sniff requires one valid row in the first twenty lines.
func TestSniff(t *testing.T) {
	row := `{"type":"user","uuid":"u"}`
	for name, tt := range map[string]struct {
		data string
		want bool
	}{
		"a row":                       {row, true},
		"behind blank lines":          {"\n \n" + row + "\n", true},
		"the twentieth line":          {strings.Repeat("\n", 19) + row, true},
		"the next one":                {strings.Repeat("\n", 20) + row, false},
		"a session":                   {`{"type":"mode","sessionId":"s"}`, true},
		"a title":                     {`{"type":"summary","leafUuid":"l"}`, true},
		"a snapshot":                  {`{"type":"x","snapshot":{}}`, true},
		"a type alone":                {`{"type":"user"}`, false},
		"a type that is no text":      {`{"type":1,"uuid":"u"}`, false},
		"an id alone":                 {`{"uuid":"u"}`, false},
		"rows of something else":      {"{\"a\":1}\n" + row, true},
		"lines of something else":     {"a\n" + row, false},
		"a list":                      {"[\n" + row, false},
		"nothing":                     {"", false},
		"a row in the middle of more": {"{\"a\":1}\n" + row + "\nx", true},
	} {
		if got := (format{}).Sniff([]byte(tt.data)); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// The size of the request is the usage of the newest reply with usage, however small, and
// not that of a sub-agent or a person.
func TestSentAtItsEdges(t *testing.T) {
	row := func(kind, id, parent, usage, extra string) string {
		return fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%q,"message":{"id":"m%s","usage":%s,"content":[{"type":"text","text":"x"}]}%s}`+"\n", kind, id, parent, id, usage, extra)
	}
	first := row("user", "u", "", `{"input_tokens":99}`, "")
	for _, tt := range []struct {
		name, rows string
		want       int64
	}{
		{"one token", row("assistant", "a", "u", `{"input_tokens":1}`, ""), 1},
		{"all that was read", row("assistant", "a", "u", `{"input_tokens":1,"cache_read_input_tokens":20,"cache_creation_input_tokens":300,"output_tokens":4000}`, ""), 321},
		{"a figure below 0", row("assistant", "a", "u", `{"input_tokens":5,"cache_read_input_tokens":-3}`, ""), 5},
		{"none behind one", row("assistant", "a", "u", `{"input_tokens":7}`, "") + row("assistant", "b", "a", `{"input_tokens":0}`, ""), 7},
		{"the newer", row("assistant", "a", "u", `{"input_tokens":7}`, "") + row("assistant", "b", "a", `{"input_tokens":6}`, ""), 6},
		{"a sub-agent's", row("assistant", "a", "u", `{"input_tokens":7}`, "") + row("assistant", "b", "a", `{"input_tokens":6}`, `,"isSidechain":true`), 7},
		{"a person's", row("user", "b", "u", `{"input_tokens":6}`, ""), 0},
	} {
		s, err := format{}.Decode("x", []byte(first+tt.rows))
		if err != nil {
			t.Fatal(err)
		}
		if s.Sent != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, s.Sent, tt.want)
		}
	}
}

// Rows with the same message id are one message only if they are replies; the model is
// that of the agent's newest own reply.
func TestRowsOfReplies(t *testing.T) {
	row := func(kind, id, parent, message, model, text, extra string) string {
		return fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%q,"message":{"id":%q,"model":%q,"content":[{"type":"text","text":%q}]}%s}`+"\n", kind, id, parent, message, model, text, extra)
	}
	for _, tt := range []struct {
		name, rows, want, model string
	}{
		{"two rows of one", row("assistant", "a", "u", "m1", "x", "1", "") + row("assistant", "b", "a", "m1", "y", "2", ""), "user u 0; assistant m1 1 2", "y"},
		{"two without an id", row("assistant", "a", "u", "", "x", "1", "") + row("assistant", "b", "a", "", "y", "2", ""), "user u 0; assistant a 1; assistant b 2", "y"},
		{"a person's with the id of a reply", row("assistant", "a", "u", "m1", "x", "1", "") + row("user", "b", "a", "m1", "y", "2", ""), "user u 0; assistant m1 1; user b 2", "x"},
		{"a made reply", row("assistant", "a", "u", "m1", "x", "1", "") + row("assistant", "b", "a", "m2", "<synthetic>", "2", ""), "user u 0; assistant m1 1; assistant m2 2", "x"},
		{"a sub-agent's", row("assistant", "a", "u", "m1", "x", "1", "") + row("assistant", "b", "a", "m2", "y", "2", `,"isSidechain":true`), "user u 0; assistant m1 1", "x"},
	} {
		s, err := format{}.Decode("x", []byte(row("user", "u", "", "", "z", "0", "")+tt.rows))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range s.Messages {
			m := &s.Messages[i]
			got = append(got, string(m.Role)+" "+m.ID+" "+strings.ReplaceAll(m.Text(), "\n", " "))
		}
		if got := strings.Join(got, "; "); got != tt.want || s.Model != tt.model {
			t.Errorf("%s: %s by %s, want %s by %s", tt.name, got, s.Model, tt.want, tt.model)
		}
	}
}

// names separates the ids that a row brings from the ids to which it refers.
func TestNames(t *testing.T) {
	var s transcript.Session
	format{}.split(&s, []byte(strings.Join([]string{
		`{"type":"assistant","uuid":"a","parentUuid":"u","message":{"id":"m","content":[{"type":"tool_use","id":"c"}]}}`,
		`{"type":"user","uuid":"r","parentUuid":"a","message":{"content":[{"type":"tool_result","tool_use_id":"c"}]}}`,
		`{"type":"system","subtype":"compact_boundary","uuid":"b","logicalParentUuid":"r","compactMetadata":{"trigger":"auto","n":1,"list":["x",{"y":"z"}],"on":true}}`,
		`{"type":"system","uuid":"n","compactMetadata":{"trigger":"auto"}}`,
		`{"type":"summary","summary":"s","leafUuid":"r"}`,
	}, "\n")))
	var brought, mentioned []string
	for _, item := range s.Items {
		brought, mentioned = append(brought, item.Brings...), append(mentioned, item.Mentions...)
	}
	if diff := cmp.Diff([]string{"a", "m", "c", "r", "b", "n"}, brought); diff != "" {
		t.Errorf("brought (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"u", "a", "c", "r", "auto", "x", "z"}, mentioned); diff != "" {
		t.Errorf("mentioned (-want +got):\n%s", diff)
	}
	if got := (format{}).Continue("x", nil, nil); got != nil {
		t.Error("nothing is continued")
	}
}

// An export of media has only blocks that Anthropic's API has. Others become their placeholders,
// and losses.
func TestMadeMedia(t *testing.T) {
	const words = `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"plain words"}}`
	for _, tt := range []struct {
		name, from string
		media      transcript.Media
		want       string
		lost       bool
	}{
		{"a sound", "openai", transcript.Media{Kind: "audio", MIME: "audio/wav", Data: "AAAA"}, `{"type":"text","text":"[audio audio/wav]"}`, true},
		{"a document that is no PDF", "openai", transcript.Media{Kind: "document", MIME: "text/plain", Data: "AAAA"}, `{"type":"text","text":"[document text/plain]"}`, true},
		{"an image without a type", "openai", transcript.Media{Kind: "image", Data: "AAAA"}, `{"type":"text","text":"[image]"}`, true},
		{"an image elsewhere without a type", "openai", transcript.Media{Kind: "image", Data: "AAAA", URL: "u"}, `{"type":"image","source":{"type":"url","url":"u"}}`, false},
		{"a document elsewhere", "openai", transcript.Media{Kind: "document", URL: "u"}, `{"type":"document","source":{"type":"url","url":"u"}}`, false},
		{"a document with data without a type", "openai", transcript.Media{Kind: "document", Data: "AAAA", URL: "u"}, `{"type":"text","text":"[document]"}`, true},
		{"a PDF", "openai", transcript.Media{Kind: "document", MIME: "application/pdf", Data: "AAAA"}, `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}`, false},
		{"a plain text", "anthropic", transcript.Media{Kind: "document", MIME: "text/plain", Raw: []byte(words)}, words, false},
	} {
		s := &transcript.Session{Format: tt.from, Messages: []transcript.Message{{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("see"), tt.media}}}}
		out, err := format{}.Encode(transcript.Whole(s))
		if err != nil {
			t.Fatal(err)
		}
		got := gjson.GetBytes(out.Data, "message.content.1").Raw
		if d := cmp.Diff(gjson.Parse(tt.want).Value(), gjson.Parse(got).Value()); d != "" || tt.lost != (len(out.Losses) == 1) {
			t.Errorf("%s is written as %s, want %s; losses %v", tt.name, got, tt.want, out.Losses)
		}
	}
}

// A session begins with a user's message, also if the first one has nothing that can be written, or
// if the session is written under another id.
func TestMadeSessionsBeginWithTheUser(t *testing.T) {
	reply := transcript.Message{Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.Text("a")}}
	for _, p := range []transcript.Part{
		transcript.Opaque{Type: "code", Raw: []byte(`{"code":"x"}`)}, transcript.Thinking{Text: "x"}, transcript.Text(" "),
	} {
		s := &transcript.Session{Format: "gemini", Messages: []transcript.Message{{Role: transcript.RoleUser, Parts: []transcript.Part{p}}, reply}}
		if out, err := (format{}).Encode(transcript.Whole(s)); err != nil || len(madeRows(t, out.Data)) != 2 {
			t.Errorf("behind %v: %v in\n%s", p, err, out.Data)
		}
	}
	var f file
	f.row("assistant", "a1", "", `m1 {"type":"text","text":"done"}`, "")
	f.row("user", "u1", "a1", `"go"`, "")
	s, err := format{}.Decode("x.jsonl", []byte(f.String()))
	if err != nil {
		t.Fatal(err)
	}
	w := transcript.Whole(s)
	w.As = "00000000-0000-4000-8000-000000000001"
	if out, err := (format{}).Encode(w); err != nil || len(madeRows(t, out.Data)) != 3 {
		t.Errorf("as a new session: %v in\n%s", err, out.Data)
	}
	m, err := transcript.Mend(format{}, s, transcript.MendOptions{})
	if err != nil || len(m.Left) > 0 || len(m.Repairs) != 1 || m.Repairs[0].Rule != "X7" || strings.Contains(string(m.Data), `"sessionId":""`) {
		t.Errorf("mended: %v, left %v, repairs %v in\n%s", err, m.Left, m.Repairs, m.Data)
	}
}
