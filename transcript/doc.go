// Package transcript defines conversations: sessions, messages, parts,
// blocks, windows, and the interface of a file format.
//
//	session, err := openai.Format.Decode(name, data)
//	...
//	window := transcript.Whole(session)
//	window.Entries[i] = window.Entries[i].WithResult(callID, "a shorter text")
//	encoded, err := openai.Format.Encode(window)
//
// To find the format of a file, ask each with Sniff.
//
// # Two views of the same bytes
//
// A [Session] holds a conversation twice. Its Items are the bytes of the input, cut into pieces
// that concatenate to it; they include everything that a format does not understand. Its Messages
// are a typed view of the visible conversation: speakers, texts, tool calls and results. Each
// message names its items. Programs decide by the typed view and move the bytes.
//
// # Blocks
//
// [Group] groups messages into blocks. A [Block] is the smallest part of a session that is kept,
// paged or evicted as a whole: a system or user message, or an assistant's reply with all results
// of its tool calls. A call and its result are never separated.
//
// # Windows
//
// A [Window] lists the parts of a session to send: whole messages, reduced messages, and stubs in
// place of others. A [Format] encodes a window. An intact window of a session in its own format is
// the input, byte for byte; in a changed one, every unchanged message keeps its bytes.
//
// The package does no I/O, reads no clock and is deterministic. Values of a decoder may share
// memory with the input, which the caller must not change afterwards. Formats have no state, so
// that they may be used concurrently; a Session that nobody changes may, too.
package transcript
