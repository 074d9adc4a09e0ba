package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Statements of the migration that computes the imprints of all existing rows.
const (
	oldCells    = `SELECT rowid, scope, cell_id, kind, state, commitment FROM cell`
	imprintCell = `UPDATE cell SET imprint = ?2 WHERE rowid = ?1`
	oldEdges    = `SELECT scope, derived, source, rel FROM edge ORDER BY scope`

	oldSessions    = `SELECT scope, ` + headColumns
	imprintSession = `UPDATE session SET imprint = ?3 WHERE scope = ?1 AND session_id = ?2`
	oldItems       = `SELECT ord, cell_id FROM item WHERE scope = ?1 AND session_id = ?2`
	oldTotal       = `INSERT INTO session_total (scope, session_id, items, blocks, statements) VALUES (?1, ?2, ?3, ?4, ?5)`
	oldStatements  = `SELECT ord, text FROM statement WHERE scope = ?1 AND session_id = ?2`
	imprintBlock   = `UPDATE block SET imprint = ?4 WHERE scope = ?1 AND session_id = ?2 AND block_id = ?3`
	oldEntries     = `
		SELECT scope, session_id, revision, entry_id, op, actor, time, data FROM entry`
	imprintEntry = `UPDATE entry SET imprint = ?4 WHERE scope = ?1 AND session_id = ?2 AND revision = ?3`

	oldBlocks = `
		SELECT block_id, turn, kind, tools, tokens, state, form, window_tokens, coalesce(stub, ''), pinned, off, imprint, 0
		FROM block WHERE scope = ?1 AND session_id = ?2 ORDER BY off, turn, block_id`
	oldDocs   = `SELECT doc, scope, session_id, block_id FROM doc`
	updateDoc = `UPDATE doc SET imprint = ?2, words = ?3 WHERE doc = ?1`
	oldScopes = `
		SELECT name, num << 40, version, seq,
			(SELECT count(*) FROM artifact a WHERE a.num = s.num AND status = 'held'),
			(SELECT count(*) FROM manifest m WHERE m.num = s.num)
		FROM scope s`
	upsertOldScope = `
		INSERT INTO scope_total (name, num, version, seq, held, manifests, edges) VALUES (?1, ?2 >> 40, ?3, ?4, ?5, ?6, zeroblob(16))
		ON CONFLICT DO UPDATE SET num = ?2 >> 40, version = ?3, seq = ?4, held = ?5, manifests = ?6`
	oldLog          = `SELECT log_key, entry_id, op, actor, time, data FROM log`
	imprintLog      = `UPDATE log SET imprint = ?2 WHERE log_key = ?1`
	oldArtifacts    = artifactColumns
	imprintArtifact = `UPDATE artifact SET imprint = ?2, words = ?3 WHERE doc = ?1`
	oldManifests    = manifestColumns + `, m.body` + manifestTables
	oldOutcomes     = `SELECT log_key, manifest, actor, time, data FROM outcome`
	imprintOutcome  = `UPDATE outcome SET imprint = ?2 WHERE log_key = ?1`
	imprintToken    = `UPDATE token SET imprint = ?2 WHERE token_id = ?1`
)

// imprintAll computes and writes the imprints of all existing rows.
func imprintAll(w *writer) error {
	for _, part := range []func(*writer) error{
		imprintCells, imprintEdges, imprintSessions, imprintEntries, imprintDocs,
		imprintScopes, imprintArtifacts, imprintManifests, imprintTokens,
	} {
		if err := part(w); err != nil {
			return err
		}
	}
	return nil
}

func imprintCells(w *writer) error {
	return w.each(func(rows *sql.Rows) error {
		var row int64
		var scope governance.Scope
		var id store.CellID
		var c cellRow
		if err := rows.Scan(&row, &scope, &id, &c.kind, &c.state, &c.commitment); err != nil {
			return err
		}
		own := cellImprint(scope, &c, id)
		return w.exec(imprintCell, row, own.blob())
	}, oldCells)
}

