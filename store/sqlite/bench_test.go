package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// sized returns a change of n cells with bodies of size bytes, two cells for each block, with the
// words of each block in the index. turn is the turn of the first block.
func sized(prefix string, turn, n, size int) *store.Change {
	c := new(store.Change)
	c.Entry.ID = prefix
	for i := range n {
		id := store.CellID(fmt.Sprintf("%s-%06d", prefix, i))
		var body strings.Builder
		for line := 0; body.Len() < size; line++ {
			fmt.Fprintf(&body, "line %d of %d: the build of package%d fails with exit code %d\n", line, i, i*line%997, line%128)
		}
		cell := store.Cell{ID: id, Kind: store.CellItem, Salt: digest.Salt{1}, Body: []byte(body.String()[:size])}
		cell.Commit = digest.Commit(cell.Salt, string(cell.Kind), cell.Body)
		c.Cells, c.Items = append(c.Cells, cell), append(c.Items, id)
		if i%2 == 0 {
			b := store.Block{ID: transcript.BlockID(digest.Of([]byte(id)).String()[:16]), Turn: turn + i/2, State: store.StateLive}
			c.Blocks = append(c.Blocks, b)
			c.Index = append(c.Index, store.IndexEntry{Block: b.ID, Words: make(map[string]uint32)})
		}
		b, e := &c.Blocks[len(c.Blocks)-1], &c.Index[len(c.Index)-1]
		b.Cells = append(b.Cells, id)
		for word, n := range postings.Counts(store.Words(string(cell.Body))) {
			e.Words[word] += n
		}
	}
	return c
}

// small returns a change as small as that of a hook: one block of 1,000 bytes.
func small(name string, turn int) *store.Change {
	c := sized(fmt.Sprintf("%s-%d", name, turn), turn+1, 1, 1000)
	c.ItemsFrom = turn
	return c
}

// BenchmarkApply compares Apply with a plain write and sync of the disk.
func BenchmarkApply(b *testing.B) {
	b.Run("raw write and sync", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		// About one page for each B-tree that the change writes.
		data := make([]byte, 16*4096)
		for b.Loop() {
			if _, err := f.Write(data); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("%d writers", writers), func(b *testing.B) {
			s := openAt(b, newPath(b))
			var wg sync.WaitGroup
			b.ResetTimer()
			for w := range writers {
				wg.Go(func() {
					name := fmt.Sprintf("w%d", w)
					for n := range (b.N + writers - 1 - w) / writers {
						if _, err := s.Apply(b.Context(), scope, transcript.SessionID(name), store.Revision(n), small(name, n)); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// BenchmarkApplyImport measures an import of 2,000 cells, 3 MB.
func BenchmarkApplyImport(b *testing.B) {
	s := openAt(b, newPath(b))
	b.SetBytes(3 << 20)
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		name := fmt.Sprintf("s%d", n)
		c := sized(name, 1, 2000, 3<<20/2000)
		b.StartTimer()
		if _, err := s.Apply(b.Context(), scope, transcript.SessionID(name), 0, c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead measures the reads of a session of 1,000 items, 2 MB.
func BenchmarkRead(b *testing.B) {
	s := openAt(b, newPath(b))
	c := sized("s", 1, 1000, 2<<20/1000)
	if _, err := s.Apply(b.Context(), scope, "s", 0, c); err != nil {
		b.Fatal(err)
	}
	b.Run("cells", func(b *testing.B) {
		b.SetBytes(2 << 20)
		for b.Loop() {
			n := 0
			for cell, err := range s.Cells(b.Context(), scope, c.Items) {
				if err != nil {
					b.Fatal(err)
				}
				n += len(cell.Body)
			}
			if n != 1000*(2<<20/1000) {
				b.Fatalf("%d bytes", n)
			}
		}
	})
	b.Run("blocks", func(b *testing.B) {
		for b.Loop() {
			n := 0
			for _, err := range s.Blocks(b.Context(), scope, "s") {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
			if n != 500 {
				b.Fatalf("%d blocks", n)
			}
		}
	})
	b.Run("head", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Head(b.Context(), scope, "s"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("postings", func(b *testing.B) {
		for b.Loop() {
			if views, err := s.Postings(b.Context(), scope, []string{"package7", "exit", "build"}); err != nil || len(views) == 0 {
				b.Fatal(len(views), err)
			}
		}
	})
}
