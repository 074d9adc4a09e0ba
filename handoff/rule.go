package handoff

// An HonestyRule is one of the eight rules of honesty. It is stored as its text.
type HonestyRule string

// The rules, in the order in which [Check] applies them. They are those of
// prosecode-handoff-packet.
const (
	// RuleRead: what was only linked was not read. A source is not given a
	// stronger state than it has.
	RuleRead HonestyRule = "linked-is-not-read"
	// RuleDecided: an assumption is no decision. What is locked has a basis
	// that is on record.
	RuleDecided HonestyRule = "assumed-is-not-decided"
	// RuleDone: what is open is not done. Work completed has evidence, work
	// that remains is listed, and a draft is not delivered.
	RuleDone HonestyRule = "open-is-not-done"
	// ruleReasoning: the hidden reasoning of a model is not handed on.
	ruleReasoning HonestyRule = "no-hidden-reasoning"
	// ruleAccess: nothing is promised that the next agent may not reach. What
	// was unavailable is named by a boundary.
	ruleAccess HonestyRule = "no-promised-access"
	// RuleCorrections: no correction by the user is left out, reworded or
	// made up.
	RuleCorrections HonestyRule = "corrections-stay"
	// ruleState: how well something is known is not summarized away. Sources,
	// decisions, inferred claims, artifacts and blocks out of the window are
	// all there, and what is inferred does not stand as verified.
	ruleState HonestyRule = "state-stays"
	// ruleDoubt: doubt is not buried at the end. Open questions are in their
	// section, and boundaries say what may not be claimed.
	ruleDoubt HonestyRule = "doubt-up-front"
)

// Rules returns the eight rules.
func Rules() []HonestyRule {
	return []HonestyRule{
		RuleRead, RuleDecided, RuleDone, ruleReasoning,
		ruleAccess, RuleCorrections, ruleState, ruleDoubt,
	}
}

// A Finding is something in a packet that goes against a rule.
type Finding struct {
	Rule    HonestyRule `json:"rule"`
	Section Section     `json:"section"`
	Entry   string      `json:"entry,omitempty"` // the text in question; empty if it is about the section
	Text    string      `json:"text"`            // what is wrong, for people
	Error   bool        `json:"error"`           // the packet must not go out; else a person should look
}

// String returns a finding as one line.
func (f Finding) String() string {
	kind := "warning"
	if f.Error {
		kind = "error"
	}
	s := kind + ": " + string(f.Rule) + ": " + f.Section.Title() + ": " + f.Text
	if f.Entry != "" {
		s += ": " + quote(f.Entry)
	}
	return s
}

// Evidence is what is on record of a session: all of it, so that what is not
// there is not on record. Texts are compared without regard to case, white
// space and closing punctuation.
type Evidence struct {
	Sources     []Source // with the strongest state that each really had
	Inferred    []string // what a summary or a model only inferred
	Decisions   []Decision
	Questions   []string // open ones
	Corrections []string
	Done        []string // work of which there is evidence
	Remaining   []string
	Artifacts   []Deliverable // of several with one name and path, the last counts
	Out         []string      // ids of blocks that are out of the window
	Unavailable []string      // tools and other things that cannot be reached
	Reasoning   []string      // hidden reasoning of models, without tags, which must not be in the packet
}
