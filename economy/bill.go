package economy

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/token"
)

// An Invoice is a provider's charge for one request.
type Invoice struct {
	Begun time.Time // when the request was sent; zero if unknown
	Ended time.Time // when the answer was complete; zero if unknown
	Model string
	Spend

	// After is the index of the call whose prompt this one continues, or -1.
	// It is less than the index of this call. After a rewind it is not the
	// previous call.
	After int

	Compacted bool          // since call After, the client compacted its history
	Edited    bool          // since call After, a sent message was changed or left out
	Frame     digest.Digest // digest of tools and system text; zero if unknown
	Cut       bool          // since call After, Carrel made the window smaller
	Managed   bool          // Carrel made the prompt
	Would     *Estimated    // estimate of the prompt that Carrel would have made, or nil
}

// A Cause is the reason why a cached prefix of a prompt was not read from the cache.
type Cause string

// The causes of a break. If several apply, the first of them in this order counts.
const (
	CauseModel   Cause = "model"      // the call is to another model
	CauseCompact Cause = "compaction" // the client compacted its history
	CauseFrame   Cause = "frame"      // tools or system text changed
	CauseEdited  Cause = "edited"     // a message sent before was changed or left out
	CauseExpired Cause = "expired"    // the call came after the cache entry had expired
	CauseEpoch   Cause = "epoch"      // Carrel made the window smaller
	CauseUnknown Cause = "unknown"    // no other cause is recorded: tools or system text may have changed, or the provider dropped the entry
)

// By returns the author of a cause: "client", "carrel", "time" or "unknown".
func (c Cause) By() string {
	switch c {
	case CauseModel, CauseCompact, CauseFrame, CauseEdited:
		return "client"
	case CauseEpoch:
		return "carrel"
	case CauseExpired:
		return "time"
	case CauseUnknown:
	}
	return "unknown"
}

// A Break is a call that read over 1,024 tokens less from the cache than the call whose prompt it
// continues had left there, and did not read its whole prompt. Of these tokens, at most Lost were in
// the prompt again, and at least Gone were not: providers do not report how much of the prompt is
// new, so new text counts as lost. The call whose prompt it continues, [Invoice.After], need not be
// the previous one.
type Break struct {
	Call  int           `json:"call"`        // index of the call, from 0
	Cause Cause         `json:"cause"`       // why the call read less
	By    string        `json:"by"`          // author of the cause: client, carrel, time or unknown
	At    time.Time     `json:"at,omitzero"` // when the call began, if that is recorded
	Idle  time.Duration `json:"idle"`        // nanoseconds since call After began, or ended if its beginning is not recorded; 0 if unknown
	Model string        `json:"model"`       // model of the call
	Lost  token.Count   `json:"lost"`        // upper limit of the cached tokens that were in the prompt again but not read from the cache
	Gone  token.Count   `json:"gone"`        // lower limit of the cached tokens that were not in the prompt again
	Extra Money         `json:"extra"`       // cost of Lost above reading it; 0 without known prices
}

// A Bill is the cost of calls with the causes of cache misses.
type Bill struct {
	Calls    int        `json:"calls"`
	Spend    Spend      `json:"spend"`    // of all calls
	Charge   Charge     `json:"charge"`   // of calls with known prices
	Total    Money      `json:"total"`    // the sum of Charge
	Uncached Money      `json:"uncached"` // cost of the same calls without a cache
	Unpriced int        `json:"unpriced"` // calls without known prices
	Missing  []string   `json:"missing"`  // their models
	Breaks   []Break    `json:"breaks"`   // calls that may have read less than they could, in their order
	Causes   []CauseSum `json:"causes"`   // cost of the misses by cause, the most expensive first
	Days     []DaySum   `json:"days"`     // sums by day, the earliest first; calls without a time are in none
}

// slack is the number of cached tokens up to which a miss is no break: providers round, and clients
// move small notes.
const slack token.Count = 1024

// Bill returns the cost of calls by part, and the cache misses with their
// causes as far as they are recorded. Calls must be in the order of their
// begin times; one without such a time stands where it was recorded.
func (t *Table) Bill(calls []Invoice) *Bill {
	b := &Bill{Calls: len(calls), Missing: []string{}, Breaks: []Break{}, Days: []DaySum{}}
	missing, days := make(map[string]bool), make(map[int64]*DaySum)
	for i := range calls {
		c := &calls[i]
		day := dayOf(days, c)
		day.Calls++
		day.Spend = day.Spend.Plus(c.Spend)
		b.Spend = b.Spend.Plus(c.Spend)
		m, known := t.Find(c.Model)
		if known && m.Priced() {
			charge := m.Charge(c.Spend)
			b.Charge = b.Charge.Plus(charge)
			day.Total += charge.Total()
			b.Uncached += m.Input.Of(c.Prompt()) + m.Output.Of(c.Output)
		} else {
			b.Unpriced++
			missing[c.Model] = true
		}
		if brk, broken := breakOf(calls, i, m); broken {
			b.Breaks = append(b.Breaks, brk)
			day.Breaks++
			day.Extra += brk.Extra
		}
	}
	b.Total = b.Charge.Total()
	b.Missing = slices.AppendSeq(b.Missing, maps.Keys(missing))
	slices.Sort(b.Missing)
	b.Causes = causes(b.Breaks)
	delete(days, 0)
	for _, n := range slices.Sorted(maps.Keys(days)) {
		b.Days = append(b.Days, *days[n])
	}
	return b
}

