// Package anthropic reads, writes and validates request bodies of Anthropic's Messages API: an
// object with messages, and perhaps system, tools and model, or the list of messages alone.
//
// # What is read
//
// The top-level system text is the first message, of role system. A user's message that holds tool
// results is of role tool, whatever else is in it. Blocks that only the provider understands, such
// as those of server tools and compactions, are [transcript.Opaque]. Everything keeps its bytes.
//
// # What is written
//
// The encoded form of a changed window keeps the other fields of the body, the bytes of each
// unchanged message and the whitespace of the list. Thinking is cut out of a message and the text
// of a result is replaced in place; nothing else of the message changes. Encode repairs a
// conversation that the provider would refuse, and lists each change in Repairs: results move
// behind their call into one message, empty texts and unsigned thinking are removed, a system text
// in a forbidden place becomes a user's message, and a user's message is put first. Encode never
// repairs the other fields: cache marks, sampling parameters and the model stay, with their faults.
//
// A session of another format is written as a new body, without a model and without tools. Thinking
// is kept only from Claude Code, whose signatures are this provider's; thinking of other formats is
// a loss. Arguments that are not a JSON object become {"_raw": "…"}.
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
//	A10  a text of a message has more than white space, and a system text or a text of
//	     a result is not empty; no message is empty, except the last reply, and a
//	     system message that has only settings (output_config)
//	A11  at most 4 cache marks, those of one hour first, none on thinking or on
//	     empty text
//	A12  no reply at the end (models from 4.6), unless it waits for results
//	A13  no sampling parameters and no thinking budget (models from 4.7)
//	A14  at most 100,000 messages and 32 MB
//	A15  a system message inside the conversation stands directly behind a user's
//	     message or a block of a server tool, and is last or directly before a reply;
//	     Opus before 4.8 and other models before 5 take none
//	A16  no tool call id twice
//
// A7 and A9, that thinking and the bytes before it are unchanged, need the requests sent
// before and are not checked here. Rules about models are checked only if the body names a
// model whose version is known; without a version, A15 checks the place alone. A call in the
// last message is pending and no violation. Format is a [transcript.Tidier].
package anthropic
