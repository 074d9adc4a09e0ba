package manifest

import "slices"

// A Kind is the kind of a segment.
type Kind string

// The kinds of segments.
const (
	KindFrame    Kind = "frame"    // framing of the format
	KindSystem   Kind = "system"   // the system text
	KindPin      Kind = "pin"      // an artifact that a person or an agent pinned
	KindMessage  Kind = "message"  // a block of the session as it is
	KindStub     Kind = "stub"     // a text in place of a block of the session
	KindArtifact Kind = "artifact" // context from outside the session
	KindQuery    Kind = "query"    // the question
	KindNotice   Kind = "notice"   // a notice of Carrel to the model about the context
)

// A Form says how much of an artifact a segment holds. It is empty for other segments. Package
// assembly has another form, for what is left out, which is in no manifest.
type Form string

// The forms.
const (
	FormWhole Form = "whole" // all of it
	FormBrief Form = "brief" // a summary, or a part
)

// A Tag is the color that triage gives an artifact.
type Tag string

// The tags.
const (
	TagRed    Tag = "red"    // goes in first
	TagYellow Tag = "yellow" // goes in after the red
	TagGreen  Tag = "green"  // left out, with [ReasonMinor]
	TagBlack  Tag = "black"  // expired or refuted, never goes in
)

// A FetchOutcome says how an attempt to fetch ended.
type FetchOutcome string

// The outcomes.
const (
	OutcomeUnchanged   FetchOutcome = "unchanged"   // the source has the version that is stored
	OutcomeChanged     FetchOutcome = "changed"     // there is a new version
	OutcomeGone        FetchOutcome = "gone"        // the source no longer has it
	OutcomeForbidden   FetchOutcome = "forbidden"   // the source must not be asked, or refuses
	OutcomeUnavailable FetchOutcome = "unavailable" // no answer; trying again may help
)

// A Reason says why something is in the context or is not. The list is closed:
// a new reason needs a new version of the schema.
type Reason string

// Dead reports whether artifacts left out for reason r are tagged [TagBlack]:
// expired or refuted.
func (r Reason) Dead() bool { return r == ReasonExpired || r == ReasonRefuted }

// The reasons of segments.
const (
	ReasonFits   Reason = "fits"   // worth including, and the whole text fit
	ReasonBrief  Reason = "brief"  // worth including, and the brief form fit
	ReasonPinned Reason = "pinned" // a person or an agent pinned it
	ReasonSystem Reason = "system" // the system text is always in
	ReasonWindow Reason = "window" // it is in the window of the session
	ReasonQuery  Reason = "query"  // it is the query
	ReasonFrame  Reason = "frame"  // the format needs it
	ReasonNotice Reason = "notice" // the model should know it
)

// The reasons of omissions and sets.
const (
	ReasonExpired           Reason = "expired"            // its time to live has passed
	ReasonRefuted           Reason = "refuted"            // it was found to be wrong
	ReasonDistrusted        Reason = "distrusted"         // its provenance is below the threshold
	ReasonHeld              Reason = "held"               // it has not passed the gate yet
	ReasonPolicy            Reason = "policy"             // a policy forbids its use here
	ReasonSecret            Reason = "secret"             // it seems to hold a secret
	ReasonSuperseded        Reason = "superseded"         // there is a later version of the same thing
	ReasonDuplicate         Reason = "duplicate"          // another with the same content is in
	ReasonCrowded           Reason = "crowded"            // others score better by recency and provenance, in the first pass of triage
	ReasonNotScored         Reason = "not_scored"         // accepted by the first pass, but not among the artifacts that were scored
	ReasonMinor             Reason = "minor"              // scored, and tagged green
	ReasonOverBudget        Reason = "over_budget"        // there was no room for it
	ReasonTier              Reason = "tier"               // the tier leaves it out
	ReasonSourceGone        Reason = "source_gone"        // it changed, and its source no longer has it
	ReasonSourceForbidden   Reason = "source_forbidden"   // it changed, and its source may not be asked
	ReasonSourceUnavailable Reason = "source_unavailable" // it may have changed, and its source does not answer
	ReasonErased            Reason = "erased"             // its text was erased
)

// Included returns the reasons of segments.
func Included() []Reason {
	return []Reason{
		ReasonFits, ReasonBrief, ReasonPinned, ReasonSystem, ReasonWindow, ReasonQuery, ReasonFrame, ReasonNotice,
	}
}

// Excluded returns the reasons of omissions and sets.
func Excluded() []Reason {
	return []Reason{
		ReasonExpired, ReasonRefuted, ReasonDistrusted, ReasonHeld, ReasonPolicy, ReasonSecret, ReasonSuperseded,
		ReasonDuplicate, ReasonCrowded, ReasonNotScored, ReasonMinor, ReasonOverBudget, ReasonTier, ReasonSourceGone,
		ReasonSourceForbidden, ReasonSourceUnavailable, ReasonErased,
	}
}

// The closed lists.
var (
	kinds    = []Kind{KindFrame, KindSystem, KindPin, KindMessage, KindStub, KindArtifact, KindQuery, KindNotice}
	tags     = []Tag{TagRed, TagYellow, TagGreen, TagBlack}
	included = Included()
	excluded = Excluded()
)

// valid reports whether f is empty or a known form.
func (f Form) valid() bool { return f == "" || f == FormWhole || f == FormBrief }

// valid reports whether t is empty or a known tag.
func (t Tag) valid() bool { return t == "" || slices.Contains(tags, t) }
