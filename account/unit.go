package account

// A Kind says what a unit is.
type Kind uint8

// The kinds.
const (
	Words    Kind = iota // of a person
	Sentence             // of the agent
	Report               // a sentence of a sub-agent, or of a page that was read
	Look                 // a call that reads or searches
	Run                  // a command, with its outcome
	Edit                 // a call that changes a file
	Step                 // any other call
	Argument             // what else a call was given
	Change               // a line that an edit takes away or puts there
	Written              // a line of a file that was written whole
	Span                 // a line of a file that was read
	Output               // a line that a command printed, or another call returned
	Sign                 // what stands above lines that are taken away, or put there
	kinds
)

// call reports whether units of a kind are calls.
func (k Kind) call() bool { return k >= Look && k <= Step }

// A Unit is the smallest part of an account: whole, or absent.
type Unit struct {
	Text  string // as it stands in the window; it has no line feed at its ends
	Block int32  // index of its block
	Head  int32  // index of the unit that it never stands without, which is before it; or -1
	Size  int32  // bytes of the text that it is of
	Calls int32  // how many calls came after it
	Turns int32  // how many times a person spoke after it
	Later int32  // index of a unit with the same lines of the same file, or 0
	Asks  int32  // index of the first of the sentences that a person's short answer says nothing without, if Asked is not 0
	Asked int32  // how many these are
	Kind  Kind

	Same        bool // it goes on in the line of the unit before it
	First, Last bool // of the units of its text
	Title, Code bool
	Guide       bool // it is of a file that is written for people
	Rule        bool // and it is a rule
	Reply       bool // it is of what the agent said last before a person spoke
	Talk        bool // in a conversation without commands
	Opens       bool // it says nothing without one of those that it is the head of
	Failed      bool // the call failed
	Task        bool // it is of what a person said first
}
