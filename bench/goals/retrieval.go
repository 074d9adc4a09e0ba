package main

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the other side

	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/retrieval"
	"github.com/carrel-dev/carrel/store"
)

var retrievalGoals = []goal{
	{name: "search", says: "carrel search in a store of 40 MB of sessions against the earlier build", bound: faster(20), before: true, setup: searchBefore},
	{name: "search-growth", says: "carrel search in a store of 400 MB of sessions against one of 40 MB", bound: within(1.5), large: true, setup: searchGrown},
	{name: "bm25-rare", says: "top 50 of 100,000 texts for a rare word against FTS5", bound: faster(100), setup: bestOf(100_000, "w9000")},
	{name: "bm25-common", says: "top 50 of 100,000 texts for a word that most have against FTS5", bound: faster(100), setup: bestOf(100_000, "w0")},
	{name: "bm25-three", says: "top 50 of 100,000 texts for three words against FTS5", bound: faster(100), setup: bestOf(100_000, "w20 w100 w1000")},
	{name: "bm25-eight", says: "top 50 of 100,000 texts for eight words against FTS5", bound: faster(100), setup: bestOf(100_000, "w50 w200 w700 w1000 w2000 w3000 w4000 w40")},
	{name: "bm25-million", says: "top 50 of 1,000,000 texts for three words against FTS5", bound: faster(100), large: true, setup: bestOf(1_000_000, "w20 w100 w1000")},
}

// searched are the queries of a round: words that every session has a few times, like those of
// people who look for a subject, and one word that nearly every block has.
var searched = []string{"granary", "millpond timeout", "who built the weir", "panic"}

// searchBefore compares searches in two stores of the same sessions.
func searchBefore(ctx context.Context, b *bench, dir string) (sides, error) {
	files, err := sessionFiles(dir, 40<<20)
	if err != nil {
		return sides{}, err
	}
	return b.eachWay(ctx, func(program, name string) (side, error) {
		return searches(ctx, program, filepath.Join(dir, name+".db"), files)
	})
}

// searchGrown compares searches in a store with searches in a store of a tenth of its size.
func searchGrown(ctx context.Context, b *bench, dir string) (sides, error) {
	files, err := sessionFiles(dir, 400<<20)
	if err != nil {
		return sides{}, err
	}
	ours, err := b.program(ctx)
	if err != nil {
		return sides{}, err
	}
	var s sides
	if s.ours, err = searches(ctx, ours, filepath.Join(dir, "large.db"), files); err == nil {
		s.other, err = searches(ctx, ours, filepath.Join(dir, "small.db"), files[:len(files)/10])
	}
	return s, err
}

// searches imports sessions into a store, and returns a side that searches it.
func searches(ctx context.Context, program, store string, files []string) (side, error) {
	env := []string{"CARREL_STORE=" + store}
	if _, err := command(program, env, append([]string{"import"}, files...)...)(ctx); err != nil {
		return nil, err
	}
	all := make([]side, len(searched))
	for i, query := range searched {
		all[i] = command(program, env, "search", query)
	}
	return repeated(2, func(ctx context.Context) (sum float64, err error) {
		for _, s := range all {
			cost, err := s(ctx)
			if err != nil {
				return 0, err
			}
			sum += cost
		}
		return sum, nil
	}), nil
}

