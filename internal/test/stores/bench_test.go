package stores

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/internal/test/postgres"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

const benchScope governance.Scope = "bench"

// artifacts is how many artifacts the benchmarks of reading put in, unless
// CARREL_BENCH_ARTIFACTS says otherwise.
const artifacts = 20_000

func newCell(id string, kind store.CellKind, body string) store.Cell {
	c := store.Cell{ID: store.CellID(id), Kind: kind, Salt: digest.Salt{1}, Body: []byte(body)}
	c.Commit = digest.Commit(c.Salt, string(kind), c.Body)
	return c
}

// text returns a text of some words, of which some are in all texts and some in few.
func text(n int) string {
	s := ""
	for i := range 60 {
		s += fmt.Sprintf("common%d rare%d ", i, n*61%(1000*(i+1)))
	}
	return s
}

// message returns a change as a hook makes it: a message of about 1 kB, findable.
func message(session string, turn int) *store.Change {
	id := fmt.Sprintf("%s-%d", session, turn)
	c := &store.Change{Entry: store.Entry{ID: id, Time: time.UnixMilli(1)}, ItemsFrom: turn, Statements: []string{"(retain block)"}}
	c.Cells, c.Items = []store.Cell{newCell(id, store.CellItem, text(turn))}, []store.CellID{store.CellID(id)}
	c.Blocks = []store.Block{{ID: transcript.BlockID(id), Turn: turn + 1, State: store.StateLive, Cells: c.Items}}
	c.Index = []store.IndexEntry{{Block: transcript.BlockID(id), Words: postings.Counts(store.Words(text(turn)))}}
	return c
}

// put returns an update of some artifacts.
func put(from, n int) *store.Update {
	u := &store.Update{Entry: store.Entry{ID: fmt.Sprintf("up%d", from), Time: time.UnixMilli(1)}}
	for i := from; i < from+n; i++ {
		id := fmt.Sprintf("a%d", i)
		u.Cells = append(u.Cells, newCell(id+"c", store.CellText, text(i)), newCell(id+"a", store.CellAbout, "{}"))
		u.Artifacts = append(u.Artifacts, store.Write{Artifact: store.Artifact{
			ID: store.ArtifactID(id), Class: provenance.Memory, Status: store.StatusLive, Content: store.CellID(id + "c"), About: store.CellID(id + "a"),
			Created: time.UnixMilli(1), Updated: time.UnixMilli(1), Address: id,
		}})
		u.Index = append(u.Index, store.ArtifactText{Artifact: store.ArtifactID(id), Text: text(i)})
	}
	return u
}

// What one operation takes on each store, in one run. Both keep their files where temporary
// files are: name a directory in memory in TMPDIR to leave the disk out.
func BenchmarkStores(b *testing.B) {
	ctx := b.Context()
	n := artifacts
	if s := os.Getenv("CARREL_BENCH_ARTIFACTS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	for _, on := range []struct {
		name string
		open func(t postgres.T) store.Database
	}{{"sqlite", SQLite}, {"postgres", Postgres}} {
		b.Run(on.name, func(b *testing.B) {
			s := on.open(b)
			for from := 0; from < n; from += 500 {
				if _, err := s.Update(ctx, benchScope, put(from, 500)); err != nil {
					b.Fatal(err)
				}
			}
			for turn := range 200 {
				if _, err := s.Apply(ctx, benchScope, "s", store.Revision(turn), message("s", turn)); err != nil {
					b.Fatal(err)
				}
			}
			turns, next := 200, n
			for _, job := range []struct {
				name string
				do   func() error
			}{
				{"append a message", func() error {
					_, err := s.Apply(ctx, benchScope, "s", store.Revision(turns), message("s", turns))
					turns++
					return err
				}},
				{"put an artifact", func() error {
					_, err := s.Update(ctx, benchScope, put(next, 1))
					next++
					return err
				}},
				{"record a call", func() error {
					next++
					return s.Record(ctx, benchScope, []store.Call{{ID: fmt.Sprint("call", next), State: store.CallIntent, Begun: time.UnixMilli(1)}})
				}},
				{"head", func() error {
					_, err := s.Head(ctx, benchScope, "s")
					return err
				}},
				{"blocks", func() error { return drain(s.Blocks(ctx, benchScope, "s")) }},
				{"cells", func() error { return drain(s.Cells(ctx, benchScope, []store.CellID{"s-1", "s-2", "s-3"})) }},
				{"find artifacts", func() error {
					_, err := s.Hits(ctx, benchScope, []string{"common1", "common7", "rare61", "rare122"}, 50)
					return err
				}},
				{"find blocks", func() error {
					_, err := s.Postings(ctx, benchScope, []string{"common1", "common7", "rare61", "rare122"})
					return err
				}},
				{"all artifacts", func() error { return drain(s.Artifacts(ctx, benchScope, 0)) }},
			} {
				b.Run(job.name, func(b *testing.B) {
					for b.Loop() {
						if err := job.do(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}

// drain returns the error that ends an iteration.
func drain[T any](seq func(yield func(T, error) bool)) (last error) {
	for _, err := range seq {
		last = err
	}
	return last
}
