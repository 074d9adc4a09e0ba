package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/store"
)

// goneAtMost is how many dead docs (docs of replaced blocks) the segments of a scope may have. If
// there are more, the segments are rewritten without the dead docs.
const goneAtMost = 500

const (
	lockIndex = `
		INSERT INTO index_head (scope, docs, segments) VALUES ($1, 0, 0)
		ON CONFLICT (scope) DO UPDATE SET docs = index_head.docs RETURNING docs, segments`
	updateIndex = `UPDATE index_head SET docs = $2, segments = $3 WHERE scope = $1`

	deleteDocs    = `DELETE FROM doc WHERE scope = $1 AND session_id = $2 AND block_id = ANY ($3) RETURNING doc`
	deleteAllDocs = `DELETE FROM doc WHERE scope = $1 AND session_id = $2 RETURNING doc`
	insertDocs    = `
		INSERT INTO doc (scope, doc, session_id, block_id)
		SELECT $1, doc, $2, id FROM unnest($3::bigint[], $4::bytea[]) AS d (doc, id)`
	selectDocs = `SELECT doc, session_id, block_id FROM doc WHERE scope = $1 AND doc = ANY ($2)`

	insertGone = `INSERT INTO gone_doc (scope, doc) SELECT $1, doc FROM unnest($2::bigint[]) AS d (doc)`
	deleteGone = `DELETE FROM gone_doc WHERE scope = $1 AND doc = ANY ($2)`
	selectGone = `SELECT doc FROM gone_doc WHERE scope = $1`

	insertSegment = `INSERT INTO segment (scope, segment, last, pages, size, docs) VALUES ($1, $2, $3, $4, $5, $6)`
	insertPages   = `
		INSERT INTO posting (scope, segment, page, body)
		SELECT $1, $2, $3 + n - 1, body FROM unnest($4::bytea[]) WITH ORDINALITY AS p (body, n)`
	deleteSegments = `DELETE FROM segment WHERE scope = $1 AND segment = ANY ($2)`
	deletePages    = `DELETE FROM posting WHERE scope = $1 AND segment = ANY ($2)`
	selectSegments = `SELECT segment, pages, size, docs FROM segment WHERE scope = $1 ORDER BY last`
	selectPages    = `SELECT segment, page, body FROM posting WHERE scope = $1 AND segment = ANY ($2) ORDER BY segment, page`
	selectPagesAt  = `
		SELECT p.segment, p.page, p.body
		FROM unnest($2::bigint[], $3::bigint[]) AS w (segment, page) JOIN posting p ON p.segment = w.segment AND p.page = w.page
		WHERE scope = $1`
)

// A segment is a row of the table segment, with the parsed list of its docs. A doc is the number of
// a block in the index.
type segment struct {
	key, pages, size int64
	ids              []int64
	lengths          []uint32
}

// damagedIndex is the error for damage in the index of blocks.
func damagedIndex() error { return damaged("the index of blocks") }

func scanSegment(rows pgx.Rows) (*segment, error) {
	g := new(segment)
	var docs []byte
	err := rows.Scan(&g.key, &g.pages, &g.size, &docs)
	if err != nil {
		return nil, err
	}
	if g.ids, g.lengths, err = postings.ParseDocs(docs); err != nil || len(g.ids) == 0 || g.pages < 1 || g.pages&(g.pages-1) != 0 {
		return nil, damagedIndex()
	}
	return g, nil
}

// segmentOf returns a segment with the words of entries. Its ids are positions in entries.
func segmentOf(entries []store.IndexEntry) *postings.Segment {
	var x postings.Index
	for i := range entries {
		x.Add(int64(i), entries[i].Words)
	}
	return x.Segment()
}

// An index is the state of the index of blocks of a scope, which the transaction has locked.
type index struct {
	docs, keys int64 // the last doc and the last key of a segment
	segments   []*segment
	gone       []int64 // dead docs
	dropped    []int64 // keys of segments to delete
}

