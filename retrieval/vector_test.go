package retrieval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/ratio"
)

func TestCosineOfWords(t *testing.T) {
	like := func(a, b string) ratio.Ratio { return newVector(a).cosine(newVector(b)) }
	for _, tt := range []struct {
		name           string
		to, near, far  string
		atLeast, below ratio.Ratio // bounds of the cosine: at least for near, below for far
	}{
		{"a noun and its verb", "deploy", "deployment", "pipeline", 500_000, 150_000},
		{"a participle and its verb", "deploy", "deploying", "staging", 500_000, 150_000},
		{"letters that changed places", "shipyard", "shpiyard", "vineyard", 200_000, 400_000},
		{"a letter too few", "configuration", "configuraion", "migration", 500_000, 450_000},
		{"a name in two spellings", "parse_config", "parseConfig", "renderPage", 300_000, 150_000},
		{"case and punctuation", "Deploy, now!", "deploy now", "later perhaps", ratio.One, 150_000},
		{"words of one letter", "x y", "x y", "z", ratio.One, 150_000},
		{"letters beyond ASCII", "Übertragung", "übertragungen", "Größe", 600_000, 150_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			near, far := like(tt.to, tt.near), like(tt.to, tt.far)
			if near < tt.atLeast {
				t.Errorf("%q and %q have %v, want %v or more", tt.to, tt.near, near, tt.atLeast)
			}
			if far >= tt.below || far >= near {
				t.Errorf("%q and %q have %v, want less than %v and than %v", tt.to, tt.far, far, tt.below, near)
			}
		})
	}
}

func TestCosineOfNothing(t *testing.T) {
	for _, text := range []string{"", " \n", "?!", "\xff\xfe"} {
		if got := newVector(text).cosine(newVector("word")); got != 0 {
			t.Errorf("cosine with %q is %v, want 0", text, got)
		}
	}
}

// Repeating one word changes the vector little; repeating all words does not change its
// direction.
func TestRepetition(t *testing.T) {
	once := newVector("retry the upload")
	if got := once.cosine(newVector("the upload: retry! Retry the upload")); got != ratio.One {
		t.Errorf("cosine with the same words twice is %v, want 1", got)
	}
	if got := once.cosine(newVector("retry the upload" + strings.Repeat(" upload", 60))); got < 700_000 {
		t.Errorf("cosine with a word 61 times is %v, want 0.7 or more", got)
	}
}

func TestCosineLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`([a-f]{1,6} ){0,12}`))
		a, b := newVector(text.Draw(t, "a")), newVector(text.Draw(t, "b"))
		got := a.cosine(b)
		if back := b.cosine(a); back != got {
			t.Fatalf("cosine is %v one way and %v the other", got, back)
		}
		if got < -ratio.One || got > ratio.One {
			t.Fatalf("cosine is %v", got)
		}
		if self := a.cosine(a); self != ratio.One && a != (vector{}) {
			t.Fatalf("cosine with itself is %v", self)
		}
	})
}