// sessionFiles writes invented Claude Code sessions of at least size bytes in total, and
// returns their paths. Each has the rarer words of the queries a few times.
func sessionFiles(dir string, size int) (paths []string, err error) {
	for seed := uint64(1); size > 0; seed++ {
		data := fakesession.ClaudeCode(seed, 120)
		size -= len(data)
		for i, word := range []string{"granary", "millpond", "weir"} {
			at := (i + 1) * len(data) / 5
			data = append(data[:at:at], bytes.Replace(data[at:], []byte("flour"), []byte(word), 3)...)
		}
		path := filepath.Join(dir, fmt.Sprintf("session-%d.jsonl", seed))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// bestCount is the number of texts that a search returns.
const bestCount = 50

// bestOf compares searches of an index in memory with FTS5 over n texts of 65 words. The words are
// w0, w1 and so on; those with a larger number are rarer. It fails unless both give the same
// scores.
func bestOf(n int, query string) func(context.Context, *bench, string) (sides, error) {
	return func(ctx context.Context, _ *bench, dir string) (sides, error) {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "fts5.db")+"?_pragma=cache_size(-65536)")
		if err != nil {
			return sides{}, err
		}
		db.SetMaxOpenConns(1)
		x := new(postings.Index)
		if err := fill(ctx, db, x, n); err != nil {
			return sides{}, errors.Join(err, db.Close())
		}
		words := strings.Fields(query)
		stmt, err := db.PrepareContext(ctx, `SELECT rowid, -rank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?`)
		if err != nil {
			return sides{}, errors.Join(err, db.Close())
		}
		match := strings.Join(words, " OR ")
		other := func(ctx context.Context) (map[int64]float64, error) { return bestOfFTS5(ctx, stmt, match) }
		want, err := other(ctx)
		if err == nil {
			err = sameScores(retrieval.FindBest([]postings.View{x.View(words)}, bestCount, ofFTS5), want)
		}
		if err != nil {
			return sides{}, errors.Join(err, stmt.Close(), db.Close())
		}
		const times = 50 // a single search would be too short to measure
		ours := timed(func(context.Context) error {
			for range times {
				if len(retrieval.FindBest([]postings.View{x.View(words)}, bestCount, ofFTS5)) != len(want) {
					return errors.New("the index does not have the number of texts that were put in")
				}
			}
			return nil
		})
		return sides{
			ours: func(ctx context.Context) (float64, error) {
				cost, err := ours(ctx)
				return cost / times, err
			},
			other: timed(func(ctx context.Context) error {
				_, err := other(ctx)
				return err
			}),
			close: func() error { return errors.Join(stmt.Close(), db.Close()) },
		}, nil
	}
}

// fill stores the same texts in a table of FTS5 and in an index.
func fill(ctx context.Context, db *sql.DB, x *postings.Index, n int) error {
	if _, err := db.ExecContext(ctx, `CREATE VIRTUAL TABLE texts USING fts5 (text, content = '', tokenize = 'unicode61')`); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it is committed, or there is an error already
	insert, err := tx.PrepareContext(ctx, `INSERT INTO texts (rowid, text) VALUES (?, ?)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	r := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // it need not be hard to guess
	z := rand.NewZipf(r, 1.1, 3, 60_000)
	for id := range int64(n) {
		var text strings.Builder
		for range 40 + r.IntN(50) {
			fmt.Fprintf(&text, "w%d ", z.Uint64())
		}
		x.Add(id, postings.Counts(store.Words(text.String())))
		if _, err := insert.ExecContext(ctx, id, text.String()); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// ofFTS5 returns the weight that the function bm25() of FTS5 gives a word: ln((N-n+½)/(n+½)), but
// at least a millionth. N is the number of texts, in docs, and n is the number of those with the
// word, in having.
func ofFTS5(docs, having int) float64 {
	return max(1e-6, math.Log((float64(docs-having)+0.5)/(float64(having)+0.5)))
}

func bestOfFTS5(ctx context.Context, stmt *sql.Stmt, match string) (map[int64]float64, error) {
	rows, err := stmt.QueryContext(ctx, match, bestCount)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := make(map[int64]float64, bestCount)
	for rows.Next() {
		var id int64
		var score float64
		if err := rows.Scan(&id, &score); err != nil {
			return nil, err
		}
		found[id] = score
	}
	return found, rows.Err()
}

// sameScores returns an error unless two lists of best texts have the same scores, to a
// millionth. Texts with equal scores may be exchanged.
func sameScores(got []retrieval.Best, want map[int64]float64) error {
	scores := slices.Collect(func(yield func(float64) bool) {
		for _, s := range want {
			if !yield(s) {
				return
			}
		}
	})
	slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
	if len(got) != len(scores) {
		return fmt.Errorf("the index finds %d texts, FTS5 finds %d", len(got), len(scores))
	}
	for i, d := range got {
		score, have := float64(d.Score)/float64(ratio.One), scores[i]
		if s, both := want[d.ID]; both {
			have = s
		}
		if math.Abs(score-have) > 1e-6 {
			return fmt.Errorf("text %d at place %d has the score %.9f, FTS5 gives it %.9f", d.ID, i+1, score, have)
		}
	}
	return nil
}