// applyIndex writes the index entries of a change, or removes those of a session that the change
// erases. A block that already has a doc gets a new one, and the old doc is marked as gone.
func (t *tx) applyIndex(j *change) error {
	if len(j.c.Index) == 0 && !j.c.Erase {
		return nil
	}
	var x index
	var replaced []int64
	t.row(lockIndex, args(raw(j.scope)), &x.docs, &x.keys)
	if j.c.Erase {
		t.rows(numbers(&replaced), deleteAllDocs, raw(j.scope), raw(j.id))
	} else {
		blocks := make([][]byte, len(j.c.Index))
		for i := range j.c.Index {
			blocks[i] = raw(j.c.Index[i].Block)
		}
		t.rows(numbers(&replaced), deleteDocs, raw(j.scope), raw(j.id), blocks)
	}
	t.rows(each(&x.segments, scanSegment), selectSegments, raw(j.scope))
	t.rows(numbers(&x.gone), selectGone, raw(j.scope))
	if err := t.flush(); err != nil {
		return err
	}
	if j.c.Erase {
		if err := t.sweep(j.scope, &x, replaced); err != nil {
			return err
		}
	} else if err := t.extend(j, &x, replaced); err != nil {
		return err
	}
	if len(x.dropped) > 0 {
		t.do("index", deletePages, raw(j.scope), x.dropped)
		t.do("index", deleteSegments, raw(j.scope), x.dropped)
	}
	t.do("index", updateIndex, raw(j.scope), x.docs, x.keys)
	return nil
}

// extend adds the segment of a change. If several of the last segments have about the same size, it
// merges them into one, unless one of them is damaged. Otherwise, if the change replaces docs and
// there are more than goneAtMost dead docs, extend removes the dead docs, and fails if a segment
// that has one is damaged.
func (t *tx) extend(j *change, x *index, replaced []int64) error {
	if len(replaced) > 0 {
		t.do("index", insertGone, raw(j.scope), replaced)
		x.gone = append(x.gone, replaced...)
	}
	added := &postings.Segment{Lengths: j.segment.Lengths, Pages: j.segment.Pages}
	var blocks [][]byte
	for _, place := range j.segment.IDs {
		added.IDs = append(added.IDs, x.docs+1+place)
		blocks = append(blocks, raw(j.c.Index[place].Block))
	}
	x.docs += int64(len(j.c.Index))
	if len(added.IDs) > 0 {
		t.do("index", insertDocs, raw(j.scope), raw(j.id), added.IDs, blocks)
	}
	sizes := make([]int64, len(x.segments), len(x.segments)+1)
	for i, g := range x.segments {
		sizes[i] = g.size
	}
	if len(added.IDs) > 0 {
		sizes = append(sizes, sizeOf(added))
	}
	if from := postings.Due(sizes); from < len(x.segments) {
		merged, err := t.join(j.scope, x, x.segments[from:], nil, added)
		if err == nil {
			t.addSegment(j.scope, x, merged)
			return nil
		}
		if !errors.Is(err, store.ErrCorrupt) { // damage does not stop the write; a search reports it
			return err
		}
	}
	t.addSegment(j.scope, x, added)
	if len(replaced) > 0 && len(x.gone) > goneAtMost {
		return t.sweep(j.scope, x, nil)
	}
	return nil
}

// sizeOf returns the size of the pages of a segment in bytes.
func sizeOf(s *postings.Segment) (size int64) {
	for _, body := range s.Pages {
		size += int64(len(body))
	}
	return size
}

// addSegment adds statements that write a segment, unless it is empty.
func (t *tx) addSegment(scope governance.Scope, x *index, s *postings.Segment) {
	if len(s.IDs) == 0 {
		return
	}
	x.keys++
	t.do("index", insertSegment, raw(scope), x.keys, s.IDs[len(s.IDs)-1], len(s.Pages), sizeOf(s), s.Docs())
	at := 0
	for some := range slices.Chunk(s.Pages, rowsAtOnce) {
		bodies := make([][]byte, len(some))
		for i, body := range some { // empty pages too, because a missing page means damage
			bodies[i] = whole(body)
		}
		t.do("index", insertPages, raw(scope), x.keys, at, bodies)
		at += len(some)
	}
}

// sweep removes the given docs and all dead docs from the index. It rewrites each segment that has
// one of them.
func (t *tx) sweep(scope governance.Scope, x *index, docs []int64) error {
	without := make(map[int64]bool, len(docs)+len(x.gone))
	for _, doc := range slices.Concat(docs, x.gone) {
		without[doc] = true
	}
	for _, g := range x.segments {
		if !slices.ContainsFunc(g.ids, func(doc int64) bool { return without[doc] }) {
			continue
		}
		swept, err := t.join(scope, x, []*segment{g}, docs, nil)
		if err != nil {
			return err
		}
		t.addSegment(scope, x, swept)
	}
	return nil
}

