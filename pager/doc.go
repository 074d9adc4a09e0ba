// Package pager decides which blocks of a session stay in the context window.
//
// Rules come first: [Rules] names the blocks that no score may touch. Then
// each block gets a retention [Score] and the score a [Directive]: retain the
// block, page it out behind a stub, or evict it. [Make] turns rules, scores
// and a budget into a [Plan]. The package decides; it moves nothing. Carrying
// out a plan is the work of package carrel.
//
// # Forms
//
// A block is cut in steps, and each step is a [Form]: whole; without its
// thinking; with its calls but each result in one line; a few lines; one line;
// gone. Hard rules keep a block whole. Soft rules keep at least one line of it.
//
// # One sequence of steps
//
// All steps stand in one sequence that does not depend on the budget, and a
// plan takes them from the first on until what is left fits. So a smaller
// budget takes a longer beginning of the same sequence: whatever a plan keeps,
// every plan with a larger budget keeps, too. A window that fits is left
// alone, so a plan of a planned window changes nothing.
//
// # Discards and triggers
//
// An agent that tidies its own window names blocks, or leaves the choice to
// [PlanDiscard]; [Standings] says what each block is to it and what keeps it. A
// [Trigger] says when a window is so full that something must be done.
//
// # Determinism
//
// Equal inputs give equal plans, on every processor. The package does no I/O,
// reads no clock, draws no random numbers and lets no map order show. Where
// scores tie, the older block goes first, then the lower id.
//
// # Units
//
// Ages are in turns. Sizes are in tokens, as [token.Count]. Scores, weights
// and cuts are without unit, as [ratio.Ratio].
package pager
