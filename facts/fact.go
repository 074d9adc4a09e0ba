package facts

import "github.com/carrel-dev/carrel/transcript"

// A FactKind is the kind of a fact. It is stored as its text.
type FactKind string

// The kinds of facts.
const (
	FactTask       FactKind = "task"       // a user's task
	FactCorrection FactKind = "correction" // a user's correction or standing order
	FactChange     FactKind = "change"     // a created, modified, moved or deleted file
	FactRead       FactKind = "read"       // a file, a search or a page that was read
	FactCommand    FactKind = "command"    // a command that was run
	FactDecision   FactKind = "decision"   // a decision
	FactError      FactKind = "error"      // a failure
	FactQuestion   FactKind = "question"   // an open question or an obstacle
	FactTodo       FactKind = "todo"       // an entry of a task list in its newest state
	FactPlan       FactKind = "plan"       // an announced step
	FactProgress   FactKind = "progress"   // a result that a reply reports
	FactReference  FactKind = "reference"  // a URL, a commit, an id or a figure that was used
	FactQuote      FactKind = "quote"      // a quoted string, with [Options.Quotes]
)

// A FactStatus is the state of a fact. It is stored as its text; it is empty
// if the kind has no states.
type FactStatus string

// The statuses.
const (
	StatusCreated  FactStatus = "created"  // change
	StatusModified FactStatus = "modified" // change
	StatusDeleted  FactStatus = "deleted"  // change
	statusMoved    FactStatus = "moved"    // change

	StatusOK      FactStatus = "ok"      // command
	StatusFailed  FactStatus = "failed"  // command, read; a read that did not fail has no status
	statusUnknown FactStatus = "unknown" // command

	StatusOpen     FactStatus = "open"     // error, question
	StatusResolved FactStatus = "resolved" // error, question

	StatusPending   FactStatus = "pending"     // todo
	StatusActive    FactStatus = "in_progress" // todo
	StatusCompleted FactStatus = "completed"   // todo
)

// A Fact is a statement or an action in a conversation that a program
// recognized. Its texts are one line each and bounded, and verbatim but for
// white space and marks of Markdown; the package comment lists the composed
// ones.
type Fact struct {
	Kind   FactKind
	Status FactStatus
	Role   transcript.Role // author of the statement or action
	Block  int             // index of its block; of an error that came again, that of the last time
	CallID string          // id of its call; empty for a statement
	Exit   string          // exit code of a command; empty if the output has none

	// Subject is the thing that the fact is about: the path of a change, the
	// path or query of a read, the line of a command, the tool with its
	// arguments, the failed thing, the question of a decision, the wording of
	// a to-do, the reference. It is empty if there is only Text.
	Subject string

	// Text is the content: the change, the sentence with the decision, the
	// line that reports the error, the most informative line of a command's
	// output, the words around a reference.
	Text string

	// Why is the reason of a decision, the fix of an error, or the answer to
	// a question.
	Why string

	// Names are the identifiers in Subject, Text and Why, each once, in order.
	Names []string
}
