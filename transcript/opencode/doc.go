// Package opencode reads, writes and validates sessions of OpenCode in the form that
// opencode export writes and opencode import reads: {"info": …, "messages": [{"info": …,
// "parts": […]}, …]}. OpenCode keeps sessions in a database, which this package does not read.
// Format is a [transcript.Resumed] and a [transcript.Metered].
//
// # What is read
//
// A message of a user is one message. Texts that OpenCode added to it (synthetic texts, such as
// attached files) are a separate message, so that they can be paged without the words of the
// person. Ignored texts, and files that are only named because their text is attached, are left
// out, because OpenCode does not send them.
//
// Each step of a reply is a message; if it has calls, a message with their results follows. A
// call that has not ended has no result. A reply that failed before it had any content is no
// message, because OpenCode does not send it.
//
// A compaction is a message of the user's role with a part of type compaction, and a reply
// with the mark summary. The conversation then has the messages that OpenCode sends: that message,
// the summary, the messages from tail_start_id to the compaction, and everything behind it.
// The messages before it, except kept ones, are an earlier window. If OpenCode has cleared the
// output of a call (time.compacted), its result is the text that is sent instead, and the call
// with its output is in a separate earlier window.
//
// The messages behind the one that a revert names are a fork.
//
// # What is written
//
// opencode import ignores sessions, messages and parts whose id it already has. So a changed
// window becomes a new session in which all ids are new; the ids are hashes of the content and
// rise in the order of the messages. An unchanged message keeps its bytes, except for ids, its
// time, which must not fall, and the usage of its call, which becomes 0: otherwise OpenCode
// would compact the smaller conversation because the old one was long, and count the cost
// twice. A changed result loses its metadata and attachments. The windows before a compaction
// and replies that were not sent are left out.
//
// Sessions of other formats lose system text, tools and thinking, see Losses. Arguments of a
// call that are no object are wrapped in {"_raw": …}.
//
// # What is checked
//
//	N0   the fields that opencode import needs are present and of the right type
//	N1   ids begin with ses, msg and prt
//	N2   no id of a message or a part stands twice; the second would be left out
//	N3   messages stand in the order of time.created and id, and parts in that of id, as
//	     OpenCode reads them
//	X7   a user speaks first
//	A16  no tool call id twice
//
// Source: the schemas of OpenCode 1.18.33, its exports, imports and requests.
package opencode
