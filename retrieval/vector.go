package retrieval

import (
	"math"
	"math/bits"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/ratio"
)

// buckets is the number of components of a vector.
const buckets = 512

// A vector has hashed counts of the letter n-grams of a text. The zero value is the
// vector of a text without words.
type vector struct {
	buckets [buckets]int32
}

// Lengths of the n-grams in letters, including boundary marks.
const (
	minGram = 3
	maxGram = 5
)

// maxBucket bounds the absolute value of a bucket, so that the sum of 512 squares fits in
// 63 bits. Only texts of many megabytes reach it.
const maxBucket = 1 << 26

// newVector returns the vector of a text.
//
// Words are runs of letters, digits and underscores, in lower case, between two marks:
// deploy is "<deploy>". Each run of three, four or five letters of a word is hashed
// (64-bit FNV-1a) into one of 512 buckets and added to it or subtracted from it,
// depending on another bit of the hash, so that collisions cancel out on average. A
// word that occurs n times counts as ⌊1+log₂n⌋ words.
func newVector(said string) vector {
	counts := make(map[string]int)
	for w := range text.Words(said) {
		counts[w]++
	}
	var sums [buckets]int64
	for w, n := range counts { // in any order: sums do not depend on it
		addGrams(&sums, w, int64(bits.Len(uint(n))))
	}
	var v vector
	for i, s := range sums {
		v.buckets[i] = int32(min(max(s, -maxBucket), maxBucket))
	}
	return v
}

// addGrams adds the n-grams of a word to sums, with a weight.
func addGrams(sums *[buckets]int64, word string, weight int64) {
	marked := []byte("<" + word + ">")
	for start := range marked {
		if !firstByte(marked[start]) {
			continue
		}
		h, letters := uint64(fnvOffset), 0
		for i := start; i < len(marked); i++ {
			h = (h ^ uint64(marked[i])) * fnvPrime
			if i+1 < len(marked) && !firstByte(marked[i+1]) {
				continue // inside a letter
			}
			letters++
			if letters >= minGram {
				add(sums, h, weight)
			}
			if letters == maxGram {
				break
			}
		}
	}
}

// The parameters of 64-bit FNV-1a.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// firstByte reports whether b is the first byte of a character in UTF-8.
func firstByte(b byte) bool { return b&0xC0 != 0x80 }

// add adds weight to the bucket of a hash, or subtracts it if bit 31 of the folded hash
// is set. It folds the halves of the hash because the low bits of FNV mix badly.
func add(sums *[buckets]int64, h uint64, weight int64) {
	h ^= h >> 32
	if h&(1<<31) != 0 {
		weight = -weight
	}
	sums[h%buckets] += weight
}

// cosine returns the cosine of the angle between two vectors, to the nearest
// millionth: 1 for the same words, about 0 for texts that have nothing in
// common, and rarely below 0. It is 0 if a text has no words.
func (v vector) cosine(o vector) ratio.Ratio {
	var dot, vv, oo int64
	for i, x := range v.buckets {
		y := o.buckets[i]
		dot += int64(x) * int64(y)
		vv += int64(x) * int64(x)
		oo += int64(y) * int64(y)
	}
	return cosine(dot, uint64(vv), uint64(oo))
}

// maxDimensions is the largest number of components that [CosineFloats]
// compares.
const maxDimensions = 1 << 17

// floatBits is the size in bits of a component after its conversion to an integer. The
// sum of maxDimensions squares then has 22+22+17 = 61 bits and fits in 63.
const floatBits = 22

// CosineFloats returns the cosine of the angle between two vectors of an embedder, in millionths.
// It is 0 if a vector is zero or the vectors cannot be compared: their lengths differ or exceed
// 131,072, or a component is not finite. Floating-point sums depend on the processor, so the sums
// are in integers. Each vector is multiplied by the power of two that brings its largest component
// into [2²¹, 2²²), which is exact; each component is rounded to an integer, halves away from zero,
// which is exact by definition; and all that follows is integer arithmetic in 64 and 128 bits,
// whose result is rounded to the nearest millionth. The rounding of components moves each by at
// most 2⁻²² of the largest one. It moves the cosine of vectors with n components by at most about
// √n·2⁻²¹, which is 15 millionths for 1,024 components, but by far less unless one component is
// much larger than all others.
func CosineFloats(a, b []float32) ratio.Ratio {
	if len(a) != len(b) || len(a) > maxDimensions {
		return 0
	}
	fa, fb := factor(a), factor(b)
	if fa == 0 || fb == 0 {
		return 0
	}
	var dot, aa, bb int64
	for i := range a {
		x := int64(math.Round(float64(a[i]) * fa))
		y := int64(math.Round(float64(b[i]) * fb))
		dot += x * y
		aa += x * x
		bb += y * y
	}
	return cosine(dot, uint64(aa), uint64(bb))
}

// factor returns the power of two that brings the largest component of a vector
// into [2^(floatBits-1), 2^floatBits), or 0 if the vector has only zeros or a
// component that is not finite.
func factor(v []float32) float64 {
	largest := 0.0
	for _, x := range v {
		f := math.Abs(float64(x))
		if !(f <= math.MaxFloat32) {
			return 0
		}
		largest = max(largest, f)
	}
	if largest == 0 {
		return 0
	}
	_, e := math.Frexp(largest)
	return math.Ldexp(1, floatBits-e)
}

// cosine returns dot/√(aa·bb) to the nearest millionth, halves away from zero,
// and 0 if aa or bb is. It relies on dot² ≤ aa·bb, which holds for every dot
// product.
func cosine(dot int64, aa, bb uint64) ratio.Ratio {
	if aa == 0 || bb == 0 {
		return 0
	}
	size := uint64(max(dot, -dot))
	// The product is shifted left as far as possible in 128 bits, by an even number of
	// bits, so that its root has at least 63 bits. size is shifted by half of that.
	hi, lo := bits.Mul64(aa, bb)
	half := leadingZeros(hi, lo) / 2
	root := sqrt128(shift(hi, lo, 2*half))
	hi, lo = bits.Mul64(size<<half, uint64(ratio.One))
	lo, carry := bits.Add64(lo, root/2, 0)
	c, _ := bits.Div64(hi+carry, lo, root) // size<<half ≤ root, so c ≤ 10⁶
	if dot < 0 {
		return -ratio.Ratio(c)
	}
	return ratio.Ratio(c)
}

func leadingZeros(hi, lo uint64) int {
	if hi == 0 {
		return 64 + bits.LeadingZeros64(lo)
	}
	return bits.LeadingZeros64(hi)
}

// shift returns hi·2⁶⁴+lo shifted left by n bits.
func shift(hi, lo uint64, n int) (uint64, uint64) {
	if n >= 64 {
		return lo << (n - 64), 0
	}
	return hi<<n | lo>>(64-n), lo << n
}

// sqrt128 returns the root of n = hi·2⁶⁴+lo, rounded down, by Newton's method.
// n must be at least 2¹²⁶.
func sqrt128(hi, lo uint64) uint64 {
	x := uint64(math.MaxUint64) // x is never below the root
	for {
		if hi >= x {
			return x // n is so large that the first guess is the root
		}
		q, _ := bits.Div64(hi, lo, x)
		if q >= x {
			return x
		}
		sum, carry := bits.Add64(x, q, 0)
		x = sum>>1 | carry<<63
	}
}
