// Package triage decides which artifacts are worth a look when there are far
// more than a context can hold, and in what order.
//
// The rule is that of the emergency services, which have minutes for hundreds:
// a quick look at everybody, a close look at few. The design is Stage 1 of the
// article "The OS-Paged Context Engine"; its model is START, simple triage and
// rapid treatment (Hoag Hospital and Newport Beach Fire Department, 1983).
//
//   - Pass one, [Policy.First], looks at every row of a [Table]: whether it is
//     dead, whether its provenance can be trusted, how recent it is. A few
//     dozen go on: the best of these, and the best lexical hits of the store.
//   - Pass two, [Policy.Second], weighs in what the best of them mean, which is
//     dear: one call, for 20 rows unless the policy says otherwise.
//
// # Tags
//
// The tags are START's colors, for the order of entry into the context.
//
//	red     immediate   goes in first
//	yellow  delayed     goes in after the red
//	green   minor       can wait: left out
//	black   dead        expired or refuted: never enters
//
// # Scores
//
// Every class of provenance has a [Scoring]: weights wR, wP and wS that sum to 1,
// a rank P and a half-life. Recency R is 2^(-age/half-life), or the pager's
// logarithm, see [Curve]. S is the similarity that pass two is given.
//
//	pass one   (wR·R + wP·P)/(wR + wP)
//	pass two   wR·R + wP·P + wS·S
//
// The first is divided by the weights that it uses, so that rows of different
// classes compare.
//
// With the weights of the source, what is fresh or verified scores well even if
// it has nothing to do with the question. So a row that is hardly similar to it,
// below the policy's Floor, is green whatever its score.
//
// # Determinism
//
// Equal tables, times, hits and similarities give equal results on every
// processor: the package does no I/O, reads no clock, lets no map order show,
// and all its arithmetic is on integers, exponential and logarithm included.
// Where scores tie, the lower row goes first.
//
// # Cost
//
// Pass one over a million rows takes about as long as reading their columns: it
// judges 64 rows at once, as words with a bit for each, and scores only those that can
// still be among the best. What the times of 64 rows come to is mostly known from their
// bounds (the small materialized aggregates of Moerkotte, VLDB 1998). It allocates nothing
// if it is given an earlier result to use the memory of.
//
// # Units
//
// Scores, weights and ranks are in [ratio.Ratio]. Times count in whole
// milliseconds; what is finer is cut off. A row expires at its time, not after
// it.
//
// # Concurrency
//
// Any number of passes may read a table at once, none while it is changed. The
// result of a pass does not refer to the table. Its memory may be used for another
// pass, which ends it.
package triage