func imprintEdges(w *writer) error {
	totals := make(map[governance.Scope]imprint)
	err := w.each(func(rows *sql.Rows) error {
		scope, own, err := scanEdge(rows)
		own.join(totals[scope])
		totals[scope] = own
		return err
	}, oldEdges)
	for scope, total := range totals {
		if err == nil {
			err = w.exec(upsertEdgeTotal, scope, total.blob())
		}
	}
	return err
}

// scanEdge returns the scope and the imprint of the edge in a row.
func scanEdge(rows *sql.Rows) (scope governance.Scope, own imprint, err error) {
	var e store.Edge
	err = rows.Scan(&scope, &e.Derived, &e.Source, &e.Rel)
	return scope, edgeImprint(scope, &e), err
}

func imprintSessions(w *writer) error {
	return w.each(func(rows *sql.Rows) error {
		var scope governance.Scope
		h, _, err := readHead(func(dest ...any) error { return rows.Scan(append([]any{&scope}, dest...)...) })
		if err != nil {
			return err
		}
		own := headImprint(scope, h)
		if err := w.exec(imprintSession, scope, h.ID, own.blob()); err != nil {
			return err
		}
		return imprintLists(w, scope, h.ID)
	}, oldSessions)
}

// imprintLists computes and writes the imprints of the lists of a session, and of its blocks.
func imprintLists(w *writer, scope governance.Scope, id transcript.SessionID) error {
	var total sessionTotal
	err := w.each(func(rows *sql.Rows) error {
		var at int64
		var cell store.CellID
		err := rows.Scan(&at, &cell)
		total.items.join(itemImprint(scope, id, at, cell))
		return err
	}, oldItems, scope, id)
	if err != nil {
		return err
	}
	err = w.each(func(rows *sql.Rows) error {
		var at int64
		var line string
		err := rows.Scan(&at, &line)
		total.statements.join(statementImprint(scope, id, at, line))
		return err
	}, oldStatements, scope, id)
	if err != nil {
		return err
	}
	cells := make(map[transcript.BlockID][]store.CellID)
	if err := w.each(collectCells(cells), selectBlockCells, scope, id); err != nil {
		return err
	}
	err = w.each(func(rows *sql.Rows) error {
		b, tools, _, err := readBlock(rows, cells)
		if err != nil {
			return err
		}
		own := blockImprint(scope, id, b, tools)
		total.blocks.join(own)
		return w.exec(imprintBlock, scope, id, b.ID, own.blob())
	}, oldBlocks, scope, id)
	if err != nil {
		return err
	}
	return w.exec(oldTotal, scope, id, total.items.blob(), total.blocks.blob(), total.statements.blob())
}

func imprintEntries(w *writer) error {
	err := w.each(func(rows *sql.Rows) error {
		var scope governance.Scope
		var id transcript.SessionID
		var e store.Entry
		var millis int64
		if err := rows.Scan(&scope, &id, &e.Revision, &e.ID, &e.Op, &e.Actor, &millis, (*[]byte)(&e.Data)); err != nil {
			return err
		}
		e.Time = timeOf(millis)
		own := entryImprint(scope, id, &e)
		return w.exec(imprintEntry, scope, id, e.Revision, own.blob())
	}, oldEntries)
	if err != nil {
		return err
	}
	return w.each(func(rows *sql.Rows) error {
		var e store.Entry
		var key, millis int64
		if err := rows.Scan(&key, &e.ID, &e.Op, &e.Actor, &millis, (*[]byte)(&e.Data)); err != nil {
			return err
		}
		e.Time = timeOf(millis)
		own := logImprint(key, &e)
		return w.exec(imprintLog, key, own.blob())
	}, oldLog)
}

