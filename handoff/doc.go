// Package handoff is the packet that carries a session to another agent.
//
// A summary says what happened. A packet says what the next agent needs in
// order to go on, and how well each part of it is known: what was read stands
// apart from what was only linked, what is inferred from what is verified,
// what was decided from what was assumed; the user's corrections stand in
// their own words; and a section of its own says what must not be claimed.
//
// # Forms
//
// A [Packet] has two written forms, the Markdown of prosecode-handoff-packet,
// with fifteen fixed headings, and JSON, with eighteen required keys. [Parse]
// reads both and tells them apart. It is strict: what it does not know, what is
// missing and what is empty is a [*transcript.SyntaxError] with the line and
// with what to do. Nothing is left empty: a list with nothing in it says
// "None.", and a text that nobody knows says "Unknown: " and what.
//
// Neither form loses anything. A packet that is written and read is the same,
// whatever its texts hold: line breaks, pipes, headings, control characters.
//
// # Honesty
//
// [Check] holds a packet against eight rules, by itself or against the
// [Evidence] of what a session really did. [Build] makes a packet from plain
// values that passes: it moves what is not supported to where it may stand,
// says what is not known and adds the boundaries that follow.
//
// # Determinism
//
// Equal arguments give equal results. Nothing here reads a clock or a file, or
// lets the order of a map show. No function changes what it is given, except
// for UnmarshalJSON, and all may be used by several goroutines at once.
package handoff
