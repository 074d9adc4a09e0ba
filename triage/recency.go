package triage

import (
	"math"
	"math/bits"

	"github.com/carrel-dev/carrel/ratio"
)

// A Curve is a function of recency over age. It is stored as its text.
type Curve string

// The curves. Recency is 1 at age 0 in both.
const (
	// CurveHalfLife is 2^(-age/half-life): 0.5 after one half-life, 0.001 after
	// ten.
	CurveHalfLife Curve = "half-life"

	// CurveLog is 1/(1+ln(1+age/half-life)), the pager's: 0.59 after one
	// half-life, 0.29 after ten.
	CurveLog Curve = "log"
)

// A clock turns the ages of one class into recency. Both curves are computed
// in integers, are off by at most 2 millionths, and never rise with age.
type clock struct {
	half   int64  // half-life in milliseconds
	log    bool   // CurveLog
	origin uint64 // log2(half), for CurveLog
}

func newClock(c Curve, half int64) clock {
	half = max(half, 1)
	return clock{half: half, log: c == CurveLog, origin: log2(uint64(half))}
}

// recency returns the recency of an age in milliseconds. A negative age, of a
// row created in the future, counts as 0.
func (c *clock) recency(age int64) ratio.Ratio {
	age = max(age, 0)
	if c.log {
		return fallLog(log2(uint64(c.half+age)) - c.origin)
	}
	return halfLifeDecay(age, c.half)
}

// halfLifeDecay returns 2^(-age/half). It interpolates linearly between the
// powers of 2^(-1/256).
func halfLifeDecay(age, half int64) ratio.Ratio {
	whole, rest := age/half, age%half
	if whole > 20 {
		return 0 // below half a millionth
	}
	x, _ := bits.Div64(uint64(rest), 0, uint64(half)) // in units of 2^-64
	k, part := x>>56, x<<8>>32
	v := powers[k] - (powers[k]-powers[k+1])*part>>32
	return ratio.Ratio((v*uint64(ratio.One) + 1<<(31+whole)) >> (32 + whole))
}

// powers has 2^(-k/256) at index k, in units of 2^-32.
var powers = halvings()

func halvings() (p [257]uint64) {
	step := uint64(1) << 63 // 1/2, in units of 2^-64
	for range 8 {
		step = root(step)
	}
	p[0] = 1 << 32
	x := uint64(math.MaxUint64)
	for k := 1; k < len(p); k++ {
		x, _ = bits.Mul64(x, step)
		p[k] = (x + 1<<31) >> 32
	}
	return p
}

// root returns the square root of x, both in units of 2^-64, rounded down.
func root(x uint64) (r uint64) {
	for bit := uint64(1) << 63; bit > 0; bit >>= 1 {
		if square, _ := bits.Mul64(r|bit, r|bit); square < x {
			r |= bit
		}
	}
	return r
}

// logBits is the number of binary places of a logarithm.
const logBits = 28

// ln2 is ln(2) in units of 2^-28.
const ln2 = 186_065_279

// fallLog returns 1/(1+d·ln(2)), for d in units of 2^-28.
func fallLog(d uint64) ratio.Ratio {
	below := 1<<logBits + d*ln2>>logBits
	return ratio.Ratio((uint64(ratio.One)<<logBits + below/2) / below)
}

// log2 returns the logarithm of n to the base 2, in units of 2^-28, rounded
// down. A square has twice the logarithm, so each squaring gives another
// binary place. n must be at least 1.
func log2(n uint64) uint64 {
	whole := bits.Len64(n) - 1
	log := uint64(whole)
	m := n << (63 - whole) // 1 to 2, in units of 2^-63
	for range logBits {
		square, _ := bits.Mul64(m, m) // 1 to 4, in units of 2^-62
		log <<= 1
		if square >= 1<<63 {
			log, m = log|1, square
		} else {
			m = square << 1
		}
	}
	return log
}
