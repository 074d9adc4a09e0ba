package transcript

import (
	"bytes"
	"fmt"
	"strings"
)

// A Format reads and writes one file format. Implementations have no state and
// are safe for concurrent use.
type Format interface {
	// Name returns the format's name, such as "anthropic".
	Name() string

	// Sniff reports whether data, the beginning of a file, looks like this
	// format. It must not be fooled by the other formats of this module.
	Sniff(data []byte) bool

	// Decode reads a conversation. The name of the file, which may be empty,
	// goes into errors and, if the format has no ids of its own, into the id
	// of the session. The session's items concatenate to data.
	//
	// It returns a [*SyntaxError] for input that cannot be read. A conversation
	// that a provider would refuse is no error here: see Validate.
	Decode(name string, data []byte) (*Session, error)

	// Encode writes a window of a session, whatever the format that the
	// session came in. The window of a session in its own format is the input
	// if intact, and otherwise keeps the bytes of each unchanged message. What
	// this format cannot carry is listed in the result, never lost silently.
	// What would be refused is repaired first, see [Repair].
	Encode(w *Window) (*Encoded, error)

	// Validate tells for which reasons the provider would refuse data, in the
	// order of the messages. It returns an error only if data cannot be read.
	Validate(data []byte) ([]Violation, error)
}

// A Resumed format is that of files from which an agent goes on. It encodes a window whose As
// is set as a new session of the agent with that id.
type Resumed interface {
	Format

	// IsSessionID reports whether the agent gives such ids to sessions.
	IsSessionID(id SessionID) bool
}

// Encoded is a window in some format.
type Encoded struct {
	Data    []byte
	Session SessionID // id of the new session, if the format made one
	Losses  []Loss    // what the format could not carry
	Repairs []Fix     // what was mended so that the provider accepts it

	// Spans says where the messages are in Data, in order and without overlap.
	// Formats of files that no request carries may leave it empty.
	Spans []Span
}

// A Span is where a message of a window is in what a format wrote.
type Span struct {
	Block      BlockID // of the entry, or empty
	Start, End int     // in bytes
}

// A Loss is something of a session that a format cannot carry.
type Loss struct {
	Message int    `json:"message"` // index in the window
	What    string `json:"what"`    // such as "thinking"
	Count   int    `json:"count"`
	Bytes   int    `json:"bytes"`
}

// A Violation is a reason for which a provider would refuse a conversation.
type Violation struct {
	Rule    string `json:"rule"`            // such as "A2" or "X4"
	Message int    `json:"message"`         // index in the list of messages; -1 for the request
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
	Name  string // of the file, if it has one
	Line  int    // first is 1; 0 if unknown
	Field string // such as "messages.3.role", or empty
	Text  string // what is wrong
	Hint  string // what to do, or empty
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

// LineOf returns the number of the line that holds data[offset]. The first
// line is 1.
func LineOf(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), len(data))], []byte("\n"))
}
