// Package chat has the code that the formats of request bodies share. A body is an object with a
// list of messages, or the list alone.
//
// [Read] finds the messages of a body; [Frame.Cut] cuts the body into the items of a session;
// [Frame.Join] replaces the messages. The bytes around the list stay, and so do the bytes
// between messages that stay neighbors. [Sniff] tells the formats apart.
//
// The package does no I/O and keeps no state. Errors are
// [*transcript.SyntaxError].
package chat
