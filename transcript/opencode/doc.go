// Package opencode reads, writes and validates sessions of OpenCode in the form that
// opencode export writes and opencode import reads: {"info": …, "messages": [{"info": …,
// "parts": […]}, …]}. OpenCode keeps sessions in a database; whoever reads that makes this
// form of it, see [Assemble].
//
// # What is read
//
// A message of a user is one message. What OpenCode added to it (synthetic texts, such as
// files that were attached) is a message of its own, so that it can be paged without the
// words of the person. Texts that are ignored, and files that are only named because their
// text is attached, are left out, as OpenCode does not send them.
//
// A reply is a message for each of its steps, and one with the results of its tool calls. A
// call that has not ended has no result. A reply that failed before it said anything is not
// sent, and so is no message.
//
// A compaction is a message of the user's role with a part of type compaction, and a reply
// with the mark summary. The conversation is then what OpenCode sends: that message, the
// summary, the messages from tail_start_id to the compaction, and everything behind it.
// What was before is an earlier window, without what was kept of it. The result of a call
// whose output OpenCode has cleared (time.compacted) is the text that is sent in its place;
// with its output the call is in an earlier window of its own.
//
// What stands behind the message that a revert names is a fork.
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
//	N0   what opencode import needs is there and of its type
//	N1   ids begin with ses, msg and prt
//	N2   no id of a message or a part stands twice; the second would be left out
//	N3   messages stand in the order of time.created and id, and parts in that of id, as
//	     OpenCode reads them
//	X7   a user speaks first
//	A16  no tool call id twice
//
// Source: the schemas of OpenCode 1.18.33, and what it exports, imports and sends.
package opencode
