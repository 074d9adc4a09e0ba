package sqlite

import (
	"context"
	"database/sql"
	"fmt"
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
	return inSingle(ctx, s, func(v view) ([]store.BlockRef, error) {
		return collect(v.each, func(r *store.BlockRef) []any { return []any{&r.Session, &r.Block} },
			selectPrefix, scope, prefix, after(prefix), max(0, limit))
	})
}

// after returns the least string that is greater than all strings with the prefix. If there is
// none, it returns an empty blob, which SQLite orders after all strings. It is the upper bound of
// a range in an index.
func after(prefix string) any {
	b := []byte(prefix)
	for len(b) > 0 && b[len(b)-1] == 0xff {
		b = b[:len(b)-1]
	}
	if len(b) == 0 {
		return []byte{}
	}
	b[len(b)-1]++
	return string(b)
}

// indexWords returns the words of text as they are written to the index of artifacts: each once,
// after the mark of its scope, separated by spaces.
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

// markSize is the size of a mark in bytes.
const markSize = 8

// mark returns the prefix of each word of a scope in the index of artifacts, so that a search
// reads only the postings of its own scope. It is a short digest of the name of the scope.
func mark(scope governance.Scope) string { return digest.Of([]byte(scope)).Short() }
