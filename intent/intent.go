package intent

// schema is the name of the form in which an [Intent] is written as JSON.
const schema = "prosecode.intent.v0"

// An Intent is what a prompt asks for (Intent IR v0). One that has been
// compiled or parsed has slots of its verb only, and gaps are exactly the
// required slots without a value.
type Intent struct {
	Verb       Verb              // empty: the prompt passes through
	Slots      map[Slot][]Phrase // in the order of the prompt; absent if empty
	Gaps       []Slot            // required slots that the prompt leaves open
	Amber      []Flag            // words that pull in two directions
	Human      []Flag            // what the words say of who wrote them
	Assumed    []string          // what was taken for granted, in sentences
	Secondary  []FurtherRequest  // what is asked for after the first
	Confidence Confidence
	Form       Phrasing
	Pass       PassReason // why it passes through; empty if it does not
	Words      []string   // keywords that were given instead of a prompt
}

// A Phrase is a span of a prompt. The offsets are in bytes. Both are 0 if the
// text came without its place. In Text, what is not valid UTF-8 in the prompt
// is replaced by U+FFFD.
type Phrase struct {
	Text  string
	Start int
	End   int
}

// A Flag is a warning with the words that it is about.
type Flag struct {
	Name  string   `json:"name"`
	Words []Phrase `json:"words"`
}

// A FurtherRequest is a further request of a prompt.
type FurtherRequest struct {
	Verb  Verb              `json:"verb"`
	Slots map[Slot][]Phrase `json:"slots"`
	Gaps  []Slot            `json:"gaps"`
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

// A Phrasing says how a prompt is built, and so how it was put in order. It is
// stored as its text: verb-first, target-first, question or statement.
type Phrasing string

// The forms.
const (
	formVerbFirst   Phrasing = "verb-first"
	formTargetFirst Phrasing = "target-first"
	formQuestion    Phrasing = "question"
	formStatement   Phrasing = "statement" // it only tells how things are, or what is wanted
)

// A PassReason says why a prompt passes through. It is stored as its text: greeting,
// continuation, machine or nothing.
type PassReason string

// The reasons for which a prompt passes through.
const (
	passGreeting     PassReason = "greeting"     // hello, thanks
	passContinuation PassReason = "continuation" // yes, go on
	passMachine      PassReason = "machine"      // written by a tool, a pipeline or a system
	passNothing      PassReason = "nothing"      // no word in it
)
