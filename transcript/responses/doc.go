// Package responses reads, writes and validates request bodies of OpenAI's Responses API
// and of the servers that speak it: an object with an input, and perhaps instructions,
// tools and model, or the list of items alone. The input is a text, which is one user's
// message, or a list of items.
//
// # What is read
//
// Instructions are the first message, of role system; so are messages of the system's and
// the developer's, additional_tools and configuration_update. What stands in a row of
// assistant's messages, reasoning, calls and items of the server's tools is one reply. An
// item with a call_id whose type ends in _call is a call, and one whose type ends in
// _output its result, wherever it stands. Arguments of a function are the text inside of
// the JSON string, byte for byte; other calls have their input or action as it is.
// Reasoning has its summary or text, and what is encrypted is its signature. Items of the
// server's tools, compactions, references and items of an unknown type are
// [transcript.Opaque]. Everything keeps its bytes.
//
// With previous_response_id, conversation or item_reference a part of the history is at
// the server: [transcript.Session.Elsewhere] says so, and calls and outputs are not
// matched, because the others may be there.
//
// # What is written
//
// A changed window of a body keeps the body's frame, the bytes of each unchanged item and
// the spacing of the list. A text in place of the list becomes a list. Reasoning is
// left out by items and the output of a call is replaced in place; nothing else of the
// message changes. What the provider would refuse is mended and listed in Repairs:
// outputs go behind their calls, and an item whose reasoning is gone, or whose id is not
// the provider's, loses its id. An item of the server's tools other than a search of the
// web keeps its id, because it has nothing else to be known by. The frame is never mended.
//
// Sessions of other formats are written anew, without a model and without tools: system
// texts as the developer's messages, calls as those of functions. Thinking, blocks that
// only their provider understands and media where the API has no place for them are
// losses. Call ids of more than 64 bytes are shortened.
//
// # What is checked
//
// Validate reports these rules, each with what can be seen in one request, and where the
// provider has a text for it, with that:
//
//	R0  the form of the input: messages have content, outputs have one
//	R1  each call has an output: "No tool output found for function call …"
//	R2  each output stands behind a call of its kind: "No tool call found for
//	    function call output with call_id …"
//	R3  reasoning with an id stands before an item of its reply: "Item 'rs_…' of type
//	    'reasoning' was provided without its required following item"
//	R4  ids begin as the provider's do, with msg, fc, rs, ctc, ws: "Invalid
//	    'input[2].id': '…'. Expected an ID that begins with 'fc'"
//	R5  no id twice: "Duplicate item found with id …"
//	R6  calls have a call_id of at most 64 bytes, a name and their input as a text
//	R7  no call_id twice among calls
//
// That an item "was provided without its required 'reasoning' item" can only be told by who
// knows what was sent before. Calls of the last reply are pending and no violation. Order
// between a call and its output is free but for R2; what is written has them side by side,
// because some servers ask for that.
//
// Sources: the API reference of OpenAI, and texts of errors in the issues of its clients.
package responses
