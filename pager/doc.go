// Package pager decides what of a session stays in the context window.
//
// Rules come first: [Rules] names the blocks that come before any score. Then there
// are two ways to a [Plan]. [Cover] keeps lines: it fills the budget with those parts of
// all blocks that are worth most for their bytes, given what names and lines are worth.
// [Make] keeps blocks: each gets a retention score and the score a [Directive], to
// retain the block, page it out behind a stub, or evict it. The package decides; it moves
// nothing. Carrying out a plan is the work of package carrel.
//
// # Forms
//
// A block is cut in steps, and each step is a [Form]: whole; without its
// thinking; with its calls but each result in one line; a few lines; one line;
// gone. Hard rules keep a block whole, those that are not [Rule.Absolute] in a plan of
// [Cover] as far as its part of the budget goes. Soft rules keep at least one line of it.
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
