// Package responses reads, writes and validates request bodies of OpenAI's Responses API and of the
// servers that speak it: an object with an input, and perhaps instructions, tools and model, or the
// list of items alone. The input is a text, which is one user's message, or a list of items.
//
// # What is read
//
// Instructions are the first message, of role system. Messages of the system and the developer,
// additional_tools and configuration_update have the role system, too. Consecutive items that are
// the assistant's messages, reasoning, calls or items of the server's tools are one reply. An item
// with a call_id whose type ends in _call is a call, and one whose type ends in _output its result,
// wherever it stands. Arguments of a function are the text inside of the JSON string, byte for
// byte; other calls have their input or action as it is. Reasoning has its summary or text, and
// what is encrypted is its signature. Items of the server's tools, compactions, references and
// items of an unknown type are [transcript.Opaque]. Everything keeps its bytes.
//
// With previous_response_id, conversation or item_reference a part of the history is at
// the server: [transcript.Session.Elsewhere] says so, and calls and outputs are not
// matched, because the matching output or call may be at the server.
//
// # What is written
//
// The encoded form of a changed window keeps the other fields of the body, the bytes of each
// unchanged item and the whitespace of the list. A text in place of the list becomes a list.
// Reasoning items are left out whole, and the output of a call is replaced in place; nothing
// else of the message changes. Encode repairs a conversation that the provider would refuse,
// and lists each change in Repairs: outputs move behind their calls, and an item loses its id
// if its reasoning is gone or the provider did not give the id. Items of server tools other
// than web search keep their ids, since the server finds their content by the id. Encode never
// repairs the other fields.
//
// Sessions of other formats are written anew, without a model and without tools: system
// texts as the developer's messages, calls as those of functions. Thinking, blocks that
// only their provider understands and media where the API has no place for them are
// losses. Call ids of more than 64 bytes are shortened.
//
// # What is checked
//
// Validate reports these rules, each with what can be seen in one request, where a text is
// quoted in the provider's words:
//
//	R0  the form of the input: a message has content, an item of a type in _output has
//	    an output
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
// The provider's error "was provided without its required 'reasoning' item" needs the earlier
// requests and is not checked here. Calls of the last reply are pending and no violation. An
// output may stand anywhere behind its call (R2); Encode writes it directly behind the
// reply, because some servers require this.
//
// Sources: the API reference of OpenAI, and texts of errors in the issues of its clients.
package responses
