package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/digest"
)

// A fake embeds a text as the first bytes of its digest, and remembers what it
// was asked.
type fake struct {
	dim   int
	fewer int // vectors than texts
	err   error

	mu    sync.Mutex
	calls [][]string
}

func (f *fake) Name() string { return "fake" }

func (f *fake) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, slices.Clone(texts))
	if f.err != nil {
		return nil, f.err
	}
	var vectors [][]float32
	for _, t := range texts[f.fewer:] {
		vectors = append(vectors, embedding(t, f.dim))
	}
	return vectors, ctx.Err()
}

func embedding(text string, dim int) []float32 {
	d := digest.Of([]byte(text))
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(d[i])
	}
	return v
}

func TestCachedAsksOnce(t *testing.T) {
	f := &fake{dim: 4}
	c := Cached(f, 1<<20)
	for _, texts := range [][]string{{"a", "b", "a"}, {"b"}, {}, {"c", "b", "a"}} {
		got, err := c.Embed(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		var want [][]float32
		for _, text := range texts {
			want = append(want, embedding(text, 4))
		}
		if len(got) != len(want) || (len(want) > 0 && !cmp.Equal(got, want)) {
			t.Errorf("Embed(%q) = %v, want %v", texts, got, want)
		}
		for _, v := range got {
			clear(v) // the caller owns them
		}
	}
	if diff := cmp.Diff([][]string{{"a", "b"}, {"c"}}, f.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if c.Name() != "fake" {
		t.Errorf("name is %q", c.Name())
	}
}

func TestCachedForgetsTheLeastRecentlyUsed(t *testing.T) {
	f := &fake{dim: 4}
	c := Cached(f, 2*(entryOverhead+16))
	for _, text := range []string{"a", "b", "a", "c", "a", "b"} {
		if _, err := c.Embed(t.Context(), []string{text}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([][]string{{"a"}, {"b"}, {"c"}, {"b"}}, f.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestCachedKeepsWithinItsLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &fake{dim: rapid.IntRange(1, 9).Draw(t, "dim")}
		limit := rapid.IntRange(-1, 3000).Draw(t, "limit")
		c := Cached(f, limit).(*cache)
		for range rapid.IntRange(1, 12).Draw(t, "calls") {
			texts := rapid.SliceOf(rapid.StringMatching(`[a-h]`)).Draw(t, "texts")
			got, err := c.Embed(context.Background(), texts)
			if err != nil {
				t.Fatal(err)
			}
			for i, text := range texts {
				if !slices.Equal(got[i], embedding(text, f.dim)) {
					t.Fatalf("vector of %q is %v", text, got[i])
				}
			}
			used := 0
			for el := c.lru.Front(); el != nil; el = el.Next() {
				used += el.Value.(*entry).size()
			}
			if want := c.lru.Len() * (256 + 4*f.dim); used != want {
				t.Fatalf("%d entries of %d numbers take %d bytes, want %d", c.lru.Len(), f.dim, used, want)
			}
			if used != c.used || used > max(limit, 0) || c.lru.Len() != len(c.entries) {
				t.Fatalf("%d bytes in %d entries, counted as %d in %d, limit %d", used, c.lru.Len(), c.used, len(c.entries), limit)
			}
		}
	})
}

// What fills the limit to the last byte is remembered; one byte less holds nothing.
func TestCachedHoldsWhatFillsItsLimit(t *testing.T) {
	for less, calls := range []int{1, 2} {
		f := &fake{dim: 4}
		c := Cached(f, entryOverhead+16-less)
		for range 2 {
			if _, err := c.Embed(t.Context(), []string{"a"}); err != nil {
				t.Fatal(err)
			}
		}
		if len(f.calls) != calls {
			t.Errorf("%d bytes less than one vector takes: asked %d times, want %d", less, len(f.calls), calls)
		}
	}
}

// uneven answers with vectors whose lengths come in turn, and fails after them.
type uneven struct{ lengths []int }

func (u *uneven) Name() string { return "uneven" }

func (u *uneven) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for range texts {
		if len(u.lengths) == 0 {
			return nil, ErrUnavailable
		}
		vectors = append(vectors, make([]float32, u.lengths[0]))
		u.lengths = u.lengths[1:]
	}
	return vectors, nil
}

func TestCachedTakesNoVectorsOfSeveralLengths(t *testing.T) {
	for _, tt := range []struct {
		name    string
		lengths []int
		err     error
	}{
		{"again and again", []int{4, 5, 4, 5}, ErrReply},
		{"none has a number in it", []int{4, 0, 0, 4}, ErrReply},
		{"the second time they are of one length", []int{4, 5, 5, 5}, nil},
		{"the second time there is none", []int{4, 5}, ErrUnavailable},
	} {
		c := Cached(&uneven{tt.lengths}, 1<<20)
		if got, err := c.Embed(t.Context(), []string{"a", "b"}); !errors.Is(err, tt.err) || (err == nil) != (len(got) == 2) {
			t.Errorf("%s: %v, %v, want %v", tt.name, got, err, tt.err)
		}
	}
}

// What is forgotten because the model was replaced takes no room any more.
func TestCachedMakesRoomWhereTheModelWasReplaced(t *testing.T) {
	f := &fake{dim: 4}
	c := Cached(f, 3*(entryOverhead+4*6)).(*cache)
	for _, step := range []struct {
		dim   int
		texts []string
	}{{4, []string{"a", "b"}}, {6, []string{"b", "c"}}} {
		f.dim = step.dim
		if _, err := c.Embed(t.Context(), step.texts); err != nil {
			t.Fatal(err)
		}
	}
	if want := 2 * (entryOverhead + 4*6); c.used != want || c.lru.Len() != 2 || len(c.entries) != 2 {
		t.Errorf("%d bytes in %d and %d entries, want %d in 2", c.used, c.lru.Len(), len(c.entries), want)
	}
}

func TestCachedNoticesThatTheModelWasReplaced(t *testing.T) {
	f := &fake{dim: 4}
	c := Cached(f, 1<<20)
	for _, step := range []struct {
		dim   int
		texts []string
	}{{4, []string{"a", "b"}}, {6, []string{"b", "c"}}, {6, []string{"a", "b", "c"}}} {
		f.dim = step.dim
		got, err := c.Embed(t.Context(), step.texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if len(v) != step.dim {
				t.Errorf("vector of %q has %d components, want %d", step.texts[i], len(v), step.dim)
			}
		}
	}
	if diff := cmp.Diff([][]string{{"a", "b"}, {"c"}, {"b", "c"}, {"a"}}, f.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestCachedRemembersNoError(t *testing.T) {
	f := &fake{dim: 4, err: fmt.Errorf("down: %w", ErrUnavailable)}
	c := Cached(f, math.MaxInt)
	if _, err := c.Embed(t.Context(), []string{"a"}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("error is %v, want ErrUnavailable", err)
	}
	f.err, f.fewer = nil, 1
	if _, err := c.Embed(t.Context(), []string{"a", "b"}); !errors.Is(err, ErrReply) {
		t.Errorf("error for a vector too few is %v, want ErrReply", err)
	}
	f.fewer = 0
	if got, err := c.Embed(t.Context(), []string{"a", "b"}); err != nil || len(got) != 2 {
		t.Errorf("%v, %v after the model is back", got, err)
	}
}

func TestCachedIsSafeForConcurrentUse(t *testing.T) {
	c := Cached(&fake{dim: 4}, 4*(entryOverhead+16))
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				text := fmt.Sprint((g + i) % 7)
				got, err := c.Embed(context.Background(), []string{text, "x"})
				if err != nil || !slices.Equal(got[0], embedding(text, 4)) {
					t.Errorf("vector of %q is %v, %v", text, got, err)
					return
				}
			}
		})
	}
	wg.Wait()
}
