// Package triage selects and orders artifacts when there are far more than a
// context can hold.
//
// It works like an emergency service: a quick look at every patient, a close
// look at a few. The design is Stage 1 of the article "The OS-Paged Context
// Engine", which is modeled on START, simple triage and rapid treatment
// (Hoag Hospital and Newport Beach Fire Department, 1983).
//
//   - Pass one, [Policy.First], looks at every row of a [Table]: whether it is
//     dead, whether its provenance can be trusted, how recent it is. It admits
//     a few dozen rows: those with the best scores, and the best lexical hits
//     of the store.
//   - Pass two, [Policy.Second], adds the semantic similarity of the best
//     admitted rows, which is expensive: one call, by default for 20 rows.
//
// # Tags
//
// The tags are START's colors. They order the rows for the context.
//
//	red     immediate   goes in first
//	yellow  delayed     goes in after the red
//	green   minor       can wait: left out
//	black   dead        expired or refuted: never enters
//
// # Scores
//
// Every class of provenance has a [Scoring]: weights wR, wP and wS that sum
// to 1, a rank P and a half-life. Recency R is 2^(-age/half-life), or the
// pager's logarithm, see [Curve]. S is the similarity that the caller gives
// to pass two.
//
//	pass one   (wR·R + wP·P)/(wR + wP)
//	pass two   wR·R + wP·P + wS·S
//
// The first is divided by the weights that it uses, so that rows of different
// classes compare.
//
// With the article's weights, a fresh or verified artifact scores well even
// if it is irrelevant to the query. So a row with a similarity below the
// policy's Floor is green whatever its score.
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
// Pass one over a million rows takes about as long as reading their columns:
// it tests 64 rows at once as bits of words, and scores only those that can
// still be among the best. The recency of 64 rows is mostly bounded by their
// extreme times (the small materialized aggregates of Moerkotte, VLDB 1998).
// It allocates nothing if it reuses the memory of an earlier result.
//
// # Units
//
// Scores, weights and ranks are in [ratio.Ratio]. Times are truncated to
// milliseconds. A row is expired from its time on.
//
// # Concurrency
//
// Any number of passes may read a table at once, none while it is changed.
// The result of a pass does not refer to the table. Reusing its memory for
// another pass invalidates it.
package triage
