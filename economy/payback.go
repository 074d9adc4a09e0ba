package economy

import (
	"math"
	"slices"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// An Edit is a change of a prompt that was sent before.
type Edit struct {
	Removed token.Count // by how much the prompt becomes smaller
	Behind  token.Count // of what stays, how much stands behind the first changed byte and was sent before
	Warm    bool        // the provider still keeps the prompt: see [Rules.Warm]
	Long    bool        // it is kept for the long lifetime
}

// Never is the payback of an edit that does not pay.
const Never = math.MaxInt

// Payback returns after how many calls an edit has saved what it cost, the call that makes
// it included. With T tokens behind it and R removed, with the multiples r for reading and
// w for writing, it costs T·(w−r) once and saves R·r in every call, so it pays after
//
//	T/R · (w−r)/r
//
// calls, rounded up. Where the cache is cold, all is written again whether it was changed
// or not, and the edit costs nothing: 0. An edit that removes nothing pays [Never].
func (r *Rules) Payback(e Edit) int {
	if e.Removed <= 0 {
		return Never
	}
	w, read := r.write(e.Long), r.Read
	if !e.Warm || w <= read || e.Behind <= 0 {
		return 0
	}
	if read <= 0 {
		return Never
	}
	cost := int64(e.Behind) * int64(w-read)
	saved := int64(e.Removed) * int64(read)
	return int((cost + saved - 1) / saved)
}

// Saved returns what an edit changes of the cost of so many calls that follow, the call
// that makes it included, in tokens of input; it is negative where the edit costs more than
// it saves.
func (r *Rules) Saved(e Edit, calls int) token.Count {
	w, read := r.write(e.Long), r.Read
	n := ratio.Ratio(int64(read) * int64(calls))
	if !e.Warm { // the removed part is not written again, and not read by the others
		n += max(w-read, 0)
		return token.Count(n.Scale(int64(e.Removed)))
	}
	return token.Count(n.Scale(int64(e.Removed)) - (w - read).Scale(int64(e.Behind)))
}

// typical is how many calls a session still has if nothing else is known of it. It is
// measured on 64 sessions of Claude Code, of two projects, with 6 to 130 calls: of those
// that had reached 5, 10, 20, 30 and 40 calls, the median had 19, 19, 18, 21 and 20 more.
// How far a session has come says nothing of how far it will go.
const typical = 20

// leastPast is how many earlier sessions say more than [typical].
const leastPast = 8

// Remaining returns how many calls a session is expected to have still, after it had some.
// past are the numbers of calls of earlier sessions of the same project. It is the median
// of what those had left that came as far, the lower one of two, if there are at least 8
// of them, and otherwise 20.
func Remaining(done int, past []int) int {
	var left []int
	for _, n := range past {
		if n >= done {
			left = append(left, n-done)
		}
	}
	if len(left) < leastPast {
		return typical
	}
	slices.Sort(left)
	return left[(len(left)-1)/2]
}
