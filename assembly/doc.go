// Package assembly puts a context together: it fits what was found into a
// budget, makes shorter forms of what does not fit whole, fences what others
// wrote, and decides what may be remembered.
//
// # Fitting
//
// [Fit] takes the sizes of what must be in a context and of the winners of a
// ranking, and says in which form each winner goes in. How far it cuts depends
// on the demand, measured before anything is cut, as a share of the budget: see
// [tier.Ladder]. A plan is never over its budget. What must be in the context
// and does not fit is a [FloorError].
//
// # Text that others wrote
//
// A context has text from files, tools, web pages and memories, and such text
// may be written to be mistaken for something else. [Neutralize] makes visible
// what would not be seen; [Fence] puts a text between two lines that it cannot
// forge; [Brief] makes the shorter form. They go in this order: Neutralize,
// Brief, Fence.
//
// # The gate
//
// [Gate] decides whether a text may become a memory. The confidence in it
// always comes from outside, as a [Verdict]; in doubt the gate stays closed.
//
// # Determinism
//
// Equal inputs give equal results on every processor. The package does no I/O,
// reads no clock, draws no random numbers and lets no map order show. The one
// floating-point number, the confidence of a verdict, is turned into whole
// millionths by its decimal digits before anything is compared. Everything here
// may be used by several goroutines at once.
//
// # Units
//
// Sizes are in tokens, as [token.Count]. Shares and thresholds are without
// unit, as [ratio.Ratio].
package assembly
