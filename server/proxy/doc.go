// Package proxy stands between the clients of models and their providers.
//
// A [Proxy] passes requests and answers on, byte for byte, and records each call: its intent
// before a byte of the request goes upstream, its outcome before the client gets the end of
// the answer. It imports conversations as they grow. A [Manager] may replace the body of a
// request; without a Manager nothing is changed. A proxy that manages:
//
//	m := proxy.NewEpochs(&proxy.EpochOptions{Engine: e}) // e is a carrel.Engine
//	p, err := proxy.New(&proxy.Options{
//		Listen: addr, Recorder: e, Importer: m, Manager: m, Prepare: m.Bound(),
//	})
//	...
//	l, err := auth.Listen(addr, false)
//	...
//	err = p.Serve(ctx, l, 10*time.Second)
//
// Clients of Anthropic use http://ADDR/anthropic as their base URL, and clients of OpenAI
// http://ADDR/openai/v1.
//
// # What passes
//
// Everything, in both directions: bodies as they came, compressed or not; path and query; and
// all headers except Expect and those of a single connection (RFC 9110, 7.6.1).
// The proxy adds nothing, follows no redirect and uses no proxy of the environment. The
// upstreams are fixed: see [Upstreams]. The proxy reads the bodies of calls: a POST to
// /v1/messages, /v1/chat/completions, /v1/responses or a path below these that counts tokens or
// compacts. Other requests pass unread. It refuses upgrades to another protocol,
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
// streams through unread. An answer passes in pieces; at most the last megabyte is held back. For
// one call with the tool [ToolRecall] the proxy may send several requests. It keeps their answers
// until the call ends, and reads those that are no streams whole, up to 64 MiB each.
package proxy
