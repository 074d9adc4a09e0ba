// Package account writes what stands in an agent's window for work that was paged: an
// account of it, which a model can work from.
//
//	units, state := account.Read(messages, blocks, options)
//	worth := account.NewWorth(units, pieces, need, nil)
//	plan, err := account.Make(&account.Request{Units: units, Worth: worth, Budget: 8000, …})
//	text := account.Text(units[from:to], plan.Kept[from:to], id)
//
// # Units
//
// A conversation is read as units: a sentence of a person or of the agent, an entry of a
// list, a call, the outcome of a command, a line of an output, a line that an edit takes
// away or puts there, a line of a file. A unit is a quotation or a computed fact of one
// block. It is whole or absent. A unit that says nothing without another (a line without
// the command that printed it) has that as its head, and is never without it.
// A short answer of a person comes with what it answers.
//
// # Form
//
// What a block leaves is a text in the voice of who spoke: the words of a person are the
// user's, and what the agent said, did and saw is the agent's, so no output of a tool is
// ever in the user's voice. Calls are lines that begin with a bullet, commands stand below
// a "$", and their outcomes behind an arrow. What tools gave is indented. Lines that an
// edit takes away stand below a "-", those that it puts there below a "+". Where something
// is left out there is an ellipsis in a line of prose, and at the end of the block its
// id, by which the original is recalled; a block of which nothing is missing has none.
// What holds at the end (tasks, branch, files, the last command) is the [State].
//
// # Choice
//
// Each unit has a worth for each byte: how likely it has something that a reader must
// know, by what can be seen of it ([Prior]), and how likely the agent needs its names and
// lines again (package facts). A name, a line and a sentence are paid for once. Units are
// taken in the order of that worth, which does not depend on the budget, up to the first
// that does not fit: whatever a plan keeps, a plan with a larger budget keeps, too. The
// newest blocks are kept as they are, as far as an eighth of what is spent has room, and a part of it goes to the calls and ids of
// blocks of which there is nothing else.
//
// # Determinism
//
// All of it is a function of its arguments, in integers, linear in the size of the
// conversation but for a sort, and safe for concurrent use.
package account
