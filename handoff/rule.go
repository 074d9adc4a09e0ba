package handoff

// An HonestyRule is one of the eight rules of honesty, which are those of
// prosecode-handoff-packet. It is stored as its text. Besides the constants
// there are
//
//   - "no-hidden-reasoning": the hidden reasoning of a model is not handed on
//   - "no-promised-access": the packet does not promise access that the next
//     agent may not have; a boundary names everything that was unavailable
//   - "state-stays": the packet keeps the certainty of each entry; it lists all
//     recorded sources, decisions, inferred claims, artifacts and blocks out of
//     the window, and does not call an inferred claim verified
//   - "doubt-up-front": doubts are not hidden in the notes at the end; open
//     questions are in their section, and boundaries name forbidden claims
type HonestyRule string

// Rules that callers name. [Rules] has the order in which [Check] applies all.
const (
	// RuleRead: a source that was only linked was not read. The packet does not
	// give a source a stronger state than the evidence supports.
	RuleRead HonestyRule = "linked-is-not-read"
	// RuleDecided: an assumption is not a decision. A locked decision has a
	// recorded basis.
	RuleDecided HonestyRule = "assumed-is-not-decided"
	// RuleDone: open work is not completed work. Completed work has evidence,
	// remaining work is listed, and a draft does not count as delivered.
	RuleDone      HonestyRule = "open-is-not-done"
	ruleReasoning HonestyRule = "no-hidden-reasoning"
	ruleAccess    HonestyRule = "no-promised-access"
	// RuleCorrections: no correction by the user is left out, reworded or
	// made up.
	RuleCorrections HonestyRule = "corrections-stay"
	ruleState       HonestyRule = "state-stays"
	ruleDoubt       HonestyRule = "doubt-up-front"
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
	Entry   string      `json:"entry,omitempty"` // the text in question; empty if the finding is about the section
	Text    string      `json:"text"`            // what is wrong, for people
	Error   bool        `json:"error"`           // true: the packet must not be handed over; false: a person should look
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

// Evidence has everything that is recorded of a session: a text that is not in
// it counts as not recorded. [History.Evidence] makes it; evidence that a caller
// makes lacks the visible texts of the session, so that reasoning which occurs in
// them counts as hidden. Texts are compared without regard to case, white
// space and closing punctuation.
type Evidence struct {
	Sources     []Source // with the strongest state of each
	Inferred    []string // claims that a summary or a model only inferred
	Decisions   []Decision
	Questions   []string // open ones
	Corrections []string
	Done        []string // work of which there is evidence
	Remaining   []string
	Artifacts   []Deliverable // the last of several with the same name and path counts
	Out         []string      // ids of blocks that are out of the window
	Unavailable []string      // tools and other things that cannot be reached
	Reasoning   []string      // hidden reasoning of models, without tags, which must not be in the packet

	said []string // visible texts of the session; reasoning that occurs in one of them is not hidden
}
