package facts

import "github.com/carrel-dev/carrel/transcript"

// A FactKind says what a fact is about. It is stored as its text.
type FactKind string

// The kinds of facts.
const (
	FactTask       FactKind = "task"       // a person says what is wanted
	FactCorrection FactKind = "correction" // a person corrects, or sets a standing order
	FactChange     FactKind = "change"     // a file was created, modified, moved or deleted
	FactRead       FactKind = "read"       // a file, a search or a page was read
	FactCommand    FactKind = "command"    // a command was run
	FactDecision   FactKind = "decision"   // something was decided
	FactError      FactKind = "error"      // something failed
	FactQuestion   FactKind = "question"   // something is open, or keeps the work from going on
	FactTodo       FactKind = "todo"       // an entry of a list of things to do, as it stands
	FactPlan       FactKind = "plan"       // a step that was announced
	FactProgress   FactKind = "progress"   // what a reply says has been done or is the case
	FactReference  FactKind = "reference"  // a URL, a commit, an id or a figure that was used
	FactQuote      FactKind = "quote"      // a string in quotes, if [Options.Quotes] asks for them
)

// A FactStatus says what is known of how a fact stands. It is stored as its
// text, and empty where there is nothing to know.
type FactStatus string

// The statuses.
const (
	StatusCreated  FactStatus = "created"  // change
	StatusModified FactStatus = "modified" // change
	StatusDeleted  FactStatus = "deleted"  // change
	statusMoved    FactStatus = "moved"    // change

	StatusOK      FactStatus = "ok"      // command
	StatusFailed  FactStatus = "failed"  // command, and a read; one that did not fail has no status
	statusUnknown FactStatus = "unknown" // command

	StatusOpen     FactStatus = "open"     // error, question
	StatusResolved FactStatus = "resolved" // error, question

	StatusPending   FactStatus = "pending"     // todo
	StatusActive    FactStatus = "in_progress" // todo
	StatusCompleted FactStatus = "completed"   // todo
)

// A Fact is something that was said or done in a conversation, as far as a
// program can tell. Its texts are one line each, verbatim but for white space and
// marks of Markdown, and bounded; see the package comment for what is composed.
type Fact struct {
	Kind   FactKind
	Status FactStatus
	Role   transcript.Role // who said or did it
	Block  int             // index of the block that has it
	CallID string          // id of the call that it is of, or empty if it was said
	Exit   string          // code that a command ended with, or empty if its output has none

	// Subject is what it is about: the path of a change, the path or query of a
	// read, the line of a command, or the tool and its arguments, what failed, the
	// question that a decision answers, the wording of a to-do, the reference
	// itself. It is empty where there is only Text.
	Subject string

	// Text is what carries it: what was changed, the sentence that decides, the
	// line that reports the error, what a command printed that tells most, the
	// words around a reference.
	Text string

	// Why is the reason of a decision, what resolved an error, or the answer to a
	// question.
	Why string

	// Names are the identifiers in Subject, Text and Why, each once, in order.
	Names []string
}
