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

// A Manager decides which body is sent for a call. Without a Manager a [Proxy] changes nothing.
// A Manager is safe for concurrent use. It needs internal types, so other modules use [Epochs].
type Manager interface {
	// Prepare returns the body to send in place of the client's, or the reason why the
	// client's is sent. It returns when ctx is done. After an error or a nil result the
	// request goes out as it came. The Manager may read req until Done returns, or, if Done
	// is not called, until the end of the call.
	Prepare(ctx context.Context, req *wire.Request) (*Prepared, error)

	// Refused is called after the provider refused a body of the Manager with a status from
	// 400 to 499. body is that of the refusal, decompressed if possible. It returns what to
	// send now, or nil to pass the refusal on. It is called once for a call. A Prepared
	// without a body sends the request as it came.
	Refused(ctx context.Context, req *wire.Request, p *Prepared, status int, body []byte) (*Prepared, error)

	// Done is called when a call has ended for which Prepare returned a result; p is the
	// last one that was sent. It is called once, before the client gets the end of the answer.
	Done(req *wire.Request, p *Prepared, answer *wire.Answer)
}

// Prepared is the decision of a [Manager] about a call.
type Prepared struct {
	Body   []byte        // to be sent, not compressed; nil sends the client's body
	Reply  *Reply        // an answer without a call to the provider, or nil
	Reason string        // why the call is managed so, or not: a few words, no text of the conversation
	Epoch  int           // number of the epoch; 0 before the first head
	Sent   digest.Digest // names the list of the sent messages
	Recall bool          // the tool [ToolRecall] is among the tools of Body
	State  any           // for the Manager's own use

	size   token.Count  // upper bound of the size of the sent request, set by [Epochs]
	parts  []epoch.Part // the messages in Body
	before lastSent     // messages sent by the call before, in the same conversation
	last   lastSent     // by this call, set when it has ended
}

// A Recaller is a [Manager] that adds the tool [ToolRecall] to requests. The proxy answers the
// calls of that tool itself and hides them from the client.
type Recaller interface {
	// Recall returns the text of the result of a tool call, given its input.
	Recall(ctx context.Context, input string) string

	// Recalled stores the messages of an answer that the client does not see, which are calls of
	// ToolRecall and their results. Later requests send them again in their place. It is called
	// before the client gets the end of the answer.
	Recalled(ctx context.Context, req *wire.Request, p *Prepared, reply *weave.Reply) error
}

// A Reply is an answer that Carrel makes without the provider. Its status is 200.
type Reply struct {
	Header http.Header
	Body   []byte
}

// A ConversationSource is a [Manager] that gives the conversation to store for a managed request.
// The proxy imports that; with another Manager it imports the client's body.
type ConversationSource interface {
	// Whole returns the request body to import. Where the Manager replaced parts of messages
	// with pointers, the body has the pointers.
	Whole(req *wire.Request) ([]byte, error)
}
