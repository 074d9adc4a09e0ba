// Package retention measures what of a conversation is still there after it was
// made to fit a budget: it cuts a recorded session at a step, lets a method pack
// what came before into so many tokens, and counts how much of what the agent
// really used afterwards the result still has. The recorded future is the truth;
// no model and nobody's opinion takes part.
//
// # Trajectories and cases
//
// A [Trajectory] is a recorded session, of any format that Carrel reads, as a list
// of messages. Its leading system messages are pinned: every method has them for
// nothing, and they are not scored. A trajectory is cut where an agent begins to
// act, at about 35, 60 and 85 percent of its tokens. Each cut is a [Case]: the
// prefix, and the needs, which are the identifiers and the whole lines that the
// arguments of the next twenty acting replies repeat from the prefix. Nothing
// counts that the session says again in between, that the pinned text has, or
// that sessions of several projects have.
//
// # Scores
//
// A [Method] gets the prefix and a budget. What it gives back is read with the same
// scanner and the same cost as everything else:
//
//	id        needs that are there
//	ground    needs that are there with a neighbor that they had in the prefix,
//	          which few have in bare lists
//	line      copied lines that are there, in cases with three or more
//	complete  actions with all of their needs, of the actions that have needs
//	far       id of the needs last seen 8,000 tokens or more before the cut
//	stub      id, or one look-up away through a stub that the agent has a reason
//	          to open
//	recall    id, or one look-up away through any stub
//	valid     1 if no result lacks its call, and no call the result that it had
//	used      cost of what was given, as a share of the budget
//	over      1 if that is more than the budget
//	stable    bytes at the beginning that the output one step later has, too,
//	          as a share of the latter
//
// Quote ground and line together, with valid and over beside them: each score alone
// can be had by a method that is of no use.
//
// # Means and intervals
//
// A [Report] has the mean over the cuts of a session, over the sessions of a family,
// and over the families. A family is a project: sessions of one project share names,
// so they are never counted as if they were strangers. Intervals hold 95 percent of
// 1,000 draws of sessions, the same draws for all methods.
//
// Equal trajectories and options give equal reports, on however many processors.
//
// # Units
//
// Tokens are bytes divided by four, see [Message.Cost]; every method is held to that.
package retention
