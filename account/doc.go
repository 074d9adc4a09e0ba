// Package account writes an account: the text that replaces paged work in an
// agent's window, and from which a model can continue.
//
// [Read] divides a conversation into units, [NewWorth] computes their worth,
// [Make] chooses units for a budget, and [Text] writes the text for a block.
// The caller puts [State.Text] behind the account; Budget does not include it.
//
// # Units
//
// Read divides a conversation into units: a sentence, an entry of a list, a
// call, the outcome of a command, a line of output, a line that an edit
// removes or adds, a line of a file. A unit quotes one block or states a
// computed fact about it. It is kept whole or left out. A unit that is
// meaningless without another, such as a line without the command that printed
// it or the label above it, has that other unit as its head and is kept only with
// it. A user's short answer is kept only with the question, and words about
// lines that the user had selected in an editor only with those lines.
//
// # Form
//
// The text of a block has the role of its speaker: only the user's words are
// in user messages; the agent's words, calls and tool results are in
// assistant messages. Calls are lines that begin with a bullet, commands
// stand below a "$", outcomes after an arrow. Tool results are indented.
// Lines that an edit removes stand below a "-", added lines below a "+". An
// ellipsis marks a gap in prose. A block with gaps ends with its id, by which
// the original is recalled. The [State] holds the facts at the end of the
// conversation: tasks, branch, changed files with the names that they define,
// calls that changed something outside of files, the last command.
//
// # Choice
//
// Each unit has a worth per byte. It combines the probability that a reader
// must know the unit, estimated from its features ([Prior]), with the
// probability that the agent needs its names and lines again (package facts).
// Repeated names, lines and sentences count once, and results of calls that the
// state lists count as repeated. Units are taken in the order of worth until
// one does not fit. The order does not depend on the budget, so a plan with a
// larger budget keeps everything that a smaller plan keeps. A gap of at most 40
// bytes between kept lines of code is closed. Of the tokens that
// are spent so far, up to an eighth keeps the newest blocks whole, and up to
// 1/21 gives a call and the id of blocks that would otherwise be absent.
//
// # Determinism
//
// All functions depend only on their arguments, use integers, and are safe for
// concurrent use; [Plan.Extend] changes its plan. Their time is linear in the
// size of the conversation, apart from a sort.
package account
