package retention

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/transcript"
)

// A Message is what one speaker says, or, of role tool, the result of one call. As JSON it
// is what a [Peer] gets.
type Message struct {
	Role   transcript.Role `json:"role"`
	Text   string          `json:"text"`
	Calls  []Call          `json:"calls,omitempty"`
	CallID string          `json:"call_id,omitempty"` // of the call that a result answers
	Tool   string          `json:"tool,omitempty"`    // name of the tool that a result is of

	// Stubs are the parts of Text that stand for messages of the prefix.
	Stubs []Stub `json:"-"`

	read *reading // of a message of a trajectory
}

// A Call is a request to run a tool.
type Call struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"` // JSON, as the provider carries it
}

// A Stub is a part of a text by which messages of the prefix can be recalled.
type Stub struct {
	From, To int   // in Message.Text
	For      []int // indexes in the prefix
}

// Cost returns the tokens of a message, by estimate: 4 for the message, and one for
// each four bytes of text, of names and of arguments of calls, rounded up.
func (m *Message) Cost() int {
	n := len(m.Text)
	for i := range m.Calls {
		n += len(m.Calls[i].Name) + len(m.Calls[i].Args)
	}
	return 4 + (n+3)/4
}

// Cost returns the tokens of messages.
func Cost(msgs []Message) int {
	n := 0
	for i := range msgs {
		n += msgs[i].Cost()
	}
	return n
}

// plain returns what a message says, as it is scanned: its text, and for each call
// the name and the leaves of its arguments, each in a line.
func (m *Message) plain() string {
	if len(m.Calls) == 0 {
		return m.Text
	}
	var b strings.Builder
	b.WriteString(m.Text)
	for i := range m.Calls {
		b.WriteString("\n" + m.Calls[i].said())
	}
	return b.String()
}

// said returns the name of a call and the leaves of its arguments.
func (c *Call) said() string { return c.Name + "\n" + leavesOf(c.Args) }

// leavesOf returns the strings and numbers in a JSON object or array, each in a line,
// in the order of the keys. Any other text is returned as it is.
func leavesOf(args string) string {
	d := json.NewDecoder(strings.NewReader(args))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return args
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return args
	}
	switch v.(type) {
	case map[string]any, []any:
		return strings.Join(leaves(nil, v), "\n")
	}
	return args
}

func leaves(list []string, v any) []string {
	switch v := v.(type) {
	case string:
		return append(list, v)
	case json.Number:
		return append(list, v.String())
	case []any:
		for _, e := range v {
			list = leaves(list, e)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			list = leaves(list, v[k])
		}
	}
	return list
}

// A reading is what the scanner finds in a message. Messages of a trajectory are
// read once; a copy that says the same shares the reading.
type reading struct {
	text     string // of the message
	calls    []Call
	plain    string
	mentions []mention
	lines    []mention
}

// reading returns what m says, scanned.
func (m *Message) reading() *reading {
	if r := m.read; r != nil && r.text == m.Text && same(r.calls, m.Calls) {
		return r
	}
	return read(m)
}

func read(m *Message) *reading {
	plain := m.plain()
	return &reading{text: m.Text, calls: m.Calls, plain: plain, mentions: scan(plain), lines: linesOf(plain)}
}

func same(a, b []Call) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
