package handoff

// A Packet carries a session to another agent. It is valid if every text that is
// not optional has a character other than white space, and if Intent.Primary and
// each Source.State and Deliverable.Status has one of its words; see
// [Packet.Validate]. A required list that is nil counts as empty.
type Packet struct {
	Filename   string `json:"filename,omitempty"` // optional
	CreatedFor string `json:"created_for"`
	CreatedBy  string `json:"created_by"`
	Date       string `json:"date"` // such as 2026-01-05
	Session    string `json:"session_or_project"`
	Permalink  string `json:"receipts_permalink,omitempty"` // link to the closed contract; optional

	Goal        string       `json:"current_goal"`
	State       string       `json:"current_state"`
	Intent      Aim          `json:"active_intent"`
	Sources     []Source     `json:"verified_sources"`
	Inferred    []Claim      `json:"inferred_claims"`
	Decisions   []Decision   `json:"locked_decisions"`
	Questions   []Question   `json:"open_questions"`
	Corrections []Correction `json:"active_user_corrections"`
	Context     []Context    `json:"context_to_preserve"`
	Done        []string     `json:"work_completed"`
	Remaining   []string     `json:"work_not_yet_completed"`
	Boundaries  []Boundary   `json:"do_not_claim_beyond_this"`
	Next        string       `json:"recommended_next_action"`
	Notes       string       `json:"handoff_notes"`

	// Artifacts is nil if the packet does not state which files the session
	// produced, and empty if the packet states that there are none.
	Artifacts []Deliverable `json:"artifacts,omitzero"`
}

// Published returns a copy of p with only the keys of the published schema, and the
// keys that were left out. These may be filename, receipts_permalink and artifacts: the
// published schema lacks them, and a strict reader refuses them. The copy shares its
// lists with p.
func (p *Packet) Published() (published *Packet, leftOut []string) {
	q := *p
	for i, text := range q.head() {
		if headFields[i].optional && *text != "" {
			*text, leftOut = "", append(leftOut, headFields[i].key)
		}
	}
	if q.Artifacts != nil {
		q.Artifacts, leftOut = nil, append(leftOut, string(sectionArtifacts))
	}
	return &q, leftOut
}

// unknownVerb is the primary intent if the verb is not known.
const unknownVerb = "unknown"

// An Aim is the active intent of the session. The optional lists are nil if the
// packet does not state them. All texts but Primary are free.
type Aim struct {
	Primary   string   `json:"primary_intent"` // an intent.Verb, or "unknown"
	Target    string   `json:"target_or_artifact"`
	Status    string   `json:"status"` // such as "asked"
	Basis     string   `json:"basis"`  // source of the verb, such as a message
	Secondary string   `json:"secondary_intent,omitempty"`
	Slots     []string `json:"unresolved_slots,omitzero"` // required details that the user did not give
	Flags     []string `json:"flags,omitzero"`            // contradictions: names of the amber flags of package intent
}

// A Scrutiny says how closely a source was read.
type Scrutiny string

// The states, from the strongest claim to the weakest.
const (
	Verified    Scrutiny = "verified"    // read, and its content was checked
	Scanned     Scrutiny = "scanned"     // read, but not checked
	Referenced  Scrutiny = "referenced"  // linked or mentioned, and not read
	Unavailable Scrutiny = "unavailable" // the session tried to read it and could not
)

// A Source is a file, a page or a command that claims are based on.
type Source struct {
	Source string   `json:"source"`
	Type   string   `json:"type"`
	State  Scrutiny `json:"state"`
	What   string   `json:"what_was_verified"`
}

// A Claim seems true and was not verified.
type Claim struct {
	Text  string `json:"text"`
	Basis string `json:"basis"`
}

// A Decision was approved by the user, or locked beyond doubt.
type Decision struct {
	Text  string `json:"text"`
	Basis string `json:"basis"` // who decided it, and where that is on record
}

// A Question is an open question.
type Question struct {
	Question string `json:"question"`
	Why      string `json:"why_it_matters"`
}

// A Correction is a user's correction of how the agent works.
type Correction struct {
	Correction string `json:"correction"` // in the user's words
	Meaning    string `json:"meaning_for_next_agent"`
}

// A Context is a detail that the next agent must keep as it is: a name, a list, a
// constraint.
type Context struct {
	Context string `json:"context"`
	Why     string `json:"why_it_matters"`
}

// A Boundary is a claim that the next agent must not make.
type Boundary struct {
	Boundary string `json:"boundary"`
	Reason   string `json:"reason"`
}

// A Status says how complete an artifact is.
type Status string

// The statuses.
const (
	Delivered    Status = "delivered"    // complete, such as a committed file
	Draft        Status = "draft"        // not yet delivered
	Intermediate Status = "intermediate" // made on the way, such as a temporary file
)

// A Deliverable is a file that the session produced.
type Deliverable struct {
	Artifact string `json:"artifact"`
	Type     string `json:"type"`
	Path     string `json:"path"`
	Status   Status `json:"status"`
}
