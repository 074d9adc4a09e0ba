package hook

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// openCode is the dialect of Carrel's plug-in for OpenCode. OpenCode 1.18.33 calls functions of
// the plug-in, and the plug-in sends an object to the hook. For a result, the object has the texts
// for the model, and the file with the whole result if OpenCode has cut it. The answer has the
// same number of texts; an empty text leaves the result's text as it is.
//
// The conversation is in OpenCode's database, whose path depends on the environment.
type openCode struct {
	getenv func(string) string
}

type openCodeEvent struct {
	Session string            `json:"sessionID"`
	Dir     string            `json:"directory"`
	Tool    string            `json:"tool"`
	Args    json.RawMessage   `json:"args"`
	Texts   []json.RawMessage `json:"texts"`
	File    struct {
		Path string `json:"path"`
		Size int64  `json:"size"`
	} `json:"file"`
}

// openCodeKinds has the kinds of events by name. Other events only name OpenCode's session.
var openCodeKinds = map[string]kind{
	"session.start":                   kindBegun,
	"tool.execute.after":              kindResult,
	"experimental.session.compacting": kindCompacting,
	"session.compacted":               kindCompacted,
	"session.idle":                    kindGrown,
}

func (d openCode) read(event string, input []byte, large int) (*Event, error) {
	in := &openCodeEvent{}
	if err := json.Unmarshal(input, in); err != nil {
		return nil, &EventError{event, len(input) == 0, err}
	}
	e := &Event{kind: openCodeKinds[event], Session: transcript.SessionID(in.Session), Format: agents.OpenCode.Format, project: in.Dir, waited: event == "tool.execute.after"}
	if in.Session != "" && e.kind != kindBegun { // a session that begins may not be in the database yet
		var err error
		if e.Transcript, err = agents.OpenCodePlace(d.getenv, in.Session); err != nil {
			return nil, err
		}
	}
	if e.kind != kindResult {
		return e, nil
	}
	call := transcript.ToolCall{Name: in.Tool, Input: in.Args}
	e.tool, e.input, e.title = in.Tool, in.Args, tool.Label(call)
	var at []int // indices of the large texts
	for i, raw := range in.Texts {
		text, err := exactText(raw)
		if err != nil {
			return nil, err
		}
		o := output{text: text}
		if i == 0 && in.kept() {
			o.file, o.size = in.File.Path, in.File.Size
		}
		if max(int64(len(text)), o.size) > int64(large) {
			e.outputs, at = append(e.outputs, o), append(at, i)
		}
	}
	if len(at) == 0 || tool.Recalls(call) {
		e.kind = kindNone
		return e, nil
	}
	e.with = func(_ []output, texts []string) (json.RawMessage, error) {
		all := make([]string, len(in.Texts))
		for i, text := range texts {
			all[at[i]] = text
		}
		return encode(map[string][]string{"texts": all})
	}
	return e, nil
}

// kept reports whether OpenCode has put the whole result into a file of its own.
func (in *openCodeEvent) kept() bool {
	path := filepath.ToSlash(filepath.Clean(in.File.Path))
	return in.File.Size > 0 && filepath.IsAbs(in.File.Path) && strings.Contains(path, "/opencode/tool-output/tool_")
}

func (openCode) write(_ string, e *Event, a *answer) ([]byte, error) {
	switch {
	case e.kind == kindResult:
		return e.with(e.outputs, a.outputs)
	case a.keep != "":
		return encode(map[string]string{"context": a.keep})
	case a.context != "":
		return encode(map[string]string{"context": a.context})
	}
	return nil, nil
}
