package transcript

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// A SessionID names one conversation. It is the id in the file, if the format has one. For request
// bodies, which have none, it is the format's prefix, such as "oa-", and a digest of the file's
// name, the first system message and the first other message.
type SessionID string

// ThreadName returns a name to pass to Decode for a request body whose conversation has an id of
// its own, that of a thread. The session's id is then the format's prefix and this id, so it stays
// when the client writes its first messages anew.
func ThreadName(thread string) string { return "carrel:thread:" + thread }

// A Session is a decoded conversation.
type Session struct {
	ID       SessionID
	Format   string          // name of the Format that decoded it
	Title    string          // the agent's title, or empty
	Model    string          // model of the last answer, or empty
	Project  string          // working directory, or empty
	Sent     int64           // tokens of the newest request as the provider counted them, or 0
	Tools    json.RawMessage // tool definitions in the provider's form, or nil
	Messages []Message       // the visible conversation, in order
	Earlier  [][]Message     // windows before a compaction by the client, oldest first, without messages that are kept in a later one
	Items    []Item          // the whole input, in order
	Branches []Branch        // parts that are not in Messages
	Logged   int             // requests to models in the client's own log, see [Logged]

	// Elsewhere names the field that refers to history on the provider's server, such as
	// "previous_response_id", or is empty. Such a session is stored but not paged.
	Elsewhere string

	Warnings []Warning // oddities of the input, which is kept
}

// An Item is a piece of the input. The items of a session concatenate to the input.
type Item struct {
	Raw      []byte
	Brings   []string // ids by which other items may refer to it, in formats whose files only grow
	Mentions []string // ids to which it refers
}

// A Branch is a part of a session outside its conversation and its earlier windows: messages that a
// rewind took back, or those of a sub-agent.
type Branch struct {
	Kind     BranchKind `json:"kind"`
	Root     string     `json:"root"`             // provider's id of its first message
	Leaf     string     `json:"leaf"`             // provider's id of its last message
	Parent   string     `json:"parent,omitempty"` // provider's id of the message at which it branches, or empty
	Messages int        `json:"messages"`         // messages in it
}

// A BranchKind is the kind of a branch.
type BranchKind string

// The kinds of branches.
const (
	BranchFork      BranchKind = "fork"      // another continuation of the same message
	BranchCompacted BranchKind = "compacted" // messages before a compaction that are in no window of the conversation
	BranchSidechain BranchKind = "sidechain" // a sub-agent's messages
)

// A Warning reports input that a decoder kept without understanding it.
type Warning struct {
	Line int    `json:"line,omitempty"` // from 1; 0 if the format has no lines
	Text string `json:"text"`
}

// A Message is one contribution of a speaker. An assistant's message is a
// whole reply, even if the format divides it into several rows.
type Message struct {
	ID      string // provider's id, or empty
	Role    Role
	Parts   []Part
	Summary bool  // made by a compaction, not by a person
	Items   []int // indexes in Session.Items of the items that it was read from; nil for a generated message
}

// A Role is the role of a speaker. It is stored as its text.
type Role string

// The roles. A message of role tool carries tool results, so that it stays
// with its calls. A format's user messages with tool results are decoded with
// this role; the user's text may stand beside the results.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// A Part is a piece of a message: [Text], [Thinking], [ToolCall],
// [ToolResult], [Media] or [Opaque]. No other type implements it.
type Part interface{ part() }

// Text is prose in UTF-8.
type Text string

// Thinking is reasoning that the provider may have signed. It is never
// edited; a message keeps all of its thinking or none.
type Thinking struct {
	Text      string
	Signature string // provider's, or empty
	Redacted  bool   // the text is unreadable; Signature holds its data
}

// A ToolCall is a model's request to run a tool.
type ToolCall struct {
	ID    string          // pairs the call with its ToolResult
	Name  string          // tool name, as the model wrote it
	Input json.RawMessage // arguments as the provider carries them; not always valid JSON
}

// A ToolResult is the answer of a tool. If neither Error nor Passed is set, the outcome is unknown.
type ToolResult struct {
	CallID  string
	Content []Part // Text, Media and Opaque
	Error   bool   // the tool reported a failure
	Passed  bool   // the client recorded success, outside of the text for the model
}

