package seed

import "math"

// Two parts of the natural logarithm of 2. The upper one has so few bits that
// its product with an exponent is exact.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// reciprocals are 1/25, 1/23 and so on to 1/5.
var reciprocals = [...]float64{
	1.0 / 25, 1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5,
}

// log returns the natural logarithm of a finite x ≥ 1, correctly rounded in almost
// all cases. [math.Log] does not suffice: its last bit differs from the original's
// library for one age in a hundred, and differs between processors.
//
// With x = 2ᵏ·m and s = (m-1)/(m+1), it is k·ln 2 + 2·(s + s³/3 + s⁵/5 + …),
// computed with numbers that are sums of two doubles.
func log(x float64) float64 {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	d := sum(m, 1)
	s := double{high: (m - 1) / d.high}
	s.low = (math.FMA(-s.high, d.high, m-1) - float64(s.high*d.low)) / d.high
	q := s.mul(s)
	rest := 0.0 // 1/5 + q/7 + q²/9 + …
	for _, r := range reciprocals {
		rest = float64(rest*q.high) + r
	}
	third := double{high: 1.0 / 3, low: 1.0 / 3 / (1 << 54)} // 1/3 is 0.0101…₂
	p := sum(third.high, float64(rest*q.high))
	p.low += third.low
	p = p.mul(q).mul(s)
	r := sum(s.high, p.high)
	r.low += s.low + p.low
	e := float64(k)
	total := sum(float64(e*ln2High), 2*r.high)
	return total.high + (total.low + (2*r.low + float64(e*ln2Low)))
}

// A double is the sum high + low, where low is smaller than the last bit of high.
type double struct{ high, low float64 }

// sum returns a + b exactly.
func sum(a, b float64) double {
	s := a + b
	v := s - a
	return double{s, (a - (s - v)) + (b - v)}
}

// mul returns a·b to about a hundred bits.
func (a double) mul(b double) double {
	h := float64(a.high * b.high)
	l := math.FMA(a.high, b.high, -h) + (float64(a.high*b.low) + float64(a.low*b.high))
	s := h + l
	return double{s, l - (s - h)}
}
