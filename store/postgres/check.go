package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/store"
)

// Each check selects the rows that are wrong: session, the value found and the value expected. The
// counts select one row with both values.
const (
	checkTokens = `
		SELECT session_id, tokens, want FROM (
			SELECT session_id, tokens, coalesce((SELECT sum(b.tokens) FROM block b
				WHERE b.scope = s.scope AND b.session_id = s.session_id AND NOT off), 0)::bigint AS want
			FROM session s WHERE scope = $1) AS x
		WHERE tokens <> want ORDER BY session_id`
	checkBlocks = `
		SELECT session_id, blocks, want FROM (
			SELECT session_id, blocks, (SELECT count(*) FROM block b
				WHERE b.scope = s.scope AND b.session_id = s.session_id AND NOT off) AS want
			FROM session s WHERE scope = $1) AS x
		WHERE blocks <> want ORDER BY session_id`
	checkEntries = `
		SELECT session_id, revision, want FROM (
			SELECT session_id, revision, (SELECT count(*) FROM entry e
				WHERE e.scope = s.scope AND e.session_id = s.session_id AND e.revision BETWEEN 1 AND s.revision) AS want
			FROM session s WHERE scope = $1) AS x
		WHERE revision <> want ORDER BY session_id`
	checkItems = `
		SELECT session_id, items, want FROM (
			SELECT session_id, items, (SELECT count(*) FROM item i
				WHERE i.scope = s.scope AND i.session_id = s.session_id AND i.ord < s.items) AS want
			FROM session s WHERE scope = $1) AS x
		WHERE items <> want ORDER BY session_id`
	checkStatements = `
		SELECT session_id, statements, want FROM (
			SELECT session_id, statements, (SELECT count(*) FROM statement i
				WHERE i.scope = s.scope AND i.session_id = s.session_id AND i.ord < s.statements) AS want
			FROM session s WHERE scope = $1) AS x
		WHERE statements <> want ORDER BY session_id`

	// The numbers of rows, which have no gaps: the last by the record of the scope, how many there
	// are, and the last of them.
	countLog       = `SELECT coalesce((SELECT version FROM version WHERE scope = $1), 0), count(*), coalesce(max(version), 0) FROM log WHERE scope = $1`
	countArtifacts = `SELECT coalesce((SELECT seq FROM version WHERE scope = $1), 0), count(*), coalesce(max(seq), 0) FROM artifact WHERE scope = $1`
	countCalls     = `SELECT coalesce((SELECT calls FROM call_head WHERE scope = $1), 0), count(*), coalesce(max(seq), 0) FROM call WHERE scope = $1`

	countWrongWords = `
		SELECT count(DISTINCT seq) FROM (SELECT seq, word FROM artifact_word WHERE scope = $1) AS w
		FULL JOIN (SELECT seq, unnest(words) AS word FROM artifact_words WHERE scope = $1) AS l USING (seq, word)
		WHERE w.seq IS NULL OR l.seq IS NULL`

	selectNextCells = `
		SELECT cell_id, kind, state, commitment, salt, body, ` + blobOf + ` FROM cell c
		WHERE scope = $1 AND ($2::bytea IS NULL OR cell_id > $2) ORDER BY cell_id LIMIT $3`
	selectAllDocs = `SELECT doc FROM doc WHERE scope = $1 ORDER BY doc`

	selectMigrations = `SELECT version, name FROM migration WHERE version > 0 ORDER BY version`
)

// Check implements [store.Admin]. It returns problems of the schema first, then for each scope those
// of cells, sessions, artifacts, calls and the indexes of words. It does not check references
// between rows, which the server enforces. It reads each scope in a transaction of its own.
func (s *database) Check(ctx context.Context) ([]string, error) {
	scopes, err := s.Scopes(ctx)
	if err != nil {
		return nil, err
	}
	problems, err := s.checkSchema(ctx)
	if err != nil {
		return nil, err
	}
	for _, scope := range scopes {
		found, err := s.checkScope(ctx, scope)
		if err != nil {
			return nil, err
		}
		for _, problem := range found {
			problems = append(problems, fmt.Sprintf("scope %s: %s", scope, problem))
		}
	}
	return problems, nil
}

