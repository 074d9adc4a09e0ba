// Package retention measures how much useful text of a session a method keeps within
// a budget. It cuts a recorded session at a step and lets the method reduce the
// messages before the cut to a number of tokens. Then it counts how many of the
// identifiers and lines that the agent really used after the cut are still there.
// Only the recorded session decides; no model and no person judges.
//
// # Trajectories and cases
//
// A [Trajectory] is a recorded session, of any format that Carrel reads, as a list
// of messages. Its leading system messages are pinned: they do not count in the budget
// of any method, and are not scored. A trajectory is cut where an agent begins to
// act, at about 35, 60 and 85 percent of its tokens. Each cut is a [Case]: the
// prefix, and the needs, which are the identifiers and the whole lines that the
// arguments of the next twenty acting replies repeat from the prefix. A need does not
// count if a user or a tool repeats it between the cut and its use, if an earlier action
// used it, if the pinned text has it, or if sessions of several projects have it. If only
// the agent's own text repeats it, it counts.
//
// # Scores
//
// A [Method] gets the prefix and a budget, and returns messages, its output. The same
// scanner and the same cost function apply to all methods:
//
//	id        share of the needs that the output has
//	ground    share of the needs that it has beside a neighboring word of the
//	          prefix; the beginning and the end of a line count as words, too.
//	          So a list of identifiers on one line scores low, and a list with
//	          one on each line does not
//	line      share of the copied lines that it has, in cases with three or more
//	complete  share of the actions with needs for which the output has all needs
//	far       id for the needs last seen 8,000 tokens or more before the cut
//	stub      share of the needs that the output has, or that one recall of a stub
//	          finds, if the stub names something that the agent is working on
//	recall    the same with any stub
//	valid     1 if every result has its call, and every call has the result that it
//	          had in the prefix
//	used      cost of the output as a share of the budget
//	over      1 if the output costs more than the budget
//	stable    bytes at the beginning that the output one step later shares, as a
//	          share of that later output
//
// Quote ground and line together, with valid and over beside them: a useless method
// can reach a high value of any single score.
//
// # Means and intervals
//
// A [Report] has the mean over the cuts of a session, over the sessions of a family,
// and over the families. A family is a project: sessions of one project share names,
// so they do not count as independent. Intervals contain 95 percent of the means of
// 1,000 random draws of sessions, with the same draws for all methods.
//
// Equal trajectories and options give equal reports, on however many processors.
//
// # Units
//
// Tokens are bytes divided by four, for every method; see [Message.Cost].
package retention
