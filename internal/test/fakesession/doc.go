// Package fakesession generates conversations for tests and benchmarks, one for each seed. The
// same seed always gives the same conversation.
//
// The conversations have the difficult features of real ones: several calls in one reply,
// results as text and as blocks, failed calls, pictures, thinking with signatures, calls of the
// provider's own tools, a compaction by the provider or by the client, system messages in the
// middle, a fork, calls without results yet, long outputs, empty outputs, letters of many
// alphabets, and outputs that look like the marks of Carrel.
//
// [Messages] writes a conversation as a request of the Messages API, [Chat] as one of Chat
// Completions, [Responses] as one of Responses, [ClaudeCode] as a session file of Claude Code.
// [Metered] generates sessions with usage for tests of costs, [Logged] sessions with the client's
// log of its requests.
package fakesession
