package handoff

// A Packet carries a session to another agent. It is valid if every text of it
// says something, that is, has a character other than white space, and if its
// words out of closed lists are such words; see [Packet.Validate]. A required
// list that is nil counts as empty.
type Packet struct {
	Filename   string `json:"filename,omitempty"` // optional
	CreatedFor string `json:"created_for"`
	CreatedBy  string `json:"created_by"`
	Date       string `json:"date"` // such as 2026-01-05
	Session    string `json:"session_or_project"`
	Permalink  string `json:"receipts_permalink,omitempty"` // of the closed contract; optional

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

	// Artifacts is nil if the packet does not say which files there are, and
	// empty if it says that there are none.
	Artifacts []Deliverable `json:"artifacts,omitzero"`
}

// Published returns the packet with the keys of the published schema alone, and the
// keys that were left out: filename, receipts_permalink and artifacts, which that schema
// lacks and a strict reader refuses. The copy shares its lists with p.
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

// unknownVerb stands for want of a verb.
const unknownVerb = "unknown"

// An Aim is what the session is at. The optional lists are nil if nothing
// was said of them.
type Aim struct {
	Primary   string   `json:"primary_intent"` // a verb of the prompt compiler, or "unknown"
	Target    string   `json:"target_or_artifact"`
	Status    string   `json:"status"`
	Basis     string   `json:"basis"` // what the verb was taken from
	Secondary string   `json:"secondary_intent,omitempty"`
	Slots     []string `json:"unresolved_slots,omitzero"` // required, and not said
	Flags     []string `json:"flags,omitzero"`            // contradictions, as the prompt compiler names them
}

// A Scrutiny says how closely a source was read.
type Scrutiny string

// The states, from the strongest claim to the weakest.
const (
	Verified    Scrutiny = "verified"    // read, and what it says was checked
	Scanned     Scrutiny = "scanned"     // looked through
	Referenced  Scrutiny = "referenced"  // linked or mentioned, and not read
	Unavailable Scrutiny = "unavailable" // wanted, and out of reach
)

// A Source is a file, a page or a run that claims rest on.
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
	Basis string `json:"basis"` // how it is known to be decided
}

// A Question is open.
type Question struct {
	Question string `json:"question"`
	Why      string `json:"why_it_matters"`
}

// A Correction is what a user said against the way of working.
type Correction struct {
	Correction string `json:"correction"` // in the user's words
	Meaning    string `json:"meaning_for_next_agent"`
}

// A Context is something to keep as it is: a name, a list, a constraint.
type Context struct {
	Context string `json:"context"`
	Why     string `json:"why_it_matters"`
}

// A Boundary is something that may not be claimed.
type Boundary struct {
	Boundary string `json:"boundary"`
	Reason   string `json:"reason"`
}

// A Status says how far an artifact is.
type Status string

// The statuses.
const (
	Delivered    Status = "delivered"
	Draft        Status = "draft"
	Intermediate Status = "intermediate"
)

// A Deliverable is a file that the session produced.
type Deliverable struct {
	Artifact string `json:"artifact"`
	Type     string `json:"type"`
	Path     string `json:"path"`
	Status   Status `json:"status"`
}
