package sessions

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/transcript"
)

func TestAppendsAreChecked(t *testing.T) {
	one := []json.RawMessage{json.RawMessage(`{}`)}
	at := func(n int) *int { return &n }
	for _, tt := range []struct {
		id       string
		messages []json.RawMessage
		at       *int
		says     string // "" if it is right
	}{
		{"a", one, nil, ""},
		{"Z9._:-", one, at(0), ""},
		{"0" + strings.Repeat("x", 127), one, at(7), ""},
		{"", one, nil, `session ""`},
		{"0" + strings.Repeat("x", 128), one, nil, "want 1 to 128 letters"},
		{".a", one, nil, "a letter or digit first"},
		{"-a", one, nil, "a letter or digit first"},
		{"a b", one, nil, `session "a b"`},
		{"a/b", one, nil, `session "a/b"`},
		{"ä", one, nil, `session "ä"`},
		{"a", nil, nil, "the list of messages is empty"},
		{"a", one, at(-1), "at is -1: want 0 or more"},
		{"a", append(one, json.RawMessage(`{`)), nil, "message 2 is not JSON"},
	} {
		err := checkAppend(&api.AppendRequest{Session: transcript.SessionID(tt.id), Messages: tt.messages, At: tt.at})
		if (err == nil) != (tt.says == "") || err != nil && (!errors.Is(err, api.ErrRequest) || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%q, %s: %v, want %q", tt.id, tt.messages, err, tt.says)
		}
	}
}

// A session begins with its model and its system text where the format has them.
func TestFramesOfSessions(t *testing.T) {
	for _, tt := range []struct{ format, model, system, want, says string }{
		{"", "", "", `{"messages":[]}`, ""},
		{"openai", "m", "", `{"model":"m","messages":[]}`, ""},
		{"anthropic", "", "", `{"messages":[]}`, ""},
		{"anthropic", "m", "be\"", `{"model":"m","system":"be\"","messages":[]}`, ""},
		{"responses", "", "be", `{"instructions":"be","input":[]}`, ""},
		{"responses", "", "", `{"input":[]}`, ""},
		{"gemini", "m", "be", `{"model":"m","systemInstruction":{"parts":[{"text":"be"}]},"contents":[]}`, ""},
		{"gemini", "", "", `{"contents":[]}`, ""},
		{"openai", "", "be", "", "the system text is the first message"},
		{"", "", "be", "", "the system text is the first message"},
		{"claudecode", "", "", "", `a session cannot begin in format "claudecode"`},
	} {
		got, err := frameOf(&api.AppendRequest{Format: tt.format, Model: tt.model, System: tt.system})
		if string(got) != tt.want || (err == nil) != (tt.says == "") || err != nil && (!errors.Is(err, api.ErrRequest) || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%+v: %s, %v", tt, got, err)
		}
	}
}

func TestMessagesAreAppended(t *testing.T) {
	two := []json.RawMessage{json.RawMessage(`{"a":1}`), json.RawMessage(` 2`)}
	for body, want := range map[string]string{
		`{"messages":[]}`:                       `{"messages":[{"a":1}, 2]}`,
		`{"x":[3] , "messages" : [ 0 ], "y":4}`: `{"x":[3] , "messages" : [ 0 ,{"a":1}, 2], "y":4}`,
		`{"messages":[ ] }`:                     `{"messages":[ {"a":1}, 2] }`,
		`{"messages":[[]]}`:                     `{"messages":[[],{"a":1}, 2]}`,
		`{"input":[]}`:                          "",
		`{"messages":1}`:                        "",
		`[]`:                                    "",
	} {
		got, err := appendMessages([]byte(body), "messages", two)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %v, want %s", body, got, err, want)
		}
	}
}