// Media is an image, a document or a sound.
type Media struct {
	Kind string          // "image", "document", "audio"
	MIME string          // such as "image/png", or empty
	Data string          // base64, or empty
	URL  string          // or empty
	Raw  json.RawMessage // as the provider carries it
}

// Opaque is a part that only its provider understands. It is copied, never changed.
type Opaque struct {
	Type string
	Raw  json.RawMessage
}

// Paused reports whether m is a reply that ends in a call of the provider's own tool: the
// provider goes on with it when it is sent again.
func (m *Message) Paused() bool {
	if m.Role != RoleAssistant || len(m.Parts) == 0 {
		return false
	}
	o, _ := m.Parts[len(m.Parts)-1].(Opaque)
	call, _ := o.Served()
	return call != ""
}

// Served is for the provider's own tools, which it runs itself within a reply. If o is a call, call
// is its id. If o is a result, result is the id of the call that it answers. Both are empty for
// other parts.
func (o Opaque) Served() (call, result string) {
	switch {
	case o.Type == "server_tool_use" || o.Type == "mcp_tool_use":
		call = gjson.GetBytes(o.Raw, "id").String()
	case strings.HasSuffix(o.Type, "_tool_result"):
		result = gjson.GetBytes(o.Raw, "tool_use_id").String()
	}
	return call, result
}

func (Text) part()       {}
func (Thinking) part()   {}
func (ToolCall) part()   {}
func (ToolResult) part() {}
func (Media) part()      {}
func (Opaque) part()     {}

// Text returns the text parts of m, joined by line feeds. Calls, results and
// thinking are not part of it.
func (m *Message) Text() string { return joinText(m.Parts) }

// Text returns the text of a result, joined by line feeds.
func (r ToolResult) Text() string { return joinText(r.Content) }

func joinText(parts []Part) string {
	var texts []string
	for _, p := range parts {
		if t, ok := p.(Text); ok {
			texts = append(texts, string(t))
		}
	}
	return strings.Join(texts, "\n")
}

// Calls returns the tool calls of m, in order.
func (m *Message) Calls() []ToolCall {
	var calls []ToolCall
	for _, p := range m.Parts {
		if c, ok := p.(ToolCall); ok {
			calls = append(calls, c)
		}
	}
	return calls
}

// Results returns the tool results of m, in order.
func (m *Message) Results() []ToolResult {
	var results []ToolResult
	for _, p := range m.Parts {
		if r, ok := p.(ToolResult); ok {
			results = append(results, r)
		}
	}
	return results
}

// HasThinking reports whether m has a [Thinking] part.
func (m *Message) HasThinking() bool {
	for _, p := range m.Parts {
		if _, ok := p.(Thinking); ok {
			return true
		}
	}
	return false
}

// Count returns how many messages s has, in all of its windows.
func (s *Session) Count() int {
	n := len(s.Messages)
	for _, msgs := range s.Earlier {
		n += len(msgs)
	}
	return n
}

// Raw returns the bytes that m, a message of s, was read from: none for a generated message.
func (s *Session) Raw(m *Message) []byte {
	if len(m.Items) == 1 {
		return s.Items[m.Items[0]].Raw
	}
	var b []byte
	for _, i := range m.Items {
		b = append(b, s.Items[i].Raw...)
	}
	return b
}

// RawBlock returns the bytes that b, a block of s.Messages, was read from. An item shared by
// several messages occurs once.
func (s *Session) RawBlock(b *Block) []byte {
	var raw []byte
	last := -1
	for _, i := range b.Messages {
		for _, item := range s.Messages[i].Items {
			if item != last {
				raw = append(raw, s.Items[item].Raw...)
			}
			last = item
		}
	}
	return raw
}

// Bytes returns the input that s was decoded from.
func (s *Session) Bytes() []byte {
	n := 0
	for _, it := range s.Items {
		n += len(it.Raw)
	}
	b := make([]byte, 0, n)
	for _, it := range s.Items {
		b = append(b, it.Raw...)
	}
	return b
}
