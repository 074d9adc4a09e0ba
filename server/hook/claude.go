package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// Claude is the dialect of Claude Code, as versions 2.1.197 to 2.1.330 speak it.
//
// Standard output is a JSON object, or, before a compaction, plain text that the client adds to
// the instructions for the summary. The client drops a replaced result silently if it does not
// have the shape of the tool's results, so only texts within a result are replaced. Results of
// failed calls go to other hooks (PostToolUseFailure), which cannot replace them, so they stay.
//
// The client numbers the lines of a read file, without gaps, when it shows them to the model. A
// pointer leaves lines out, so these numbers would be wrong. The same tool returns a notebook as
// cells, which get no numbers. So a pointer to a file is sent as one cell, with line numbers of
// its own.
var Claude Dialect = claude{}

type claude struct{}

// claudeEvent has the fields of an event's input that are used.
type claudeEvent struct {
	Transcript string          `json:"transcript_path"`
	Source     string          `json:"source"`
	Dir        string          `json:"cwd"`
	Tool       string          `json:"tool_name"`
	Input      json.RawMessage `json:"tool_input"`
	Response   json.RawMessage `json:"tool_response"`

	members map[string]json.RawMessage // of the response, read at the first use
	texts   map[string]string          // decoded JSON strings of the response
}

func (claude) read(event string, input []byte, large int) (*Event, error) {
	none := &Event{}
	if claudeHolds(event) {
		none.Format = "claudecode"
		none.Session = transcript.SessionID(gjson.GetBytes(input, "session_id").Str)
		none.Transcript = gjson.GetBytes(input, "transcript_path").Str
	}
	if event == "PostToolUse" && len(input) <= large {
		return none, nil
	}
	kind := claudeKind(event)
	if kind == kindNone {
		return none, nil
	}
	in := &claudeEvent{}
	if err := json.Unmarshal(input, in); err != nil {
		return nil, &EventError{event, len(input) == 0, err}
	}
	if kind == kindBegun && in.Source == "compact" {
		kind = kindCompacted
	}
	e := &Event{
		kind: kind, Session: none.Session, Transcript: in.Transcript, Format: "claudecode", project: in.Dir,
		waited: event == "PostToolUse" || event == "Stop",
	}
	if kind != kindResult {
		return e, nil
	}
	call := transcript.ToolCall{Name: in.Tool, Input: in.Input}
	e.tool, e.input, e.title, e.with = in.Tool, in.Input, tool.Label(call), in.with
	if tool.Recalls(call) {
		return none, nil
	}
	_, err := in.replace(func(text string, whole file) (string, bool) {
		if len(text) > large {
			e.outputs = append(e.outputs, output{text: text, file: whole.path, size: whole.size, line: in.firstLine()})
		}
		return "", false
	})
	if err != nil || len(e.outputs) == 0 {
		return none, err
	}
	return e, nil
}

// claudeKind returns the kind of an event by its name.
func claudeKind(event string) kind {
	switch event {
	case "SessionStart":
		return kindBegun
	case "PostToolUse":
		return kindResult
	case "PreCompact":
		return kindCompacting
	case "PostCompact", "Stop", "SessionEnd", "UserPromptSubmit":
		return kindGrown
	}
	return kindNone
}

// claudeHolds reports whether the client is certainly still in the event's session when the
// hook runs. It returns false for events at an end: their hooks may run late, when the client
// is in another session already.
func claudeHolds(event string) bool {
	return event != "SessionEnd" && event != "Stop" && event != "PostCompact"
}

// claudeOutput is an answer to an event. It must have no other keys.
type claudeOutput struct {
	Specific claudeSpecific `json:"hookSpecificOutput"`
}

type claudeSpecific struct {
	Event   string          `json:"hookEventName"`
	Context string          `json:"additionalContext,omitempty"`
	Output  json.RawMessage `json:"updatedToolOutput,omitempty"`
}

