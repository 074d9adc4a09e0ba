package sqlite_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
)

// benchArtifacts sets how many artifacts BenchmarkHits and BenchmarkArtifacts
// put into a scope. The default is 100,000.
const benchArtifacts = "CARREL_BENCH_ARTIFACTS"

// vocabulary has the words of prose: the n-th is about n times rarer than the first.
var vocabulary = func() []string {
	words := make([]string, 50_000)
	for i := range words {
		words[i] = "w" + strconv.FormatInt(int64(i), 36)
	}
	return words
}()

// prose returns n words.
func prose(zipf *rand.Zipf, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(vocabulary[zipf.Uint64()])
		b.WriteByte(' ')
	}
	return b.String()
}

func newZipf() *rand.Zipf {
	return rand.NewZipf(rand.New(rand.NewPCG(1, 1)), 1.1, 3, uint64(len(vocabulary)-1))
}

// addText adds an artifact with a text and about 300 bytes about it.
func addText(u *store.Update, id, text string) {
	cell := func(suffix string, kind store.CellKind, body string) store.CellID {
		c := store.Cell{ID: store.CellID(id + suffix), Kind: kind, Salt: digest.Salt{1}, Body: []byte(body)}
		c.Commit = digest.Commit(c.Salt, string(kind), c.Body)
		u.Cells = append(u.Cells, c)
		return c.ID
	}
	u.Artifacts = append(u.Artifacts, store.Write{Artifact: store.Artifact{
		ID: store.ArtifactID(id), Class: provenance.Memory, Status: store.StatusLive,
		Content: cell("c", store.CellText, text), About: cell("a", store.CellAbout, strings.Repeat("about ", 50)),
		Bytes: int64(len(text)), Tokens: 250, Encoding: "o200k", Created: epoch, Updated: epoch, Address: id,
	}})
	u.Index = append(u.Index, store.ArtifactText{Artifact: store.ArtifactID(id), Text: text})
}

// BenchmarkPut compares the write of an artifact with a plain durable insert of as many bytes,
// through the same database/sql driver.
func BenchmarkPut(b *testing.B) {
	zipf := newZipf()
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = prose(zipf, 200)
	}
	each := func(b *testing.B, writers int, write func(n int) error) {
		var wg sync.WaitGroup
		b.ResetTimer()
		for w := range writers {
			wg.Go(func() {
				for n := w; n < b.N; n += writers {
					if err := write(n); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("raw insert, %d writers", writers), func(b *testing.B) {
			db, err := sql.Open("sqlite", "file:"+newPath(b)+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close() // there is nothing to keep
			db.SetMaxOpenConns(1)
			if _, err := db.ExecContext(b.Context(), "CREATE TABLE t (id TEXT PRIMARY KEY, body BLOB)"); err != nil {
				b.Fatal(err)
			}
			stmt, err := db.PrepareContext(b.Context(), "INSERT INTO t VALUES (?1, ?2)")
			if err != nil {
				b.Fatal(err)
			}
			defer stmt.Close() // as above
			each(b, writers, func(n int) error {
				_, err := stmt.ExecContext(b.Context(), digest.Of([]byte{byte(n), byte(n >> 8), byte(n >> 16)}).String(), []byte(texts[n%len(texts)]+strings.Repeat("about ", 50)))
				return err
			})
		})
		b.Run(fmt.Sprintf("put, %d writers", writers), func(b *testing.B) {
			s := openAt(b, newPath(b))
			each(b, writers, func(n int) error {
				id := digest.Of([]byte{byte(n), byte(n >> 8), byte(n >> 16)}).String()[:26]
				u := &store.Update{Entry: store.Entry{ID: "op-" + id, Op: "put", Actor: governance.ActorUser, Time: epoch}}
				addText(u, id, texts[n%len(texts)])
				_, err := s.Update(b.Context(), scope, u)
				return err
			})
		})
	}
}

// stocked returns a store with many artifacts of 60 words in a scope.
func stocked(b *testing.B) (store.Database, int) {
	many := 100_000
	if n := os.Getenv(benchArtifacts); n != "" {
		var err error
		if many, err = strconv.Atoi(n); err != nil {
			b.Fatal(err)
		}
	}
	s := openAt(b, newPath(b))
	zipf := newZipf()
	const batch = 5000
	for n := 0; n < many; n += batch {
		u := &store.Update{Entry: store.Entry{ID: fmt.Sprintf("op-%d", n), Op: "import", Actor: governance.ActorUser, Time: epoch}}
		for i := n; i < n+batch; i++ {
			addText(u, fmt.Sprintf("%012x", i), prose(zipf, 60))
		}
		if _, err := s.Update(b.Context(), scope, u); err != nil {
			b.Fatal(err)
		}
	}
	return s, many
}

// BenchmarkArtifacts measures the frequent reads of a scope with many artifacts.
func BenchmarkArtifacts(b *testing.B) {
	s, many := stocked(b)
	purged := 0
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			n := 0
			for _, err := range s.Artifacts(b.Context(), scope, 0) {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
			if n != many {
				b.Fatalf("%d artifacts", n)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*many), "ns/artifact")
	})
	b.Run("load what is new", func(b *testing.B) {
		for b.Loop() {
			for _, err := range s.Artifacts(b.Context(), scope, store.Version(many/5000-1)) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	for _, q := range []struct {
		name  string
		words []int // the rank of each
	}{
		{"one rare word", []int{40_000}},
		{"three rare words", []int{9000, 20_000, 40_000}},
		{"three words", []int{100, 1000, 10_000}},
		{"the most common word", []int{0}},
		{"three common words", []int{0, 1, 2}},
		{"three less common words", []int{50, 70, 90}},
		{"two words that hardly meet", []int{2000, 2500}},
		{"eight words", []int{0, 1, 5, 30, 200, 1000, 8000, 30_000}},
		{"eight common words", []int{0, 1, 2, 3, 4, 5, 6, 7}},
	} {
		b.Run("hits of "+q.name, func(b *testing.B) {
			var terms []string
			for _, rank := range q.words {
				terms = append(terms, vocabulary[rank])
			}
			for b.Loop() {
				if _, err := s.Hits(b.Context(), scope, terms, 200); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("purge", func(b *testing.B) {
		for b.Loop() {
			purged++
			u := &store.Update{Entry: store.Entry{ID: fmt.Sprintf("purge-%d", purged), Op: "purge", Actor: governance.ActorUser, Time: epoch}}
			u.Purge = []store.CellID{store.CellID(fmt.Sprintf("%012xc", purged))}
			if _, err := s.Update(b.Context(), scope, u); err != nil {
				b.Fatal(err)
			}
		}
	})
}
