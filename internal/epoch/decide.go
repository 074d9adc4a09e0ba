package epoch

import "github.com/carrel-dev/carrel/token"

// A Reason says why an epoch ends.
type Reason string

// The reasons.
const (
	Budget  Reason = "budget"  // what would be sent is over the budget
	Cold    Reason = "cold"    // the provider has forgotten what was sent, so a new head costs nothing
	Payback Reason = "payback" // a new head saves what it costs within the calls that are expected
)

// Limits are how large a request may become.
type Limits struct {
	Budget token.Count // of a request, above which an epoch ends
	Target token.Count // what a head is made for, with system and tools; less than Budget
	Least  token.Count // how much must be gained where nothing forces an end
}

// A State is what would be sent, and what is known of calls before and after.
type State struct {
	Tokens token.Count // of all of it
	Frame  token.Count // of these, system and tools
	Made   token.Count // of all of it when the epoch began, 0 if there was no head yet
	Warm   bool        // the provider still keeps what was sent
	Calls  int         // that are expected, this one included

	// Payback returns after how many calls it pays to remove tokens, in front of others
	// that stay and were sent before. It is that of package economy for the model.
	Payback func(removed, behind token.Count) int
}

// Decide says whether an epoch ends before a call is sent, and why; an empty reason lets
// it go on.
//
// The budget forces an end, unless so little was added since the last head that another
// would be no smaller: a sixteenth of the room between target and budget. If the cache is cold a head that gains enough costs
// nothing. If it is warm, with T tokens that stay and R that leave, a head costs T·(w−r)
// once and saves R·r in each call; it is worth it if a tenth of the calls that are expected
// pays for it: the expectation is a median, half of all conversations end before, and who
// waits loses little.
func Decide(s *State, l *Limits) Reason {
	grown := s.Tokens - s.Made
	if s.Tokens > l.Budget && grown > (l.Budget-l.Target)/16 {
		return Budget
	}
	gain := s.Tokens - max(l.Target, s.Frame)
	if gain < max(l.Least, 1) || s.Made > 0 && grown < l.Least {
		return ""
	}
	if !s.Warm {
		return Cold
	}
	if s.Payback != nil && s.Payback(gain, max(l.Target-s.Frame, l.Least)) <= s.Calls/10 {
		return Payback
	}
	return ""
}
