package triage

// A Reason is the outcome of the first pass for a row. It is stored as its text: "admitted", "not
// scored" (admitted, but behind the shortlist), "crowded", "distrusted", "expired", "refuted" or
// "absent". If several apply to a row, the last of them in this order counts: a row that is absent
// and expired is absent.
type Reason string

// The reasons.
const (
	reasonAdmitted   Reason = "admitted"   // goes on to pass two
	reasonNotScored  Reason = "not scored" // admitted, but pass two has no place for it
	ReasonCrowded    Reason = "crowded"    // could enter, but others score better
	ReasonDistrusted Reason = "distrusted" // its class is unknown or ranks below Policy.Trust
	ReasonExpired    Reason = "expired"    // past its expiry
	ReasonRefuted    Reason = "refuted"    // known to be wrong
	reasonAbsent     Reason = "absent"     // has the flag Absent, or is no row of the table
)

// A Tally counts rows by reason. Its fields sum to the rows of the table: Admitted counts the rows
// of [First.Shortlist], and NotScored the other rows of First.Admitted.
type Tally struct {
	Admitted   int `json:"admitted"`
	NotScored  int `json:"not_scored"`
	Crowded    int `json:"crowded"`
	Distrusted int `json:"distrusted"`
	Expired    int `json:"expired"`
	Refuted    int `json:"refuted"`
	Absent     int `json:"absent"`
}

// A code is a reason in one byte.
type code uint8

const (
	admitted code = iota
	notScored
	crowded
	distrusted
	expired
	refuted
	absent
	numCodes
)

var reasons = [numCodes]Reason{
	reasonAdmitted, reasonNotScored, ReasonCrowded, ReasonDistrusted, ReasonExpired, ReasonRefuted, reasonAbsent,
}

// tallyOf returns counts by code as a Tally.
func tallyOf(n *[numCodes]int) Tally {
	return Tally{
		Admitted:   n[admitted],
		NotScored:  n[notScored],
		Crowded:    n[crowded],
		Distrusted: n[distrusted],
		Expired:    n[expired],
		Refuted:    n[refuted],
		Absent:     n[absent],
	}
}
