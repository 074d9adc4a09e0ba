// Package proxy stands between the clients of models and their providers.
//
// A [Proxy] passes requests and answers on, byte for byte, and writes down what went
// through: an intent before a byte of a request goes upstream, an outcome before the
// client learns that the answer is whole. Conversations are imported as they grow. What
// is sent for a call a [Manager] may decide; without one nothing is changed.
//
// # What passes
//
// Everything, in both directions: bodies as they came, compressed or not, all headers but
// those that are about one connection (RFC 9110, 7.6.1) and Expect, query and path.
// Nothing is added, no redirect is followed, no proxy of the environment is used. The
// upstreams are fixed: see [Upstreams]. Of the paths, those of [wire.RouteOf] are calls
// that are read; others pass unread. Upgrades to another protocol, such as websockets, are
// refused, since nobody could read what goes through them.
//
// # Who may ask
//
// Programs of this machine: the credentials are the client's own and belong to the
// provider. A request has to name this server in its header Host, and must not come from a
// page in a browser, see [auth.Local].
//
// # How it fails
//
// Open: what cannot be read, recorded or managed within its bound passes as it came; it is
// counted as a gap and logged. With [Options.Required] a call that cannot be recorded is
// answered with 503 and not sent, or its answer ends as failed. An answer that is cut ends
// as cut, in a connection that is aborted: the proxy never makes an end of its own that
// looks like success. If the client leaves, so does the request to the provider.
//
// # Memory
//
// A body is in memory while it is sent, up to [Options.MaxBody]; a larger one streams
// through unread. Of an answer there is a piece at a time, and of its last event at most
// a megabyte.
package proxy
