package wire

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/token"
)

// A Dialect is the API in which a client calls a provider. Its text is stored and must not change.
type Dialect string

// The dialects.
const (
	Anthropic Dialect = "anthropic" // Messages
	Chat      Dialect = "chat"      // Chat Completions
	Responses Dialect = "responses"
)

// A Kind is the purpose of a request.
type Kind string

// The kinds of requests. A request without a kind passes unread.
const (
	KindCall    Kind = "call"    // a call to a model
	KindCount   Kind = "count"   // count the tokens of a request
	KindCompact Kind = "compact" // a compaction of the conversation by the provider
)

// A Role is the author of a message, the same for all dialects.
type Role string

// The roles.
const (
	RoleSystem    Role = "system" // and developer
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant" // and calls, reasoning and searches for tools by the provider, where they are items of their own
	RoleTool      Role = "tool"      // results, where they are messages or items of their own
	RoleOther     Role = "other"     // an item of an unknown type
)

// ErrForm means that a body is JSON, but not a request of its dialect.
var ErrForm = errors.New("not a request of this dialect")

// A Request describes a request to a model. It has positions in the body and digests, but no
// text of messages. The zero value is ready for [Request.Read].
type Request struct {
	Dialect Dialect
	Kind    Kind
	Doc     *rawjson.Document // the body; it must stay valid while the Request is used

	Model     string
	Stream    bool
	MaxOutput token.Count // 0 if the request does not say
	Session   string      // the client's id of its session, or empty
	Agent     string      // the client's id of the agent or thread in the session, or empty

	System rawjson.Node // system or instructions, or NoNode
	Tools  rawjson.Node // or NoNode
	List   rawjson.Node // messages or input: a list, or one string

	// Frame is the digest of system and tools without cache marks and without the billing
	// line of Claude Code, see [IsBilling].
	Frame    digest.Digest
	Messages []Message

	// Compacts is true for a compaction: a call in which the client asks the model for a
	// summary of the conversation, or a request of kind KindCompact.
	Compacts bool
	// Side is true for a side call, which does not continue a conversation: a single message
	// without tools, or a call whose answer may have at most one token.
	Side bool
	// Remote is true if a part of the history is stored at the provider and not in the body.
	Remote bool
	// Root names the first thread of the conversation, before compactions by the client: the
	// first 16 digits of its [Request.Thread]. Empty means this thread. Read leaves Root
	// empty; the proxy sets it.
	Root string

	sum hasher
}

// A Message is one element of messages or input.
type Message struct {
	Node rawjson.Node // the element; equal to Request.List if the list is one string
	Role Role
	// Identity is the digest of the message in its canonical form: a text is hashed as a
	// list of one block, and cache marks of the message and its blocks are left out. All
	// else counts as written: order of keys, spacing, escapes.
	Identity digest.Digest
	// Chain is the digest of the dialect and of the identities up to this message.
	Chain digest.Digest
}

// A Header gives the values of a request's headers. An http.Header is a Header.
type Header interface{ Get(key string) string }

// Read reads a request of a dialect from its headers, which may be nil, and from its body doc. It
// keeps doc. If two requests of a dialect have equal chains at index i, their first i+1 messages
// are the same, apart from what [Message.Identity] leaves out.
//
// Read hashes system, tools and all messages. If q was used before for a request with at least as
// many messages, Read allocates memory only for names. It fails with [ErrForm] if the body is no
// request of the dialect.
func (q *Request) Read(dialect Dialect, kind Kind, header Header, doc *rawjson.Document) error {
	messages, sum := q.Messages[:0], q.sum
	*q = Request{Dialect: dialect, Kind: kind, Doc: doc, Messages: messages, sum: sum}
	if err := q.fields(); err != nil {
		return err
	}
	q.sum.begin()
	if err := q.list(); err != nil {
		return err
	}
	q.frame()
	q.name(header)
	q.Compacts = kind == KindCompact || q.compacts(header)
	spoken := 0
	for i := range q.Messages {
		if q.Messages[i].Role != RoleSystem {
			spoken++
		}
	}
	tools := false
	for range doc.Children(q.Tools) {
		tools = true
	}
	q.Side = kind == KindCall && (q.MaxOutput == 1 || spoken <= 1 && !tools && !q.Compacts)
	if kind == KindCall && spoken == 1 && !tools && q.begins(q.First(), retold) {
		q.Compacts, q.Side = true, true // the one message quotes the whole history
	}
	return nil
}

