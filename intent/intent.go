package intent

// schema is the name of the form in which an [Intent] is written as JSON.
const schema = "prosecode.intent.v0"

// An Intent is what a prompt asks for (Intent IR v0). One that has been
// compiled or parsed has slots of its verb only, and gaps are exactly the
// required slots without a value.
type Intent struct {
	Verb       Verb             // empty: the prompt passes through
	Slots      map[Slot][]Value // in the order of the prompt; absent if empty
	Gaps       []Slot           // required slots that the prompt leaves open
	Amber      []Flag           // words that pull in two directions
	Human      []Flag           // what the words say of who wrote them
	Assumed    []string         // what was taken for granted, in sentences
	Secondary  []Part           // what is asked for after the first
	Confidence Confidence
	Form       Form
	Pass       Pass     // why it passes through; empty if it does not
	Words      []string // keywords that were given instead of a prompt
}

// A Value is a span of a prompt. The offsets are in bytes. Both are 0 if the
// text came without its place. In Text, what is not valid UTF-8 in the prompt
// is replaced by U+FFFD.
type Value struct {
	Text  string
	Start int
	End   int
}

// A Flag is a warning with the words that it is about.
type Flag struct {
	Name  string  `json:"name"`
	Words []Value `json:"words"`
}

// A Part is a further request of a prompt.
type Part struct {
	Verb  Verb             `json:"verb"`
	Slots map[Slot][]Value `json:"slots"`
	Gaps  []Slot           `json:"gaps"`
}

// A Confidence says how sure the verb and the slots are. It is stored as its
// text: low, medium or high.
type Confidence string

// The confidences.
const (
	confidenceLow    Confidence = "low"    // the verb was guessed
	confidenceMedium Confidence = "medium" // something is open, in tension or assumed
	confidenceHigh   Confidence = "high"   // said plainly
)

// A Form says how a prompt is built, and so how it was put in order. It is
// stored as its text: verb-first, target-first, question or statement.
type Form string

// The forms.
const (
	formVerbFirst   Form = "verb-first"
	formTargetFirst Form = "target-first"
	formQuestion    Form = "question"
	formStatement   Form = "statement" // it only tells how things are, or what is wanted
)

// A Pass says why a prompt passes through. It is stored as its text: greeting,
// continuation, machine or nothing.
type Pass string

// The reasons for which a prompt passes through.
const (
	passGreeting     Pass = "greeting"     // hello, thanks
	passContinuation Pass = "continuation" // yes, go on
	passMachine      Pass = "machine"      // written by a tool, a pipeline or a system
	passNothing      Pass = "nothing"      // no word in it
)
