package account

// A Kind is the kind of a unit, such as a sentence, a call or a line of
// output.
type Kind uint8

// The kinds.
const (
	Words    Kind = iota // a user's words
	Sentence             // an agent's sentence
	Report               // a sentence of a sub-agent or of a fetched page
	Look                 // a call that reads or searches
	Run                  // a command with its outcome
	Edit                 // a call that changes a file
	Step                 // any other call
	Argument             // a further argument of a call
	Change               // a line that an edit removes or adds
	Written              // a line of a wholly written file
	Span                 // a line of a file that was read
	Output               // a line that a command printed or another call returned
	Sign                 // the sign above removed or added lines
	kinds
)

// call reports whether units of a kind are calls.
func (k Kind) call() bool { return k >= Look && k <= Step }

// A Unit is the smallest part of an account. It is kept whole or left out.
type Unit struct {
	Text  string // text in the window, without line feeds at its ends
	Block int32  // index of its block
	Head  int32  // index of its head, which is before it and must be kept with it; or -1
	Size  int32  // bytes of the whole text that it is from: of a message's part, a result or an argument
	Calls int32  // number of later calls
	Turns int32  // number of later user messages
	Later int32  // index of a later unit with the same lines of the same file, or 0
	Asks  int32  // for a short answer: index of the first sentence that it answers, if Asked > 0
	Asked int32  // number of those sentences
	Kind  Kind

	Same        bool // continues the line of the unit before
	First, Last bool // first and last unit of its text
	Title       bool // a heading
	Code        bool // lines of a code block in prose
	Removed     bool // a line that an edit removes
	Guide       bool // of a file written for people
	Rule        bool // a rule in such a file
	Reply       bool // of the agent's last message before a user spoke
	Talk        bool // of a conversation without commands
	Opens       bool // meaningless without one of the units below it
	Failed      bool // the call failed
	Stated      bool // of a call that the state lists, or of a failed command that ran again: the call itself, or its result
	Gap         bool // lines of its block have no units
	Answered    bool // a sentence of the agent that a user's answer refers to
	Task        bool // of the user's first message
}
