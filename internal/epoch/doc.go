// Package epoch decides what is sent to a model in place of what a client sends, and when
// that changes.
//
// Clients resend the whole history with each call. Providers keep what they have read, and
// bind reasoning to all that stood before it. So what was sent once must be sent again, byte
// for byte, for as long as it can: an epoch is the time between two rewrites of the whole.
//
// A [Book] has the rewrites of a conversation, by the chain of the client's messages that
// they stand for, see package wire. A head stands for all messages up to one; the longest
// that a request has wins. Behind it a message goes as its own rewrite says, or as it came.
// Nothing else decides what is sent, so a history that is sent again, a restart, a rewind
// and a fork need no special case: the same history and the same rewrites give the same
// bytes. Marks of the cache are the client's, and stay where they are or move to the end of
// what stands for their place; they change nothing of what a model reads.
//
// [Decide] says when an epoch has to end: [Fresh] and [Outputs] find the results that are too
// large and were never sent; [Bare] is what goes out when managing stops.
//
// # Units
//
// Sizes are in tokens, by an upper bound for the model, or in bytes where that is said.
//
// Everything here is pure: no I/O, no clock, no order of maps. A Book is for one goroutine.
package epoch
