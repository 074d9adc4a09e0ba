package gemini

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/formattest"
)

// described returns a part in one line.
func described(p transcript.Part) string {
	switch p := p.(type) {
	case transcript.Text:
		return "text " + string(p)
	case transcript.Thinking:
		return fmt.Sprint("thinking ", p.Text, " ", p.Signature, " ", p.Redacted)
	case transcript.ToolCall:
		return "call " + p.ID + " " + p.Name + " " + string(p.Input)
	case transcript.ToolResult:
		var all []string
		for _, c := range p.Content {
			all = append(all, described(c))
		}
		return fmt.Sprint("result ", p.CallID, " ", p.Error, " ", strings.Join(all, ", "))
	case transcript.Media:
		return strings.Join([]string{p.Kind, p.MIME, p.Data, p.URL}, " ")
	case transcript.Opaque:
		return "opaque " + p.Type
	}
	return "none"
}

func TestPartsOfAContent(t *testing.T) {
	for _, tt := range []struct{ role, part, want string }{
		{"user", `{"text":"a"}`, "text a"},
		{"user", `{"text":7}`, "text "},
		{"user", `{"text":null}`, "opaque "},
		{"user", `{}`, "opaque "},
		{"user", `{"text":"a","thought":true}`, "opaque text"},
		{"model", `{"text":"a","thought":true}`, "thinking a  false"},
		{"model", `{"text":"a","thought":false}`, "text a"},
		{"model", `{"text":"","thoughtSignature":"s"}`, "thinking  s true"},
		{"model", `{"text":"a","thoughtSignature":"s"}`, "text a"},
		{"model", `{"text":"","thought_signature":"s"}`, "thinking  s true"},
		{"model", `{"function_call":{"id":"i","name":"n","args":{"x":1}}}`, `call i n {"x":1}`},
		{"model", `{"functionCall":{"name":"n"}}`, "call gemini-0-0 n "},
		{"user", `{"functionCall":{"name":"n"}}`, "opaque functionCall"},
		{"model", `{"functionResponse":{"name":"n"}}`, "opaque functionResponse"},
		{"user", `{"functionResponse":{"id":"i","name":"n","response":{"output":"o"}}}`, "result i false text o"},
		{"user", `{"functionResponse":{"id":"i","response":{"error":"e"}}}`, "result i true text e"},
		{"user", `{"functionResponse":{"id":"i","response":{"error":null}}}`, `result i false text {"error":null}`},
		{"user", `{"functionResponse":{"id":"i","response":{"x":1}}}`, `result i false text {"x":1}`},
		{"user", `{"functionResponse":{"id":"i","response":{"output":""}}}`, "result i false "},
		{"user", `{"functionResponse":{"id":"i","response":{"output":{"a":1}}}}`, `result i false text {"a":1}`},
		{"user", `{"functionResponse":{"id":"i","response":{"error":{"a":1}}}}`, `result i true text {"a":1}`},
		{"user", `{"functionResponse":{"id":"i","response":{"output":"o","error":"e"}}}`, "result i true text o, text e"},
		{"user", `{"functionResponse":{"id":"i","response":null}}`, "result i false "},
		{"user", `{"functionResponse":{"id":"i"}}`, "result i false "},
		{"user", `{"functionResponse":{"id":"i","response":{"error":"[carrel 1a2b] x"}}}`, "result i false text [carrel 1a2b] x"},
		{"user", `{"functionResponse":{"id":"i","response":[1]}}`, "result i false text [1]"},
		{"user", `{"functionResponse":{"id":"i","response":{"output":"o"},"parts":[{"text":"t"},{"inlineData":{"mimeType":"image/png","data":"QQ=="}},{"x":1}]}}`, "result i false text o, text t, image image/png QQ== , opaque x"},
		{"user", `{"inlineData":{"mimeType":"image/png","data":"QQ=="}}`, "image image/png QQ== "},
		{"user", `{"inline_data":{"mime_type":"audio/wav","data":"QQ=="}}`, "audio audio/wav QQ== "},
		{"user", `{"fileData":{"mimeType":"application/pdf","fileUri":"u"}}`, "document application/pdf  u"},
		{"user", `{"fileData":{"mimeType":"video/mp4","fileUri":"u"}}`, "opaque fileData"},
		{"model", `{"text":"a","thought":true,"partMetadata":{}}`, "thinking a  false"},
		{"user", `{"functionResponse":{"id":"i","response":{"error":"e","output":"o"}}}`, "result i true text e, text o"},
		{"user", `{"functionResponse":{"id":"i","parts":[{"fileData":{"mimeType":"image/png","fileUri":"u"}}]}}`, "result i false image image/png  u"},
		{"user", `{"inlineData":{"data":"QQ==","data":"Qg=="}}`, "opaque inlineData"},
		{"user", `{"inlineData":7}`, "opaque inlineData"},
		{"user", `{"inlineData":{"mimeType":"imagex","data":7}}`, "document imagex  "},
		{"user", `{"text":"a","inlineData":{}}`, "opaque several"},
		{"user", `{"executableCode":{}}`, "opaque executableCode"},
		{"user", `{"text":"a","videoMetadata":{},"partMetadata":{}}`, "text a"},
	} {
		b, err := parse("", []byte(`{"contents":[{"role":"`+tt.role+`","parts":[`+tt.part+`]}]}`))
		if err != nil {
			t.Errorf("%s: %v", tt.part, err)
			continue
		}
		if got := described(b.contents[0].view(b.Data)[0]); got != tt.want {
			t.Errorf("%s of the %s is %q, want %q", tt.part, tt.role, got, tt.want)
		}
	}
	for model, want := range map[string]string{`"models/x"`: "x", `"x"`: "x", `7`: ""} {
		b, err := parse("", []byte(`{"model":`+model+`,"contents":[]}`))
		if err != nil || b.Model != want {
			t.Errorf("the model %s is %v, want %q", model, b, want)
		}
	}
	for key, want := range map[string]string{"function_call": "functionCall", "functionCall": "functionCall", "a__b": "aB", "_a": "A", "a_": "a", "": ""} {
		if got := camel(key); got != want {
			t.Errorf("%q is %q, want %q", key, got, want)
		}
	}
}