// breakOf returns the break at call i, and whether there is one. m is the tariff of its model,
// or nil if the model is unknown.
func breakOf(calls []Invoice, i int, m *Tariff) (Break, bool) {
	c := &calls[i]
	if c.After < 0 || c.After >= i || m == nil {
		return Break{}, false
	}
	before := &calls[c.After]
	kept := before.Read + before.Written()
	if m.FreeWrite { // cached tokens are reported as uncached input
		kept = before.Prompt()
	}
	missed := kept - c.Read
	if kept < m.Minimum || missed <= slack {
		return Break{}, false
	}
	lost := min(missed, c.Prompt()-c.Read)
	if lost == 0 { // the whole prompt was read
		return Break{}, false
	}
	b := Break{Call: i, At: c.Begun, Model: c.Model, Lost: lost, Gone: missed - lost}
	if last := cmp.Or(before.Begun, before.Ended); !last.IsZero() {
		b.Idle = max(c.Begun.Sub(last), 0)
	}
	long := before.Write1h+c.Write1h > 0 && before.Write5m+c.Write5m == 0
	switch frames := [2]digest.Digest{before.Frame, c.Frame}; {
	case c.Model != before.Model:
		b.Cause = CauseModel
	case c.Compacted:
		b.Cause = CauseCompact
	case frames[0] != frames[1] && frames[0] != digest.Digest{} && frames[1] != digest.Digest{}:
		b.Cause = CauseFrame
	case c.Edited:
		b.Cause = CauseEdited
	case b.Idle >= m.Lifetime(long):
		b.Cause = CauseExpired
	case c.Cut:
		b.Cause = CauseEpoch
	default:
		b.Cause = CauseUnknown
	}
	b.By = b.Cause.By()
	if m.Priced() {
		b.Extra = m.extra(c, b.Lost)
	}
	return b, true
}

// extra returns the cost of lost tokens of the prompt of c minus the cost of reading them. As many
// of them as the call wrote to the cache count as written, in the same shares for both lifetimes as
// the call's written tokens. The rest count as uncached.
func (m *Tariff) extra(c *Invoice, lost token.Count) Money {
	written := min(lost, c.Written())
	short := written
	if c.Written() > 0 {
		short = token.Count(int64(written) * int64(c.Write5m) / int64(c.Written()))
	}
	u := Spend{Write5m: short, Write1h: written - short, Uncached: lost - written}
	return m.Charge(u).Total() - m.Charge(Spend{Read: lost}).Total()
}

// causes returns the sums of breaks by cause, the most expensive first.
func causes(breaks []Break) []CauseSum {
	sums := make(map[Cause]CauseSum)
	for _, k := range breaks {
		s := sums[k.Cause]
		sums[k.Cause] = CauseSum{Cause: k.Cause, By: k.By, Breaks: s.Breaks + 1, Lost: s.Lost + k.Lost, Extra: s.Extra + k.Extra}
	}
	list := slices.AppendSeq([]CauseSum{}, maps.Values(sums))
	slices.SortFunc(list, func(x, y CauseSum) int {
		return cmp.Or(cmp.Compare(y.Extra, x.Extra), cmp.Compare(y.Lost, x.Lost), cmp.Compare(x.Cause, y.Cause))
	})
	return list
}

// A DaySum is the cost of the calls of a day, in UTC.
type DaySum struct {
	Day    string `json:"day"`    // the date in UTC, such as "2026-03-01"
	Calls  int    `json:"calls"`  // calls answered on that day
	Spend  Spend  `json:"spend"`  // of these calls
	Total  Money  `json:"total"`  // of the calls with known prices
	Breaks int    `json:"breaks"` // calls that may have read less from the cache than they could
	Extra  Money  `json:"extra"`  // cost of the breaks above the price of cache reads
}

// dayOf returns the sum for the day of a call, and adds it to days if it is new. The key is the
// number of days since 1970, or 0 for a call without a time.
func dayOf(days map[int64]*DaySum, c *Invoice) *DaySum {
	at, n := c.Ended, int64(0)
	if at.IsZero() {
		at = c.Begun
	}
	if !at.IsZero() {
		n = at.Unix() / 86_400
	}
	if days[n] == nil {
		days[n] = &DaySum{Day: at.UTC().Format(time.DateOnly)}
	}
	return days[n]
}

// A CauseSum is the cost of all misses with one cause.
type CauseSum struct {
	Cause  Cause       `json:"cause"`  // cause of the cache misses
	By     string      `json:"by"`     // author of the cause: client, carrel, time or unknown
	Breaks int         `json:"breaks"` // calls that read less for this cause
	Lost   token.Count `json:"lost"`   // upper limit of the cached tokens that were sent again but not read from the cache
	Extra  Money       `json:"extra"`  // cost of Lost above reading it
}