func imprintDocs(w *writer) error {
	sums, err := w.wordSums("words")
	if err != nil {
		return err
	}
	return w.each(func(rows *sql.Rows) error {
		var doc int64
		var scope governance.Scope
		var ref store.BlockRef
		if err := rows.Scan(&doc, &scope, &ref.Session, &ref.Block); err != nil {
			return err
		}
		own := docImprint(doc, scope, ref)
		return w.exec(updateDoc, doc, own.blob(), sums[doc])
	}, oldDocs)
}

func imprintScopes(w *writer) error {
	return w.each(func(rows *sql.Rows) error {
		var name string
		var base, version, seq, held, manifests int64
		if err := rows.Scan(&name, &base, &version, &seq, &held, &manifests); err != nil {
			return err
		}
		return w.exec(upsertOldScope, name, base, version, seq, held, manifests)
	}, oldScopes)
}

func imprintArtifacts(w *writer) error {
	sums, err := w.wordSums("artifact_words")
	if err != nil {
		return err
	}
	return w.each(func(rows *sql.Rows) error {
		a, _, err := readArtifact(rows)
		if err != nil {
			return err
		}
		own := artifactImprint(a.Seq, int64(a.Version), a)
		return w.exec(imprintArtifact, a.Seq, own.blob(), sums[a.Seq])
	}, oldArtifacts)
}

func imprintManifests(w *writer) error {
	err := w.each(func(rows *sql.Rows) error {
		var body []byte
		m, _, _, err := readManifest(rows, &body)
		if err != nil {
			return err
		}
		key := int64(m.Version)
		var docs []int64
		if err := w.each(collectUses(&docs, &m.Uses), selectUses, key); err != nil {
			return err
		}
		own, bodyPrint, uses := manifestImprint(key, m), bodyImprint(key, body), usesImprint(key, docs, m.Uses)
		return w.exec(insertManifestImprint, key, own.blob(), bodyPrint.blob(), uses.blob())
	}, oldManifests)
	if err != nil {
		return err
	}
	return w.each(func(rows *sql.Rows) error {
		var key, manifest, millis int64
		var o store.ContextOutcome
		if err := rows.Scan(&key, &manifest, &o.Actor, &millis, (*[]byte)(&o.Data)); err != nil {
			return err
		}
		o.Time = timeOf(millis)
		own := outcomeImprint(key, manifest, &o)
		if err := w.exec(imprintOutcome, key, own.blob()); err != nil {
			return err
		}
		return w.exec(countOutcome, manifest)
	}, oldOutcomes)
}

func imprintTokens(w *writer) error {
	return w.each(func(rows *sql.Rows) error {
		r, err := readCredential(rows.Scan)
		if err != nil {
			return err
		}
		own := credentialImprint(&r.Credential, r.scopes, r.permissions)
		return w.exec(imprintToken, r.ID, own.blob())
	}, selectCredentials)
}

// Statements that read the words of an FTS5 index with a temporary table fts5vocab.
const (
	createVocabulary = `CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab (main, %s, instance)`
	selectVocabulary = `SELECT doc, term FROM temp.vocabulary`
	dropVocabulary   = `DROP TABLE temp.vocabulary`
)

// wordSums returns the checksum of the words of each row of an index.
func (w *writer) wordSums(index string) (sums map[int64]int64, err error) {
	query := func(q string) func(f func(*sql.Rows) error) error {
		return func(f func(*sql.Rows) error) error { return w.each(f, q) }
	}
	if err := w.exec(fmt.Sprintf(createVocabulary, index)); err != nil {
		return nil, err
	}
	sums, err = sumWords(query(selectVocabulary))
	return sums, errors.Join(err, w.forget(), w.exec(dropVocabulary), w.forget())
}

// sumWords returns the checksum of the words of each row of an index. The function each runs a
// query for the rows and their words.
func sumWords(each func(f func(*sql.Rows) error) error) (map[int64]int64, error) {
	sums := make(map[int64]int64)
	return sums, each(func(rows *sql.Rows) error {
		var doc int64
		var word sql.RawBytes // valid until the next row
		err := rows.Scan(&doc, &word)
		sums[doc] += wordValue(word)
		return err
	})
}
