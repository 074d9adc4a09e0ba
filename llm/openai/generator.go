package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/internal/httpjson"
	"github.com/carrel-dev/carrel/llm"
)

// GeneratorOptions adjusts a [Generator]. The zero value of every field is a
// sensible default, so a nil *GeneratorOptions is too.
type GeneratorOptions struct {
	// Key is sent as a bearer token. The default is to send none.
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

// A Generator is an [llm.Generator]. It is safe for concurrent use.
type Generator struct {
	url    string // of the completions
	name   string
	model  string
	length string // name of the field that bounds the reply
	opts   GeneratorOptions
	http   *httpjson.Client
}

// NewGenerator returns a generator of the server at a base URL, as of [New], with
// one of its models. It sends nothing.
func NewGenerator(baseURL, model string, opts *GeneratorOptions) (*Generator, error) {
	g := &Generator{model: model}
	if opts != nil {
		g.opts = *opts
	}
	o := &g.opts
	base, client, err := httpjson.Open(baseURL, model, o.Key.Reveal(), httpjson.Options{
		Authorize: bearer(o.Key), Errors: sentinels, NoStream: o.NoStream,
		Timeout: o.Timeout, Idle: o.Idle, Retries: o.Retries, MaxReply: o.MaxReply,
		HTTPClient: o.HTTPClient, Sleep: o.Sleep, Rand: o.Rand,
	}, 5*time.Minute, time.Minute, 8<<20)
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	if o.Window < 0 || o.MaxTokens < 0 {
		return nil, errors.New("openai: options: negative number")
	}
	httpjson.SetDefault(&o.MaxTokens, 4096)
	g.url, g.name, g.length = base+"/chat/completions", model+"@"+base, lengthField(base)
	g.http = client
	return g, nil
}

// lengthField returns the name of the field that bounds a reply. Newer models of
// OpenAI refuse the name that everybody else knows.
func lengthField(base string) string {
	if u, err := url.Parse(base); err == nil && u.Hostname() == "api.openai.com" {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// Name returns the model and the base URL, such as
// "llama3@http://localhost:11434/v1".
func (g *Generator) Name() string { return g.name }

// Window implements [llm.Generator].
func (g *Generator) Window() int { return g.opts.Window }

// Generate implements [llm.Generator]. What a model thinks before it writes is no
// part of the reply, where the server keeps it apart.
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

// chatMessage is a message of a request.
type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (g *Generator) generate(ctx context.Context, p *llm.Prompt) (*llm.Reply, error) {
	request := map[string]any{"model": g.model, g.length: p.MaxTokens}
	messages := []chatMessage{{"user", p.Text}}
	if p.System != "" {
		messages = []chatMessage{{"system", p.System}, messages[0]}
	}
	request["messages"] = messages
	if !g.opts.NoStream {
		request["stream"] = true
		request["stream_options"] = map[string]bool{"include_usage": true}
	}
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err // not reached: strings and numbers can be encoded
	}
	var t collector
	document, err := g.http.Stream(ctx, g.url, body, func(e *httpjson.Event) (bool, error) {
		if string(e.Data) == "[DONE]" {
			return true, nil
		}
		return false, t.add(e.Data, true)
	})
	if err == nil && document != nil {
		err = t.add(document, false)
	}
	if err != nil {
		return nil, err
	}
	return t.reply(p.Most())
}

// completion is the part of a reply, or of an event of one, that is looked at.
type completion struct {
	Object  string          `json:"object"`
	Error   json.RawMessage `json:"error"`
	Model   string          `json:"model"`
	Choices []struct {
		Index   int     `json:"index"`
		Message written `json:"message"` // as a whole
		Delta   written `json:"delta"`   // of a stream
		Finish  string  `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		Input  int64 `json:"prompt_tokens"`
		Output int64 `json:"completion_tokens"`
	} `json:"usage"`
}

// written is what the model wrote.
type written struct {
	Content string `json:"content"`
	Refusal string `json:"refusal"`
}

// A collector puts a reply together.
type collector struct {
	text   strings.Builder
	model  string
	finish string
	refuse bool
	usage  llm.Usage
}

// add adds a reply, or an event of one. That of a stream may have no choice: the
// last has the usage alone.
func (t *collector) add(data []byte, stream bool) error {
	var c completion
	if err := json.Unmarshal(data, &c); err != nil {
		return badReply("no JSON of a reply")
	}
	if given(c.Error) {
		return replyError(c.Error)
	}
	if c.Object == "error" {
		return replyError(data)
	}
	if len(c.Choices) == 0 && !stream {
		return badReply("no choices")
	}
	if c.Model != "" {
		t.model = httpjson.Label(c.Model)
	}
	t.usage = llm.Usage{Input: c.Usage.Input, Output: c.Usage.Output}.Or(t.usage)
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue // nobody has asked for it
		}
		w := choice.Message
		if stream {
			w = choice.Delta
		}
		if t.finish != "" && w.Content != "" {
			return badReply("goes on after its end")
		}
		t.text.WriteString(w.Content)
		t.refuse = t.refuse || w.Refusal != ""
		if choice.Finish != "" {
			t.finish = choice.Finish
		}
	}
	return nil
}

// given reports whether a field is there and not null.
func given(field json.RawMessage) bool { return len(field) > 0 && string(field) != "null" }

// replyError returns the error that came as a reply. Some have the status that
// they would have had; what they say is dropped.
func replyError(data []byte) error {
	var e struct {
		Code json.RawMessage `json:"code"`
	}
	if json.Unmarshal(data, &e) == nil {
		code, _ := strconv.Atoi(strings.Trim(string(e.Code), `"`)) // 0 if it is none
		if code >= 400 && code <= 599 {
			return fmt.Errorf("an error in place of a reply: %w", sentinels.Status(code))
		}
	}
	return badReply("an error in its place")
}

// reply returns the reply that was put together.
func (t *collector) reply(most llm.Usage) (*llm.Reply, error) {
	r := &llm.Reply{Text: t.text.String(), Model: t.model, Usage: t.usage.Or(most)}
	switch t.finish {
	case "":
		return nil, badReply("ends without saying why")
	case "stop", "eos_token", "stop_sequence":
		r.Stop = llm.StopEnd
	case "length":
		r.Stop = llm.StopLength
	case "content_filter":
		r.Stop = llm.StopRefusal
	default:
		return nil, badReply("ends for a reason that is not known")
	}
	if t.refuse {
		r.Stop = llm.StopRefusal
	}
	if r.Stop == llm.StopEnd && strings.TrimSpace(r.Text) == "" {
		return nil, badReply("says nothing")
	}
	return r, nil
}
