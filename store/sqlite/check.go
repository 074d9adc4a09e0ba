package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	engine "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// ignore discards a row.
func ignore(*sql.Rows) error { return nil }

// A checker collects the problems of a database.
type checker struct {
	view

	problems []string
}

func (c *checker) report(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// found reports err as a problem of a scope if it is an ErrCorrupt or ErrNotFound, and returns
// nil. It returns any other error.
func (c *checker) found(err error, scope governance.Scope) error {
	if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNotFound) {
		c.report("scope %s: %v", scope, err)
		return nil
	}
	return err
}

// Check implements [store.Admin]. It returns problems in this order: the structure of the file, the
// schema, references, cells, edges, sessions, the index of blocks, scopes, calls, credentials, the
// index of artifacts. It compares every record that has an imprint with its imprint, as every read
// does.
func (s *database) Check(ctx context.Context) (problems []string, err error) {
	err = s.longView(ctx, func(v view) error {
		c := &checker{view: v}
		defer func() { problems = c.problems }()
		return c.check()
	})
	if err == nil {
		var more []string
		more, err = s.checkWords(ctx)
		if isOfSchema(err) && len(problems) > 0 {
			err = nil
		}
		problems = append(problems, more...)
	}
	if errors.Is(err, store.ErrCorrupt) {
		problems = append(problems, fmt.Sprintf("file: %v", err)) // the damage prevents further reading
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return problems, nil
}

func (c *checker) check() error {
	var errs []error
	for _, err := range c.checks() {
		if !isOfSchema(err) || len(c.problems) == 0 {
			errs = append(errs, err) // otherwise checkSchema has reported it
		}
	}
	return errors.Join(errs...)
}

// isOfSchema reports whether an error is about a missing table or column.
func isOfSchema(err error) bool {
	e, ok := errors.AsType[*engine.Error](err)
	return ok && e.Code() == codes.SQLITE_ERROR
}

// checks runs all checks. They report problems to c; checks returns the errors that prevented them.
func (c *checker) checks() []error {
	return []error{
		// FTS5 caches the structure of the index in each connection. It refreshes the cache
		// at the beginning of a query, but not of an integrity check. Without this query the
		// check would report damage after a write by another connection.
		c.each(ignore, touchArtifactWords),
		c.each(func(rows *sql.Rows) error {
			var line string
			err := rows.Scan(&line)
			if line != "ok" && err == nil {
				c.report("file: %s", line)
			}
			return err
		}, checkIntegrity),
		c.s.checkSchema(c.ctx, c.view, c.report),
		c.checkMigrations(),
		c.each(func(rows *sql.Rows) error {
			var table, parent string
			var rowid, key any
			if err := rows.Scan(&table, &rowid, &parent, &key); err != nil {
				return err
			}
			c.report("table %s: a row refers to a missing %s", table, parent)
			return nil
		}, checkForeignKeys),
		c.checkCells(),
		c.checkEdges(),
		c.checkSums(checkEntries, "is at revision %d, its journal has %d entries"),
		c.checkSums(checkItems, "has %d items, by the number of the last there are %d"),
		c.checkSums(checkTokens, "its head has %d tokens, its blocks %d"),
		c.checkSums(checkBlocks, "its head has %d blocks, there are %d"),
		c.checkSessions(),
		c.checkSegments(),
		c.checkScopeSums(checkLog, "is at version %d, its log has %d entries"),
		c.checkScopeSums(checkArtifacts, "the last position is %d, there are %d artifacts"),
		c.checkScopeSums(checkNames, "the artifact at position %d has the wrong name of the scope (%d in all)"),
		c.checkScopeSums(checkIndexed, "position %d is in the index and has no artifact (%d in all)"),
		c.checkScopes(),
		c.checkCalls(),
		c.checkCredentials(),
	}
}

// checkMigrations reports differences between the recorded migrations and those of this program.
func (c *checker) checkMigrations() error {
	next := 0
	err := c.each(func(rows *sql.Rows) error {
		var version int
		var name string
		err := rows.Scan(&version, &name)
		if err == nil && (version != next+1 || next >= len(c.s.steps) || name != c.s.steps[next].name) {
			c.report("schema: migration %d is recorded as %q", version, name)
		}
		next++
		return err
	}, selectMigrations)
	if err == nil && next != len(c.s.steps) {
		c.report("schema: %d migrations are recorded, want %d", next, len(c.s.steps))
	}
	return err
}

func (c *checker) checkCells() error {
	return c.each(func(rows *sql.Rows) error {
		var scope governance.Scope
		var id store.CellID
		var row cellRow
		if err := rows.Scan(&scope, &id, &row.state, &row.kind, &row.commitment, &row.salt, &row.body, &row.own, &row.blob); err != nil {
			return err
		}
		if !same(cellImprint(scope, &row, id), row.own) {
			c.report("scope %s: cell %s does not match its checksum", scope, id)
		}
		if _, holds := row.cell(id); row.state != cellPurged && !holds {
			c.report("scope %s: cell %s: its commitment does not match the body", scope, id)
		}
		if row.state == cellPurged && (row.salt != nil || row.body != nil || row.blob != "") {
			c.report("scope %s: cell %s was purged, but its salt or body is still stored", scope, id)
		}
		if row.blob != "" && len(row.body) > 0 {
			c.report("scope %s: cell %s has a body and a blob", scope, id)
		}
		return nil
	}, selectAllCells)
}

func (c *checker) checkEdges() error {
	totals := make(map[governance.Scope]imprint)
	err := c.each(func(rows *sql.Rows) error {
		scope, own, err := scanEdge(rows)
		own.join(totals[scope])
		totals[scope] = own
		return err
	}, oldEdges)
	if err != nil {
		return err
	}
	return c.each(func(rows *sql.Rows) error {
		var scope governance.Scope
		var want imprint
		err := rows.Scan(&scope, &want)
		if err == nil && totals[scope] != want {
			c.report("scope %s: the list of edges between cells does not match its checksum", scope)
		}
		return err
	}, selectEdgeTotals)
}

// checkSessions reads all records of each session, and reports damage.
func (c *checker) checkSessions() error {
	type key struct {
		scope governance.Scope
		id    transcript.SessionID
	}
	all, err := collect(c.each, func(k *key) []any { return []any{&k.scope, &k.id} }, selectAllSessions)
	if err != nil {
		return err
	}
	for _, k := range all {
		if err := c.found(c.checkSession(k.scope, k.id), k.scope); err != nil {
			return err
		}
	}
	return c.each(func(rows *sql.Rows) error {
		var doc int64
		var scope governance.Scope
		var ref store.BlockRef
		var own imprint
		err := rows.Scan(&doc, &scope, &ref.Session, &ref.Block, &own)
		if err == nil && !same(docImprint(doc, scope, ref), own) {
			c.report("scope %s: session %s: the index entry of block %s does not match its checksum", scope, ref.Session, ref.Block)
		}
		return err
	}, selectAllDocs)
}

// checkSession returns the damage of a session as an error.
func (c *checker) checkSession(scope governance.Scope, id transcript.SessionID) error {
	h, err := c.head(scope, id)
	if err != nil {
		return err
	}
	_, itemsErr := c.items(scope, id)
	_, blocksErr := c.blocks(scope, id)
	_, linesErr := c.statements(scope, id)
	_, entriesErr := c.journal(scope, h, 0)
	_, rewritesErr := c.rewrites(scope, id)
	return errors.Join(itemsErr, blocksErr, linesErr, entriesErr, rewritesErr)
}

// checkScopes reads the artifacts, manifests and log of each scope, and reports damage.
func (c *checker) checkScopes() error {
	all, err := column[governance.Scope](c.each, selectAllScopes)
	if err != nil {
		return err
	}
	for _, scope := range all {
		if err := c.checkScope(scope); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) checkScope(scope governance.Scope) error {
	r, err := c.scope(scope)
	if err != nil || r.base == 0 {
		return c.found(err, scope)
	}
	held := 0
	err = c.allArtifacts(scope, r, func(a *store.Artifact) error {
		if a.Status == store.StatusHeld {
			held++
		}
		return nil
	})
	if err == nil && held != r.held {
		err = damaged("the number of held artifacts")
	}
	var ids []string
	manifests, listErr := c.manifests(scope, r, "")
	for _, m := range manifests {
		ids = append(ids, m.ID)
	}
	_, logErr := c.log(r, 0)
	for _, err := range []error{err, listErr, logErr} {
		if err := c.found(err, scope); err != nil {
			return err
		}
	}
	for _, id := range ids {
		err := c.each(func(rows *sql.Rows) error {
			_, err := c.manifest(rows)
			return err
		}, selectManifest, r.base, id)
		if err := c.found(err, scope); err != nil {
			return err
		}
	}
	return nil
}

// checkCredentials reports missing, invalid and damaged credentials.
func (c *checker) checkCredentials() error {
	var have, want int
	if err := c.row(selectCredentialCounts, nil, &have, &want); err != nil {
		return err
	}
	if have != want {
		c.report("there are %d credentials, want %d", have, want)
	}
	return c.each(func(rows *sql.Rows) error {
		r, err := readCredential(rows.Scan)
		if err != nil {
			return err
		}
		if err := errors.Join(r.parse(), r.Validate()); err != nil {
			c.report("%v", err)
		} else if !r.intact() {
			c.report("%v", damaged("credential %s", r.ID))
		}
		return nil
	}, selectCredentials)
}

// checkScopeSums reports a problem for each row of a query, which has a scope and two numbers. The
// text in problem is the format of the numbers.
func (c *checker) checkScopeSums(query, problem string) error {
	return c.each(func(rows *sql.Rows) error {
		var scope string
		var have, want int64
		if err := rows.Scan(&scope, &have, &want); err != nil {
			return err
		}
		c.report("scope %s: "+problem, scope, have, want)
		return nil
	}, query)
}

// checkSums reports a problem for each row of a query, which has a scope, a session, and two
// numbers that differ. The text in problem is the format of the numbers.
func (c *checker) checkSums(query, problem string) error {
	return c.each(func(rows *sql.Rows) error {
		var scope, session string
		var have, want int64
		if err := rows.Scan(&scope, &session, &have, &want); err != nil {
			return err
		}
		c.report("scope %s: session %s: "+problem, scope, session, have, want)
		return nil
	}, query)
}

// checkWords compares the words in the index of artifacts with the recorded sums of words. It uses
// a connection of its own, because it needs a temporary table.
func (s *database) checkWords(ctx context.Context) (problems []string, err error) {
	db, err := connect(s.path, s.busy, s.how)
	if err != nil {
		return nil, err
	}
	err = withConn(ctx, db, func(conn *sql.Conn) error {
		for _, x := range []struct{ index, query string }{
			{"artifact_words", selectArtifactSums},
		} {
			wrong, err := compareWords(ctx, conn, x.index, x.query)
			if err != nil {
				return fmt.Errorf("index %s: %w", x.index, err)
			}
			if wrong > 0 {
				problems = append(problems, fmt.Sprintf("index %s: the words of %d texts differ from those that were written", x.index, wrong))
			}
		}
		return nil
	})
	return problems, s.explain(err)
}

// compareWords returns the number of texts whose words in an index differ from those that were
// written. The statement in query returns the recorded sum of words for each text.
func compareWords(ctx context.Context, conn *sql.Conn, index, query string) (wrong int, err error) {
	if _, err := conn.ExecContext(ctx, fmt.Sprintf(createVocabulary, index)); err != nil {
		return 0, err
	}
	// One transaction, so that both queries see the same state.
	if _, err := conn.ExecContext(ctx, beginReading); err != nil {
		return 0, err
	}
	defer func() {
		_, ended := conn.ExecContext(context.WithoutCancel(ctx), commit)
		_, dropped := conn.ExecContext(context.WithoutCancel(ctx), dropVocabulary)
		err = errors.Join(err, ended, dropped)
	}()
	each := func(query string) func(f func(*sql.Rows) error) error {
		return func(f func(*sql.Rows) error) error { return eachOf(ctx, conn, f, query) }
	}
	have, err := sumWords(each(selectVocabulary))
	if err != nil {
		return 0, err
	}
	err = each(query)(func(rows *sql.Rows) error {
		var doc, want int64
		err := rows.Scan(&doc, &want)
		if have[doc] != want {
			wrong++
		}
		delete(have, doc)
		return err
	})
	return wrong + len(have), err
}

// eachOf runs a query on a connection and calls f for each row.
func eachOf(ctx context.Context, conn *sql.Conn, f func(rows *sql.Rows) error, query string) error {
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	return eachRow(rows, f)
}