func (claude) write(event string, e *Event, a *answer) ([]byte, error) {
	if a.keep != "" {
		return []byte(a.keep), nil // begins with a letter, so the client does not parse it as JSON
	}
	out := claudeOutput{claudeSpecific{Event: event, Context: a.context}}
	if len(a.outputs) > 0 {
		var err error
		if out.Specific.Output, err = e.with(e.outputs, a.outputs); err != nil {
			return nil, err
		}
	}
	if out.Specific.Context == "" && out.Specific.Output == nil {
		return nil, nil
	}
	return encode(out)
}

// A file is the file in which the client has stored the whole text of a result
// that it cut.
type file struct {
	path string
	size int64
}

// claudeTexts returns the paths of those texts in the results of a tool that the model sees. A
// path has names of members, and * for each element of an array.
func claudeTexts(tool string) []string {
	switch tool {
	case "Bash", "PowerShell":
		return []string{"stdout", "stderr"}
	case toolRead:
		return []string{"file.content"}
	case "Grep":
		return []string{"content"}
	case "WebFetch":
		return []string{"result"}
	case "Agent", "Task":
		return []string{"content.*.text"}
	case "ReadMcpResource", "ReadMcpResourceTool":
		return []string{"contents.*.text"}
	}
	if strings.HasPrefix(tool, "mcp__") {
		return []string{"", "*.text", "content.*.text"}
	}
	return nil
}

// with returns the result with texts in place of the outputs old, which must be in order. An
// empty text leaves its output as it is.
func (in *claudeEvent) with(old []output, texts []string) (json.RawMessage, error) {
	next, changed := 0, false
	out, err := in.replace(func(text string, _ file) (string, bool) {
		if next == len(old) || text != old[next].text {
			return "", false
		}
		text = texts[next]
		next++
		changed = changed || text != ""
		return text, text != ""
	})
	if err != nil || !changed {
		return nil, err
	}
	if in.Tool == toolRead {
		return in.asCell(texts[0])
	}
	return out, nil
}

// toolRead is the tool that reads a file.
const toolRead = "Read"

// firstLine returns the number of the first line of the read part of a file, or 0.
func (in *claudeEvent) firstLine() int {
	if in.Tool != toolRead {
		return 0
	}
	return max(int(gjson.GetBytes(in.Response, "file.startLine").Int()), 1)
}

// A claudeNotebook is the result of reading a notebook.
type claudeNotebook struct {
	Type string `json:"type"`
	File struct {
		Path  string       `json:"filePath"`
		Cells []claudeCell `json:"cells"`
	} `json:"file"`
}

type claudeCell struct {
	ID       string `json:"cell_id"`
	Type     string `json:"cellType"`
	Language string `json:"language"`
	Source   string `json:"source"`
}

// asCell returns a text as the only cell of a notebook. It is a cell of Python code, to which the
// client adds only a tag around it.
func (in *claudeEvent) asCell(text string) (json.RawMessage, error) {
	n := claudeNotebook{Type: "notebook"}
	n.File.Path = gjson.GetBytes(in.Response, "file.filePath").Str
	n.File.Cells = []claudeCell{{ID: "carrel", Type: "code", Language: "python", Source: "\n" + strings.TrimSuffix(text, "\n") + "\n"}}
	return encode(n)
}

// replace passes each text that the model sees to the function f. It returns the result with
// the texts that the function changed.
func (in *claudeEvent) replace(f func(text string, whole file) (string, bool)) (json.RawMessage, error) {
	if !in.readable() {
		return in.Response, nil
	}
	var members map[string]json.RawMessage // with the changes; nil without
	out := in.Response
	for _, path := range claudeTexts(in.Tool) {
		var whole file
		if path == "stdout" {
			whole = in.persisted()
		}
		change := func(text string) (string, bool) { return f(text, whole) }
		name, rest, _ := strings.Cut(path, ".")
		old, found := in.member(name)
		if !found {
			var err error
			if out, err = in.replaceAt(out, path, change); err != nil {
				return nil, err
			}
			continue
		}
		value, err := in.replaceAt(old, rest, change)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(value, old) {
			if members == nil {
				members = maps.Clone(in.members)
			}
			members[name] = value
		}
	}
	if members == nil {
		return out, nil
	}
	// With these members the client would show its own preview of the file, and no pointer.
	if in.persisted().path != "" && !bytes.Equal(members["stdout"], in.members["stdout"]) {
		delete(members, "persistedOutputPath")
		delete(members, "persistedOutputSize")
	}
	return encode(members)
}

