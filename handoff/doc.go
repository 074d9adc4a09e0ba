// Package handoff makes, reads and checks packets: documents that carry a
// session to another agent.
//
// A summary says what happened. A packet says what the next agent needs in
// order to continue, and how certain each entry is. Separate sections or states
// tell sources that were read from sources that were only linked, verified facts
// from inferences, and decisions from assumptions. The user's corrections are
// quoted word for word. One section lists the claims that the next agent must
// not make.
//
//	p, err := handoff.Parse("packet.md", data)
//	findings := handoff.Check(p, nil) // broken rules of honesty
//
// A packet of a session is made from its [History]:
//
//	in := history.Input()
//	p := handoff.Build(in)
//	findings := handoff.Check(p, history.Evidence(in))
//	text := p.Markdown() // for the file handoff.Filename(p, "", "")
//
// # Forms
//
// A [Packet] has two written forms, the Markdown of prosecode-handoff-packet,
// with fifteen fixed headings, and JSON, with eighteen required keys. [Parse]
// reads both and detects which one it has. Parse is strict: an unknown, missing
// or empty field or section is a [*transcript.SyntaxError] with the line and a
// hint. Nothing is left empty: an empty list says "None.", and an unknown text
// says "Unknown: " and names the missing fact.
//
// Neither form loses anything. A packet that is written and read back is equal
// to the original, even if its texts have line breaks, pipes, headings or
// control characters.
//
// # Honesty
//
// [Check] checks a packet against eight rules of honesty, alone or together with
// the [Evidence] of what the session really did. [Build] makes a packet that
// passes from plain values: it moves each unsupported entry to a section for
// weaker claims, marks missing facts as unknown, and adds the boundaries that
// follow.
//
// # Determinism
//
// Equal arguments give equal results. Nothing here reads a clock or a file, and
// no result depends on the order of a map. No function changes its arguments,
// except UnmarshalJSON, and all functions may be called by several goroutines
// at once.
package handoff
