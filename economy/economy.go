// Package economy computes the costs of calls from the prices of providers and the rules of
// their prompt caches.
//
// A provider caches the beginning of a prompt for some minutes. A call that begins with the
// same bytes reads them for a fraction of the price; new bytes are written to the cache for
// somewhat more than the price. So a window grows at its end for little money, but after an
// edit in the middle everything behind the edit is written again. The package answers four
// questions:
//
//   - What does a model cost, and what are the rules of its cache? [Published] has the
//     prices of the vendors, and [Table.With] puts rows of the user before them.
//   - How many tokens of a call are read, written and neither? A [Cache] is given the calls
//     in order.
//   - After how many calls does an edit pay? [Rules.Payback], and [Remaining] for how many
//     calls a session may still have.
//   - What did calls cost, by cause? [Table.Bill].
//
// For example:
//
//	tariff, known := economy.Published().Find("claude-sonnet-4-5")
//	if !known {
//		return
//	}
//	cache := economy.NewCache(tariff.Rules)
//	spend := cache.Send(&submission) // tokens read, written and neither
//
// # Determinism
//
// The package does no I/O and reads no clock. Money, prices and multiples are integers, so
// equal inputs give equal figures on every processor. A [Table] does not change and may be used
// concurrently; a [Cache] must not.
//
// # Units
//
// Sizes are in tokens as the provider counts them. A [Rate] is in millionths of a dollar
// for a million tokens, [Money] in billionths of a dollar. Multiples of a price are
// [ratio.Ratio].
package economy

import (
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// Money is an amount of US dollars, in billionths.
type Money int64

// String returns m in dollars: with two decimals, or with four if it is below one dollar,
// such as "$3.12" and "$0.0450". It rounds to the nearest, halves away from zero.
func (m Money) String() string {
	sign, n := "", int64(m)
	if n < 0 {
		sign, n = "-", -n
	}
	if n < 1e9-5e4 {
		return fmt.Sprintf("%s$0.%04d", sign, (n+5e4)/1e5)
	}
	cents := (n + 5e6) / 1e7
	return fmt.Sprintf("%s$%d.%02d", sign, cents/100, cents%100)
}

// A Rate is the price of a million tokens, in millionths of a US dollar.
type Rate int64

// ParseRate parses the price of a million tokens in dollars, such as "3" or "0.075". It fails
// if the price has more than six decimals or is above a million dollars.
func ParseRate(s string) (Rate, error) {
	whole, decimals, dotted := strings.Cut(strings.TrimSpace(s), ".")
	if whole == "" || len(whole) > 7 || len(decimals) > 6 || dotted && decimals == "" {
		return 0, noRate(s)
	}
	var r Rate
	for _, c := range whole + decimals + strings.Repeat("0", 6-len(decimals)) {
		if c < '0' || c > '9' {
			return 0, noRate(s)
		}
		r = 10*r + Rate(c-'0')
	}
	if r > 1e12 {
		return 0, noRate(s)
	}
	return r, nil
}

func noRate(s string) error {
	return fmt.Errorf(`%q is not a price: write dollars for a million tokens, such as "3" or "0.075"`, s)
}

// String returns r in dollars, such as "0.075", as [ParseRate] reads it.
func (r Rate) String() string {
	s := fmt.Sprintf("%d.%06d", r/1e6, r%1e6)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// Of returns the cost of n tokens at rate r, to the nearest billionth of a
// dollar.
func (r Rate) Of(n token.Count) Money { return Money((int64(n)*int64(r) + 500) / 1000) }

// Times returns r times a multiple, to the nearest millionth of a dollar.
func (r Rate) Times(multiple ratio.Ratio) Rate {
	return Rate((int64(r)*int64(multiple) + int64(ratio.One)/2) / int64(ratio.One))
}

// A Spend has the tokens of a call by part. The four parts of the prompt do
// not overlap.
type Spend struct {
	Uncached token.Count `json:"uncached"` // prompt tokens neither read from the cache nor written to it
	Read     token.Count `json:"read"`     // prompt tokens read from the cache
	Write5m  token.Count `json:"write_5m"` // prompt tokens written to the cache for its short lifetime
	Write1h  token.Count `json:"write_1h"` // prompt tokens written to the cache for its long lifetime
	Output   token.Count `json:"output"`
}

// Written returns the prompt tokens written to the cache.
func (u Spend) Written() token.Count { return u.Write5m + u.Write1h }

// Prompt returns the size of the prompt.
func (u Spend) Prompt() token.Count { return u.Uncached + u.Read + u.Written() }

// Plus returns the sum of u and v.
func (u Spend) Plus(v Spend) Spend {
	return Spend{
		Uncached: u.Uncached + v.Uncached, Read: u.Read + v.Read,
		Write5m: u.Write5m + v.Write5m, Write1h: u.Write1h + v.Write1h, Output: u.Output + v.Output,
	}
}

// A Charge is the cost of calls by part.
type Charge struct {
	Uncached Money `json:"uncached"`
	Write    Money `json:"write"`
	Read     Money `json:"read"`
	Output   Money `json:"output"`
}

// Total returns the sum of the parts.
func (c Charge) Total() Money { return c.Uncached + c.Write + c.Read + c.Output }

// Plus returns the sum of c and d.
func (c Charge) Plus(d Charge) Charge {
	return Charge{Uncached: c.Uncached + d.Uncached, Write: c.Write + d.Write, Read: c.Read + d.Read, Output: c.Output + d.Output}
}

// Charge returns the cost of a call. A part whose price is not known costs zero, so the result is
// too low unless [Tariff.Priced].
func (m *Tariff) Charge(u Spend) Charge {
	return Charge{
		Uncached: m.Input.Of(u.Uncached),
		Write:    m.Input.Times(m.Write5m).Of(u.Write5m) + m.Input.Times(m.Write1h).Of(u.Write1h),
		Read:     m.Input.Times(m.Read).Of(u.Read),
		Output:   m.Output.Of(u.Output),
	}
}
