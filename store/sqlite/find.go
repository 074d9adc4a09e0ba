package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Block implements [store.Finder].
func (s *database) Block(ctx context.Context, scope governance.Scope, ref store.BlockRef) (b *store.Block, err error) {
	err = s.view(ctx, func(v view) error {
		cells := make(map[transcript.BlockID][]store.CellID)
		if err := v.each(collectCells(cells), selectCellsOfBlock, scope, ref.Session, ref.Block); err != nil {
			return err
		}
		return v.each(func(rows *sql.Rows) error {
			var err error
			b, _, err = scanBlock(scope, ref.Session, rows, cells)
			return err
		}, selectBlock, scope, ref.Session, ref.Block)
	})
	if err == nil && b == nil {
		err = fmt.Errorf("block %s of session %s: %w", ref.Block, ref.Session, store.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Find implements [store.Finder].
func (s *database) Find(ctx context.Context, scope governance.Scope, prefix string, limit int) ([]store.BlockRef, error) {
	return inView(ctx, s, func(v view) ([]store.BlockRef, error) {
		return collect(v.each, func(r *store.BlockRef) []any { return []any{&r.Session, &r.Block} },
			selectPrefix, scope, prefix, after(prefix), max(0, limit))
	})
}

// after returns the first string that is greater than all with the prefix, or
// "" if there is none.
func after(prefix string) string {
	b := []byte(prefix)
	for len(b) > 0 && b[len(b)-1] == 0xff {
		b = b[:len(b)-1]
	}
	if len(b) == 0 {
		return ""
	}
	b[len(b)-1]++
	return string(b)
}

// Candidates implements [store.Finder]. Of more than limit blocks it takes
// those whose words are rarest in sum, a word that n blocks of the scope have
// counting 1/n. Other scopes have no part in it.
func (s *database) Candidates(ctx context.Context, scope governance.Scope, terms []string, limit int) ([]store.BlockRef, error) {
	words := slices.Compact(slices.Sorted(store.Words(strings.Join(terms, " "))))
	return inView(ctx, s, func(v view) (refs []store.BlockRef, _ error) {
		weights, err := v.weigh(mark(scope), words)
		if err != nil {
			return nil, err
		}
		docs := slices.SortedFunc(maps.Keys(weights), func(a, b int64) int {
			return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b))
		})
		for _, doc := range docs {
			if len(refs) >= limit {
				break
			}
			var ref store.BlockRef
			var of governance.Scope
			var own imprint
			err := v.row(selectDoc, []any{doc}, &of, &ref.Session, &ref.Block, &own)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return nil, err
			}
			if !same(docImprint(doc, of, ref), own) {
				return nil, damaged("the index of blocks")
			}
			if of != scope {
				continue // its mark is the same
			}
			refs = append(refs, ref)
		}
		return refs, nil
	})
}

// weigh returns how much the words of each row count that has any of them.
func (v view) weigh(mark string, words []string) (map[int64]int64, error) {
	const unit = 1 << 40
	weights := make(map[int64]int64)
	for _, word := range words {
		docs, err := column[int64](v.each, selectDocs, `"`+mark+word+`"`)
		if err != nil {
			return nil, err
		}
		for _, doc := range docs {
			weights[doc] += unit / int64(len(docs))
		}
	}
	return weights, nil
}

// indexWords returns the words of a text as the index takes them: each once,
// with the mark of its scope.
func indexWords(scope governance.Scope, text string) string {
	mark := mark(scope)
	seen := make(map[string]bool)
	var b strings.Builder
	for word := range store.Words(text) {
		if !seen[word] {
			seen[word] = true
			b.WriteString(mark)
			b.WriteString(word)
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// mark returns what stands before each word of a scope in the index, so that
// a search reads the postings of its own scope only.
func mark(scope governance.Scope) string { return digest.Of([]byte(scope)).Short() }
