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
// A changed window of a body keeps the body's frame, the bytes of each
// unchanged message and the spacing of the list. Reasoning is cut out of a
// message and the text of a result is replaced in place; nothing else of the
// message changes. What the provider would refuse is mended and listed in
// Repairs.
//
// Sessions of other formats are written anew, without a model and without
// tools. Thinking, blocks that only their provider understands and media where
// the API has no place for them are losses. Where a picture was in a result,
// the text says so. Ids of more than 64 bytes are shortened.
//
// # What is checked
//
// Validate reports these rules, with the numbers of the design notes:
//
//	X0  the form of messages: content where it is needed, nothing empty of both
//	    content and calls
//	X1  each tool call is answered exactly once
//	X4  results stand directly behind their call, before any other message
//	X8  ids are there and differ within a message, functions have names,
//	    arguments are a string, a list of calls has some
//
// The other X rules are about changes to a conversation and cannot be told
// from one. Calls of the last reply are pending (X12) and no violation.
package openai
