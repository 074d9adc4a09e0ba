// Package proxy stands between the clients of models and their providers.
//
// A [Proxy] passes requests and answers on, byte for byte, and records each call: its intent
// before a byte of the request goes upstream, its outcome before the client gets the end of
// the answer. It imports conversations as they grow. A [Manager] may replace the body of a
// request; without a Manager nothing is changed.
//
// # What passes
//
// Everything, in both directions: bodies as they came, compressed or not; path and query; and
// all headers except Expect and those of a single connection (RFC 9110, 7.6.1).
// The proxy adds nothing, follows no redirect and uses no proxy of the environment. The
// upstreams are fixed: see [Upstreams]. The proxy reads the bodies of calls, whose paths
// [wire.RouteOf] knows; other requests pass unread. It refuses upgrades to another protocol,
// such as websockets, because it cannot read their traffic; it ignores an offer to go on in HTTP/2.
//
// # Who may ask
//
// Programs of this machine: the credentials are the client's own and belong to the
// provider. A request has to name this server in its header Host, and must not come from a
// page in a browser, see [auth.Local].
//
// # How it fails
//
// Open: a call that cannot be read, recorded or managed in time passes as it came. A call that
// is not recorded is logged and counted as a gap. With [Options.Required], a call whose intent
// cannot be recorded is answered with 503 and not sent, and an answer whose outcome cannot be
// recorded ends as failed. If the provider cuts an answer, the proxy aborts the connection to
// the client: it never adds an end that looks like success. If the client disconnects, the
// request to the provider is canceled.
//
// # Memory
//
// The body of a request is in memory while it is sent, up to [Options.MaxBody]; a larger body
// streams through unread. An answer passes in pieces; at most the last megabyte is held back. The
// answers of a call with the tool [ToolRecall] are kept until its end; if they are no streams, they
// are read whole.
package proxy
