package retrieval

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/internal/text"
)

// ofFTS5 returns the weight of a word in the function bm25() of SQLite's FTS5.
func ofFTS5(docs, having int) float64 {
	return max(1e-6, math.Log((float64(docs-having)+0.5)/(float64(having)+0.5)))
}

// A naiveHit is a document with its score by the formula in floating point.
type naiveHit struct {
	id    int64
	score float64
}

// naive scores all documents that have a word, and sorts them.
func naive(docs map[int64]string, words []string, idf func(docs, having int) float64) []naiveHit {
	total := 0
	counts := make(map[int64]map[string]int)
	lengths := make(map[int64]int)
	for id, said := range docs {
		of := make(map[string]int)
		for w := range text.Words(said) {
			of[w]++
			lengths[id]++
		}
		if lengths[id] > 0 {
			counts[id] = of
			total += lengths[id]
		}
	}
	having := make(map[string]int)
	for _, of := range counts {
		for w := range of {
			having[w]++
		}
	}
	var hits []naiveHit
	for id, of := range counts {
		score, has := 0.0, false
		for _, w := range words {
			if tf := float64(of[w]); tf > 0 {
				length := float64(lengths[id]) * float64(len(counts)) / float64(total)
				score += idf(len(counts), having[w]) * tf * 2.2 / (tf + 1.2*(0.25+0.75*length))
				has = true
			}
		}
		if has {
			hits = append(hits, naiveHit{id, score})
		}
	}
	slices.SortFunc(hits, func(a, b naiveHit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
	return hits
}

// checkBest compares the result of a search with all documents, scored and sorted. Two
// documents with almost the same score may be in either order, because of rounding.
func checkBest(t rapid.TB, got []Best, want []naiveHit, k int) {
	t.Helper()
	if len(got) != min(k, len(want)) {
		t.Fatalf("%d documents, want %d", len(got), min(k, len(want)))
	}
	scores := make(map[int64]float64)
	for _, h := range want {
		scores[h.id] = h.score
	}
	for i, d := range got {
		exact := float64(d.at.score) / (1 << scoreBits)
		if math.Abs(exact-scores[d.ID]) > 1e-9 || math.Abs(exact-want[i].score) > 1e-9 {
			t.Fatalf("place %d is document %d with %.12f: it has %.12f, and that place %.12f", i, d.ID, exact, scores[d.ID], want[i].score)
		}
		if math.Abs(float64(d.Score)-exact*1e6) > 0.51 {
			t.Fatalf("the score of document %d is %v, want %.9f", d.ID, d.Score, exact)
		}
		if i > 0 && got[i-1].at.score == d.at.score && got[i-1].ID >= d.ID {
			t.Fatalf("documents %d and %d have one score, and the wrong order", got[i-1].ID, d.ID)
		}
	}
}

// drawTexts draws texts of few words that are frequent and many that are rare.
func drawTexts(t *rapid.T) []string {
	seed := rapid.Uint64().Draw(t, "seed")
	r := rand.New(rand.NewPCG(seed, 1))
	docs := make([]string, rapid.SampledFrom([]int{0, 1, 3, 60, 300, 1500}).Draw(t, "docs"))
	for i := range docs {
		var s strings.Builder
		for range r.IntN(20) {
			fmt.Fprintf(&s, "w%d ", r.IntN(1+r.IntN(1+r.IntN(400))))
		}
		docs[i] = s.String()
	}
	return docs
}

func drawQuery(t *rapid.T) ([]string, int, func(docs, having int) float64) {
	words := rapid.SliceOfNDistinct(rapid.Map(rapid.IntRange(0, 60), func(i int) string { return fmt.Sprintf("w%d", i*i/9) }), 1, 6, rapid.ID).Draw(t, "words")
	idf := rapid.SampledFrom([]func(docs, having int) float64{RankIDF, ofFTS5}).Draw(t, "idf")
	return words, rapid.IntRange(1, 60).Draw(t, "k"), idf
}

// A search of an index finds the same as scoring and sorting all documents.
func TestIndexIsAsNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x postings.Index
		docs := make(map[int64]string)
		for i, said := range drawTexts(t) {
			id := int64(3 * i)
			x.Add(id, postings.Counts(text.Words(said)))
			docs[id] = said
		}
		words, k, idf := drawQuery(t)
		checkBest(t, FindBest([]postings.View{x.View(words)}, k, idf), naive(docs, words, idf), k)
	})
}