// member returns a member of the result. A result that is not an object has no members.
func (in *claudeEvent) member(name string) (json.RawMessage, bool) {
	if in.members == nil && json.Unmarshal(in.Response, &in.members) != nil || in.members == nil {
		in.members = make(map[string]json.RawMessage)
	}
	value, found := in.members[name]
	return value, found && name != ""
}

// value returns a member of the result as a gjson value.
func (in *claudeEvent) value(name string) gjson.Result {
	raw, _ := in.member(name)
	return gjson.ParseBytes(raw)
}

// readable reports whether the model sees texts of a result. It is false for pictures and for
// parts that the client shows in another way.
func (in *claudeEvent) readable() bool {
	switch in.Tool {
	case "Bash", "PowerShell":
		return !in.value("isImage").Bool() && !in.value("structuredContent").Exists()
	case toolRead:
		return in.value("type").Str == "text"
	}
	return true
}

// persisted returns the file with the whole output of a command, if the client has made one beside
// the transcript.
func (in *claudeEvent) persisted() file {
	path, size := in.value("persistedOutputPath").Str, in.value("persistedOutputSize").Int()
	dir := strings.TrimSuffix(in.Transcript, filepath.Ext(in.Transcript)) + string(filepath.Separator)
	if path == "" || size <= 0 || !strings.HasPrefix(filepath.Clean(path), dir) {
		return file{}
	}
	return file{path, size}
}

// errLossy means that a text cannot be kept byte for byte.
var errLossy = errors.New("the result is not valid Unicode")

// replaceAt replaces the texts at a path of a JSON value with f. It ignores missing members and
// other types.
func (in *claudeEvent) replaceAt(raw json.RawMessage, path string, f func(string) (string, bool)) (json.RawMessage, error) {
	first, rest, _ := strings.Cut(path, ".")
	begin := byte(0)
	if raw = bytes.TrimSpace(raw); len(raw) > 0 {
		begin = raw[0]
	}
	switch {
	case path == "" && begin == '"':
		text, err := in.textOf(raw)
		if err != nil {
			return nil, err
		}
		if text, changed := f(text); changed {
			return encode(text)
		}
	case first == "*" && begin == '[':
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, err
		}
		return in.replaceEach(raw, list, rest, f)
	case first != "" && begin == '{':
		var members map[string]json.RawMessage
		if err := json.Unmarshal(raw, &members); err != nil {
			return nil, err
		}
		old, found := members[first]
		if !found {
			return raw, nil
		}
		value, err := in.replaceAt(old, rest, f)
		if err != nil || bytes.Equal(value, old) {
			return raw, err
		}
		members[first] = value
		return encode(members)
	}
	return raw, nil
}

func (in *claudeEvent) replaceEach(raw json.RawMessage, list []json.RawMessage, rest string, f func(string) (string, bool)) (json.RawMessage, error) {
	changed := false
	for i, old := range list {
		value, err := in.replaceAt(old, rest, f)
		if err != nil {
			return nil, err
		}
		changed = changed || !bytes.Equal(value, old)
		list[i] = value
	}
	if !changed {
		return raw, nil
	}
	return encode(list)
}

// textOf returns the decoded text of a JSON string. It fails with errLossy if the text is not
// valid Unicode.
func (in *claudeEvent) textOf(raw json.RawMessage) (string, error) {
	if text, found := in.texts[string(raw)]; found {
		return text, nil
	}
	text, err := exactText(raw)
	if err != nil {
		return "", err
	}
	if in.texts == nil {
		in.texts = make(map[string]string)
	}
	in.texts[string(raw)] = text
	return text, nil
}

// exactText returns the decoded text of a JSON string, or errLossy.
func exactText(raw []byte) (string, error) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", err
	}
	const replacement = "\uFFFD"
	if n := strings.Count(text, replacement); n > 0 && n > bytes.Count(raw, []byte(replacement))+bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`)) {
		return "", errLossy
	}
	return text, nil
}

// encode returns a value as JSON, without HTML escapes and line end.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
