package upstream

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// A Kind is the purpose of a request.
type Kind string

// The kinds of requests. All but KindMain and KindCount are recognized by the texts of Claude
// Code, Codex and OpenCode.
const (
	KindMain       Kind = "main"       // a reply in the conversation
	KindCompaction Kind = "compaction" // a summary of the conversation
	KindTitle      Kind = "title"      // a title for it
	KindProbe      Kind = "probe"      // whether there is a reply at all
	KindSide       Kind = "side"       // anything else beside the conversation
	KindCount      Kind = "count"      // the length of a request
)

// A Dialect is an API of a model.
type Dialect string

// The dialects.
const (
	DialectAnthropic Dialect = "anthropic" // the Messages API
	DialectChat      Dialect = "chat"      // Chat Completions
	DialectResponses Dialect = "responses" // the Responses API
)

// A Request is a received request and its answer. It must not be changed.
type Request struct {
	Method string
	URL    *url.URL
	Header http.Header
	Sent   []byte // the body as received
	Body   []byte // the body, decompressed

	Dialect Dialect
	Kind    Kind   // empty if the request is not about messages or cannot be read
	Model   string // requested model
	Session string // the client's name of the session, or empty

	Tokens int    // length by the server's count
	Usage  Usage  // cost; zero if it got no message
	Prefix Prefix // comparison with the earlier requests of the session; zero if it got no message

	// Dropped are the places of thinking and reasoning that was sent, but not shown to the
	// model.
	Dropped []string

	Step    string // name of the step that answered, or empty
	Status  int
	Reply   []byte // the body of the answer, without compression and faults
	Refusal *Refusal

	// Canceled reports that the client left before it had the whole answer. It is final when
	// [Request.Ended] is closed.
	Canceled bool

	body   *body // nil if it cannot be read
	model  Model
	inline bool // whether a compaction is requested as an item
	done   bool
	ended  chan struct{}
}

// Ended returns a channel that is closed when the server has sent the whole answer or given up.
func (r *Request) Ended() <-chan struct{} { return r.ended }

// A Result is the result of a tool.
type Result struct {
	CallID string
	Text   string // the texts of its content, joined
	Failed bool
}

// Results returns the results in the newest user message.
func (r *Request) Results() []Result {
	var results []Result
	for _, block := range r.newest() {
		if kind(block) != "tool_result" {
			continue
		}
		failed, _ := block["is_error"].(bool)
		results = append(results, Result{CallID: text(block, "tool_use_id"), Text: joined(nested(block)), Failed: failed})
	}
	return results
}

// Prompt returns the texts of the newest user message, joined.
func (r *Request) Prompt() string { return joined(r.newest()) }

// Texts returns all text for the model, in order: the system text, then the texts of the
// messages, with results of tools and inputs of calls as JSON at their places.
func (r *Request) Texts() []string {
	var texts []string
	for _, s := range r.body.system {
		texts = append(texts, text(s, "text"))
	}
	for _, m := range r.body.messages {
		for _, block := range m.content {
			texts = append(texts, read(block))
		}
	}
	return texts
}

// Notes returns the texts of the system messages inside the conversation, in order.
func (r *Request) Notes() []string {
	var notes []string
	for _, m := range r.body.messages {
		for _, block := range m.content {
			if m.role == roleSystem {
				notes = append(notes, read(block))
			}
		}
	}
	return notes
}

// Contains reports whether the text for the model contains s.
func (r *Request) Contains(s string) bool {
	return slices.ContainsFunc(r.Texts(), func(t string) bool { return strings.Contains(t, s) })
}

// Tools returns the names of the available tools.
func (r *Request) Tools() []string {
	var names []string
	for _, t := range r.body.tools {
		names = append(names, text(t, "name"))
	}
	return names
}

// newest returns the blocks of the newest user message.
func (r *Request) newest() []object {
	for _, m := range slices.Backward(r.body.messages) {
		if m.role == roleUser {
			return m.content
		}
	}
	return nil
}

// read returns the text of a block.
func read(block object) string {
	switch kind(block) {
	case "text":
		return text(block, "text")
	case "thinking":
		return text(block, "thinking")
	case "tool_result":
		return joined(nested(block))
	case "tool_use":
		data, err := json.Marshal(block["input"])
		if err != nil {
			return ""
		}
		return string(data)
	}
	return ""
}

func joined(blocks []object) string {
	var texts []string
	for _, b := range blocks {
		if kind(b) == "text" {
			texts = append(texts, text(b, "text"))
		}
	}
	return strings.Join(texts, "\n")
}

// Beginnings of a request for a summary: by Claude Code, by Codex with a custom provider, and
// by OpenCode in the system text.
const (
	compactionHead         = "CRITICAL: Respond with TEXT ONLY"
	codexCompactionHead    = "You are performing a CONTEXT CHECKPOINT COMPACTION"
	openCodeCompactionHead = "You are a context summarization agent."
)

// kindOf returns the kind of a request for a message.
func kindOf(r *Request) Kind {
	limit, _ := r.body.all["max_tokens"].(json.Number)
	name, _, _ := strings.Cut(r.Header.Get("User-Agent"), "/")
	agent := name == "claude-cli" || name == "opencode"
	switch {
	case r.lastTextBegins(compactionHead), r.lastTextBegins(codexCompactionHead):
		return KindCompaction
	case limit == "1":
		return KindProbe
	case !agent || len(r.body.tools) > 0:
		return KindMain
	case strings.HasPrefix(joined(r.body.system), openCodeCompactionHead):
		return KindCompaction
	case strings.Contains(joined(r.body.system), "title"):
		return KindTitle
	}
	return KindSide
}

// lastTextBegins reports whether a text of the newest message begins with head. The client may
// have put other texts before it.
func (r *Request) lastTextBegins(head string) bool {
	return slices.ContainsFunc(r.newest(), func(block object) bool { return strings.HasPrefix(text(block, "text"), head) })
}

// sessionOf returns the client's name of its session: Claude Code, Codex and OpenCode send it
// in a header, others in a field of the body.
func sessionOf(h http.Header, all object) string {
	for _, name := range []string{"X-Claude-Code-Session-Id", "Session-Id", "Session_id", "X-Session-Id", "X-Session-Affinity"} {
		if id := h.Get(name); id != "" {
			return id
		}
	}
	metadata, _ := all["metadata"].(object)
	return cmp.Or(text(all, "prompt_cache_key"), text(metadata, "user_id"))
}
