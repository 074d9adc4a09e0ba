package intent

// schema is the name of the JSON form of an [Intent].
const schema = "prosecode.intent.v0"

// An Intent is what a prompt asks for (Intent IR v0). An intent from [Compile] or [Parse] has
// only slots of its verb, and Gaps are exactly the required slots without a value.
type Intent struct {
	Verb       Verb              // empty: the prompt passes through
	Slots      map[Slot][]Phrase // values in the order of the prompt; no key without a value
	Gaps       []Slot            // required slots that the prompt leaves open
	Amber      []Flag            // flags of contradictory words
	Human      []Flag            // flags about the person, such as UNCERTAIN_USER
	Assumed    []string          // assumptions of the compiler, as sentences
	Secondary  []FurtherRequest  // the requests after the first
	Confidence Confidence
	Form       Phrasing
	Pass       PassReason // why it passes through; empty if it does not
	Words      []string   // keywords that were given in place of a prompt
}

// A Phrase is a span of a prompt, with offsets in bytes. Both are 0 if the place is not known.
// In Text, invalid UTF-8 of the prompt is replaced by U+FFFD.
type Phrase struct {
	Text  string
	Start int
	End   int
}

// A Flag is the name of a rule with the words of the prompt that it matches. The amber flags are
// BREVITY_DEPTH_TENSION, TONE_TENSION, AUDIENCE_TENSION, SIMPLICITY_DEPTH_TENSION, EFFORT_TENSION,
// STYLE_TENSION, SCOPE_TENSION and LANGUAGE_TENSION, the human ones UNCERTAIN_USER,
// OVERWHELMED_USER, EXPERT_USER, DELEGATING_USER, HIGH_STAKES_USER and IMPERFECT_TEXT.
type Flag struct {
	Name  string   `json:"name"`
	Words []Phrase `json:"words"`
}

// A FurtherRequest is a request after the first.
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
	confidenceMedium Confidence = "medium" // a gap, an amber flag or an assumption
	confidenceHigh   Confidence = "high"   // the prompt says it plainly
)

// A Phrasing is the order in which a prompt names its parts. It is stored as its text:
// verb-first, target-first, question or statement.
type Phrasing string

// The phrasings.
const (
	formVerbFirst   Phrasing = "verb-first"
	formTargetFirst Phrasing = "target-first"
	formQuestion    Phrasing = "question"
	formStatement   Phrasing = "statement" // a fact or a wish
)

// A PassReason says why a prompt passes through. It is stored as its text: greeting (small talk, or
// a short statement such as "I'm on the train"), continuation ("go on", an answer such as "yes", or
// a choice such as "the second one"), machine (a program wrote it) or nothing (it has no word). If
// only the weights let a prompt pass, it is greeting if a word is one of small talk, and otherwise
// continuation.
type PassReason string

// The reasons for which a prompt passes through.
const (
	passGreeting     PassReason = "greeting"     // hello, thanks
	passContinuation PassReason = "continuation" // yes, go on
	passMachine      PassReason = "machine"      // written by a tool, a pipeline or a system
	passNothing      PassReason = "nothing"      // no word in it
)
