// Package chat has what the formats of request bodies share: an object with a
// list of messages in it, or the list alone.
//
// [Read] cuts a body into its messages and the frame around them, [Frame.Cut]
// makes the items of a session of it, and [Frame.Join] puts other messages into
// the frame: what stands around the list keeps its bytes, and so do the gaps
// between messages that stay neighbors. [Sniff] tells the formats apart.
//
// The package does no I/O and keeps no state. Errors are
// [*transcript.SyntaxError].
package chat
