// Package remote asks models that a server has, over HTTP: [NewEmbedder] embeds
// texts and [NewOpenAI] writes text by the interface of OpenAI, POST /v1/embeddings
// and /v1/chat/completions, which Ollama, llama.cpp, vLLM and many others serve, too.
// [NewAnthropic] writes text by the interface of Anthropic, POST /v1/messages.
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
// says that it has ended, and how; an error that comes as a reply, or in the middle
// of one, is an error. Replies are read up to a number of bytes and for a limited
// time. What a server says beside that, in errors above all, is dropped: it may
// repeat a text or the key.
//
// # Trying again
//
// A request is sent again, a bounded number of times, if the server says that
// it is overloaded (429, 529) or broken (5xx), or drops the connection before it has
// answered. The pauses double, are shortened at random, and follow the server's
// Retry-After; if that asks for more patience than there is, the call fails at once.
// A model that has begun to write is not asked again.
package remote

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/carrel-dev/carrel/internal/httpjson"
	"github.com/carrel-dev/carrel/llm"
)

// Options say how a server is asked. The zero value of every field is a sensible
// default.
type Options struct {
	// Key is sent as the interface wants it. The default is to send none.
	Key llm.Secret

	// Timeout bounds each request, the reading of the reply included. The default
	// is 30 seconds to embed and 5 minutes to write.
	Timeout time.Duration

	// Retries is how often a request is sent again that was turned away. The
	// default is 2; NoRetries sends each once.
	Retries int

	// MaxReply is the largest reply to read, in bytes, all of a stream counted. The
	// default is 32 MiB of vectors and 8 MiB of text.
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

// open returns the base URL of a server, and a client of it that goes by the options
// and by what is set in h.
func (o *Options) open(baseURL, model string, h httpjson.Options, timeout time.Duration, maxReply int64) (string, *httpjson.Client, error) {
	h.Errors = sentinels
	h.Timeout, h.Retries, h.MaxReply = o.Timeout, o.Retries, o.MaxReply
	h.HTTPClient, h.Sleep, h.Rand = o.HTTPClient, o.Sleep, o.Rand
	return httpjson.Open(baseURL, model, o.Key.Reveal(), h, timeout, time.Minute, maxReply)
}

// bearer adds a key to a request as OpenAI wants it, if there is one.
func bearer(h http.Header, key llm.Secret) {
	if !key.IsZero() {
		h.Set("Authorization", "Bearer "+key.Reveal())
	}
}

// sentinels are those of the port.
var sentinels = httpjson.Errors{Unavailable: llm.ErrUnavailable, Refused: llm.ErrRefused, Reply: llm.ErrReply}

// badReply returns [llm.ErrReply] with what is wrong with the reply.
func badReply(format string, args ...any) error {
	return fmt.Errorf("%w: %s", llm.ErrReply, fmt.Sprintf(format, args...))
}
