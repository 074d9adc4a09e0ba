package hook

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
	threads "github.com/carrel-dev/carrel/transcript/codex"
)

// Codex is the dialect of Codex, as version 0.169.0 speaks it.
//
// Standard output is a JSON object. If it has an unknown key, the client drops it all. Context
// becomes a developer message. A hook cannot add to the prompt of a compaction; the agent gets
// the brief after it.
//
// The client cuts a result to a bound and gives the cut text to the hook. If a hook blocks the
// result, the model sees the hook's reason instead. So the hook sends as the reason the exit code
// from the transcript, in the client's own words, and after it the pointer. The result of a
// command without an exit code stays, because the command is still running. The result of a call by
// a program that the model wrote (its id begins with exec-) stays, too, because the program would
// fail. Only package server/proxy can shorten such results.
var Codex Dialect = codex{}

type codex struct{}

// codexEvent has the fields of an event's input that are used.
type codexEvent struct {
	Source   string          `json:"source"`
	Dir      string          `json:"cwd"`
	Call     string          `json:"tool_use_id"`
	Tool     string          `json:"tool_name"`
	Input    json.RawMessage `json:"tool_input"`
	Response json.RawMessage `json:"tool_response"`
}

func (codex) read(event string, input []byte, large int) (*Event, error) {
	path := gjson.GetBytes(input, "transcript_path").Str
	if event == "SubagentStop" {
		path = gjson.GetBytes(input, "agent_transcript_path").Str
	}
	e := &Event{Transcript: path, Format: agents.Codex.Format}
	if event != "SessionEnd" && event != "SubagentStop" { // these may come when the client is in another session
		session := gjson.GetBytes(input, "session_id").Str
		e.Session = transcript.SessionID(session)
		if thread := threads.SessionOf(strings.TrimSuffix(path, ".zst")); thread != "" && thread != session {
			e.Session = threads.SubAgent(session, thread)
		}
	}
	if event == "PostToolUse" && len(input) <= large {
		return e, nil
	}
	e.kind = codexKind(event)
	if e.kind == kindNone {
		return e, nil
	}
	in := &codexEvent{}
	if err := json.Unmarshal(input, in); err != nil {
		return nil, &EventError{event, len(input) == 0, err}
	}
	e.waited, e.project = event == "PostToolUse" || event == "Stop", in.Dir
	switch {
	case e.kind == kindResult:
		return e, in.result(e, large)
	case e.kind == kindBegun && in.Source == "compact":
		e.kind = kindCompacted
	case e.kind == kindGrown && path == "":
		e.kind = kindNone // the client keeps no transcript
	}
	return e, nil
}

// codexKind returns the kind of an event by its name.
func codexKind(event string) kind {
	switch event {
	case "SessionStart":
		return kindBegun
	case "PostToolUse":
		return kindResult
	case "PreCompact", "PostCompact", "Stop", "SessionEnd", "UserPromptSubmit", "SubagentStop":
		return kindGrown
	}
	return kindNone
}

// result adds to an event the output of a tool, if it is large and can be replaced.
func (in *codexEvent) result(e *Event, large int) error {
	call := transcript.ToolCall{Name: in.Tool, Input: in.Input}
	e.kind = kindNone
	if strings.HasPrefix(in.Call, "exec-") || tool.Recalls(call) {
		return nil
	}
	text, err := in.text()
	if err != nil || len(text) <= large {
		return err
	}
	head := ""
	if in.Tool == "Bash" {
		code, ended, err := exitCode(e.Transcript, in.Call)
		if !ended {
			return err
		}
		head = "Process exited with code " + strconv.FormatInt(code, 10) + "\nOutput:\n"
	}
	e.kind, e.tool, e.input, e.title = kindResult, in.Tool, in.Input, tool.Label(call)
	e.outputs = []output{{text: text}}
	e.with = func(_ []output, texts []string) (json.RawMessage, error) { return encode(head + texts[0]) }
	return nil
}

// text returns the text of a result that the model would see, or "" if it is not only text.
func (in *codexEvent) text() (string, error) {
	r := gjson.ParseBytes(in.Response)
	switch {
	case r.Type == gjson.String:
		return exactText(in.Response)
	case !strings.HasPrefix(in.Tool, "mcp__") || r.Get("isError").Bool():
		return "", nil
	}
	if s := r.Get("structuredContent"); s.IsObject() {
		return s.Raw, nil // the client shows only this
	}
	var b strings.Builder
	for i, part := range r.Get("content").Array() {
		if part.Get("type").Str != "text" {
			return "", nil
		}
		text, err := exactText([]byte(part.Get("text").Raw))
		if err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// exitCode returns the exit code of a command from the end of the transcript. It reports false if
// the command has not ended, the end of the transcript does not have it, or there is no transcript.
func exitCode(path, call string) (code int64, ended bool, err error) {
	if path == "" {
		return 0, false, nil
	}
	f, err := open(path)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	parts, err := ends(f, fi.Size())
	if err != nil || len(parts) == 0 {
		return 0, false, err
	}
	rest := parts[len(parts)-1]
	for len(rest) > 0 {
		at := bytes.LastIndexByte(bytes.TrimSuffix(rest, []byte("\n")), '\n') + 1
		item := gjson.GetBytes(rest[at:], "payload.item")
		if item.Get("type").Str == "CommandExecution" && item.Get("id").Str == call {
			n := item.Get("exit_code")
			return n.Int(), n.Type == gjson.Number, nil
		}
		rest = rest[:at]
	}
	return 0, false, nil
}

// codexOutput is an answer to an event. Empty keys must be absent.
type codexOutput struct {
	Decision string          `json:"decision,omitempty"`
	Reason   json.RawMessage `json:"reason,omitempty"`
	Specific *codexSpecific  `json:"hookSpecificOutput,omitempty"`
}

type codexSpecific struct {
	Event   string `json:"hookEventName"`
	Context string `json:"additionalContext"`
}

func (codex) write(event string, e *Event, a *answer) ([]byte, error) {
	switch {
	case len(a.outputs) > 0:
		reason, err := e.with(e.outputs, a.outputs)
		if err != nil {
			return nil, err
		}
		return encode(codexOutput{Decision: "block", Reason: reason})
	case a.context != "":
		return encode(codexOutput{Specific: &codexSpecific{event, a.context}})
	}
	return nil, nil
}
