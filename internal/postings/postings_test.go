package postings

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type posting struct{ doc, count, length uint32 }

func drawList(t *rapid.T) []posting {
	n := rapid.SampledFrom([]int{0, 1, 2, 127, 128, 129, 400}).Draw(t, "postings")
	gap := rapid.OneOf(rapid.Uint32Range(1, 3), rapid.Uint32Range(1, 100_000))
	number := rapid.OneOf(rapid.Uint32Range(1, 3), rapid.Uint32Range(1, 1<<31))
	all := make([]posting, n)
	doc := rapid.Uint32Range(0, 300).Draw(t, "first")
	for i := range all {
		all[i] = posting{doc, number.Draw(t, "count"), number.Draw(t, "length")}
		doc += gap.Draw(t, "gap")
	}
	return all
}

// A list returns the appended postings, before and after it was encoded and decoded, and the
// headers of its blocks are right.
func TestListGivesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawList(t)
		var l List
		for _, p := range all {
			l.add(p.doc, p.count, p.length)
		}
		data := l.appendTo([]byte("before"))
		read, err := parse(data[len("before"):], 1<<31)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []*List{&l, &read} {
			checkList(t, l, all)
		}
		if len(all) > 0 {
			if _, err := parse(data[len("before"):], all[len(all)-1].doc); err == nil {
				t.Fatal("a list with a document out of range was read")
			}
		}
	})
}

func checkList(t *rapid.T, l *List, want []posting) {
	t.Helper()
	if l.Len() != len(want) {
		t.Fatalf("the list has %d postings, want %d", l.Len(), len(want))
	}
	var docs, counts [BlockSize]uint32
	rest := want
	for c := l.Cursor(); c.Next(); {
		n := c.Decode(&docs, &counts)
		most, least := uint32(0), uint32(1<<32-1)
		for i := range n {
			if docs[i] != rest[i].doc || counts[i] != rest[i].count {
				t.Fatalf("posting %d is %d×%d, want %v", len(want)-len(rest)+i, docs[i], counts[i], rest[i])
			}
			most, least = max(most, rest[i].count), min(least, rest[i].length)
		}
		if c.N != n || c.First > docs[0] || c.Last != docs[n-1] || c.MostCount != most || c.MinLength != least {
			t.Fatalf("the header is %+v of %v", c.block, rest[:n])
		}
		rest = rest[n:]
	}
	if len(rest) > 0 {
		t.Fatalf("%d postings are missing", len(rest))
	}
	for i := 0; i < len(want); i += 1 + len(want)/9 {
		if got := l.Count(want[i].doc); got != want[i].count {
			t.Fatalf("document %d has the word %d times, want %d", want[i].doc, got, want[i].count)
		}
	}
}

// A segment that is joined without some of its documents equals one that never had them.
func TestSegmentForgets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var with, without, joined Index
		gone := rapid.SliceOfNDistinct(rapid.IntRange(0, 299), 0, 150, rapid.ID[int]).Draw(t, "gone")
		for id := range 300 {
			counts := map[string]uint32{fmt.Sprint("w", id%7): 1, fmt.Sprint("w", id%11): 2, fmt.Sprint("of ", id): 1}
			with.Add(int64(id), counts)
			if !slices.Contains(gone, id) {
				without.Add(int64(id), counts)
			}
		}
		s, lengths := with.Segment(), slices.Clone(with.lengths)
		for _, id := range gone {
			lengths[id] = 0
		}
		if err := joined.Join(s.Pages, s.IDs, lengths); err != nil {
			t.Fatal(err)
		}
		if joined.words != without.words {
			t.Fatalf("%d words, want %d", joined.words, without.words)
		}
		s, want := joined.Segment(), without.Segment()
		if !bytes.Equal(s.Docs(), want.Docs()) || !slices.EqualFunc(s.Pages, want.Pages, bytes.Equal) {
			t.Fatal("the segment has something of what is gone")
		}
	})
}

// A posting takes at most two bytes on average, whatever the frequency of the word.
func TestPostingsAreSmall(t *testing.T) {
	for _, every := range []uint32{1, 2, 10, 50} {
		var l List
		for i := range uint32(10_000) {
			l.add(i*every, 1+i%10/9, 50+i%100) // nine in ten documents have the word once
		}
		if n := len(l.appendTo(nil)); n > 2*10_000 {
			t.Errorf("every %d documents: %d bytes for 10,000 postings", every, n)
		}
	}
}

// No bytes from a disk make a reader panic, and all decoded documents are in range.
func FuzzWords(f *testing.F) {
	var x Index
	for id := range 200 {
		x.Add(int64(id), map[string]uint32{"all": uint32(1 + id%3), fmt.Sprint(id): 1}) //nolint:gosec // it is small
	}
	s := x.Segment()
	f.Add(s.Pages[0], s.Docs())
	f.Add([]byte{1, 'a', 3, 0, 0, 0}, []byte{0, 1})
	f.Fuzz(func(t *testing.T, page, docs []byte) {
		const most = 1 << 10
		var all, counts [BlockSize]uint32
		_ = Words(page, most, func(_ string, l *List) error {
			n := 0
			for c := l.Cursor(); c.Next(); {
				k := c.Decode(&all, &counts)
				for _, doc := range all[:k] {
					if doc >= most || doc < c.First || doc > c.Last {
						t.Errorf("document %d of a block from %d to %d", doc, c.First, c.Last)
					}
				}
				n += k
			}
			if n != l.Len() {
				t.Errorf("%d postings of %d", n, l.Len())
			}
			return nil
		})
		ids, lengths, err := ParseDocs(docs)
		if err == nil && (len(ids) != len(lengths) || !slices.IsSorted(ids)) {
			t.Errorf("documents %v with lengths %v", ids, lengths)
		}
	})
}