// join merges the consecutive segments in old, and the segment added unless it is nil, into one
// segment. It leaves out the docs that are listed in docs, and dead docs. It marks the old segments
// for deletion, and fails if one of them is damaged.
func (t *tx) join(scope governance.Scope, x *index, old []*segment, docs []int64, added *postings.Segment) (*postings.Segment, error) {
	var keys []int64
	for _, g := range old {
		keys = append(keys, g.key)
	}
	pages := make(map[int64][][]byte)
	t.rows(func(rows pgx.Rows) error {
		var key, page int64
		var body []byte
		err := rows.Scan(&key, &page, &body)
		pages[key] = append(pages[key], body)
		return err
	}, selectPages, raw(scope), keys)
	if err := t.flush(); err != nil {
		return nil, err
	}
	without := make(map[int64]bool)
	for _, doc := range slices.Concat(docs, x.gone) {
		without[doc] = true
	}
	var joined postings.Index
	var left []int64
	for _, g := range old {
		lengths := slices.Clone(g.lengths)
		for i, doc := range g.ids {
			if without[doc] {
				lengths[i] = 0
				left = append(left, doc)
			}
		}
		if err := joined.Join(pages[g.key], g.ids, lengths); err != nil || len(pages[g.key]) != int(g.pages) {
			return nil, damagedIndex()
		}
	}
	if added != nil {
		if err := joined.Join(added.Pages, added.IDs, added.Lengths); err != nil {
			return nil, fmt.Errorf("internal error, please report it: %w", err)
		}
	}
	x.dropped = append(x.dropped, keys...)
	t.do("index", deleteGone, raw(scope), left)
	return joined.Segment(), nil
}

// A pageKey identifies the page of a segment on which a word would be if the segment has the word.
type pageKey struct{ segment, page int64 }

// Postings implements [store.Finder].
func (s *database) Postings(ctx context.Context, scope governance.Scope, words []string) ([]postings.View, error) {
	return read(ctx, s, scope, func(t *tx) (*[]postings.View, error) {
		var segments []*segment
		var gone []int64
		t.rows(each(&segments, scanSegment), selectSegments, raw(scope))
		t.rows(numbers(&gone), selectGone, raw(scope))
		if err := t.flush(); err != nil {
			return nil, err
		}
		isGone := make(map[int64]bool, len(gone))
		for _, doc := range gone {
			isGone[doc] = true
		}
		bodies, err := t.pagesOf(scope, segments, words)
		if err != nil {
			return nil, err
		}
		views := make([]postings.View, len(segments))
		for i, g := range segments {
			views[i] = postings.NewView(g.ids, g.lengths, func(doc int64) bool { return isGone[doc] }, len(words))
			for k, word := range words {
				body, ok := bodies[pageKey{g.key, int64(postings.PageOf(word, int(g.pages)))}]
				if !ok {
					return nil, damagedIndex()
				}
				if views[i].Lists[k], err = postings.Lookup(body, word, uint32(len(g.ids))); err != nil { //nolint:gosec // places are such numbers
					return nil, damagedIndex()
				}
			}
		}
		return &views, nil
	})
}

// pagesOf returns the pages of segments that can have one of the given words.
func (t *tx) pagesOf(scope governance.Scope, segments []*segment, words []string) (map[pageKey][]byte, error) {
	bodies := make(map[pageKey][]byte)
	var keys, pages []int64
	for _, g := range segments {
		for _, word := range words {
			at := pageKey{g.key, int64(postings.PageOf(word, int(g.pages)))}
			if _, ok := bodies[at]; !ok {
				bodies[at] = nil
				keys, pages = append(keys, at.segment), append(pages, at.page)
			}
		}
	}
	clear(bodies)
	if len(keys) == 0 {
		return bodies, nil
	}
	t.rows(func(rows pgx.Rows) error {
		var at pageKey
		var body []byte
		err := rows.Scan(&at.segment, &at.page, &body)
		bodies[at] = body
		return err
	}, selectPagesAt, raw(scope), keys, pages)
	return bodies, t.flush()
}

// Numbered implements [store.Finder].
func (s *database) Numbered(ctx context.Context, scope governance.Scope, numbers []int64) ([]store.BlockRef, error) {
	return read(ctx, s, scope, func(t *tx) (*[]store.BlockRef, error) {
		refs := make([]store.BlockRef, len(numbers))
		t.rows(func(rows pgx.Rows) error {
			var doc int64
			var ref store.BlockRef
			err := rows.Scan(&doc, to(&ref.Session), to(&ref.Block))
			for i, number := range numbers {
				if number == doc {
					refs[i] = ref
				}
			}
			return err
		}, selectDocs, raw(scope), numbers)
		return &refs, nil
	})
}
