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

// GeneratorOptions adjust a generator. The zero value of every field is a sensible default, so
// a nil *GeneratorOptions is valid, too.
type GeneratorOptions struct {
	Options

	// Window is the limit for the tokens of prompt and reply together. The default is 0:
	// unknown. The generator does not check prompts against it.
	Window int

	// MaxTokens is the most tokens of a reply if its prompt sets no limit. The default is 4096.
	MaxTokens int

	// NoStream requests the whole reply at once. The default is to read it as a stream, so that
	// a hanging model is noticed.
	NoStream bool

	// Idle is the longest pause within a stream. The default is one minute.
	Idle time.Duration
}

// A protocol is the API of a provider.
type protocol struct {
	name      string // name in errors
	path      string // path behind the base URL
	authorize func(h http.Header, key llm.Secret)
	request   func(base, model string, p *llm.Prompt, stream bool) any // body of a request, for package json
	collect   func() collector
}

// A collector collects the parts of a reply.
type collector interface {
	// event reads an event of a stream and reports whether it is the last.
	event(data []byte) (last bool, err error)

	// document reads a complete reply.
	document(data []byte) error

	// reply returns the collected reply. Its usage is the bound most if the server reports none.
	reply(most llm.Usage) (*llm.Reply, error)
}

// A generator is an [llm.Generator] that asks a server.
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
		return nil, errors.New(p.name + ": options: Window and MaxTokens must not be negative")
	}
	o.MaxTokens = cmp.Or(o.MaxTokens, 4096)
	return g, nil
}

// Name returns the model and the base URL, such as "llama3@http://localhost:11434/v1".
func (g *generator) Name() string { return g.model + "@" + g.base }

// Window implements [llm.Generator].
func (g *generator) Window() int { return g.opts.Window }

// Generate implements [llm.Generator]. The reply does not contain the model's reasoning, if the
// server separates it.
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
		return nil, err // unreachable: strings and numbers can be encoded
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

// A draft is what a collector has read of a reply so far.
type draft struct {
	text    strings.Builder
	model   string
	stop    string // reason for the end, in the provider's words
	refused bool   // whether the model refused, whatever stop says
	usage   llm.Usage
}

// finish returns the reply. reasons maps the provider's names of reasons for
// the end to those of package llm. The bound most is the usage if the server
// reported none.
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

// given reports whether a field is present and not null.
func given(field json.RawMessage) bool { return len(field) > 0 && string(field) != "null" }
