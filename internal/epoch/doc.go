// Package epoch decides which messages are sent to a model in place of a client's, and when
// they change.
//
// Clients send the whole history again with each call. Providers cache the prefix of a request,
// and bind reasoning to all messages before it. So messages that were sent once must be sent
// again byte for byte for as long as possible. An epoch is the period between two rewrites of
// the whole history.
//
// A [Book] has the rewrites of a conversation. The key of a rewrite is the chain of the client's
// messages that it stands for, see package wire. A head replaces all messages up to one; if
// several heads match a request, the longest is used. Behind the head, each message is replaced
// by its own rewrite, or goes as it came. The same history and the same rewrites always give the
// same bytes, so a retry, a restart, a rewind and a fork need no special case. Cache marks are
// the client's. They stay at their block, or move to the end of the messages that replace it;
// the model does not see them.
//
// [Decide] says when an epoch ends. [Fresh] and [Outputs] find large results that were never
// sent. [Bare] returns the messages to send when managing stops.
//
// # Units
//
// Sizes are in tokens, as an upper bound for the model, or in bytes where a comment says so. The
// size of a file that is neither text nor an image is an estimate.
//
// Everything here is pure: no I/O, no clock, no order of maps. A Book is for one goroutine.
package epoch
