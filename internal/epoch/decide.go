package epoch

import "github.com/carrel-dev/carrel/token"

// A Reason says why an epoch ends.
type Reason string

// The reasons.
const (
	Budget  Reason = "budget"  // the request is over the budget
	Cold    Reason = "cold"    // the provider's cache has expired, so a new head costs nothing
	Payback Reason = "payback" // a new head saves its cost within the expected calls
)

// Limits are the sizes at which an epoch ends.
type Limits struct {
	Budget token.Count // size of a request above which an epoch must end
	Target token.Count // size of a request after a new head, with system and tools; less than Budget
	Least  token.Count // fewest tokens that a new head must save if the request is within the budget
}

// A State is the request that would be sent without a new head, and what is known of other calls.
type State struct {
	Tokens token.Count // size of the request
	Frame  token.Count // of these, system and tools
	Made   token.Count // size of a request when the epoch began, 0 without a head
	Warm   bool        // the provider's cache still has the prefix
	Calls  int         // expected calls, this one included

	// Payback returns the number of calls after which a cut has paid for itself. The argument
	// removed is the number of tokens that the cut removes, and behind the number of tokens
	// behind these that were sent before. See economy.Rules.
	Payback func(removed, behind token.Count) int
}

// Decide returns why the epoch ends before a call is sent, or "" if it goes on.
//
// A request over the budget ends it, unless the request grew since the last head by no more
// than a sixteenth of the room between target and budget: then a new head would be no smaller.
// If the cache is cold, a head that gains at least Least tokens costs nothing. If the cache is
// warm, with T tokens that stay and R that leave, and the prices w of writing and r of reading
// the cache, a head costs T·(w−r) once and saves R·r in each call. It must pay within a tenth
// of the expected calls, because that expectation is a median: half of all conversations end
// before, and waiting costs little.
func Decide(s *State, l *Limits) Reason {
	grown := s.Tokens - s.Made
	if s.Tokens > l.Budget && grown > (l.Budget-l.Target)/16 {
		return Budget
	}
	gain := s.Tokens - max(l.Target, s.Frame)
	if gain < max(l.Least, 1) || grown < l.Least {
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
