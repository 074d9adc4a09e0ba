package wire

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/token"
)

// A Dialect is how a client and a provider speak. It is stored as its text.
type Dialect string

// The dialects.
const (
	Anthropic Dialect = "anthropic" // Messages
	Chat      Dialect = "chat"      // Chat Completions
	Responses Dialect = "responses"
)

// A Kind is what a request asks for.
type Kind string

// The kinds of requests. What is of no kind passes untouched.
const (
	KindCall    Kind = "call"    // an answer of a model
	KindCount   Kind = "count"   // how many tokens a request has
	KindCompact Kind = "compact" // that the provider makes the conversation shorter
)

// A Role is who speaks in a message, in one word for all dialects.
type Role string

// The roles.
const (
	RoleSystem    Role = "system" // and developer
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant" // and its calls and reasoning, where they are items
	RoleTool      Role = "tool"      // results, where they are messages or items of their own
	RoleOther     Role = "other"     // an item of a type that is not known
)

// ErrForm is that a body is JSON, but no request of its dialect.
var ErrForm = errors.New("not a request of this dialect")

// A Request is what is known of a request to a model. It holds places in the body and
// digests, and no text of it. Its zero value is ready for [Request.Read].
type Request struct {
	Dialect Dialect
	Kind    Kind
	Doc     *rawjson.Document // the body, which is valid as long as the request is

	Model     string
	Stream    bool
	MaxOutput token.Count // 0 if the request does not say
	Session   string      // the client's name for its session; empty if it tells none
	Agent     string      // the client's name for the agent in the session, such as a thread; may be empty

	System rawjson.Node // system or instructions, or NoNode
	Tools  rawjson.Node // or NoNode
	List   rawjson.Node // messages or input: a list, or one string

	// Frame is the digest of system and tools without cache marks. The billing line that
	// Claude Code puts first is left out, as the provider does not count it.
	Frame    digest.Digest
	Messages []Message

	// Compacts tells the client's own compaction: a call that asks for a summary of the
	// conversation, or the endpoint for that.
	Compacts bool
	// Side tells a call beside the conversation: one question without tools, or one
	// whose answer has at most one token.
	Side bool
	// Remote tells that the provider holds a part of the history, which is not here.
	Remote bool
	// Root names the thread that the conversation began as, before its client compacted it:
	// the first 16 digits of [Request.Thread]. Read leaves it empty, which is this thread;
	// who knows puts it in.
	Root string

	sum hasher
}

// A Message is one element of messages or input.
type Message struct {
	Node rawjson.Node // the element; the list itself if that is one string
	Role Role
	// Identity is the digest of the message in its canonical form: a text is a list of
	// one block, and marks of the cache are left out at the message and its blocks. All
	// else is as it was written: order of keys, spacing, escapes.
	Identity digest.Digest
	// Chain is the digest of the dialect and of the identities up to this one.
	Chain digest.Digest
}

// A Header has the headers of a request, such as an http.Header does.
type Header interface{ Get(key string) string }

// Read reads a request of a dialect from its headers, which may be nil, and its body. It
// keeps doc. Two requests of a dialect with equal chains at i have the same first i+1
// messages.
//
// It costs a digest over the body, and allocates nothing once a Request has read one with
// as many messages, except for names. A body that is no request of the dialect is an
// [ErrForm].
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
		q.Compacts, q.Side = true, true // the history is told again, in one message
	}
	return nil
}

// fields reads the members of the body that are no messages.
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
			if i, err := strconv.ParseInt(string(d.Raw(n)), 10, 64); err == nil && i > 0 {
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
		return fmt.Errorf("%w: input is no list and no text", ErrForm)
	}
	return fmt.Errorf("%w: messages is no list", ErrForm)
}

func keep(it bool, n, old rawjson.Node) rawjson.Node {
	if it {
		return n
	}
	return old
}

// Text returns what a string says, or nothing if a node is none.
func Text(d *rawjson.Document, n rawjson.Node) string {
	if d.Kind(n) != rawjson.String {
		return ""
	}
	return unquote(d.Raw(n))
}

// unquote returns the meaning of a JSON string that was checked.
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
			return fmt.Errorf("%w: message %d is no object", ErrForm, len(q.Messages))
		}
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

// role returns who speaks in a message or an item.
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
	case strings.HasSuffix(kind, "_output"):
		return RoleTool
	case strings.HasSuffix(kind, "_call"), kind == "reasoning":
		return RoleAssistant
	case kind == "additional_tools", kind == "configuration_update":
		return RoleSystem
	}
	return RoleOther
}

// First returns the place of the first message that is no system text, or -1.
func (q *Request) First() int {
	for i := range q.Messages {
		if q.Messages[i].Role != RoleSystem {
			return i
		}
	}
	return -1
}

// Thread returns the digest that names the conversation: of the dialect, the client's
// session and agent, and the first message that is no system text. A fork, a sub-agent
// and a side call that begin otherwise are threads of their own.
func (q *Request) Thread() digest.Digest {
	var first digest.Digest
	if i := q.First(); i >= 0 {
		first = q.Messages[i].Identity
	}
	return digest.Of([]byte("thread/v1\x00" + string(q.Dialect) + "\x00" + q.Session + "\x00" + q.Agent + "\x00" + string(first[:])))
}

// name finds what the client calls its session.
func (q *Request) name(header Header) {
	prompt := q.Session
	q.Session = first(header, "X-Claude-Code-Session-Id", "Session-Id", "Session_id", "X-Session-Id", "X-Session-Affinity")
	q.Agent = first(header, "X-Claude-Code-Agent-Id", "Thread-Id")
	if q.Session == "" && q.Dialect == Anthropic {
		q.Session = q.metadata()
	}
	for _, other := range []string{q.Agent, prompt} {
		if q.Session == "" {
			q.Session = other
		}
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

// metadata returns the session that metadata.user_id names: a JSON text with session_id,
// or, of earlier releases, a text that ends in "_session_" and its name.
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

// member returns a member of an object that is a text, or nothing.
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

// What the last message of a client's own compaction begins with.
var compactions = [...]string{
	`"CRITICAL: Respond with TEXT ONLY`,                          // Claude Code
	`"You are performing a CONTEXT CHECKPOINT COMPACTION`,        // Codex
	`"Provide a detailed prompt for continuing our conversation`, // OpenCode
}

// retold is how OpenCode begins to tell the history that is to be summarized, as a JSON text.
const retold = `"Here is the conversation so far:`

// What a message begins with that a client's compaction left, as a JSON text.
var summaries = [...]string{
	`"This session is being continued from a previous conversation`, // Claude Code
	`"Another language model started to solve this problem`,         // Codex
}

// asked is how OpenCode begins a history whose first reply is a summary.
const asked = `"What did we do so far?"`

// begins reports whether a text of a message begins so.
func (q *Request) begins(i int, with string) bool {
	if i < 0 || q.Messages[i].Role != RoleUser {
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

// Summary returns the place of the message that the client's own compaction left in place of
// what was before, or -1: a text of the client's, or an item that only the provider reads.
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

// compacts reports whether a call asks for a summary of its conversation.
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

// Compaction returns the text in which the last message asks for a summary of the
// conversation: a JSON string. It is NoNode if there is none.
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