// A response and its call have one id: that of the body, or where one has none the next call of
// its name in the latest reply.
func TestWhichCallAResponseIsTo(t *testing.T) {
	call := func(id, name string) string {
		return strings.ReplaceAll(`{"functionCall":{"id":"`+id+`","name":"`+name+`"}}`, `"id":"",`, "")
	}
	answer := func(id, name string) string {
		return strings.ReplaceAll(`{"functionResponse":{"id":"`+id+`","name":"`+name+`"}}`, `"id":"",`, "")
	}
	for _, tt := range []struct {
		name string
		list [][]string // the first, the third and so on are of the model
		want string     // pairs of each part
	}{
		{"ids", [][]string{{call("a", "x"), call("b", "x")}, {answer("b", "x"), answer("a", "x")}}, "a b | b a"},
		{"no ids", [][]string{{call("", "x"), call("", "x")}, {answer("", "x"), answer("", "x")}}, "gemini-0-0 gemini-0-1 | gemini-0-0 gemini-0-1"},
		{"no ids, by name", [][]string{{call("", "x"), call("", "y")}, {answer("", "y"), answer("", "x")}}, "gemini-0-0 gemini-0-1 | gemini-0-1 gemini-0-0"},
		{"an id of the call alone", [][]string{{call("a", "x")}, {answer("", "x")}}, "a | a"},
		{"an id of the response alone", [][]string{{call("", "x")}, {answer("a", "x")}}, "gemini-0-0 | gemini-0-0"},
		{"two ids that differ", [][]string{{call("a", "x")}, {answer("b", "x")}}, "a | b"},
		{"another name", [][]string{{call("", "x")}, {answer("", "y")}}, "gemini-0-0 | gemini-1-0"},
		{"one with an id, one without", [][]string{{call("a", "x"), call("", "x")}, {answer("", "x"), answer("a", "x")}}, "a gemini-0-1 | gemini-0-1 a"},
		{"a call of an older reply", [][]string{{call("", "x")}, {`{"text":"t"}`}, {call("", "y")}, {answer("", "x")}}, "gemini-0-0 | gemini-1-0 | gemini-2-0 | gemini-3-0"},
		{"an id of an older reply", [][]string{{call("a", "x")}, {`{"text":"t"}`}, {call("b", "x")}, {answer("a", "x")}}, "a | gemini-1-0 | b | a"},
		{"an id that was answered", [][]string{{call("a", "x")}, {answer("a", "x")}, {`{"text":"t"}`}, {answer("a", "x")}}, "a | a | gemini-2-0 | a"},
		{"more responses than calls", [][]string{{call("", "x")}, {answer("", "x"), answer("", "x")}}, "gemini-0-0 | gemini-0-0 gemini-1-1"},
	} {
		var contents []string
		for i, parts := range tt.list {
			contents = append(contents, `{"role":"`+[]string{"model", "user"}[i%2]+`","parts":[`+strings.Join(parts, ",")+`]}`)
		}
		b, err := parse("", []byte(`{"contents":[`+strings.Join(contents, ",")+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for i := range b.contents {
			var pairs []string
			for k := range b.contents[i].parts {
				pairs = append(pairs, b.contents[i].parts[k].pair)
			}
			all = append(all, strings.Join(pairs, " "))
		}
		if got := strings.Join(all, " | "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	ids := func(s string) (list []*part) {
		for w := range strings.FieldsSeq(s) {
			id, name, _ := strings.Cut(w, ":")
			list = append(list, &part{id: id, name: name})
		}
		return list
	}
	for _, tt := range []struct {
		asked, answers string
		want           bool
	}{
		{"", "", true}, {"a:x", "a:x", true}, {"a:x", "a:y", true}, {"a:x", "b:x", false}, {":x", "b:x", true}, {"a:x", ":x", true}, {":x", ":y", false}, {"a:x b:x", "b:x a:x", true}, {"a:x a:x", "a:x a:x", true}, {"a:x a:x", "a:x a:x a:x", false}, {":x :x", ":x :x", true}, {"a:x :x", "a:x :x", true}, {"a:x", "a:x :x", false},
	} {
		if got := match(ids(tt.asked), ids(tt.answers)); got != tt.want {
			t.Errorf("%q answer %q: %v, want %v", tt.answers, tt.asked, got, tt.want)
		}
	}
	for text, want := range map[string]bool{"": true, "c2ln": true, "c2l": true, "c2": true, "c": false, "*": false, "_-__": true, "c2ln=": true, Skipped: true, otherSkipped: true, "skip": true, "skip_": false} {
		if got := signs(text); got != want {
			t.Errorf("%q is a signature: %v, want %v", text, got, want)
		}
	}
	for input, want := range map[string]bool{"": true, "{}": true, "[]": false} {
		data := []byte(" " + input)
		p := part{kind: calls}
		if input != "" {
			p.input = rawjson.Span{Start: 1, End: len(data)}
		}
		if got := p.sound(data); got != want {
			t.Errorf("a call with %q is sound: %v", input, got)
		}
		p.kind = responds
		if got := p.sound(data); got != (want && input != "") {
			t.Errorf("a response with %q is sound: %v", input, got)
		}
	}
}

// Replies of the current turn need a signature at their first call, if any has one.
func TestWhichRepliesNeedASignature(t *testing.T) {
	const (
		ask    = `{"role":"user","parts":[{"text":"go"}]}`
		answer = `{"role":"user","parts":[{"functionResponse":{"name":"x","response":{}}}]}`
		call   = `{"role":"model","parts":[{"functionCall":{"name":"x"}}]}`
		signed = `{"role":"model","parts":[{"functionCall":{"name":"x"},"thoughtSignature":"c2ln"}]}`
		later  = `{"role":"model","parts":[{"functionCall":{"name":"x"}},{"functionCall":{"name":"x"},"thoughtSignature":"c2ln"}]}`
		speak  = `{"role":"model","parts":[{"text":"a"}]}`
	)
	for _, tt := range []struct {
		name   string
		list   []string
		always bool
		want   string
	}{
		{"none has one", []string{ask, call, answer, call}, false, "[]"},
		{"none has one, and all need one", []string{ask, call, answer, call}, true, "[1 3]"},
		{"one has one", []string{ask, signed, answer, call}, false, "[3]"},
		{"the second call has it", []string{ask, later}, false, "[1]"},
		{"of an older turn", []string{ask, call, answer, ask, signed}, false, "[]"},
		{"an older turn has one", []string{ask, signed, answer, ask, call}, false, "[]"},
		{"replies without calls", []string{ask, speak}, true, "[]"},
		{"no turn at all", []string{call}, true, "[0]"},
		{"nothing", nil, true, "[]"},
	} {
		b, err := parse("", []byte(`{"contents":[`+strings.Join(tt.list, ",")+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(b.unsigned(tt.always)); got != tt.want {
			t.Errorf("%s: replies %s, want %s", tt.name, got, tt.want)
		}
	}
}

// The first system instruction that is an object counts, and a content without a role is the user's.
func TestFieldsOfABody(t *testing.T) {
	for fields, want := range map[string]string{
		`"systemInstruction":{"parts":[{"text":"S"}]},"system_instruction":{"parts":[{"text":"T"}]}`: "S", `"systemInstruction":"T","system_instruction":{"parts":[{"text":"S"}]}`: "S",
	} {
		s := formattest.Decode(t, format{}, `{`+fields+`,"contents":[{"role":null,"parts":[{"text":"go"}]}]}`)
		if len(s.Messages) != 2 || s.Messages[0].Text() != want || s.Messages[1].Role != transcript.RoleUser {
			t.Errorf("%s: %+v", fields, s.Messages)
		}
	}
	if got := (format{}).Piece([][]byte{[]byte("7")}); got != nil {
		t.Errorf("what is no content is read as %v", got)
	}
}

// Thinking has a signature that the provider takes, and media without data are named in the text.
func TestPartsThatAreMade(t *testing.T) {
	for _, tt := range []struct {
		p    transcript.Thinking
		want string
	}{
		{transcript.Thinking{}, ""},
		{transcript.Thinking{Text: "a"}, `{"text": "a", "thought": true}`},
		{transcript.Thinking{Text: "a", Signature: "c2ln"}, `{"text": "a", "thought": true, "thoughtSignature": "c2ln"}`},
		{transcript.Thinking{Signature: "c2ln"}, `{"text": "", "thoughtSignature": "c2ln"}`},
		{transcript.Thinking{Signature: "*"}, `{"text": "", "thoughtSignature": "` + Skipped + `"}`},
	} {
		if got := string(thought(tt.p)); got != tt.want {
			t.Errorf("%+v is written %s, want %s", tt.p, got, tt.want)
		}
	}
	e := &encoder{}
	r := transcript.ToolResult{CallID: "c", Content: []transcript.Part{transcript.Text("a"), transcript.Media{Kind: "image", URL: "u"}, transcript.Media{Kind: "image", Data: "QQ=="}, transcript.Media{Kind: "image", MIME: "image/png", Data: "QQ=="}}}
	if got, want := string(e.response(r)), `{"functionResponse": {"id": "c", "name": "unknown", "response": {"output": "a\n[image]\n[image]"}, "parts": [{"inlineData": {"mimeType": "image/png", "data": "QQ=="}}]}}`; got != want {
		t.Errorf("a result is written\n%s, want\n%s", got, want)
	}
}