// Indexes that were written as segments and read again find the same as one index, also
// after documents were removed.
func TestViewsAreAsOneIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawTexts(t)
		docs := make(map[int64]string)
		for i, said := range all {
			docs[int64(i)] = said
		}
		gone := make(map[int64]bool)
		for _, id := range rapid.SliceOfN(rapid.Int64Range(0, 1500), 0, 40).Draw(t, "gone") {
			gone[id] = true
			delete(docs, id)
		}
		words, k, idf := drawQuery(t)
		var views []postings.View
		var merged postings.Index
		for from := 0; from < len(all); {
			to := min(len(all), from+rapid.IntRange(1, 700).Draw(t, "documents of a segment"))
			var x postings.Index
			for id := from; id < to; id++ {
				x.Add(int64(id), postings.Counts(text.Words(all[id])))
			}
			from = to
			s := x.Segment()
			ids, lengths, err := postings.ParseDocs(s.Docs())
			if err != nil {
				t.Fatal(err)
			}
			v := postings.NewView(ids, lengths, func(id int64) bool { return gone[id] }, len(words))
			for i, w := range words {
				v.Lists[i], err = postings.Lookup(s.Pages[postings.PageOf(w, len(s.Pages))], w, uint32(len(ids))) //nolint:gosec // they are few
				if err != nil {
					t.Fatal(err)
				}
			}
			views = append(views, v)
			if err := merged.Join(s.Pages, ids, lengths); err != nil {
				t.Fatal(err)
			}
		}
		want := naive(docs, words, idf)
		checkBest(t, FindBest(views, k, idf), want, k)
		checkBest(t, FindBest([]postings.View{merged.View(words)}, k, idf), want, k)
	})
}

// A document counts once, with all of its words, also where one of them is alone in thousands of
// documents before it.
func TestWordsThatMeetLate(t *testing.T) {
	var x postings.Index
	docs := make(map[int64]string)
	for id := int64(0); id <= stretch+64; id++ {
		said := "hill"
		if id%64 == 0 {
			said += " lamp"
		}
		if id >= stretch {
			said += " rare"
		}
		x.Add(id, postings.Counts(text.Words(said)))
		docs[id] = said
	}
	words := []string{"lamp", "rare"}
	for _, k := range []int{1, 3, 200} {
		checkBest(t, FindBest([]postings.View{x.View(words)}, k, RankIDF), naive(docs, words, RankIDF), k)
	}
}

// A result reports which words of the query it has.
func TestBestHas(t *testing.T) {
	var x postings.Index
	for i, said := range []string{"a b", "b c c", "c"} {
		x.Add(int64(i), postings.Counts(text.Words(said)))
	}
	views := []postings.View{x.View([]string{"a", "c", "d"})}
	got := make(map[int64][]bool)
	for _, d := range FindBest(views, 9, RankIDF) {
		for i := range 3 {
			got[d.ID] = append(got[d.ID], d.Has(views, i))
		}
	}
	want := map[int64][]bool{0: {true, false, false}, 1: {false, true, false}, 2: {false, true, false}}
	if !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("has %v, want %v", got, want)
	}
}

// A search without documents or places has no result; the only document of one word has the score
// that the formula gives by hand: ln(1+½/1½) · 2.2/2.2 = ln 4/3.
func TestFewestDocuments(t *testing.T) {
	var x postings.Index
	x.Add(7, postings.Counts(text.Words("x")))
	views := []postings.View{x.View([]string{"x"})}
	if got := FindBest(nil, 3, RankIDF); got != nil {
		t.Errorf("without views: %v", got)
	}
	for _, k := range []int{-1, 0} {
		if got := FindBest(views, k, RankIDF); got != nil {
			t.Errorf("the best %d: %v", k, got)
		}
	}
	if got := FindBest(views, 1, RankIDF); len(got) != 1 || got[0].ID != 7 || got[0].Score.String() != "0.287682" {
		t.Errorf("the best of one is %+v", got)
	}
}

// manyDocs returns an index of n texts, in which the word wI is rarer the larger I is.
func manyDocs(n int) *postings.Index {
	r := rand.New(rand.NewPCG(1, 1))
	z := rand.NewZipf(r, 1.1, 3, 60_000)
	x := new(postings.Index)
	for i := range n {
		counts := make(map[string]uint32)
		for range 65 {
			counts[fmt.Sprintf("w%d", z.Uint64())]++
		}
		x.Add(int64(i), counts)
	}
	return x
}

// A search allocates only its result.
func TestSearchAllocates(t *testing.T) {
	x := manyDocs(3000)
	words := []string{"w1", "w50", "w900"}
	views := []postings.View{x.View(words)}
	if n := testing.AllocsPerRun(100, func() { FindBest(views, 50, RankIDF) }); n > 1 {
		t.Errorf("a search allocates %v times, want once", n)
	}
}

func BenchmarkIndexSearch(b *testing.B) {
	x := manyDocs(100_000)
	for _, q := range []string{"w9000", "w300", "w0", "w20 w100 w1000", "w50 w200 w700 w1000 w2000 w3000 w4000 w40"} {
		words := strings.Fields(q)
		v := x.View(words)
		n := 0
		for i := range words {
			n += v.Having(i)
		}
		b.Run(fmt.Sprintf("%d-words-%d-postings", len(words), n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				FindBest([]postings.View{v}, 50, ofFTS5)
			}
		})
	}
}
