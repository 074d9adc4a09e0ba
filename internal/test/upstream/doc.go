// Package upstream imitates, without a model, the Messages API of Anthropic, the Chat
// Completions and Responses APIs of OpenAI, and the Gemini API of Google: it answers from a
// script, and refuses requests that the real services refuse.
//
// A test points a client at a [Server], lets it work, and examines the recorded requests. The
// server knows nothing of Carrel and shares no code with its validators, so that they can be
// compared with it. It judges the JSON of a request as it is written, by the rules below.
//
// # What is served
//
//	POST /v1/messages                a reply of the script, whole or as a stream
//	POST /v1/messages/count_tokens   a count, after the same checks
//	POST /v1/chat/completions        a reply of the script, whole or as a stream
//	POST /v1/responses               a reply of the script, whole or as a stream; a compaction
//	                                 item, where the last item is a compaction_trigger
//	POST /v1/responses/compact       the words of the user and a compaction item
//	POST /v1/responses/input_tokens  a count, after the same checks
//	GET  /v1/responses               426: responses are not sent over websockets
//	GET  /v1/models                  the models of Anthropic, if the request has one of its
//	                                 headers, and else those of OpenAI
//	POST /v1beta/models/M:generateContent        a reply of the script
//	POST /v1beta/models/M:streamGenerateContent  the same as a stream
//	POST /v1beta/models/M:countTokens            a count, after the same checks
//	GET  /v1beta/models              the models of Google
//	HEAD /                           nothing, as a client asks before it begins
//
// Everything else gets 404. A request needs a key: X-Api-Key or a bearer for Anthropic, with
// Anthropic-Version; a bearer for OpenAI; X-Goog-Api-Key, key or a bearer for Google. A body may be compressed with gzip or zstd.
//
// Each [Request] is recorded: its body as received and decompressed, its headers, its content,
// its length, its cost, the answer, and whether the client left before it had the whole answer.
// The content of all dialects is converted to one form, so [Request.Texts], [Request.Results]
// and the like are the same for all of them.
//
// # Scripts
//
// A script is a list of steps, see [Step]. A step with Make computes its reply from the
// request, so that a model can follow the client's tools for any number of calls. A [Reply] is
// written for all dialects alike. Thinking is a reasoning item in the Responses API, and
// invisible in Chat Completions; a call whose input is a text calls a custom tool in the
// Responses API.
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
//	A8   thinking has a signature; with a thinking budget, an unfinished turn begins with
//	     its thinking
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
//	W    no request is longer than the window of its model
//
// If a request breaks several rules, the first one found is named. Blocks of unknown kinds are
// accepted with any content.
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
//	O6  results stand in the order of their calls (asked of exports alone, see [Judge])
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
// [JudgeGemini] judges requests of the Gemini API:
//
//	G0  the form of the request and its contents
//	G1  a user speaks first
//	G2  no reply stands behind another
//	G3  there are as many responses as calls, in the next content
//	G4  responses stand directly behind calls
//	G5  each response is for one of the calls, by its id or its name
//	G6  no content is without parts, no part without data, no text without words
//	G7  calls and responses have names, and objects for what they carry
//	G8  signatures are those of the server, on their own parts, or the documented text for
//	    none; in the current turn the first call of a reply has one, if any has, and always
//	    for models from gemini-3 on
//	G9  the model calls and thinks, others respond
//
// [JudgeKept] and [JudgeKeptResponses] compare a request with the one that it was made from:
//
//	K1  calls keep their names and arguments
//	K2  data that only the provider can read is unchanged and in order
//	K3  the last compaction of the server is present
//	K4  everything before bound thinking is unchanged
//	K5  within one format, a conversation in which the model must speak next stays one (asked by
//	    [Judge])
//
// # Thinking
//
// The thinking of a script is signed. A signature covers the block's own text (A7) and
// everything before it (A9): the system text, the tools, and each block of each earlier
// message. Cache marks do not count, a text equals a list with one block of that text, and the
// order of keys does not matter. Tools that are loaded later (defer_loading) and system messages
// to be cleared (clear_at) are ignored. A thinking block may be left out unless it is between
// two others.
//
// The reasoning of the Responses API is sealed in the same way. Its seal covers the tools, the
// instructions, the settings of text, and each item before it; ids, the status of an item and
// the form of a text do not count. It is never refused: reasoning that a model such as gpt-6 is
// not shown is listed in input_transformations, with the reason prefix_mismatch,
// content_invalid or model_mismatch. An item that the server stored (store is not false) cannot
// come back without its reasoning (R8), unless it has lost its id. [Request.Dropped] lists the
// reasoning and thinking that was not shown, in both dialects.
//
// With the beta thinking-binding-controls-2026-08-01 a client may ask to drop a block with
// another binding; the reply then lists it. The thinking of another model is always dropped.
//
// # Counts
//
// A token is 3.5 bytes of JSON, rounded up, for each unit of a request by itself; a picture or
// a document is 1,500 tokens at any size. Units are each tool, each block of system
// text, the settings that a model reads, and each block of a message (Messages), each message
// (Chat Completions), or each item (Responses). Tools that are loaded later are not counted.
//
// A request that is longer than the window of its model, or than [Options.Window], is refused
// (W) with 400: "prompt is too long: N tokens > M maximum" by Anthropic, and with the code
// context_length_exceeded by OpenAI. A stream of the Responses API begins with 200, and fails
// with that code in the event response.failed.
//
// # Caches
//
// The cache has prefixes of requests, by model, in units without their cache marks. The answer
// and [Request.Usage] have the tokens read and written.
//
//   - Messages: an entry ends at a mark, if the prefix is not shorter than the model's minimum
//     (1,024 tokens; 4,096 of haiku models, 512 of fable-5-1 and later). It lives five minutes
//     or an hour, as the mark says, from when it was last written or read. It is found at a
//     mark, or up to 19 units before one. A mark of the whole request stands at its end.
//     Tools stand before system text, that before the choice of tool and the settings of
//     thinking, and those before the messages: a change loses the cache behind it.
//   - Chat Completions and Responses: every prefix of 1,024 tokens and more is an entry, for 5
//     minutes, and from gpt-5.6 on for 30, when it reports written tokens (cache_write_tokens).
//     The tokens read are a multiple of 128. prompt_cache_key and breakpoints do nothing.
//
// [Options.Now] is the clock. An entry can be read at once, also by a request that is sent
// before the answer began. A refused request leaves no entry.
//
// [Request.Prefix] compares a request with the earlier ones of its session, and [Server.Breaks]
// returns the requests that do not continue one. The client names its session: by the header
// X-Claude-Code-Session-Id, Session-Id, X-Session-Id or X-Session-Affinity, else
// prompt_cache_key or metadata.user_id. [Server.Cost] sums what a session cost, at prices that
// are round, and in the proportions of real ones.
//
// # Faults
//
// A [Fault] of a reply occurs at any event and any byte of the answer, see [FaultKinds]. For a
// failure before the answer begins, use a [Reply] with a Failure, such as 429 or 529. Answers
// are compressed with [Options.Encodings]; each event can be read as soon as it has come. The
// encoding br compresses nothing: it is in uncompressed blocks.
//
// # Limits
//
// Edits by the server (context_management, compaction on demand) are not done, and no tool of
// the server is run, unless the script has its result. A compaction by the Responses API
// keeps the words of the user and loses everything else.
package upstream
