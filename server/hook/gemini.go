package hook

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// Gemini is the dialect of Gemini CLI, as version 0.61.0 speaks it.
//
// Standard output is a JSON object and nothing else. To replace a result, the hook refuses it
// (decision deny): the model then gets the reason as an error, so the last line of the reason says
// that it is not an error. The hook gets a result before the client cuts it.
//
// The greeting is sent with the user's first prompt, not at the start of the session: the client
// would put it in front of the prompt, and would drop such a message when it resumes the session.
// The hook reads from the file of the conversation whether the greeting was sent, and whether the
// conversation was compacted since, because no event reports a compaction: PreCompress comes
// before every call to a model.
var Gemini Dialect = geminiCLI{}

type geminiCLI struct{}

// geminiEvent has the fields of an event's input that are used.
type geminiEvent struct {
	Transcript string          `json:"transcript_path"`
	Dir        string          `json:"cwd"`
	Tool       string          `json:"tool_name"`
	Input      json.RawMessage `json:"tool_input"`
	Response   struct {
		Content json.RawMessage `json:"llmContent"`
	} `json:"tool_response"`
}

func (geminiCLI) read(event string, input []byte, large int) (*Event, error) {
	kind := geminiKind(event)
	if kind == kindNone && event != "SessionStart" {
		return &Event{}, nil
	}
	none := &Event{
		Session:    transcript.SessionID(gjson.GetBytes(input, "session_id").Str),
		Transcript: gjson.GetBytes(input, "transcript_path").Str, Format: "geminicli",
	}
	if event == "SessionEnd" { // the client may be in another session already
		none.Session = ""
	}
	if kind == kindNone || kind == kindResult && len(input) <= large {
		return none, nil
	}
	in := &geminiEvent{}
	if err := json.Unmarshal(input, in); err != nil {
		return nil, &EventError{event, len(input) == 0, err}
	}
	e := *none
	e.kind, e.waited, e.project = kind, event != "SessionEnd", in.Dir
	switch kind {
	case kindBegun:
		if e.kind = in.due(); e.kind == kindNone {
			return none, nil
		}
		e.waited = false // after a compaction a long conversation is imported, too
	case kindResult:
		call := transcript.ToolCall{Name: in.Tool, Input: in.Input}
		text := in.text()
		if len(text) <= large || tool.Recalls(call) {
			return none, nil
		}
		e.tool, e.input, e.title = in.Tool, in.Input, tool.Label(call)
		e.outputs = []output{{text: text}}
	case kindNone, kindCompacted, kindCompacting, kindGrown:
	}
	return &e, nil
}

// geminiKind returns the kind of an event by its name.
func geminiKind(event string) kind {
	switch event {
	case "BeforeAgent":
		return kindBegun
	case "AfterTool":
		return kindResult
	case "AfterAgent", "SessionEnd":
		return kindGrown
	}
	return kindNone
}

// text returns the text of a result that the model would get, or "" if it is not only text.
func (in *geminiEvent) text() string {
	var text string
	if json.Unmarshal(in.Response.Content, &text) != nil {
		text = in.partsText()
	}
	if strings.Contains(text, "\uFFFD") {
		return ""
	}
	return text
}

// partsText returns the text of a result that is a part or a list of parts, or "" if a part is no
// text.
func (in *geminiEvent) partsText() string {
	var parts []map[string]json.RawMessage
	if json.Unmarshal(in.Response.Content, &parts) != nil {
		var one map[string]json.RawMessage
		if json.Unmarshal(in.Response.Content, &one) != nil {
			return ""
		}
		parts = append(parts, one)
	}
	var texts []string
	for _, p := range parts {
		var said string
		if len(p) != 1 || json.Unmarshal(p["text"], &said) != nil {
			return ""
		}
		texts = append(texts, said)
	}
	return strings.Join(texts, "\n")
}

// geminiSnapshot is the beginning of a summary by the client.
const geminiSnapshot = "<state_snapshot>"

// due returns what to send with a prompt: kindBegun for the greeting, if the conversation does not
// have it, or kindCompacted for a brief, if it was compacted after the last greeting.
func (in *geminiEvent) due() kind {
	f, err := open(in.Transcript)
	if err != nil {
		return kindBegun
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return kindBegun
	}
	parts, err := ends(f, fi.Size())
	if err != nil {
		return kindBegun
	}
	greeted, compacted := false, false
	for _, part := range parts {
		hello, snapshot := bytes.LastIndex(part, []byte(geminiGreeting)), bytes.LastIndex(part, []byte(geminiSnapshot))
		if hello >= 0 {
			greeted, compacted = true, false
		}
		compacted = compacted || snapshot > hello
	}
	switch {
	case compacted:
		return kindCompacted
	case greeted:
		return kindNone
	}
	return kindBegun
}

// geminiGreeting is the beginning of the greeting.
var geminiGreeting = greeting[:strings.Index(greeting, "'")]

// geminiRan is added to a pointer, because the client gives the pointer to the model as an error.
const geminiRan = "\n(The tool has run. This is no error: the text above replaces the tool's result.)"

// geminiOutput is an answer to an event. It must have no other keys.
type geminiOutput struct {
	Decision string          `json:"decision,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Specific *claudeSpecific `json:"hookSpecificOutput,omitempty"`
}

func (geminiCLI) write(event string, e *Event, a *answer) ([]byte, error) {
	if len(a.outputs) == 1 && a.outputs[0] != "" {
		return encode(geminiOutput{Decision: "deny", Reason: strings.TrimRight(a.outputs[0], "\n") + geminiRan})
	}
	text := a.context
	if text != "" && e.kind == kindCompacted {
		text = greeting + "\n\n" + text // due then finds a greeting behind the compaction
	}
	if text == "" {
		return nil, nil
	}
	return encode(geminiOutput{Specific: &claudeSpecific{Event: event, Context: text}})
}
