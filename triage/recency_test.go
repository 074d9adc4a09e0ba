package triage

import (
	"encoding/binary"
	"math"
	"math/big"
	"testing"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/ratio"
)

// ages returns ages in milliseconds: all near 0, and then irregular steps up to 25
// half-lives.
func ages(half int64) []int64 {
	var list []int64
	for age := range min(half, int64(1000)) {
		list = append(list, age)
	}
	for age, step := int64(0), max(half/1999, 1); age < 25*half; age += step {
		list = append(list, age, age+age%17)
	}
	return list
}

// The curves are off by at most 2 millionths, at every age.
func TestCurves(t *testing.T) {
	for _, tt := range []struct {
		curve Curve
		exact func(age float64) float64 // of an age in half-lives
	}{
		{CurveHalfLife, func(x float64) float64 { return math.Exp2(-x) }},
		{CurveLog, func(x float64) float64 { return 1 / (1 + math.Log1p(x)) }},
	} {
		worst := 0.0
		for _, half := range []int64{1, 1000, day.Milliseconds(), 180 * day.Milliseconds(), math.MaxInt64 / 1_000_000} {
			c := newClock(tt.curve, half)
			for _, age := range ages(half) {
				exact := tt.exact(float64(age)/float64(half)) * float64(ratio.One)
				if off := math.Abs(float64(c.recency(age)) - exact); off > 2 {
					t.Fatalf("%s: recency at %d of %d ms is %d millionths, want %.3f", tt.curve, age, half, c.recency(age), exact)
				} else {
					worst = max(worst, off)
				}
			}
		}
		t.Logf("%s is off by at most %.3f millionths", tt.curve, worst)
	}
}

func TestCurveExamples(t *testing.T) {
	for _, tt := range []struct {
		curve Curve
		age   int64 // in half-lives of 1000
		want  ratio.Ratio
	}{
		{CurveHalfLife, -5000, ratio.One}, // from the future
		{CurveHalfLife, 0, ratio.One},
		{CurveHalfLife, 500, 707_107},
		{CurveHalfLife, 1000, 500_000},
		{CurveHalfLife, 10_000, 977},
		{CurveHalfLife, 20_000, 1},
		{CurveHalfLife, 21_000, 0},
		{CurveHalfLife, math.MaxInt64, 0},
		{CurveLog, -5000, ratio.One},
		{CurveLog, 0, ratio.One},
		{CurveLog, 1000, 590_616},
		{CurveLog, 10_000, 294_300}, // equal to the pager's recency after ten turns
		{CurveLog, 100_000, 178_091},
	} {
		c := newClock(tt.curve, 1000)
		if got := c.recency(tt.age); got != tt.want {
			t.Errorf("%s at %d: %v, want %v", tt.curve, tt.age, got, tt.want)
		}
	}
}

// Each power is rounded correctly. The test computes its 256th power in integers, without
// floating point.
func TestPowersAreNearest(t *testing.T) {
	for k, p := range powers {
		// 2p-1 <= 2^33·2^(-k/256) <= 2p+1, all to the 256th power
		want := new(big.Int).Lsh(big.NewInt(1), uint(33*256-k))
		if below := pow256(2*p - 1); below.Cmp(want) > 0 {
			t.Errorf("power %d is %d, too large", k, p)
		}
		if above := pow256(2*p + 1); above.Cmp(want) < 0 {
			t.Errorf("power %d is %d, too small", k, p)
		}
	}
}

func pow256(x uint64) *big.Int {
	return new(big.Int).Exp(new(big.Int).SetUint64(x), big.NewInt(256), nil)
}

// The digest of all recencies must be the same on every processor, or two replicas would
// differ.
func TestRecencyIsPortable(t *testing.T) {
	const want = "9b76b0ccbcb8a0de2c8f5eba0485d5dff21ae3f5c21adcdbf11fdf738b75cd2c"
	var b []byte
	for _, curve := range []Curve{CurveHalfLife, CurveLog} {
		c := newClock(curve, 7*day.Milliseconds())
		for age := range int64(100_000) {
			b = binary.BigEndian.AppendUint32(b, uint32(c.recency(age*91_813)))
		}
	}
	if got := digest.Of(b).String(); got != want {
		t.Errorf("digest of 200,000 recencies is %s, want %s", got, want)
	}
}
