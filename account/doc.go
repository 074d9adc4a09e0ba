// Package account writes an account: the text that replaces paged work in an
// agent's window, and from which a model can continue.
//
//	units, state := account.Read(messages, blocks, options)
//	worth := account.NewWorth(units, pieces, need, nil)
//	plan, err := account.Make(&account.Request{Units: units, Worth: worth, Budget: 8000, …})
//	text := account.Text(units[from:to], plan.Kept[from:to], id)
//
// # Units
//
// Read divides a conversation into units: a sentence, an entry of a list, a
// call, the outcome of a command, a line of output, a line that an edit
// removes or adds, a line of a file. A unit quotes one block or states a
// computed fact about it. It is kept whole or left out. A unit that is
// meaningless without another, such as a line without the command that
// printed it, has that other unit as its head and is kept only with it. A
// user's short answer is kept only with the question.
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
// conversation: tasks, branch, files, the last command.
//
// # Choice
//
// Each unit has a worth per byte. It combines the probability that a reader
// must know the unit, estimated from its features ([Prior]), with the
// probability that the agent needs its names and lines again (package facts).
// Repeated names, lines and sentences count once. Units are taken in the
// order of worth until one does not fit. The order does not depend on the
// budget, so a plan with a larger budget keeps everything that a smaller plan
// keeps. Up to an eighth of the spent tokens keeps the newest blocks whole,
// and a smaller part names the calls and ids of blocks that are otherwise
// absent.
//
// # Determinism
//
// All functions depend only on their arguments, use integers, and are safe
// for concurrent use. Their time is linear in the size of the conversation,
// apart from a sort.
package account
