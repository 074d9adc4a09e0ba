package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

const (
	// goneAtMost is how many dead docs (docs of replaced blocks) the segments of a scope may have.
	// If there are more, the segments are rewritten without the dead docs.
	goneAtMost = 500

	pageBits = 20 // the low bits of a page's key: its place in the segment
)

const (
	selectLastDoc = `SELECT max(coalesce((SELECT max(doc) FROM doc), 0), coalesce((SELECT max(doc) FROM gone_doc WHERE scope = ?1), 0))`
	deleteDocOf   = `DELETE FROM doc WHERE scope = ?1 AND session_id = ?2 AND block_id = ?3 RETURNING doc`
	insertDoc     = `INSERT INTO doc (doc, scope, session_id, block_id, imprint, words) VALUES (?1, ?2, ?3, ?4, ?5, ?6)`
	insertGone    = `INSERT INTO gone_doc (scope, doc) VALUES (?1, ?2)`
	deleteGone    = `DELETE FROM gone_doc WHERE scope = ?1 AND doc = ?2`
	countSegments = `
		INSERT INTO scope_total (name, num, version, seq, held, manifests, edges, segments) VALUES (?1, 0, 0, 0, 0, 0, zeroblob(16), ?2)
		ON CONFLICT DO UPDATE SET segments = segments + excluded.segments`
	selectSegmentTotal = `SELECT coalesce((SELECT segments FROM scope_total WHERE name = ?1), 0)`
	selectGone         = `SELECT doc FROM gone_doc WHERE scope = ?1`
	newSegment         = `SELECT coalesce(max(segment), 0) + 1 FROM segment`
	insertSegment      = `INSERT INTO segment (segment, scope, last, pages, size, docs, imprint) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`
	deleteSegment      = `DELETE FROM segment WHERE segment = ?1`
	segmentColumns     = `SELECT segment, scope, last, pages, size, docs, imprint FROM segment `
	selectSegments     = segmentColumns + `WHERE scope = ?1 ORDER BY last`
	selectSegment      = segmentColumns + `WHERE segment = ?1`
	selectSizes        = `SELECT segment, size FROM segment WHERE scope = ?1 ORDER BY last`
	insertPage         = `INSERT INTO posting (page, body, imprint) VALUES (?1, ?2, ?3)`
	deletePages        = `DELETE FROM posting WHERE page BETWEEN ?1 << 20 AND (?1 << 20) + 0xfffff`
	selectPage         = `SELECT body, imprint FROM posting WHERE page = ?1`
	selectPages        = `SELECT page, body, imprint FROM posting WHERE page BETWEEN ?1 << 20 AND (?1 << 20) + 0xfffff ORDER BY page`

	selectSegmentTotals = `SELECT name, segments FROM scope_total UNION SELECT scope, 0 FROM segment WHERE scope NOT IN (SELECT name FROM scope_total) ORDER BY 1`

	selectAllSegments = segmentColumns + `ORDER BY scope, last`
	countLostPages    = `SELECT count(*) FROM posting WHERE NOT EXISTS (SELECT 1 FROM segment WHERE segment = page >> 20)`
)

// A segment is a row of the table segment, with the parsed list of its docs. A doc is the
// number of a block in the index.
type segment struct {
	key         int64
	scope       governance.Scope
	last        int64
	pages, size int64
	docs        []byte
	ids         []int64
	lengths     []uint32
}

// imprint returns the imprint of the segment's row.
func (g *segment) imprint() imprint {
	return recordOf("segment").number(g.key).text(string(g.scope)).number(g.last, g.pages, g.size).blob(g.docs).imprint()
}

// pageImprint returns the imprint of a page. An empty body may be read as nil or as an empty
// slice; both give the same imprint.
func pageImprint(page int64, body []byte) imprint {
	return recordOf("posting").number(page).imprintWith(body)
}

// damagedIndex is the error for damage in the index of blocks.
func damagedIndex() error { return damaged("the index of blocks") }

// scanSegment reads a row of segmentColumns and checks its imprint.
func scanSegment(rows *sql.Rows) (*segment, error) {
	g := new(segment)
	var own imprint
	if err := rows.Scan(&g.key, &g.scope, &g.last, &g.pages, &g.size, &g.docs, &own); err != nil {
		return nil, err
	}
	var err error
	g.ids, g.lengths, err = postings.ParseDocs(g.docs)
	if err != nil || !same(g.imprint(), own) || len(g.ids) == 0 || bits.OnesCount64(uint64(g.pages)) != 1 { //nolint:gosec // no bit is lost
		return nil, damagedIndex()
	}
	return g, nil
}

