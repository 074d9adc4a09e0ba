// Package gemini reads, writes and validates request bodies of Google's Gemini API, for
// generateContent, streamGenerateContent and countTokens: an object with contents, and
// perhaps systemInstruction, tools and settings, or the list of contents alone.
//
// # What is read
//
// The system instruction is the first message, of role system. A content of the role model
// is a reply; one with a functionResponse carries results; any other is the user's, and so
// is one without a role. Fields may be written as in systemInstruction or as in
// system_instruction, because the API takes both.
//
// A text that is marked as a thought is thinking, and its thoughtSignature is its signature.
// An empty text with a signature is thinking that cannot be read. The signature of any other
// part stays with the bytes of that part. A functionCall is a call, and its args are its
// input. A functionResponse is its result: a text under the key output or error of its
// response, or the response as it is written; an error is a failure. Calls that have no id
// get one here, made of their place, and a response without an id answers the first open
// call of its name in the latest reply. inlineData and fileData are media; everything else is
// [transcript.Opaque]. All of it keeps its bytes.
//
// # What is written
//
// The encoded form of a changed window keeps the other fields of the body, the bytes of each
// unchanged content and the whitespace of the list. Inside a content, thoughts and empty parts
// are left out and responses are replaced in place; a signature stays on its part. Encode
// repairs a conversation that the provider would refuse, and lists each change in Repairs. All
// results of one reply become one content. A user's text ([transcript.Opening]) is put before
// a reply that comes first or follows another reply. A system text inside the conversation
// becomes a user's text that begins with "[system] ".
//
// A session of another format is written as a new body, without a model and without tools.
// Thinking, blocks that only their provider understands, and media that the session holds only
// as an address are losses. Chat files of Gemini CLI keep their thoughts.
//
// Newer models refuse a call of the current turn without the signature that they gave it.
// A call without a required signature gets the value that the vendor documents for this case:
// skip_thought_signature_validator.
//
// # What is checked
//
// Validate reports these rules, where a text is quoted in the provider's words:
//
//	G0  there are contents
//	G1  a user speaks first
//	G2  no reply stands behind another: "Please ensure that function call turn comes
//	    immediately after a user turn or after a function response turn."
//	G3  the content behind calls has as many responses as there are calls: "Please ensure that
//	    the number of function response parts is equal to the number of function call parts
//	    of the function call turn."
//	G4  responses stand directly behind calls: "Please ensure that function response turn
//	    comes immediately after a function call turn."
//	G5  each response answers one of the calls, by its id, or where one of both has none, by
//	    its name
//	G6  no content is without parts, and no part without data: "required oneof field 'data'
//	    must have one initialized field"; no text is empty that has no signature
//	G7  calls and responses have a name; args and responses are objects: "Name cannot be
//	    empty."
//	G8  where a reply of the current turn has a signature, the first call of each of its
//	    replies has one: "Function call is missing a thought_signature in functionCall parts."
//	G9  functionCall and thought stand only in contents of the role model, functionResponse
//	    only in others
//
// The current turn is all contents after the user's last content without a response.
// Calls of a last content are pending and no violation. A body does not name its model, so
// Validate cannot report that a model needs signatures if the body has none.
//
// Sources: the API reference and the guides to function calling and thought signatures of
// Google, texts of errors in the issues of its clients, and what Gemini CLI 0.61.0 sends.
package gemini
