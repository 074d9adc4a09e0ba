// Package pager decides which parts of a session stay in the context window.
//
// [Rules] returns the rules that outrank scores. There are two ways to make a
// [Plan]. [Cover] keeps lines: it fills the budget with the parts of all
// blocks that are worth most per byte, given the worth of names and lines.
// [Make] keeps blocks: each gets a retention score and the score a
// [Directive], to retain the block, page it out behind a stub, or evict it.
// The package only makes plans; package carrel carries them out.
//
// # Forms
//
// A block is cut in steps, and each step is a [Form]: whole; without its
// thinking; with its calls but each result in one line; a few lines; one
// line; gone. Hard rules keep a block whole; in a plan of [Cover], a block
// under a rule that is not [Rule.Absolute] is cut if the budget is too small
// for it. Soft rules keep at least one line of it.
//
// # One sequence of steps
//
// All steps stand in one sequence that does not depend on the budget, and a
// plan takes them in order until the rest fits. So a plan with a larger
// budget keeps everything that a smaller plan keeps. If the window fits the
// budget, the plan changes nothing.
//
// # Discards and triggers
//
// An agent that tidies its own window names blocks, or lets [PlanDiscard]
// choose; [Standings] returns for each block whether and why it may leave. A
// [Trigger] decides when a window is so full that a pass is due.
//
// # Determinism
//
// Equal inputs give equal plans, on every processor. The package does no I/O,
// reads no clock, draws no random numbers and lets no map order show. Where
// scores tie, the older block goes first, then the lower id.
//
// # Units
//
// A turn is the position of a block in the session, from 1; ages are in turns.
// Sizes are in tokens, as [token.Count]. Scores, weights
// and cuts are without unit, as [ratio.Ratio]. Functions may be called
// concurrently.
package pager
