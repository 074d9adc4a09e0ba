// Package wire reads the requests and answers of three model APIs, called dialects: Messages of
// Anthropic, and Chat Completions and Responses of OpenAI. It changes nothing.
//
// A [Request] has the model and the session of a request, where system, tools and messages
// are in the body, and the role, identity and chain of each message. Clients send the whole
// history with each call. They may send the same message as a text first and as a list of one
// block later, and move cache marks between messages. The identity is a digest that is equal
// for all these forms. The chain of a message is the digest of all identities up to it, and so
// names a history. System and tools are not in the chain; their digest is the frame.
//
// A [Tap] reads an answer as it passes, and returns how many bytes may pass on before the
// outcome of the answer is known.
//
// Digests are SHA-256. Everything here is pure; a Request and a Tap are
// for one goroutine each.
package wire