// The order of words does not matter.
func TestVectorIgnoresTheOrderOfWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-zäß]{1,9}`)).Draw(t, "words")
		shuffled := rapid.Permutation(words).Draw(t, "order")
		if newVector(strings.Join(words, " ")) != newVector(strings.Join(shuffled, "\n")) {
			t.Fatal("another vector in another order")
		}
	})
}

func TestCosineFloats(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, tt := range []struct {
		name string
		a, b []float32
		want ratio.Ratio
	}{
		{"equal", []float32{1, 2, 3}, []float32{1, 2, 3}, ratio.One},
		{"opposite", []float32{1, 2}, []float32{-1, -2}, -ratio.One},
		{"at right angles", []float32{1, 0}, []float32{0, 1}, 0},
		{"at half a right angle", []float32{1, 0}, []float32{1, 1}, 707_107},
		{"parallel, of sizes far apart", []float32{3e-30, 4e-30}, []float32{3e30, 4e30}, ratio.One},
		{"the smallest number", []float32{math.SmallestNonzeroFloat32}, []float32{1}, ratio.One},
		{"the largest number", []float32{math.MaxFloat32, math.MaxFloat32}, []float32{1, 1}, ratio.One},
		{"of different lengths", []float32{1}, []float32{1, 0}, 0},
		{"without components", nil, nil, 0},
		{"only zeros", []float32{0, 0}, []float32{1, 0}, 0},
		{"not a number", []float32{1, nan}, []float32{1, 0}, 0},
		{"infinite", []float32{1, 0}, []float32{-inf, 0}, 0},
		{"too long", make([]float32, maxDimensions+1), make([]float32, maxDimensions+1), 0},
	} {
		if got := CosineFloats(tt.a, tt.b); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// No sum overflows with the most components, all of the largest value.
func TestCosineFloatsAtItsLimit(t *testing.T) {
	v := make([]float32, maxDimensions)
	for i := range v {
		v[i] = math.Nextafter32(1, 0)
	}
	if got := CosineFloats(v, v); got != ratio.One {
		t.Errorf("cosine is %v, want 1", got)
	}
}

func TestCosineFloatsLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		vector := rapid.SliceOfN(rapid.Float32Range(-1, 1), n, n)
		a, b := vector.Draw(t, "a"), vector.Draw(t, "b")
		got := CosineFloats(a, b)
		if back := CosineFloats(b, a); back != got {
			t.Fatalf("cosine is %v one way and %v the other", got, back)
		}
		if self := CosineFloats(a, a); self != ratio.One && self != 0 {
			t.Fatalf("cosine with itself is %v", self)
		}
		double := make([]float32, n)
		for i := range a {
			double[i] = 2 * a[i]
		}
		if scaled := CosineFloats(double, b); scaled != got {
			t.Fatalf("cosine is %v, of a vector twice as long %v", got, scaled)
		}
		if want := floatCosine(a, b); math.Abs(float64(got)-want*1e6) > 3 {
			t.Fatalf("cosine is %v, want %f", got, want)
		}
	})
}

// floatCosine returns the cosine by the usual formula in floating point.
func floatCosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa) / math.Sqrt(bb)
}

// The root and the quotient are equal to those of arbitrary-precision integers.
func TestCosineAgainstBigNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{1 << 62, 1<<63 - 1, 1 << 63, math.MaxUint64}))
		hi, lo := word.Draw(t, "hi")|1<<62, word.Draw(t, "lo")
		n := new(big.Int).Add(new(big.Int).Lsh(new(big.Int).SetUint64(hi), 64), new(big.Int).SetUint64(lo))
		if got, want := sqrt128(hi, lo), n.Sqrt(n).Uint64(); got != want {
			t.Fatalf("root is %d, want %d", got, want)
		}

		square := rapid.Uint64Range(1, 1<<62)
		aa, bb := square.Draw(t, "aa"), square.Draw(t, "bb")
		p := new(big.Int).Mul(new(big.Int).SetUint64(aa), new(big.Int).SetUint64(bb))
		most := new(big.Int).Sqrt(p).Int64()
		dot := rapid.Int64Range(-most, most).Draw(t, "dot")
		root := new(big.Float).SetPrec(200).SetInt(p)
		q, _ := new(big.Float).Quo(new(big.Float).SetPrec(200).SetInt64(dot), root.Sqrt(root)).Float64()
		if got := cosine(dot, aa, bb); math.Abs(float64(got)-q*1e6) > 0.500_001 {
			t.Fatalf("cosine is %d millionths, want %f", got, q*1e6)
		}
	})
}

// The vectors and cosines of two thousand texts are the same on every
// processor.
func TestCosineIsPortable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	h := sha256.New()
	words := []string{"deploy", "staging", "Größe", "parse_config", "retry", "x", "поиск", "設定"}
	text := func() string {
		var s strings.Builder
		for range r.IntN(12) {
			s.WriteString(words[r.IntN(len(words))] + " ")
		}
		return s.String()
	}
	floats := make([]float32, 64)
	last := make([]float32, 64)
	for range 2000 {
		fmt.Fprintln(h, newVector(text()).cosine(newVector(text())))
		for i := range floats {
			floats[i] = float32(r.Int32N(1<<24)-1<<23) / (1 << 23)
		}
		fmt.Fprintln(h, CosineFloats(floats, last))
		copy(last, floats)
	}
	const want = "53af03bc9f15ae6c7a1ab680c75f50c4e66a6ba980f33e8af1200ce5e0c129bc"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("digest of the cosines is %s, want %s", got, want)
	}
}

var (
	vectorSink vector
	ratioSink  ratio.Ratio
	sharesSink []ratio.Ratio
)

// prose returns about n bytes that look like words.
func prose(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 7))
	var s strings.Builder
	for s.Len() < n {
		// A few words are frequent, many are rare.
		word := r.IntN(1 + r.IntN(2000))
		for range 2 + word%9 {
			s.WriteByte('a' + byte(word%23))
			word = word*31 + 7
		}
		s.WriteByte(" \n"[r.IntN(2)])
	}
	return s.String()
}

func BenchmarkNewVector(b *testing.B) {
	text := prose(1, 4096)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		vectorSink = newVector(text)
	}
}

func BenchmarkCosine(b *testing.B) {
	x, y := newVector(prose(1, 4096)), newVector(prose(2, 4096))
	b.ReportAllocs()
	for b.Loop() {
		ratioSink = x.cosine(y)
	}
}

func BenchmarkCosineFloats(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	x, y := make([]float32, 768), make([]float32, 768)
	for i := range x {
		x[i], y[i] = r.Float32()-0.5, r.Float32()-0.5
	}
	b.ReportAllocs()
	for b.Loop() {
		ratioSink = CosineFloats(x, y)
	}
}

func BenchmarkSimilar(b *testing.B) {
	docs := make([]Document, 20)
	for i := range docs {
		docs[i] = Document{fmt.Sprint(i), prose(uint64(i), 4096)}
	}
	b.ReportAllocs()
	for b.Loop() {
		sharesSink = similar(prose(99, 60), docs)
	}
}
