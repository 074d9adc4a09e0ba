package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/transcript"
)

var storeGoals = []goal{
	{name: "put", says: "one durable put of an artifact against one row of as many bytes in bare SQLite", bound: within(1.5), setup: putOfAnArtifact},
	{name: "session-write", says: "one durable change of a session against writing and syncing 64 KiB", bound: within(1.3), setup: changeOfASession},
	{name: "session-writers", says: "changes of sessions a second, by 64 writers against one", bound: faster(5), setup: writersOfSessions},
}

// writes is how many writes a round measures.
const writes = 256

// A writing is a store for measuring writes of sessions and artifacts.
type writing struct {
	store.Database

	scope governance.Scope
	turns map[transcript.SessionID]int
	puts  int
}

func newWriting(ctx context.Context, dir string) (*writing, error) {
	s, err := sqlite.Open(ctx, filepath.Join(dir, "carrel.db"), nil)
	return &writing{Database: s, scope: "bench/goals", turns: make(map[transcript.SessionID]int)}, err
}

// text returns prose of a size, different for each n.
func text(n, size int) []byte {
	var b strings.Builder
	for line := 0; b.Len() < size; line++ {
		fmt.Fprintf(&b, "line %d of %d: the build of package%d fails with exit code %d\n", line, n, n*line%997, line%128)
	}
	return []byte(b.String()[:size])
}

// cellOf returns a cell with a body. Its id begins with n, as ids of the engine begin with the
// time.
func cellOf(name string, n int, kind store.CellKind, body []byte) store.Cell {
	c := store.Cell{ID: store.CellID(fmt.Sprintf("%012x-%s", n, name)), Kind: kind, Salt: digest.Salt{1}, Body: body}
	c.Commit = digest.Commit(c.Salt, string(kind), body)
	return c
}

// put adds an artifact of 1,000 bytes with 300 bytes of metadata, and indexes its words.
func (w *writing) put(ctx context.Context) error {
	w.puts++
	id := digest.Of(fmt.Append(nil, w.puts)).String()[:26]
	now := time.UnixMilli(int64(w.puts))
	u := &store.Update{Entry: store.Entry{ID: "op_" + id, Op: "put", Actor: governance.ActorUser, Time: now}}
	content := cellOf("text", w.puts, store.CellText, text(w.puts, 1000))
	about := cellOf("about", w.puts, store.CellAbout, text(w.puts, 300))
	u.Cells = []store.Cell{content, about}
	u.Artifacts = []store.Write{{Artifact: store.Artifact{
		ID: store.ArtifactID(id), Class: provenance.Memory, Status: store.StatusLive, Content: content.ID, About: about.ID,
		Bytes: 1000, Tokens: 250, Encoding: "o200k", Created: now, Updated: now, Address: id,
	}}}
	u.Index = []store.ArtifactText{{Artifact: store.ArtifactID(id), Text: string(content.Body)}}
	_, err := w.Update(ctx, w.scope, u)
	return err
}

// change returns the next change of a session in the form that a hook makes: a block of 1,000
// bytes with its words.
func (w *writing) change(id transcript.SessionID) (at store.Revision, c *store.Change) {
	n := w.turns[id]
	w.turns[id]++
	body := text(n, 1000)
	cell := cellOf(string(id), n, store.CellItem, body)
	block := transcript.BlockID(digest.Of([]byte(cell.ID)).String()[:16])
	return store.Revision(n), &store.Change{
		Head:  store.Head{Format: "openai", Messages: n + 1, Blocks: n + 1, Created: time.UnixMilli(1), Updated: time.UnixMilli(int64(n))},
		Cells: []store.Cell{cell}, ItemsFrom: n, Items: []store.CellID{cell.ID},
		Blocks: []store.Block{{ID: block, Turn: n + 1, Kind: transcript.KindUser, State: store.StateLive, Cells: []store.CellID{cell.ID}}},
		Index:  []store.IndexEntry{{Block: block, Words: postings.Counts(store.Words(string(body)))}},
		Entry:  store.Entry{ID: fmt.Sprintf("op_%s-%d", id, n), Op: "import", Actor: governance.ActorUser, Time: time.UnixMilli(int64(n))},
	}
}

// many returns a side that calls the function do as often as the constant writes says. Its cost is
// the duration in seconds.
func many(do func(ctx context.Context) error) side {
	return timed(func(ctx context.Context) error {
		for range writes {
			if err := do(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

func putOfAnArtifact(ctx context.Context, _ *bench, dir string) (sides, error) {
	w, err := newWriting(ctx, dir)
	if err != nil {
		return sides{}, err
	}
	bare, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "bare.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return sides{}, errors.Join(err, w.Close())
	}
	closing := func() error { return errors.Join(bare.Close(), w.Close()) }
	bare.SetMaxOpenConns(1)
	if _, err := bare.ExecContext(ctx, "CREATE TABLE t (id TEXT PRIMARY KEY, body BLOB)"); err != nil {
		return sides{}, errors.Join(err, closing())
	}
	insert, err := bare.PrepareContext(ctx, "INSERT INTO t VALUES (?1, ?2)") //nolint:sqlclosecheck // its database is closed
	if err != nil {
		return sides{}, errors.Join(err, closing())
	}
	rows := 0
	return sides{
		ours: many(w.put),
		other: many(func(ctx context.Context) error {
			rows++
			_, err := insert.ExecContext(ctx, digest.Of(fmt.Append(nil, rows)).String(), text(rows, 1300))
			return err
		}),
		close: closing,
	}, nil
}

func changeOfASession(ctx context.Context, _ *bench, dir string) (sides, error) {
	w, err := newWriting(ctx, dir)
	if err != nil {
		return sides{}, err
	}
	file, err := os.Create(filepath.Join(dir, "raw"))
	if err != nil {
		return sides{}, errors.Join(err, w.Close())
	}
	pages := make([]byte, 64<<10) // about the size of the pages that a change writes
	return sides{
		ours: many(func(ctx context.Context) error {
			at, c := w.change("one")
			_, err := w.Apply(ctx, w.scope, "one", at, c)
			return err
		}),
		other: many(func(context.Context) error {
			if _, err := file.Write(pages); err != nil {
				return err
			}
			return file.Sync()
		}),
		close: func() error { return errors.Join(file.Close(), w.Close()) },
	}, nil
}

func writersOfSessions(ctx context.Context, _ *bench, dir string) (sides, error) {
	w, err := newWriting(ctx, dir)
	if err != nil {
		return sides{}, err
	}
	// by lets several writers make all changes, each to its own session.
	by := func(writers int) side {
		return timed(func(ctx context.Context) error {
			errs := make([]error, writers)
			var all sync.WaitGroup
			for n := range writers {
				id := transcript.SessionID(fmt.Sprintf("%d-of-%d", n, writers))
				type step struct {
					at store.Revision
					c  *store.Change
				}
				steps := make([]step, writes/writers)
				for i := range steps {
					steps[i].at, steps[i].c = w.change(id)
				}
				all.Go(func() {
					for _, s := range steps {
						if _, errs[n] = w.Apply(ctx, w.scope, id, s.at, s.c); errs[n] != nil {
							return
						}
					}
				})
			}
			all.Wait()
			return errors.Join(errs...)
		})
	}
	return sides{ours: by(64), other: by(1), close: w.Close}, nil
}
