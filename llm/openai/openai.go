// Package openai speaks the interface of OpenAI, which Ollama, llama.cpp, vLLM and
// many others serve, too: a [Client] embeds texts by POST /v1/embeddings, a
// [Generator] writes text by POST /v1/chat/completions.
//
// # What is sent, and where
//
// Texts go to one origin and nowhere else: no redirect is followed and no proxy is
// taken from the environment, so that the key and the texts reach only who they
// are meant for. Those to embed go in batches, one request at a time.
//
// # What comes back
//
// A reply is checked before it is used. Vectors are as many as texts, each at its
// index, all of one length, every component a finite number. What is written
// says that it has ended, and how; an error that comes as a reply is an error.
// Replies are read up to a number of bytes. What a server says beside that, in
// errors above all, is dropped: it may repeat a text or the key.
//
// # Trying again
//
// A request is sent again, a bounded number of times, if the server says that
// it is overloaded (429) or broken (5xx), or drops the connection. The pauses
// double, are shortened at random, and follow the server's Retry-After; if that
// asks for more patience than there is, the call fails at once. A model that has
// begun to write is not asked again.
package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/carrel-dev/carrel/internal/httpjson"
	"github.com/carrel-dev/carrel/llm"
)

// Options adjusts a [Client]. The zero value of every field is a sensible
// default, so a nil *Options is too.
type Options struct {
	// Key is sent as a bearer token. The default is to send none.
	Key llm.Secret

	// Dimensions is the length of the vectors to ask for, of a model that has
	// a choice. A reply of another length is refused. The default is to take
	// what comes.
	Dimensions int

	// Batch is the largest number of texts in a request. The default is 32.
	Batch int

	// BatchBytes is the largest size of the texts of a request together; one
	// that is larger goes alone. The default is 256 KiB.
	BatchBytes int

	// Timeout bounds each request, the reading of the reply included. The
	// default is 30 seconds.
	Timeout time.Duration

	// Retries is how often a request is sent again. The default is 2;
	// NoRetries sends each once.
	Retries int

	// MaxReply is the largest reply to read, in bytes. The default is 32 MiB.
	MaxReply int64

	// HTTPClient sends the requests. Its redirect policy is not used. The
	// default keeps a few connections open and uses no proxy.
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

// A Client is an [llm.Embedder]. It is safe for concurrent use.
type Client struct {
	url   string // of the embeddings
	name  string
	model string
	opts  Options
	http  *httpjson.Client
}

// New returns a client of the server at a base URL, such as
// "http://localhost:11434" or "https://api.openai.com/v1", for one of its
// models. The URL may end in "/v1" or not. It sends nothing.
func New(baseURL, model string, opts *Options) (*Client, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	base, client, err := httpjson.Open(baseURL, model, o.Key.Reveal(), httpjson.Options{
		Authorize: bearer(o.Key), Errors: sentinels,
		Timeout: o.Timeout, Retries: o.Retries, MaxReply: o.MaxReply,
		HTTPClient: o.HTTPClient, Sleep: o.Sleep, Rand: o.Rand,
	}, 30*time.Second, 30*time.Second, 32<<20)
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	if o.Dimensions < 0 || o.Batch < 0 || o.BatchBytes < 0 {
		return nil, errors.New("openai: options: negative number")
	}
	httpjson.SetDefault(&o.Batch, 32)
	httpjson.SetDefault(&o.BatchBytes, 256<<10)
	c := &Client{url: base + "/embeddings", model: model, opts: o, name: model + "@" + base, http: client}
	if o.Dimensions > 0 {
		c.name = fmt.Sprintf("%s/%d@%s", model, o.Dimensions, base)
	}
	return c, nil
}

// sentinels are those of the port.
var sentinels = httpjson.Errors{Unavailable: llm.ErrUnavailable, Refused: llm.ErrRefused, Reply: llm.ErrReply}

// bearer returns what adds a key to a request, if there is one.
func bearer(key llm.Secret) func(http.Header) {
	return func(h http.Header) {
		if !key.IsZero() {
			h.Set("Authorization", "Bearer "+key.Reveal())
		}
	}
}

// Name returns the model, the dimensions if they were chosen, and the base URL,
// such as "all-minilm@http://localhost:11434/v1".
func (c *Client) Name() string { return c.name }

// Embed implements [llm.Embedder]. An empty text is sent as one space, since
// some servers refuse to embed nothing.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := c.batch(texts)
		batch, err := c.embed(ctx, texts[:n])
		if err != nil {
			return nil, fmt.Errorf("embed with %s: %w", c.name, err)
		}
		if len(vectors) > 0 && len(batch[0]) != len(vectors[0]) {
			return nil, fmt.Errorf("embed with %s: %w", c.name, badReply("vectors of %d components after those of %d", len(batch[0]), len(vectors[0])))
		}
		vectors = append(vectors, batch...)
		texts = texts[n:]
	}
	return vectors, nil
}

// batch returns how many of the texts go into the next request.
func (c *Client) batch(texts []string) int {
	size := len(texts[0])
	n := 1
	for n < len(texts) && n < c.opts.Batch && size+len(texts[n]) <= c.opts.BatchBytes {
		size += len(texts[n])
		n++
	}
	return n
}

// request is the body of a request.
type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Format     string   `json:"encoding_format"`
	Dimensions int      `json:"dimensions,omitempty"`
}

// embed embeds the texts of one request.
func (c *Client) embed(ctx context.Context, texts []string) ([][]float32, error) {
	input := make([]string, len(texts))
	for i, t := range texts {
		input[i] = t
		if t == "" {
			input[i] = " "
		}
	}
	body, err := json.Marshal(request{c.model, input, "float", c.opts.Dimensions})
	if err != nil {
		return nil, err // not reached: strings and numbers can be encoded
	}
	reply, err := c.http.Post(ctx, c.url, body)
	if err != nil {
		return nil, err
	}
	return parseReply(reply, len(texts), c.opts.Dimensions)
}
