// Package ratio has dimensionless numbers in whole millionths.
//
// Scores, weights, thresholds and shares are compared, and their last bit can decide. Results
// of floating point differ between processors, because compilers may fuse a multiplication and
// an addition on some of them. Results of integers do not. So every number that decides
// something is a [Ratio].
//
//	share := ratio.Of(3, 4)          // 0.750000
//	limit := share.Scale(200_000)    // 150000
//
// Sums, differences and comparisons are those of int64. Nothing checks for overflow.
package ratio

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Ratio is a number without unit, in millionths.
type Ratio int64

// One is the ratio 1.
const One Ratio = 1_000_000

// Of returns n/d to the nearest millionth, halves away from zero. If d is 0, it
// returns 0. n and d must lie within ±9·10¹², which holds for every count of
// tokens, bytes or turns.
func Of[N, D ~int | ~int64](n N, d D) Ratio {
	if d == 0 {
		return 0
	}
	return round(int64(n)*int64(One), int64(d))
}

// round returns a/b to the nearest whole number, halves away from zero.
func round(a, b int64) Ratio {
	half := b / 2
	if a^b < 0 { // their signs differ
		half = -half
	}
	return Ratio((a + half) / b)
}

// Mul returns the product of r and s to the nearest millionth, halves away
// from zero.
func (r Ratio) Mul(s Ratio) Ratio { return round(int64(r)*int64(s), int64(One)) }

// Scale returns r·n, rounded toward zero, so that a share of a budget never
// exceeds it. The product of n and the millionths of r must fit an int64.
func (r Ratio) Scale(n int64) int64 { return int64(r) * n / int64(One) }

// String returns r with six decimals, such as "0.550000".
func (r Ratio) String() string {
	sign, n := "", int64(r)
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%06d", sign, n/int64(One), n%int64(One))
}

// Short returns r with two decimals, for people to read.
func (r Ratio) Short() string {
	return fmt.Sprintf("%.2f", float64(r)/float64(One))
}

// Percent returns r as a percentage with one decimal, such as "55.0%".
func (r Ratio) Percent() string {
	return fmt.Sprintf("%.1f%%", float64(r)*100/float64(One))
}

// Parse reads a decimal number, such as "0.55", ".5" or "-1e-3", or a
// percentage, such as "50%". It rounds to the nearest millionth.
func Parse(s string) (Ratio, error) {
	text, scale := strings.TrimSpace(s), int64(One)
	if t, ok := strings.CutSuffix(text, "%"); ok {
		text, scale = t, int64(One)/100
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || strings.ContainsAny(text, "_xX") {
		return 0, fmt.Errorf("%q is not a number such as 0.55 or 55%%", s)
	}
	if math.Abs(f) > 1e8 {
		return 0, fmt.Errorf("%q is too large", s)
	}
	return Ratio(math.Round(f * float64(scale))), nil
}

// MarshalJSON writes r as a decimal number.
func (r Ratio) MarshalJSON() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalJSON reads a decimal number. A null leaves r as it is.
func (r *Ratio) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	p, err := Parse(string(b))
	if err != nil {
		return err
	}
	*r = p
	return nil
}