// segmentsOf collects rows of segmentColumns.
func segmentsOf(each func(func(*sql.Rows) error, string, ...any) error, query string, args ...any) (all []*segment, err error) {
	err = each(func(rows *sql.Rows) error {
		g, err := scanSegment(rows)
		all = append(all, g)
		return err
	}, query, args...)
	return all, err
}

// Postings implements [store.Finder].
func (s *database) Postings(ctx context.Context, scope governance.Scope, words []string) ([]postings.View, error) {
	return inView(ctx, s, func(v view) ([]postings.View, error) {
		gone, err := goneDocs(v.each, scope)
		if err != nil {
			return nil, err
		}
		segments, err := segmentsOf(v.each, selectSegments, scope)
		if err != nil {
			return nil, err
		}
		if err := v.complete(scope, segments); err != nil {
			return nil, err
		}
		views := make([]postings.View, len(segments))
		for i, g := range segments {
			views[i] = postings.NewView(g.ids, g.lengths, func(doc int64) bool { return gone[doc] }, len(words))
			for k, word := range words {
				if views[i].Lists[k], err = v.postings(g, word); err != nil {
					return nil, err
				}
			}
		}
		return views, nil
	})
}

// complete returns an error unless segments has as many entries as were written for the scope:
// the blocks of a lost segment would silently not be found.
func (v view) complete(scope governance.Scope, segments []*segment) error {
	want := 0
	if err := v.row(selectSegmentTotal, []any{scope}, &want); err != nil {
		return err
	}
	if want != len(segments) {
		return damagedIndex()
	}
	return nil
}

// postings returns the list of postings of word in segment g, or nil if no doc of g has the
// word.
func (v view) postings(g *segment, word string) (*postings.List, error) {
	page := g.key<<pageBits | int64(postings.PageOf(word, int(g.pages)))
	var body []byte
	var own imprint
	err := v.row(selectPage, []any{page}, &body, &own)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, damagedIndex()
	}
	if err != nil {
		return nil, err
	}
	if !same(pageImprint(page, body), own) {
		return nil, damagedIndex()
	}
	l, err := postings.Lookup(body, word, uint32(len(g.ids))) //nolint:gosec // places are such numbers
	if err != nil {
		return nil, damagedIndex()
	}
	return l, nil
}

// Numbered implements [store.Finder].
func (s *database) Numbered(ctx context.Context, scope governance.Scope, numbers []int64) ([]store.BlockRef, error) {
	return inView(ctx, s, func(v view) ([]store.BlockRef, error) {
		refs := make([]store.BlockRef, len(numbers))
		var missing []int64
		for i, doc := range numbers {
			var of governance.Scope
			var ref store.BlockRef
			var own imprint
			err := v.row(selectDoc, []any{doc}, &of, &ref.Session, &ref.Block, &own)
			switch {
			case errors.Is(err, sql.ErrNoRows):
				missing = append(missing, doc)
				continue
			case err != nil:
				return nil, err
			case !same(docImprint(doc, of, ref), own):
				return nil, damagedIndex()
			}
			if of == scope {
				refs[i] = ref
			}
		}
		return refs, v.missing(scope, missing)
	})
}

// missing is called with docs that have no row. It returns an error if a segment of the scope has
// one of them, unless that doc is marked as gone.
func (v view) missing(scope governance.Scope, docs []int64) error {
	if len(docs) == 0 {
		return nil
	}
	gone, err := goneDocs(v.each, scope)
	if err != nil {
		return err
	}
	segments, err := segmentsOf(v.each, selectSegments, scope)
	if err != nil {
		return err
	}
	for _, doc := range docs {
		if !gone[doc] && slices.ContainsFunc(segments, func(g *segment) bool { return slices.Contains(g.ids, doc) }) {
			return damagedIndex()
		}
	}
	return nil
}

// goneDocs returns the dead docs of a scope: their blocks were replaced, but segments still have
// them.
func goneDocs(each func(func(*sql.Rows) error, string, ...any) error, scope governance.Scope) (map[int64]bool, error) {
	docs, err := column[int64](each, selectGone, scope)
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	gone := make(map[int64]bool, len(docs))
	for _, doc := range docs {
		gone[doc] = true
	}
	return gone, nil
}

// segmentOf returns a segment with the words of entries. Its ids are positions in entries.
func segmentOf(entries []store.IndexEntry) *postings.Segment {
	var x postings.Index
	for i := range entries {
		x.Add(int64(i), entries[i].Words)
	}
	return x.Segment()
}

