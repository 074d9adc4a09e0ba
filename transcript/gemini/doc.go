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
// A changed window of a body keeps the body's frame, the bytes of each unchanged content and
// the spacing of the list. Inside of a content, thoughts and empty parts are left out and
// responses are replaced in place; a signature stays on its part. What the provider would
// refuse is mended and listed in Repairs. The contents of one reply's results are one. Where
// two replies would stand side by side, or one would stand first, a text of the user's is put
// before it ([transcript.Opening]), and so is a system text inside the conversation, with
// "[system] " in front.
//
// Sessions of other formats are written anew, without a model and without tools: thinking,
// blocks that only their provider understands, and media that are not in the session itself
// are losses. Chat files of Gemini CLI keep their thoughts.
//
// Newer models refuse a call of the current turn without the signature that they gave it.
// Where one is missing and must be there, the text that the vendor documents for this stands
// in its place: skip_thought_signature_validator.
//
// # What is checked
//
// Validate reports these rules, and where the provider has a text for it, that:
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
//	G9  the model calls and thinks, and others answer
//
// The current turn is what stands behind the last content of the user's that has no response.
// Calls of a last content are pending and no violation. That a model which requires signatures
// gets none at all cannot be told from a body, because it does not name its model.
//
// Sources: the API reference and the guides to function calling and thought signatures of
// Google, texts of errors in the issues of its clients, and what Gemini CLI 0.61.0 sends.
package gemini
