// Package wire reads what clients and providers of models say to each other, in three
// dialects: Messages of Anthropic, Chat Completions and Responses of OpenAI. It changes
// nothing.
//
// A [Request] knows of a call what a proxy has to know: model, session, the places of
// system, tools and messages, and of each message its role, its identity and its chain.
// Clients send the whole history with each call, the same message once as a text and later
// as a list of one block, with marks of the cache that move. The identity is equal for all
// of these, so a message is known again, and a chain names a history. System and tools are
// not in the chain; they have a digest of their own, the frame.
//
// A [Tap] reads an answer as it passes, and says how much of it may pass on before it is
// known how the answer ended.
//
// Digests are SHA-256. Everything here is pure; a Request and a Tap are
// for one goroutine each.
package wire