// fields reads the members of the body except the messages. It fails with ErrForm if the list of
// messages has another type, or is missing although the provider stores no part of the history.
func (q *Request) fields() error {
	d := q.Doc
	var model, prompt rawjson.Node
	for n := range d.Children(rawjson.Root) {
		switch string(d.Key(n)) {
		case "model":
			model = n
		case "stream":
			q.Stream = d.Kind(n) == rawjson.True
		case "max_tokens", "max_completion_tokens", "max_output_tokens":
			if i, err := strconv.ParseInt(string(d.Raw(n)), 10, 64); err == nil {
				q.MaxOutput = max(q.MaxOutput, token.Count(i))
			}
		case "prompt_cache_key":
			prompt = n
		case "system":
			q.System = keep(q.Dialect == Anthropic, n, q.System)
		case "instructions":
			q.System = keep(q.Dialect == Responses, n, q.System)
		case "tools":
			q.Tools = n
		case "messages":
			q.List = keep(q.Dialect != Responses, n, q.List)
		case "input":
			q.List = keep(q.Dialect == Responses, n, q.List)
		case "previous_response_id", "conversation":
			q.Remote = q.Remote || q.Dialect == Responses && d.Kind(n) != rawjson.Null
		}
	}
	q.Model = Text(q.Doc, model)
	q.Session = Text(q.Doc, prompt)
	switch kind := d.Kind(q.List); {
	case kind == rawjson.Array, kind == rawjson.String && q.Dialect == Responses:
		return nil
	case q.Remote && q.List == rawjson.NoNode:
		return nil
	case q.Dialect == Responses:
		return fmt.Errorf("%w: input is neither a list nor a text", ErrForm)
	}
	return fmt.Errorf("%w: messages is not a list", ErrForm)
}

// keep returns n if the condition it is true, and old otherwise.
func keep(it bool, n, old rawjson.Node) rawjson.Node {
	if it {
		return n
	}
	return old
}

// Text returns the decoded text of a JSON string, or "" if n is not a string.
func Text(d *rawjson.Document, n rawjson.Node) string {
	if d.Kind(n) != rawjson.String {
		return ""
	}
	return unquote(d.Raw(n))
}

// unquote returns the decoded text of a valid JSON string.
func unquote(raw []byte) string {
	s, err := rawjson.NewReader(raw).String()
	if err != nil {
		return ""
	}
	return s
}

// list reads the messages.
func (q *Request) list() error {
	d := q.Doc
	if d.Kind(q.List) == rawjson.String {
		q.add(q.List, RoleUser)
		return nil
	}
	for n := range d.Children(q.List) {
		if d.Kind(n) != rawjson.Object {
			return fmt.Errorf("%w: message %d is not an object", ErrForm, len(q.Messages))
		}
		q.Remote = q.Remote || q.Dialect == Responses && Text(d, d.Member(n, "type")) == "item_reference"
		q.add(n, q.role(n))
	}
	return nil
}

func (q *Request) add(n rawjson.Node, role Role) {
	id := q.sum.message(q.Dialect, q.Doc, n, role)
	var before digest.Digest
	if last := len(q.Messages) - 1; last >= 0 {
		before = q.Messages[last].Chain
	}
	q.Messages = append(q.Messages, Message{Node: n, Role: role, Identity: id, Chain: Extend(q.Dialect, before, id)})
}

// role returns the role of a message or an item.
func (q *Request) role(n rawjson.Node) Role {
	d := q.Doc
	switch string(bytes.Trim(d.Raw(d.Member(n, "role")), `"`)) {
	case "system", "developer":
		return RoleSystem
	case "user":
		return RoleUser
	case "assistant":
		return RoleAssistant
	case "tool", "function":
		return RoleTool
	}
	if q.Dialect != Responses {
		return RoleOther
	}
	switch kind := string(bytes.Trim(d.Raw(d.Member(n, "type")), `"`)); {
	case kind == "tool_search_output" && Text(d, d.Member(n, "call_id")) == "":
		return RoleAssistant // the provider searched itself, within its reply
	case strings.HasSuffix(kind, "_output"):
		return RoleTool
	case strings.HasSuffix(kind, "_call"), kind == "reasoning":
		return RoleAssistant
	case kind == "additional_tools", kind == "configuration_update":
		return RoleSystem
	}
	return RoleOther
}

// First returns the index of the first message that is not a system message, or -1.
func (q *Request) First() int {
	for i := range q.Messages {
		if q.Messages[i].Role != RoleSystem {
			return i
		}
	}
	return -1
}

// Thread returns the digest that names the conversation: the digest of the dialect, the client's
// session and agent, and the message at [Request.First]. So a fork, a sub-agent or a side call
// with another first message is a thread of its own.
func (q *Request) Thread() digest.Digest {
	var first digest.Digest
	if i := q.First(); i >= 0 {
		first = q.Messages[i].Identity
	}
	return digest.Of([]byte("thread/v1\x00" + string(q.Dialect) + "\x00" + q.Session + "\x00" + q.Agent + "\x00" + string(first[:])))
}

// name sets the client's ids of its session and agent, from the headers or the body.
func (q *Request) name(header Header) {
	prompt := q.Session
	q.Session = first(header, "X-Claude-Code-Session-Id", "Session-Id", "Session_id", "X-Session-Id", "X-Session-Affinity")
	q.Agent = first(header, "X-Claude-Code-Agent-Id", "Thread-Id")
	if q.Session == "" && q.Dialect == Anthropic {
		q.Session = q.metadata()
	}
	for _, other := range []string{q.Agent, prompt} {
		q.Session = cmp.Or(q.Session, other)
	}
}

