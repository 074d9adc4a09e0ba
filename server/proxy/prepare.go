package proxy

import (
	"context"
	"net/http"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/epoch"
	"github.com/carrel-dev/carrel/internal/weave"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/token"
)

// A Manager decides what is sent for a call. Without one a [Proxy] observes. It is safe
// for concurrent use.
type Manager interface {
	// Prepare returns the body to send in place of the request's, or why it is to be sent
	// as it is. It returns when ctx is done. After an error, or without a result, the
	// request goes out as it came. The request is good until Done was called for it; if
	// that is not called, until the call is over.
	Prepare(ctx context.Context, req *wire.Request) (*Prepared, error)

	// Refused is asked after the provider refused what was sent in place of a request,
	// with a status from 400 to 499. It returns what to send now, once, or nil to pass
	// the refusal on. A Prepared without a body is the request as it came.
	Refused(ctx context.Context, req *wire.Request, p *Prepared, status int, body []byte) (*Prepared, error)

	// Done tells how a call ended for which Prepare returned something: p is what was sent
	// last. It is called once, before the client learns of the end.
	Done(req *wire.Request, p *Prepared, answer *wire.Answer)
}

// Prepared is what a [Manager] decided about a call.
type Prepared struct {
	Body   []byte        // to be sent, not compressed; nil is the request as it came
	Reply  *Reply        // an answer without a call to the provider, or nil
	Reason string        // why it is managed so, or not: one word or few, no text of the conversation
	Epoch  int           // of what is sent
	Sent   digest.Digest // the chain of what is sent
	Recall bool          // the tool [ToolRecall] is among the tools of Body
	State  any           // the Manager's own

	size   token.Count  // a bound of what is sent, of [Epochs]
	parts  []epoch.Part // of Body
	before lastSent     // in the same conversation
	last   lastSent     // what was sent last for this call, once it was
}

// A Recaller is a [Manager] that adds the tool [ToolRecall] to what is sent. The proxy answers
// the calls of that tool, and the client sees nothing of them.
type Recaller interface {
	// Recall returns what the result of a call says, given its input.
	Recall(ctx context.Context, input string) string

	// Recalled keeps what was said and is not in the answer that the client gets, so that it
	// is there again when the client comes back. It is called before the client learns of
	// the end of the answer.
	Recalled(ctx context.Context, req *wire.Request, p *Prepared, reply *weave.Reply) error
}

// A Reply is an answer that Carrel gives itself, with status 200.
type Reply struct {
	Header http.Header
	Body   []byte
}

// A Teller is a [Manager] that tells which conversation a request is of, to be stored: with
// what it sends in place of messages that it made smaller.
type Teller interface {
	Whole(req *wire.Request) ([]byte, error)
}
