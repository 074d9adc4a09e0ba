package transcript

import (
	"bytes"
	"fmt"
	"strings"
)

// A Format reads and writes one file format. Implementations have no state
// and are safe for concurrent use.
type Format interface {
	// Name returns the format's name, such as "anthropic".
	Name() string

	// Sniff reports whether data, the beginning of a file, has this format.
	// It must return false for the other formats of this module.
	Sniff(data []byte) bool

	// Decode reads a conversation. The parameter name is the name of the file, or of [ThreadName],
	// or empty; it is used in errors and, if the file has no session id, in the id of the session,
	// see [SessionID]. The session's items concatenate to data.
	//
	// It returns a [*SyntaxError] for input that cannot be read. A
	// conversation that a provider would refuse is no error: see Validate.
	Decode(name string, data []byte) (*Session, error)

	// Encode writes a window of a session of any format. If the session is of this format, an
	// intact window is written as the input, byte for byte, with its faults, and in any other
	// window each unchanged message keeps its bytes. In a window that is not intact, Encode repairs
	// parts that the provider would refuse, as [Repair] does. The result lists repairs, and parts
	// that the format cannot carry. Encode fails only if the session's items cannot be read.
	Encode(w *Window) (*Encoded, error)

	// Validate returns the reasons for which the provider would refuse data, in the order of the
	// messages. It returns an error only if data cannot be read.
	Validate(data []byte) ([]Violation, error)
}

// A Resumed is a format of files that an agent can resume: of claudecode, codex, geminicli and
// opencode. Ask with r, ok := format.(transcript.Resumed); [Metered], [Logged] and [Tidier] are
// optional in the same way. If the field As of a window is set, Encode writes the window as a new
// session of the agent with that id.
type Resumed interface {
	Format

	// IsSessionID reports whether id has the form of the agent's session ids.
	IsSessionID(id SessionID) bool
}

// Encoded is an encoded window.
type Encoded struct {
	Data    []byte
	Session SessionID // id of the session in Data, in formats that begin a new one for a changed window
	Losses  []Loss    // parts that the format cannot carry
	Repairs []Fix     // repairs for the provider

	// Spans has the positions of the messages in Data, in order and without
	// overlap. Only formats of request bodies need to set it.
	Spans []Span
}

// A Span is the position of a window's message in encoded data.
type Span struct {
	Block      BlockID // of the entry, or empty
	Start, End int     // in bytes
}

// A Loss reports parts of one kind, in one message, that a format cannot carry.
type Loss struct {
	Message int    `json:"message"` // index in the window
	What    string `json:"what"`    // such as "thinking"
	Count   int    `json:"count"`   // number of the parts
	Bytes   int    `json:"bytes"`   // their size
}

// A Violation is a reason for which a provider would refuse a conversation.
type Violation struct {
	Rule    string `json:"rule"`            // such as "A2" or "X4"
	Message int    `json:"message"`         // index in the request's list of messages or items; -1 for the request as a whole
	Field   string `json:"field,omitempty"` // such as "messages.3.content.0"
	Text    string `json:"text"`
}

func (v Violation) String() string {
	if v.Field != "" {
		return fmt.Sprintf("%s at %s: %s", v.Rule, v.Field, v.Text)
	}
	return fmt.Sprintf("%s: %s", v.Rule, v.Text)
}

// A SyntaxError says where and why input is not in a format.
type SyntaxError struct {
	Name  string // of the file, or empty
	Line  int    // from 1; 0 if unknown
	Field string // such as "messages.3.role", or empty
	Text  string // what is wrong
	Hint  string // suggested correction, or empty
}

func (e *SyntaxError) Error() string {
	var b strings.Builder
	if e.Name != "" {
		b.WriteString(e.Name)
		b.WriteByte(':')
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "%d:", e.Line)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if e.Field != "" {
		b.WriteString(e.Field)
		b.WriteString(": ")
	}
	b.WriteString(e.Text)
	return b.String()
}

// LineOf returns the number, from 1, of the line that contains data[offset].
func LineOf(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), len(data))], []byte("\n"))
}
