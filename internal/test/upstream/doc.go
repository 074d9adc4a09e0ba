// Package upstream answers as the Messages API of Anthropic does, without a
// model: it plays a script, and refuses what the real service refuses.
//
// A test points a client at a [Server], lets it work, and looks at what arrived.
// The server knows nothing of Carrel and shares no code with its validators: it
// is the oracle they are measured against. It judges the JSON of a request as it
// is written, by the rules below.
//
// # What is served
//
//	POST /v1/messages               a reply of the script, whole or as a stream
//	POST /v1/messages/count_tokens  a count, after the same checks
//	GET  /v1/models                 the models of the table
//	HEAD /                          nothing, as a client asks before it begins
//
// # Rules
//
// A request that breaks a rule gets the status and the text that the service
// gives, and a [Refusal] that names the rule:
//
//	A0   the form of the request, its messages and their blocks
//	A1   a user speaks first
//	A2   each tool call is answered in the next message
//	A3   no result without its call in the message before
//	A4   results stand before anything else in their message
//	A5   all results of a reply stand in one message
//	A6   calls and results of server tools stand in one reply
//	A7   the thinking of the latest reply is as it was given
//	A8   with a thinking budget, an unfinished turn begins with its thinking
//	A9   thinking is bound to what it followed (models with preserved thinking)
//	A10  no text and no message is empty, except a reply at the end and a system
//	     message that is there for its settings (output_config)
//	A11  at most 4 cache marks, those of one hour first, none on thinking or on
//	     empty text
//	A12  no reply that was begun (models from 4.6)
//	A13  no sampling parameters and no thinking budget (newer models)
//	A14  at most 100,000 messages and 32 MB
//	A15  system messages inside the conversation (newer models), behind a user
//	     message, and last or followed by a reply
//	A16  no tool call id twice
//	A17  a compaction of the server stands in a reply and says something
//
// Where two are broken, the first that is found is named. Blocks of a kind that
// is not known here are let pass, with whatever is in them.
//
// Some of them can be asked without a server, see [JudgeMessages]. [JudgeChat] judges
// requests of Chat Completions:
//
//	O0  the form of the request and its messages
//	O1  a reply has content or calls
//	O2  content is a text or a list of parts with types
//	O3  a call has an id, a name, and its arguments as a text
//	O4  each call is answered, before anybody else speaks
//	O5  no result without its call directly before
//	O6  results stand in the order of their calls
//	O7  no call id twice in one reply
//
// [JudgeResponses] judges requests of the Responses API:
//
//	R0  the form of the request, its items and their contents
//	R1  each call has an output
//	R2  each output stands behind its call, and is of its kind
//	R3  reasoning with an id stands before an item of its reply
//	R4  ids begin as those that the service gives
//	R5  no item id twice
//	R6  a call has a call_id of at most 64 bytes, a name, and its input as a text
//	R7  no call_id twice among calls
//	R8  an item that has its id has the reasoning that it came with ([JudgeKeptResponses])
//
// [JudgeKept] and [JudgeKeptResponses] compare a request with the one that it was made from:
//
//	K1  calls have the names and arguments that they had
//	K2  what only the provider can read stands as it was, in its order
//	K3  the last compaction of the server is there
//	K4  bound thinking stands behind all that it stood behind
//
// # Thinking
//
// The thinking that a script gives is signed. A signature proves the block's own
// text (A7) and what stood before it (A9): the system text, the tools, and each
// block of each earlier message. Cache marks do not count, a text is equal to a
// list with one block of that text, the order of keys does not matter, and a tool
// that is loaded later (defer_loading) and a system message that is to be cleared
// (clear_at) are as if they were not there. A thinking block may be left out unless another one stands before it and another
// behind.
//
// With the beta thinking-binding-controls-2026-08-01 a client may ask that a block
// which is bound to something else be dropped; the reply then lists it. The thinking
// of another model is dropped always.
//
// # Limits
//
// Counts of tokens are a fourth of the bytes. Nothing is cached, so usage shows no
// reads of a cache. Edits by the server (context_management, compaction) are not
// done, and no tool of the server is run, unless the script says what came of it.
package upstream
