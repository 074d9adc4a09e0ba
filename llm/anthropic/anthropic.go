// Package anthropic writes text by the interface of Anthropic, POST /v1/messages.
//
// # What is sent, and where
//
// A prompt goes to one origin and nowhere else: no redirect is followed and no
// proxy is taken from the environment, so that the key and the prompt reach only
// who they are meant for.
//
// # What comes back
//
// A reply is checked before it is used: it is a message, it has ended and says
// how, and an error in the middle of it is an error. Replies are read up to a
// number of bytes and for a limited time. What a server says beside that, in
// errors above all, is dropped: it may repeat the prompt or the key.
//
// # Trying again
//
// A request is sent again, a bounded number of times, if the server says that it
// is overloaded (429, 529) or broken (5xx), or drops the connection before it has
// answered. The pauses double, are shortened at random, and follow the server's
// Retry-After; if that asks for more patience than there is, the call fails at
// once. A model that has begun to write is not asked again.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/internal/httpjson"
	"github.com/carrel-dev/carrel/llm"
)

// version is that of the interface.
const version = "2023-06-01"

// Options adjusts a [Generator]. The zero value of every field is a sensible
// default, so a nil *Options is too.
type Options struct {
	// Key is sent as x-api-key. The default is to send none.
	Key llm.Secret

	// Window is how many tokens prompt and reply may have together. The default is
	// 0: not known. No prompt is refused for it here.
	Window int

	// MaxTokens is how long a reply may be whose prompt does not say. The default
	// is 4096.
	MaxTokens int

	// NoStream asks for the reply as a whole. The default is to read it as it is
	// written, so that a model that hangs is noticed.
	NoStream bool

	// Timeout bounds each request, the reading of the reply included. The default
	// is 5 minutes.
	Timeout time.Duration

	// Idle is how long a stream may say nothing, once it has begun. The default is
	// one minute.
	Idle time.Duration

	// Retries is how often a request is sent again that was turned away. The
	// default is 2; NoRetries sends each once.
	Retries int

	// MaxReply is the largest reply to read, in bytes, all of the stream counted.
	// The default is 8 MiB.
	MaxReply int64

	// HTTPClient sends the requests. Its redirect policy is not used. The default
	// keeps a few connections open and uses no proxy.
	HTTPClient *http.Client

	// Sleep waits for a time or until the context is done, whose error it then
	// returns. The default is to do just that.
	Sleep func(context.Context, time.Duration) error

	// Rand returns a random number from 0 to before n. The default is
	// rand.Int64N.
	Rand func(n int64) int64
}

// NoRetries is the [Options.Retries] that sends each request once.
const NoRetries = httpjson.NoRetries

// A Generator is an [llm.Generator]. It is safe for concurrent use.
type Generator struct {
	url   string // of the messages
	name  string
	model string
	opts  Options
	http  *httpjson.Client
}

// New returns a generator of the server at a base URL, such as
// "https://api.anthropic.com", with one of its models. The URL may end in "/v1"
// or not. It sends nothing.
func New(baseURL, model string, opts *Options) (*Generator, error) {
	g := &Generator{model: model}
	if opts != nil {
		g.opts = *opts
	}
	o := &g.opts
	base, client, err := httpjson.Open(baseURL, model, o.Key.Reveal(), httpjson.Options{
		Authorize: o.authorize, Errors: sentinels, NoStream: o.NoStream,
		Timeout: o.Timeout, Idle: o.Idle, Retries: o.Retries, MaxReply: o.MaxReply,
		HTTPClient: o.HTTPClient, Sleep: o.Sleep, Rand: o.Rand,
	}, 5*time.Minute, time.Minute, 8<<20)
	if err != nil {
		return nil, fmt.Errorf("anthropic: %w", err)
	}
	if o.Window < 0 || o.MaxTokens < 0 {
		return nil, errors.New("anthropic: options: negative number")
	}
	httpjson.SetDefault(&o.MaxTokens, 4096)
	g.url, g.name = base+"/messages", model+"@"+base
	g.http = client
	return g, nil
}

// sentinels are those of the port.
var sentinels = httpjson.Errors{Unavailable: llm.ErrUnavailable, Refused: llm.ErrRefused, Reply: llm.ErrReply}

// authorize adds the version and the key to a request.
func (o *Options) authorize(h http.Header) {
	h.Set("Anthropic-Version", version)
	if !o.Key.IsZero() {
		h.Set("X-Api-Key", o.Key.Reveal())
	}
}

// Name returns the model and the base URL, such as
// "claude@https://api.anthropic.com/v1".
func (g *Generator) Name() string { return g.name }

// Window implements [llm.Generator].
func (g *Generator) Window() int { return g.opts.Window }

// Generate implements [llm.Generator]. What a model thinks before it writes is no
// part of the reply.
func (g *Generator) Generate(ctx context.Context, p *llm.Prompt) (*llm.Reply, error) {
	asked := *p
	if asked.MaxTokens <= 0 {
		asked.MaxTokens = g.opts.MaxTokens
	}
	reply, err := g.generate(ctx, &asked)
	if err != nil {
		return nil, fmt.Errorf("generate with %s: %w", g.name, err)
	}
	return reply, nil
}

// request is the body of a request.
type request struct {
	Model     string  `json:"model"`
	MaxTokens int     `json:"max_tokens"`
	System    string  `json:"system,omitempty"`
	Messages  [1]turn `json:"messages"`
	Stream    bool    `json:"stream,omitempty"`
}

