package remote

import (
	"cmp"
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

// GeneratorOptions adjust a generator. The zero value of every field is a sensible
// default, so a nil *GeneratorOptions is too.
type GeneratorOptions struct {
	Options

	// Window is how many tokens prompt and reply may have together. The default is
	// 0: not known. No prompt is refused for it here.
	Window int

	// MaxTokens is how long a reply may be whose prompt does not say. The default
	// is 4096.
	MaxTokens int

	// NoStream asks for the reply as a whole. The default is to read it as it is
	// written, so that a model that hangs is noticed.
	NoStream bool

	// Idle is how long a stream may say nothing, once it has begun. The default is
	// one minute.
	Idle time.Duration
}

// A protocol is how the interface of a provider is spoken.
type protocol struct {
	name      string // in errors
	path      string // behind the base URL
	authorize func(h http.Header, key llm.Secret)
	request   func(base, model string, p *llm.Prompt, stream bool) any // as package json encodes it
	collect   func() collector
}

// A collector puts a reply together.
type collector interface {
	// event takes an event of a stream, and reports whether it is the last.
	event(data []byte) (last bool, err error)

	// document takes a reply that came as a whole.
	document(data []byte) error

	// reply returns what was put together, with a bound where the server does not
	// say what it cost.
	reply(most llm.Usage) (*llm.Reply, error)
}

// A generator is an [llm.Generator] of a server.
type generator struct {
	protocol

	base  string
	model string
	opts  GeneratorOptions
	http  *httpjson.Client
}

func (p protocol) open(baseURL, model string, opts *GeneratorOptions) (llm.Generator, error) {
	g := &generator{protocol: p, model: model}
	if opts != nil {
		g.opts = *opts
	}
	o := &g.opts
	h := httpjson.Options{
		Authorize: func(h http.Header) { p.authorize(h, o.Key) }, NoStream: o.NoStream, Idle: o.Idle,
	}
	var err error
	if g.base, g.http, err = o.open(baseURL, model, h, 5*time.Minute, 8<<20); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	if o.Window < 0 || o.MaxTokens < 0 {
		return nil, errors.New(p.name + ": options: negative number")
	}
	o.MaxTokens = cmp.Or(o.MaxTokens, 4096)
	return g, nil
}

// Name returns the model and the base URL, such as
// "llama3@http://localhost:11434/v1".
func (g *generator) Name() string { return g.model + "@" + g.base }

// Window implements [llm.Generator].
func (g *generator) Window() int { return g.opts.Window }

// Generate implements [llm.Generator]. What a model thinks before it writes is no
// part of the reply, where the server keeps it apart.
func (g *generator) Generate(ctx context.Context, p *llm.Prompt) (*llm.Reply, error) {
	asked := *p
	if asked.MaxTokens <= 0 {
		asked.MaxTokens = g.opts.MaxTokens
	}
	reply, err := g.generate(ctx, &asked)
	if err != nil {
		return nil, fmt.Errorf("generate with %s: %w", g.Name(), err)
	}
	return reply, nil
}

func (g *generator) generate(ctx context.Context, p *llm.Prompt) (*llm.Reply, error) {
	body, err := json.Marshal(g.request(g.base, g.model, p, !g.opts.NoStream))
	if err != nil {
		return nil, err // not reached: strings and numbers can be encoded
	}
	c := g.collect()
	document, err := g.http.Stream(ctx, g.base+g.path, body, func(e *httpjson.Event) (bool, error) { return c.event(e.Data) })
	if err == nil && document != nil {
		err = c.document(document)
	}
	if err != nil {
		return nil, err
	}
	return c.reply(p.Most())
}

// A draft is what a collector has of a reply.
type draft struct {
	text    strings.Builder
	model   string
	stop    string // why it ends, in the words of the provider
	refused bool   // whatever stop says
	usage   llm.Usage
}

// finish returns the reply, given what the reasons mean for which one ends.
func (d *draft) finish(reasons map[string]llm.Stop, most llm.Usage) (*llm.Reply, error) {
	stop, known := reasons[d.stop]
	r := &llm.Reply{Text: d.text.String(), Model: d.model, Stop: stop, Usage: d.usage.Or(most)}
	if d.refused {
		r.Stop = llm.StopRefusal
	}
	switch {
	case d.stop == "":
		return nil, badReply("ends without saying why")
	case !known:
		return nil, badReply("ends for a reason that is not known")
	case r.Stop == llm.StopEnd && strings.TrimSpace(r.Text) == "":
		return nil, badReply("says nothing")
	}
	return r, nil
}

// given reports whether a field is there and not null.
func given(field json.RawMessage) bool { return len(field) > 0 && string(field) != "null" }
