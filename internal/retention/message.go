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

// A Message is a text of one speaker or, for the role tool, the result of one call. In JSON it
// is the form of messages for a [Peer].
type Message struct {
	Role   transcript.Role `json:"role"`
	Text   string          `json:"text"`
	Calls  []Call          `json:"calls,omitempty"`
	CallID string          `json:"call_id,omitempty"` // id of the call that the result answers
	Tool   string          `json:"tool,omitempty"`    // name of the tool that returned the result

	// Stubs are the parts of Text that replace messages of the prefix.
	Stubs []Stub `json:"-"`

	read *reading // reading of a message of a trajectory
}

// A Call is a request to run a tool.
type Call struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"` // arguments as JSON, in the provider's bytes
}

// A Stub is a part of a text that names messages of the prefix to recall.
type Stub struct {
	From, To int   // offsets in Message.Text
	For      []int // indexes in the prefix
}

// Cost returns the estimated tokens of a message: 4, and one for each four bytes of text, names
// and arguments of calls, rounded up.
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

// plain returns the text of a message for the scanner: its Text, and for each call the name and
// the leaves of the arguments, each on a line.
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

// said returns the name and the leaves of the arguments of a call, each on a line.
func (c *Call) said() string { return c.Name + "\n" + leavesOf(c.Args) }

// leavesOf returns the strings and numbers in a JSON object or array, each on a line, in the
// order of the keys. Any other text is returned unchanged.
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

// A reading is the result of scanning a message. Messages of a trajectory are scanned once;
// copies with the same text share the reading.
type reading struct {
	text     string // text of the message
	calls    []Call
	plain    string
	mentions []mention
	lines    []mention
}

// reading returns the reading of m.
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