type turn struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (g *Generator) generate(ctx context.Context, p *llm.Prompt) (*llm.Reply, error) {
	body, err := json.Marshal(request{g.model, p.MaxTokens, p.System, [1]turn{{"user", p.Text}}, !g.opts.NoStream})
	if err != nil {
		return nil, err // not reached: strings and numbers can be encoded
	}
	var t collector
	document, err := g.http.Stream(ctx, g.url, body, func(e *httpjson.Event) (bool, error) { return t.event(e.Data) })
	if err == nil && document != nil {
		err = t.document(document)
	}
	if err != nil {
		return nil, err
	}
	return t.reply(p.Most())
}

// A collector puts a reply together.
type collector struct {
	text  strings.Builder
	model string
	begun bool
	ended bool
	stop  string
	usage llm.Usage
}

// message is the part of a message that is looked at.
type message struct {
	Type    string          `json:"type"`
	Model   string          `json:"model"`
	Content []block         `json:"content"`
	Stop    string          `json:"stop_reason"`
	Usage   usage           `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

// A block is one of the content, or what is added to one. Blocks that are no text
// are passed over.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type usage struct {
	Input   int64 `json:"input_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

// count takes over what is said of the usage. A later word on it wins.
func (t *collector) count(u usage) {
	input := max(0, u.Input) + max(0, u.Written) + max(0, u.Read)
	t.usage = llm.Usage{Input: input, Output: u.Output}.Or(t.usage)
}

// document takes a reply that came as a whole.
func (t *collector) document(data []byte) error {
	var m message
	switch err := json.Unmarshal(data, &m); {
	case err != nil:
		return badReply("no JSON of a message")
	case m.Type == "error", len(m.Error) > 0 && string(m.Error) != "null":
		return replyError(m.Error)
	case m.Type != "message":
		return badReply("is no message")
	}
	t.begun, t.ended, t.model, t.stop = true, true, httpjson.Label(m.Model), m.Stop
	t.count(m.Usage)
	for _, b := range m.Content {
		if b.Type == "text" {
			t.text.WriteString(b.Text)
		}
	}
	return nil
}

// event takes an event of a stream, and reports whether it is the last. Those
// with other names are passed over, as the interface asks for.
func (t *collector) event(data []byte) (last bool, err error) {
	var e struct {
		Type    string  `json:"type"`
		Message message `json:"message"`
		Block   block   `json:"content_block"`
		Delta   struct {
			block

			Stop string `json:"stop_reason"`
		} `json:"delta"`
		Usage usage           `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return false, badReply("no JSON of an event")
	}
	switch {
	case e.Type == "error":
		return false, replyError(e.Error)
	case e.Type == "message_start" && t.begun:
		return false, badReply("begins twice")
	case e.Type == "message_start":
		t.begun, t.model = true, httpjson.Label(e.Message.Model)
		e.Message.Usage.Output = 0 // it has only begun
		t.count(e.Message.Usage)
	case e.Type == "content_block_start" && e.Block.Type == "text":
		return false, t.write(e.Block.Text)
	case e.Type == "content_block_delta" && e.Delta.Type == "text_delta":
		return false, t.write(e.Delta.Text)
	case e.Type == "message_delta":
		t.stop = e.Delta.Stop
		t.count(e.Usage)
	case e.Type == "message_stop":
		t.ended = true
		return true, nil
	}
	return false, nil
}

// write adds to the text.
func (t *collector) write(text string) error {
	switch {
	case !t.begun:
		return badReply("has no beginning")
	case t.stop != "" && text != "":
		return badReply("goes on after its end")
	}
	t.text.WriteString(text)
	return nil
}

// replyError returns the error that came in place of a reply, or in the middle of
// one. What it says is dropped.
func replyError(data []byte) error {
	var e struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(data, &e) != nil {
		e.Type = ""
	}
	switch e.Type {
	case "overloaded_error", "rate_limit_error", "api_error", "timeout_error":
		return fmt.Errorf("%s in place of a reply: %w", e.Type, llm.ErrUnavailable)
	case "invalid_request_error", "authentication_error", "billing_error", "permission_error", "not_found_error", "request_too_large":
		return fmt.Errorf("%s in place of a reply: %w", e.Type, llm.ErrRefused)
	}
	return badReply("an error in its place")
}

// reply returns the reply that was put together.
func (t *collector) reply(most llm.Usage) (*llm.Reply, error) {
	r := &llm.Reply{Text: t.text.String(), Model: t.model, Usage: t.usage.Or(most)}
	if !t.ended {
		return nil, badReply("breaks off")
	}
	switch t.stop {
	case "end_turn", "stop_sequence":
		r.Stop = llm.StopEnd
	case "max_tokens", "model_context_window_exceeded":
		r.Stop = llm.StopLength
	case "refusal":
		r.Stop = llm.StopRefusal
	case "":
		return nil, badReply("ends without saying why")
	default:
		return nil, badReply("ends for a reason that is not known")
	}
	if r.Stop == llm.StopEnd && strings.TrimSpace(r.Text) == "" {
		return nil, badReply("says nothing")
	}
	return r, nil
}

// badReply returns [llm.ErrReply] with what is wrong with the reply.
func badReply(text string) error { return fmt.Errorf("%w: %s", llm.ErrReply, text) }
