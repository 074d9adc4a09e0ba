package hold

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/anthropic"
	"github.com/carrel-dev/carrel/transcript/claudecode"
	"github.com/carrel-dev/carrel/transcript/codex"
	"github.com/carrel-dev/carrel/transcript/gemini"
	"github.com/carrel-dev/carrel/transcript/geminicli"
	"github.com/carrel-dev/carrel/transcript/markdown"
	"github.com/carrel-dev/carrel/transcript/openai"
	"github.com/carrel-dev/carrel/transcript/opencode"
	"github.com/carrel-dev/carrel/transcript/pagerjson"
	"github.com/carrel-dev/carrel/transcript/responses"
	"github.com/carrel-dev/carrel/transcript/trajectory"
)

// formats are the formats that the engine reads and writes, in the order in which Detect tries
// them.
var formats = []transcript.Format{
	claudecode.Format, codex.Format, geminicli.Format, opencode.Format, pagerjson.Format, gemini.Format, anthropic.Format, openai.Format,
	responses.Format, trajectory.SWEAgent, trajectory.OpenHands, markdown.Format,
}

// Formats returns the names of the formats that carrel.Engine.Import reads and
// carrel.Engine.Export writes.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name()
	}
	return names
}

// ListKey returns the JSON key under which a request body in a format has its messages.
func ListKey(format string) string {
	switch format {
	case "responses":
		return "input"
	case "gemini":
		return "contents"
	case "sweagent":
		return "history"
	}
	return "messages"
}

// Opening returns a request body in a format with a single message of the user.
func Opening(format, text string) ([]byte, error) {
	message := map[string]any{"role": "user", "content": text}
	if format == "gemini" {
		message = map[string]any{"role": "user", "parts": []map[string]string{{"text": text}}}
	}
	return json.Marshal(map[string]any{ListKey(format): []map[string]any{message}})
}

// FormatNamed returns the format with a name. It fails with an [api.ErrFormat] that lists all
// names.
func FormatNamed(name string) (transcript.Format, error) {
	if name == "claude" {
		name = "claudecode"
	}
	for _, f := range formats {
		if f.Name() == name {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%w: %q: want one of %v", api.ErrFormat, name, Formats())
}

// Detect returns the format of data, or fails with [api.ErrFormat].
func Detect(data []byte) (transcript.Format, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for _, f := range formats {
		if f.Sniff(data) {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%w: the data has the form of none of %v", api.ErrFormat, Formats())
}

// Validate returns the format of data and the violations for which its provider would refuse it.
// If format is empty, Validate detects the format.
func Validate(format string, data []byte) (string, []transcript.Violation, error) {
	f, err := Pick(format, data)
	if err != nil {
		return "", nil, err
	}
	v, err := f.Validate(data)
	return f.Name(), v, err
}

// Encode writes a window in a format. It fails with an [api.InvalidError] if the provider would
// refuse the result when the client continues it; see [RemainingViolations].
func Encode(f transcript.Format, w *transcript.Window) (*transcript.Encoded, error) {
	out, err := f.Encode(w)
	if err != nil {
		return nil, err
	}
	violations, err := f.Validate(out.Data)
	if err != nil {
		return nil, err
	}
	if violations = RemainingViolations(violations); len(violations) > 0 {
		return nil, &api.InvalidError{Format: f.Name(), Violations: violations}
	}
	return out, nil
}

// RemainingViolations returns the violations that still matter if the client continues the
// conversation. It leaves out violations of rule A12, which forbids a reply at the end: when the
// client continues, the user's next message follows that reply.
func RemainingViolations(violations []transcript.Violation) []transcript.Violation {
	return slices.DeleteFunc(slices.Clone(violations), func(v transcript.Violation) bool { return v.Rule == "A12" })
}

// Pick returns the format with a name, or detects the format of data if the name is empty or
// "auto".
func Pick(format string, data []byte) (transcript.Format, error) {
	if format == "" || format == "auto" {
		return Detect(data)
	}
	return FormatNamed(format)
}
