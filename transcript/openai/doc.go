// Package openai reads, writes and validates request bodies of OpenAI's Chat
// Completions API and of the many servers that speak it: an object with
// messages, and perhaps tools and model, or the list of messages alone.
//
// # What is read
//
// Roles system and developer are system texts. Each message of role tool is a
// result. Arguments of a call are the text inside of the JSON string, byte for
// byte. Reasoning that some servers return beside the content is thinking. The
// older function_call and role function are read as a call and its result,
// with an id made of the call's place. Everything keeps its bytes.
//
// # What is written
//
// The encoded form of a changed window keeps the other fields of the body, the bytes of each
// unchanged message and the whitespace of the list. Reasoning is cut out of a
// message and the text of a result is replaced in place; nothing else of the
// message changes. Encode repairs a conversation that the provider would refuse, and lists
// each change in Repairs.
//
// A session of another format is written as a new body, without a model and without
// tools. Thinking, blocks that only their provider understands, and media where
// the API does not allow media are losses. A picture in a result is replaced by a
// text that names it. Ids of more than 64 bytes are shortened.
//
// # What is checked
//
// Validate reports these rules, which have Carrel's own numbers:
//
//	X0  the form of messages: content where it is needed, nothing empty of both
//	    content and calls
//	X1  each tool call is answered exactly once
//	X4  results stand directly behind their call, before any other message
//	X8  ids are there and differ within a message, functions have names,
//	    arguments are a string, a list of calls has some
//
// Other X rules are those of other formats, such as X7 of package opencode. Calls of the last
// reply are pending and no violation.
package openai
