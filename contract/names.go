package contract

import "slices"

// A List is the name of a list of texts in a contract: one of the constants,
// "overridden-decisions" (replaced by another decision in this session), "session-corrections"
// (given by the user in this session) or "precommit-verified" (checks made before a commit).
type List string

// Lists of a session.
const (
	TrackedDecisions    List = "tracked-decisions"    // decided in this session
	overriddenDecisions List = "overridden-decisions" // replaced by another decision in this session
	OpenQuestions       List = "open-questions"       // asked in this session and not answered
	sessionCorrections  List = "session-corrections"  // lasting instructions of the user, given in this session
	VerifiedClaims      List = "verified-claims"      // verified in this session or an earlier one
	precommitVerified   List = "precommit-verified"   // checks made before a commit
	InheritedDecisions  List = "inherited-decisions"  // decided in earlier sessions
	ActiveCorrections   List = "active-corrections"   // corrections of earlier sessions
	UnresolvedQuestions List = "unresolved-questions" // questions of earlier sessions
	PinnedBlocks        List = "pinned-blocks"        // blocks that stay in the window
	CorrectionBlocks    List = "correction-blocks"    // blocks that record a correction
	GateCommitted       List = "gate-committed"       // ids of contexts and memories that the gate accepted
	GateHeld            List = "gate-held"            // ids that wait for a person's decision
	GateRejected        List = "gate-rejected"        // ids that a person rejected
)

// lists has the names of all lists except the buckets.
var lists = [...]List{
	TrackedDecisions, overriddenDecisions, OpenQuestions, sessionCorrections, VerifiedClaims, precommitVerified,
	InheritedDecisions, ActiveCorrections, UnresolvedQuestions, PinnedBlocks, CorrectionBlocks,
	GateCommitted, GateHeld, GateRejected,
}

// index returns the place of l in lists, or -1.
func (l List) index() int { return slices.Index(lists[:], l) }

// A SourceState says how much of the sources of a session was read.
type SourceState string

// The states of sources.
const (
	Unscanned SourceState = "unscanned" // not read
	Scanned   SourceState = "scanned"   // read, but not checked
	Verified  SourceState = "verified"  // read and checked
)

// A ClaimBasis is the basis of a session's claims.
type ClaimBasis string

// The bases of claims.
const (
	BasisNone      ClaimBasis = "none"
	BasisInference ClaimBasis = "inference"
	BasisDocument  ClaimBasis = "document"
	BasisVerified  ClaimBasis = "verified"
)

// Names of single values, and the values of contractState.
const (
	sessionID     = "session-id"
	resumeState   = "resume-state"
	sourceState   = "source-state"
	claimBasis    = "claim-basis"
	contractState = "contract-state"
	decisionCount = "decision-count"
	blockCount    = "block-count"
	windowTokens  = "window-tokens"
	tokenBudget   = "token-budget"
	summaryName   = "session-summary"
	summaryBlocks = "summary-blocks"

	stateOpen   = "open"
	stateClosed = "closed"
	noSummary   = "none"
)

// A scalar is a name that holds one value.
type scalar struct {
	name   string
	number bool     // whether the value is a whole number of 0 or more, and not a text
	among  []string // the allowed texts, or nil for any
}

var scalars = [...]scalar{
	{name: sessionID},
	{name: resumeState},
	{name: sourceState, among: []string{string(Unscanned), string(Scanned), string(Verified)}},
	{name: claimBasis, among: []string{string(BasisNone), string(BasisInference), string(BasisDocument), string(BasisVerified)}},
	{name: contractState, among: []string{stateOpen, stateClosed}},
	{name: decisionCount, number: true},
	{name: blockCount, number: true},
	{name: windowTokens, number: true},
	{name: tokenBudget, number: true},
	{name: summaryName},
	{name: summaryBlocks, number: true},
}

// scalarIndex returns the place of a name in scalars, or -1.
func scalarIndex(name string) int {
	return slices.IndexFunc(scalars[:], func(s scalar) bool { return s.name == name })
}

// ours reports whether contracts give a meaning to a name. Only statements in the forms of this
// package may change its value.
func ours(name string) bool {
	return name == lastPass || Bucket(name).index() >= 0 || List(name).index() >= 0 || scalarIndex(name) >= 0
}
