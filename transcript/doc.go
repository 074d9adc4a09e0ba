// Package transcript is the vocabulary of conversations: sessions, messages,
// parts, blocks, and what a file format must offer.
//
// # Two views of the same bytes
//
// A [Session] holds a conversation twice. Its Items are the bytes it came
// from, cut into pieces whose concatenation is the input; nothing is ever
// lost, whatever a format does not understand included. Its Messages are a
// typed view of the visible conversation: who said what, which tools were
// called, what they returned. Each message names the items it was read from.
// Programs decide by the typed view and move the bytes.
//
// # Blocks
//
// [Group] puts messages into blocks. A [Block] is the smallest part of a
// session that is kept, paged or evicted as a whole: a system or user message,
// or an assistant's reply with all results of its tool calls. A call and its
// result are never parted.
//
// # Windows
//
// A [Window] says what of a session is to be sent: messages as they are,
// messages with less in them, and stubs in place of others. A [Format] turns a
// window into bytes. An intact window of a session in its own format is the
// input, byte for byte; in a changed one, every message that was not itself
// changed keeps its bytes.
//
// Nothing in this package reads a clock, does I/O or depends on the order of a
// map. Values returned by a decoder may share memory with the input, which must
// not be changed afterwards.
package transcript
