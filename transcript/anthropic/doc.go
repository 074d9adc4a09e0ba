// Package anthropic reads, writes and validates request bodies of Anthropic's
// Messages API: an object with messages, and perhaps system, tools and model,
// or the list of messages alone.
//
// # What is read
//
// The top-level system text is the first message, of role system. A user's
// message that holds tool results is of role tool, whatever else is in it.
// Blocks that only the provider understands, such as those of server tools and
// compactions, are [transcript.Opaque]. Everything keeps its bytes.
//
// # What is written
//
// A changed window of a body keeps the body's frame, the bytes of each
// unchanged message and the spacing of the list. Thinking is cut out of a
// message and the text of a result is replaced in place; nothing else of the
// message changes. What the provider would refuse is mended and listed in
// Repairs: results go behind their call in one message, empty texts and
// thinking without a signature go, a system text where none is allowed becomes
// the user's, and a user speaks first. The frame is never mended: cache marks,
// sampling parameters and the model stay, and so does what is wrong with them.
//
// Sessions of other formats are written anew, without a model and without
// tools. Thinking survives only from Claude Code, whose signatures are the
// provider's own; from others it is a loss. Arguments that are no JSON object
// become {"_raw": "…"}.
//
// # What is checked
//
// Validate reports these rules, each with what can be seen in one request:
//
//	A0   the form of messages, blocks and ids
//	A1   a user speaks first
//	A2   each tool call is answered in the next message
//	A3   no result without its call in the message before
//	A4   results stand before anything else in their message
//	A5   all results of a reply stand in one message
//	A6   calls and results of server tools stand in one reply
//	A8   thinking has a signature; where thinking is enabled with a budget, a turn
//	     that waits for the model begins with thinking (models before 4.7)
//	A10  no text of a message is without a word, no other text and no message is empty,
//	     except the last reply, and a message of the system that is there for its
//	     settings (output_config)
//	A11  at most 4 cache marks, those of one hour first, none on thinking or on
//	     empty text
//	A12  no reply at the end (models from 4.6), unless it waits for results
//	A13  no sampling parameters and no thinking budget (models from 4.7)
//	A14  at most 100,000 messages and 32 MB
//	A15  system messages inside the conversation (Opus from 4.8, others from 5) stand
//	     behind a user's message, and last or before a reply
//	A16  no tool call id twice
//
// A7 and A9, that thinking and what stands before it are unchanged, can only
// be told by who knows what was sent before. Rules about models are checked
// where the body names a model whose version can be told; without one the place of system
// messages is checked alone. A call in the last message is pending and no violation.
package anthropic