func first(header Header, keys ...string) string {
	if header == nil {
		return ""
	}
	for _, k := range keys {
		if v := header.Get(k); v != "" {
			return v
		}
	}
	return ""
}

// metadata returns the session id in metadata.user_id, which is a JSON text with session_id, or,
// in earlier releases of Claude Code, a text that ends in "_session_" and the id.
func (q *Request) metadata() string {
	raw := q.Doc.Raw(q.Doc.Member(rawjson.Root, "metadata"))
	user := member(raw, "user_id")
	if strings.HasPrefix(user, "{") {
		return member([]byte(user), "session_id")
	}
	if _, name, found := strings.Cut(user, "_session_"); found {
		return name
	}
	return ""
}

// member returns the string at name of the JSON object raw, or "".
func member(raw []byte, name string) (value string) {
	r := rawjson.NewReader(raw)
	if r.Kind() != rawjson.Object {
		return ""
	}
	err := r.Object(func(key string) error {
		if key == name && r.Kind() == rawjson.String {
			s, err := r.String()
			value = s
			return err
		}
		_, err := r.Skip()
		return err
	})
	if err != nil {
		return ""
	}
	return value
}

// compactions are the beginnings of the prompts with which clients ask for a
// compaction, as JSON text.
var compactions = [...]string{
	`"CRITICAL: Respond with TEXT ONLY`,                          // Claude Code
	`"You are performing a CONTEXT CHECKPOINT COMPACTION`,        // Codex
	`"Provide a detailed prompt for continuing our conversation`, // OpenCode
}

// retold is the beginning of OpenCode's message that quotes the history to summarize, as JSON
// text.
const retold = `"Here is the conversation so far:`

// summaries are the beginnings of the messages in which clients keep the summary of a compaction,
// as JSON text.
var summaries = [...]string{
	`"This session is being continued from a previous conversation`, // Claude Code
	`"Another language model started to solve this problem`,         // Codex
}

// asked is the first message of OpenCode's history after a compaction; the reply to it is the
// summary.
const asked = `"What did we do so far?"`

// begins reports whether the user message at index i has a text that begins with the JSON text
// in the argument with.
func (q *Request) begins(i int, with string) bool {
	if q.Messages[i].Role != RoleUser {
		return false
	}
	d, content := q.Doc, q.Content(i)
	if bytes.HasPrefix(d.Raw(content), []byte(with)) {
		return true
	}
	for block := range d.Children(content) {
		if bytes.HasPrefix(d.Raw(d.Member(block, "text")), []byte(with)) {
			return true
		}
	}
	return false
}

// Summary returns the index of the message with the summary of a compaction, or -1. The
// summary stands for all messages before it. It is a text from the client or an item that only
// the provider can read.
func (q *Request) Summary() int {
	at := -1
	for i := range q.Messages {
		switch role := q.Messages[i].Role; role {
		case RoleUser:
			for _, s := range summaries {
				if q.begins(i, s) {
					at = i
				}
			}
			if i == q.First() && i+1 < len(q.Messages) && q.Messages[i+1].Role == RoleAssistant && q.begins(i, asked) {
				return i + 1
			}
		case RoleOther:
			if kind := Text(q.Doc, q.Doc.Member(q.Messages[i].Node, "type")); kind == "compaction" || kind == "compaction_summary" {
				at = i
			}
		case RoleAssistant, RoleTool:
			return at
		case RoleSystem:
		}
	}
	return at
}

// compacts reports whether a request asks the model for a summary of the conversation.
func (q *Request) compacts(header Header) bool {
	if q.Kind != KindCall || len(q.Messages) == 0 {
		return false
	}
	if turn := first(header, "X-Codex-Turn-Metadata"); strings.Contains(member([]byte(turn), "request_kind"), "compact") {
		return true
	}
	last := q.Messages[len(q.Messages)-1].Node
	return q.Compaction() != rawjson.NoNode || q.Dialect == Responses && Text(q.Doc, q.Doc.Member(last, "type")) == "compaction_trigger"
}

// Compaction returns the JSON string in the last message that asks for a summary of the
// conversation, or NoNode.
func (q *Request) Compaction() rawjson.Node {
	last := len(q.Messages) - 1
	if last < 0 || q.Messages[last].Role != RoleUser {
		return rawjson.NoNode
	}
	d := q.Doc
	asks := func(n rawjson.Node) bool {
		for _, begin := range compactions {
			if bytes.HasPrefix(d.Raw(n), []byte(begin)) {
				return true
			}
		}
		return false
	}
	content := q.Content(last)
	if asks(content) {
		return content
	}
	for block := range d.Children(content) {
		if text := d.Member(block, "text"); asks(text) {
			return text
		}
	}
	return rawjson.NoNode
}

// Content returns the content of a message: a list, a string, or NoNode.
func (q *Request) Content(i int) rawjson.Node {
	if n := q.Messages[i].Node; n != q.List {
		return q.Doc.Member(n, "content")
	}
	return q.List
}