// applyIndex writes the index entries of a change. A block that already has a doc gets a new one,
// and the old doc is marked as gone.
func (w *writer) applyIndex(j *change) error {
	if len(j.c.Index) == 0 {
		return j.ctx.Err()
	}
	last, err := w.number(selectLastDoc, j.scope)
	if err != nil {
		return err
	}
	replaced := false
	indexed := make(map[transcript.BlockID]bool, len(j.c.Index))
	for i := range j.c.Index {
		e := &j.c.Index[i]
		if j.at > 0 && !j.fresh[e.Block] || indexed[e.Block] { // otherwise the block is new, and has no doc yet
			old, err := w.number(deleteDocOf, j.scope, j.id, e.Block)
			if err == nil {
				err, replaced = w.exec(insertGone, j.scope, old), true
			}
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		indexed[e.Block] = true
		if len(e.Words) == 0 {
			continue // without words nothing can find it
		}
		doc := last + 1 + int64(i)
		own := docImprint(doc, j.scope, store.BlockRef{Session: j.id, Block: e.Block})
		if err := w.exec(insertDoc, doc, j.scope, j.id, e.Block, own.blob(), wordSum(e.Words)); err != nil {
			return explainWrite(err, "index of block %s", e.Block)
		}
	}
	for i := range j.segment.IDs {
		j.segment.IDs[i] += last + 1
	}
	w.fresh = append(w.fresh, fresh{j.scope, j.segment, replaced})
	return j.ctx.Err()
}

// A fresh is the addition of one change to the index of blocks. The additions of all changes of a
// transaction are written at its end, as one segment for each scope.
type fresh struct {
	scope    governance.Scope
	segment  *postings.Segment
	replaced bool // whether it replaces docs
}

// addFresh writes the pending additions to the index of blocks.
func (w *writer) addFresh() error {
	added := make(map[governance.Scope][]fresh)
	var scopes []governance.Scope
	for _, f := range w.fresh {
		if added[f.scope] == nil {
			scopes = append(scopes, f.scope)
		}
		added[f.scope] = append(added[f.scope], f)
	}
	w.fresh = w.fresh[:0]
	for _, scope := range scopes {
		one, replaced := added[scope][0].segment, false
		for _, f := range added[scope] {
			replaced = replaced || f.replaced
		}
		if len(added[scope]) > 1 {
			var x postings.Index
			for _, f := range added[scope] {
				if err := x.Join(f.segment.Pages, f.segment.IDs, f.segment.Lengths); err != nil {
					return fmt.Errorf("internal error, please report it: %w", err)
				}
			}
			one = x.Segment()
		}
		if err := w.putSegment(scope, one, 0); err != nil {
			return err
		}
		// A damaged segment does not stop the write; a search reports it.
		if err := w.mergeSegments(scope, replaced); err != nil && !errors.Is(err, store.ErrCorrupt) {
			return err
		}
	}
	return nil
}

// putSegment writes a segment unless it is empty, and updates the number of segments of the scope.
// The parameter gone is the number of segments that were deleted.
func (w *writer) putSegment(scope governance.Scope, s *postings.Segment, gone int) error {
	if err := w.addSegment(scope, s); err != nil {
		return err
	}
	more := -gone
	if len(s.IDs) > 0 {
		more++
	}
	if more == 0 {
		return nil
	}
	return w.exec(countSegments, scope, more)
}

// addSegment writes a segment unless it is empty.
func (w *writer) addSegment(scope governance.Scope, s *postings.Segment) error {
	if len(s.IDs) == 0 {
		return nil
	}
	g := segment{scope: scope, last: s.IDs[len(s.IDs)-1], pages: int64(len(s.Pages)), docs: s.Docs()}
	for _, body := range s.Pages {
		g.size += int64(len(body))
	}
	var err error
	if g.key, err = w.number(newSegment); err != nil {
		return err
	}
	own := g.imprint()
	if err := w.exec(insertSegment, g.key, g.scope, g.last, g.pages, g.size, g.docs, own.blob()); err != nil {
		return err
	}
	for i, body := range s.Pages { // empty pages too, because a missing page means damage
		page := g.key<<pageBits | int64(i)
		if body == nil {
			body = []byte{} // nil would be NULL
		}
		own := pageImprint(page, body)
		if err := w.exec(insertPage, page, body, own.blob()); err != nil {
			return err
		}
	}
	return nil
}

// mergeSegments merges the newest segments of a scope if many have about the same size, so that a
// search reads few segments. A posting is rewritten once for each size class. If no merge is due
// and replaced is set, mergeSegments removes dead docs when there are more than goneAtMost.
func (w *writer) mergeSegments(scope governance.Scope, replaced bool) error {
	var keys, sizes []int64 // oldest first
	err := w.each(func(rows *sql.Rows) error {
		var key, size int64
		err := rows.Scan(&key, &size)
		keys, sizes = append(keys, key), append(sizes, size)
		return err
	}, selectSizes, scope)
	if err != nil {
		return err
	}
	if from := postings.Due(sizes); from < len(keys) {
		return w.rewrite(scope, keys[from:], nil)
	}
	if !replaced {
		return nil
	}
	gone, err := goneDocs(w.each, scope)
	if err != nil || len(gone) <= goneAtMost {
		return err
	}
	return w.sweepSegments(scope, nil)
}

// sweepSegments removes docs, and all dead docs, from the segments of a scope. A doc is dead if its
// block was replaced. Only segments that contain a doc to remove are rewritten.
func (w *writer) sweepSegments(scope governance.Scope, docs []int64) error {
	gone, err := goneDocs(w.each, scope)
	if err != nil {
		return err
	}
	also := make(map[int64]bool, len(docs))
	for _, doc := range docs {
		also[doc] = true
	}
	segments, err := segmentsOf(w.each, selectSegments, scope)
	if err != nil {
		return err
	}
	for _, g := range segments {
		if slices.ContainsFunc(g.ids, func(doc int64) bool { return gone[doc] || also[doc] }) {
			if err := w.rewrite(scope, []int64{g.key}, also); err != nil {
				return err
			}
		}
	}
	return nil
}

// rewrite replaces the segments with the given keys, which are consecutive, by one segment. It
// leaves out dead docs and the docs in the map without. If a segment is damaged, rewrite fails and
// writes nothing.
func (w *writer) rewrite(scope governance.Scope, keys []int64, without map[int64]bool) error {
	gone, err := goneDocs(w.each, scope)
	if err != nil {
		return err
	}
	var x postings.Index
	var left []int64
	for _, key := range keys {
		segments, err := segmentsOf(w.each, selectSegment, key)
		if err != nil {
			return err
		}
		g := segments[0]
		for i, doc := range g.ids {
			if gone[doc] || without[doc] {
				g.lengths[i] = 0
				left = append(left, doc)
			}
		}
		pages, err := pagesOf(w.each, key)
		if err != nil {
			return err
		}
		if err := x.Join(pages, g.ids, g.lengths); err != nil {
			return damagedIndex()
		}
	}
	for _, doc := range left {
		if err := w.exec(deleteGone, scope, doc); err != nil {
			return err
		}
	}
	for _, key := range keys {
		if err := errors.Join(w.exec(deletePages, key), w.exec(deleteSegment, key)); err != nil {
			return err
		}
	}
	return w.putSegment(scope, x.Segment(), len(keys))
}

// pagesOf returns the pages of the segment with the given key, each checked against its imprint.
func pagesOf(each func(func(*sql.Rows) error, string, ...any) error, key int64) (pages [][]byte, err error) {
	err = each(func(rows *sql.Rows) error {
		var page int64
		var body []byte
		var own imprint
		if err := rows.Scan(&page, &body, &own); err != nil {
			return err
		}
		if !same(pageImprint(page, body), own) {
			return damagedIndex()
		}
		pages = append(pages, body)
		return nil
	}, selectPages, key)
	return pages, err
}

// checkSegments compares the words in the index of blocks with the recorded sums of words, and
// reports damage.
func (c *checker) checkSegments() error {
	want := make(map[int64]int64)
	err := c.each(func(rows *sql.Rows) error {
		var doc, sum int64
		err := rows.Scan(&doc, &sum)
		want[doc] = sum
		return err
	}, selectDocSums)
	if err != nil {
		return err
	}
	have := make(map[int64]int64)
	segments, err := segmentsOf(c.each, selectAllSegments)
	if errors.Is(err, store.ErrCorrupt) {
		c.report("%v", err)
		return nil
	}
	if err != nil {
		return err
	}
	for _, g := range segments {
		if err := c.sumSegment(g, have); errors.Is(err, store.ErrCorrupt) {
			c.report("scope %s: segment %d: %v", g.scope, g.key, err)
		} else if err != nil {
			return err
		}
	}
	wrong := 0
	for doc, sum := range want {
		if have[doc] != sum {
			wrong++
		}
		delete(have, doc)
	}
	if wrong += len(have); wrong > 0 {
		c.report("index words: the words of %d texts differ from those that were written", wrong)
	}
	if err := c.countSegments(segments); err != nil {
		return err
	}
	var lost int
	if err := c.row(countLostPages, nil, &lost); err != nil {
		return err
	}
	if lost > 0 {
		c.report("index words: %d pages belong to no segment", lost)
	}
	return nil
}

// countSegments reports each scope whose number of segments differs from the recorded number.
func (c *checker) countSegments(segments []*segment) error {
	have := make(map[governance.Scope]int)
	for _, g := range segments {
		have[g.scope]++
	}
	return c.each(func(rows *sql.Rows) error {
		var scope governance.Scope
		var want int
		err := rows.Scan(&scope, &want)
		if err == nil && have[scope] != want {
			c.report("scope %s: the index has %d segments, want %d", scope, have[scope], want)
		}
		return err
	}, selectSegmentTotals)
}

// sumSegment adds the words of each doc of a segment to the checksum of the doc in sums.
func (c *checker) sumSegment(g *segment, sums map[int64]int64) error {
	gone, err := goneDocs(c.each, g.scope)
	if err != nil {
		return err
	}
	pages, err := pagesOf(c.each, g.key)
	if err != nil {
		return err
	}
	size := 0
	var docs, counts [postings.BlockSize]uint32
	for _, page := range pages {
		size += len(page)
		err := postings.Words(page, uint32(len(g.ids)), func(word string, l *postings.List) error { //nolint:gosec // places are such numbers
			value := wordValue([]byte(word))
			for b := l.Cursor(); b.Next(); {
				for i := range b.Decode(&docs, &counts) {
					if doc := g.ids[docs[i]]; !gone[doc] {
						sums[doc] += value * int64(counts[i])
					}
				}
			}
			return nil
		})
		if err != nil {
			return damagedIndex()
		}
	}
	if int64(size) != g.size {
		return fmt.Errorf("it has %d bytes of words, want %d: %w", size, g.size, store.ErrCorrupt)
	}
	return nil
}

// Statements for the index of blocks of schema 6 and older. Its words begin with the mark of the
// scope.
const (
	updateDocWords = `UPDATE doc SET words = ?2 WHERE doc = ?1`
	deleteDoc      = `DELETE FROM doc WHERE doc = ?1`
	dropOldWords   = `DROP TABLE words`
)

// indexAll converts the index of blocks of schema 6 to segments. The old index has no
// frequencies: each word counts once, and a stem as often as the block has different forms of it.
func indexAll(w *writer) error {
	scopes := make(map[int64]governance.Scope)
	err := w.each(func(rows *sql.Rows) error {
		var doc int64
		var scope governance.Scope
		var ref store.BlockRef
		err := rows.Scan(&doc, &scope, &ref.Session, &ref.Block)
		scopes[doc] = scope
		return err
	}, oldDocs)
	if err != nil {
		return err
	}
	words, err := w.oldWords()
	if err != nil {
		return err
	}
	indexes := make(map[governance.Scope]*postings.Index)
	for _, doc := range slices.Sorted(maps.Keys(scopes)) {
		x := indexes[scopes[doc]]
		if x == nil {
			x = new(postings.Index)
			indexes[scopes[doc]] = x
		}
		if len(words[doc]) == 0 {
			if err := w.exec(deleteDoc, doc); err != nil {
				return err
			}
			continue // without words nothing can find it
		}
		x.Add(doc, words[doc])
		if err := w.exec(updateDocWords, doc, wordSum(words[doc])); err != nil {
			return err
		}
	}
	for _, scope := range slices.SortedFunc(maps.Keys(indexes), cmp.Compare) {
		if err := w.addSegment(scope, indexes[scope].Segment()); err != nil {
			return err
		}
	}
	return errors.Join(w.forget(), w.exec(dropOldWords), w.forget())
}

// oldWords returns the stems and their numbers of forms for each doc in the index of schema 6.
func (w *writer) oldWords() (words map[int64]map[string]uint32, err error) {
	if err := w.exec(fmt.Sprintf(createVocabulary, "words")); err != nil {
		return nil, err
	}
	words = make(map[int64]map[string]uint32)
	err = w.each(func(rows *sql.Rows) error {
		var doc int64
		var word string
		if err := rows.Scan(&doc, &word); err != nil {
			return err
		}
		if words[doc] == nil {
			words[doc] = make(map[string]uint32)
		}
		if len(word) > markSize {
			words[doc][text.Stem(word[markSize:])]++
		}
		return nil
	}, selectVocabulary)
	return words, errors.Join(err, w.forget(), w.exec(dropVocabulary), w.forget())
}
