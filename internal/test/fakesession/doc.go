// Package fakesession makes conversations up, for tests and benches: any number of
// them, each by a seed, always the same for one seed.
//
// A conversation has what makes real ones hard: several calls in one reply, results in
// text and in blocks, failed calls, pictures, thinking with signatures, calls of the
// provider's own tools, a compaction by the provider or by the client, system messages
// in the middle, a fork, calls that still wait for their results, long outputs, empty
// outputs, letters of many alphabets, and outputs that look like the marks of Carrel.
//
// [Messages] writes it as a request of the Messages API, [Chat] as one of Chat
// Completions, [Responses] as one of Responses, [ClaudeCode] as a session file of Claude
// Code. [Metered] is for what calls cost.
package fakesession
