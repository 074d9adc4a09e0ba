// Package remote has drivers for models on servers, over HTTP. [NewEmbedder] and [NewOpenAI]
// use the API of OpenAI, POST /v1/embeddings and /v1/chat/completions, which Ollama, llama.cpp,
// vLLM and many others serve, too. [NewAnthropic] uses the API of Anthropic, POST /v1/messages.
//
// # Requests
//
// Texts and key go to one origin only: redirects are not followed, and no proxy is taken from
// the environment. Texts to embed go in batches, one request at a time.
//
// # Replies
//
// A reply is checked before use. There must be one vector for each text, all of the same
// length, with finite components. Written text must have an end with a reason. An error that
// comes in place of a reply or within one is returned as an error. Replies are limited in size
// and time. Other text from the server, above all in errors, is dropped, because it may repeat
// a text or the key.
//
// # Retries
//
// A request is sent again, a limited number of times, if the server reports that it is
// overloaded (429, 529) or broken (5xx), or drops the connection before it answers. Pauses
// double, are shortened at random, and follow the server's Retry-After. If that is longer than
// 30 seconds, the call fails at once with [llm.ErrUnavailable]. A request is not repeated once the
// model has begun to write.
package remote

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/carrel-dev/carrel/internal/httpjson"
	"github.com/carrel-dev/carrel/llm"
)

// Options say how to send requests. The zero value of every field is a sensible default.
type Options struct {
	// Key is the key, sent as the API requires. By default none is sent.
	Key llm.Secret

	// Timeout limits each request, including the reading of the reply. The default is 30
	// seconds for embeddings and 5 minutes for text.
	Timeout time.Duration

	// Retries is how often a request is sent again, see the package comment. The default is 2;
	// NoRetries sends each request once.
	Retries int

	// MaxReply is the most bytes of a reply that are read, for a stream in total. The default
	// is 32 MiB for embeddings and 8 MiB for text.
	MaxReply int64

	// HTTPClient sends the requests. Its redirect policy is ignored. The default keeps a few
	// connections open and uses no proxy.
	HTTPClient *http.Client

	// Sleep waits for a duration, or until the context is done and then returns its error. It
	// must be safe for concurrent use. The default does this with a timer.
	Sleep func(context.Context, time.Duration) error

	// Rand returns a random number of at least 0 and less than n. It must be safe for concurrent
	// use. The default is rand.Int64N.
	Rand func(n int64) int64
}

// NoRetries is the [Options.Retries] that sends each request once.
const NoRetries = httpjson.NoRetries

// open returns baseURL in canonical form, which ends in "/v1", and a client. The client has the
// settings of o, and the settings Authorize, Idle and NoStream of h. If o.Timeout or o.MaxReply is
// 0, the client has timeout or maxReply instead. open only checks o.Key; h.Authorize must send it.
// open fails if baseURL, the key or a setting is invalid, or if model is empty.
func (o *Options) open(baseURL, model string, h httpjson.Options, timeout time.Duration, maxReply int64) (string, *httpjson.Client, error) {
	h.Errors = sentinels
	h.Timeout, h.Retries, h.MaxReply = o.Timeout, o.Retries, o.MaxReply
	h.HTTPClient, h.Sleep, h.Rand = o.HTTPClient, o.Sleep, o.Rand
	return httpjson.Open(baseURL, model, o.Key.Reveal(), h, timeout, time.Minute, maxReply)
}

// bearer sets the header for the key as OpenAI requires, if there is a key.
func bearer(h http.Header, key llm.Secret) {
	if !key.IsZero() {
		h.Set("Authorization", "Bearer "+key.Reveal())
	}
}

// sentinels are the errors of package llm.
var sentinels = httpjson.Errors{Unavailable: llm.ErrUnavailable, Refused: llm.ErrRefused, Reply: llm.ErrReply}

// badReply returns an [llm.ErrReply] with a reason.
func badReply(format string, args ...any) error {
	return fmt.Errorf("%w: %s", llm.ErrReply, fmt.Sprintf(format, args...))
}