// checkSchema reports wrong records of migrations, and missing row-level security. It fails if it
// cannot look at one of them.
func (s *database) checkSchema(ctx context.Context) (problems []string, err error) {
	next := 0
	err = s.transact(ctx, noScope, reading, func(t *tx) error {
		problems, next = nil, 0
		t.rows(func(rows pgx.Rows) error {
			var version int
			var name string
			err := rows.Scan(&version, &name)
			if err == nil && (version != next+1 || next >= len(s.steps) || name != s.steps[next].name) {
				problems = append(problems, fmt.Sprintf("schema: migration %d is recorded as %q", version, name))
			}
			next++
			return err
		}, selectMigrations)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if next != len(s.steps) {
		problems = append(problems, fmt.Sprintf("schema: %d migrations are recorded, want %d", next, len(s.steps)))
	}
	err = s.checkWalls(ctx)
	if unsafe, is := errors.AsType[*UnsafeError](err); is {
		return append(problems, "schema: "+unsafe.Why), nil
	}
	return problems, err
}

// A checker collects the problems of a scope.
type checker struct {
	*tx

	scope    governance.Scope
	problems []string
}

func (c *checker) report(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (s *database) checkScope(ctx context.Context, scope governance.Scope) (problems []string, err error) {
	err = s.transact(ctx, in(scope), reading, func(t *tx) error {
		c := &checker{tx: t, scope: scope}
		for _, part := range []func() error{c.checkCells, c.checkSums, c.checkIndex} {
			if err := part(); err != nil {
				return err
			}
		}
		problems = c.problems
		return nil
	})
	return problems, err
}

func (c *checker) checkCells() error {
	var last []byte
	for {
		var rows []*cellRow
		c.rows(each(&rows, scanCell), selectNextCells, raw(c.scope), last, cellsAtOnce)
		if err := c.flush(); err != nil {
			return err
		}
		for _, r := range rows {
			if _, holds := r.cell(); r.state != cellPurged && !holds {
				c.report("cell %s: its commitment does not match the body", r.id)
			}
			last = raw(r.id)
		}
		if len(rows) < cellsAtOnce {
			return nil
		}
	}
}

func (c *checker) checkSums() error {
	for _, sum := range []struct{ sql, problem string }{
		{checkEntries, "session %s: is at revision %d, its journal has %d entries"},
		{checkItems, "session %s: has %d items, there are %d"},
		{checkStatements, "session %s: has %d statements, there are %d"},
		{checkTokens, "session %s: its head has %d tokens, its blocks %d"},
		{checkBlocks, "session %s: its head has %d blocks, there are %d"},
	} {
		c.rows(func(rows pgx.Rows) error {
			var session string
			var have, want int64
			err := rows.Scan(to(&session), &have, &want)
			c.report(sum.problem, session, have, want)
			return err
		}, sum.sql, raw(c.scope))
	}
	for _, sum := range []struct{ sql, problem string }{
		{countLog, "is at version %d, its log has %d entries up to %d"},
		{countArtifacts, "the last position is %d, there are %d artifacts up to %d"},
		{countCalls, "the last call is %d, there are %d up to %d"},
	} {
		c.rows(func(rows pgx.Rows) error {
			var have, n, last int64
			err := rows.Scan(&have, &n, &last)
			if n != have || last != have {
				c.report(sum.problem, have, n, last)
			}
			return err
		}, sum.sql, raw(c.scope))
	}
	var wrong int64
	c.row(countWrongWords, args(raw(c.scope)), &wrong)
	if err := c.flush(); err != nil {
		return err
	}
	if wrong > 0 {
		c.report("index words: the words of %d artifacts differ from those that were written", wrong)
	}
	return nil
}

// checkIndex reports index segments that are damaged, and differences between the docs of the
// segments and the rows of the table doc.
func (c *checker) checkIndex() error {
	var segments []*segment
	var gone, docs []int64
	c.rows(each(&segments, scanSegment), selectSegments, raw(c.scope))
	c.rows(numbers(&gone), selectGone, raw(c.scope))
	c.rows(numbers(&docs), selectAllDocs, raw(c.scope))
	if err := c.flush(); errors.Is(err, store.ErrCorrupt) {
		c.report("%v", err)
		return nil
	} else if err != nil {
		return err
	}
	have := make(map[int64]bool)
	for _, g := range segments {
		for _, doc := range g.ids {
			have[doc] = true
		}
		if err := c.checkSegment(g); errors.Is(err, store.ErrCorrupt) {
			c.report("segment %d: %v", g.key, err)
		} else if err != nil {
			return err
		}
	}
	for _, doc := range gone {
		delete(have, doc)
	}
	wrong := 0
	for _, doc := range docs {
		if !have[doc] {
			wrong++
		}
		delete(have, doc)
	}
	if wrong += len(have); wrong > 0 {
		c.report("index words: the words of %d texts differ from those that were written", wrong)
	}
	return nil
}

// checkSegment fails if the frequencies of words in the pages of a segment do not add up to the
// lengths of its docs, or if pages are missing.
func (c *checker) checkSegment(g *segment) error {
	pages := 0
	lengths := make([]uint32, len(g.ids))
	c.rows(func(rows pgx.Rows) error {
		var key, page int64
		var body []byte
		if err := rows.Scan(&key, &page, &body); err != nil {
			return err
		}
		pages++
		return postings.Words(body, uint32(len(g.ids)), func(_ string, l *postings.List) error { //nolint:gosec // places are such numbers
			var docs, counts [postings.BlockSize]uint32
			for b := l.Cursor(); b.Next(); {
				for i := range b.Decode(&docs, &counts) {
					lengths[docs[i]] += counts[i]
				}
			}
			return nil
		})
	}, selectPages, raw(c.scope), []int64{g.key})
	if err := c.flush(); err != nil {
		return damagedIndex()
	}
	if pages != int(g.pages) {
		return fmt.Errorf("it has %d pages, want %d: %w", pages, g.pages, store.ErrCorrupt)
	}
	for i, length := range g.lengths {
		if lengths[i] != length {
			return damagedIndex()
		}
	}
	return nil
}
