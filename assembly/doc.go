// Package assembly assembles a context: it fits ranked candidates into a token budget, shortens
// those that do not fit whole, fences text from other authors, and decides which texts may
// become memories.
//
// # Fitting
//
// [Fit] takes the sizes of the required parts of a context (system text, pins, window, query)
// and of the ranked candidates, the winners, and chooses the form of each winner. How far Fit
// cuts depends on the demand, which is the size of everything before any cut, as a share of the
// budget: see [tier.Ladder]. A plan never exceeds its budget. If the required parts alone
// exceed the budget, Fit returns a [FloorError].
//
// Fit sees sizes only. The caller writes the texts: a whole winner with Fence, and a brief one with
// [Shorten], as the example of Fit shows.
//
// # Text from other authors
//
// A context contains text from files, tools, web pages and memories. Such text may be crafted
// to look like something else. [Neutralize] makes invisible characters visible; [Fence] puts a
// text between two lines that the text cannot forge; [Brief] shortens a text. Apply them in
// this order: Neutralize, Brief, Fence.
//
//	clean, _ := assembly.Neutralize(text)
//	short := assembly.Brief(origin, clean, terms, limit, count)
//	if short != clean {
//		origin.Form = manifest.FormBrief
//	}
//	fenced := assembly.Fence(origin, short)
//
// # The gate
//
// [Gate] decides whether a text may become a memory. The confidence in the text always comes
// from an evaluator outside of Carrel, as a [Verdict]. When in doubt, the gate does not commit
// the text.
//
// # Determinism
//
// Equal inputs give equal results on every processor. The package does no I/O, reads no clock and
// draws no random numbers. The confidence of a verdict is the only floating-point number; Gate
// writes it in decimal and compares whole millionths. All functions may be called concurrently.
//
// # Units
//
// Sizes are in tokens, as [token.Count]. Shares and thresholds are without
// unit, as [ratio.Ratio].
package assembly
