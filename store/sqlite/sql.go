package sqlite

import (
	"fmt"
	"strings"
)

// All statements of the driver, but for those of the migrations. Values are
// bound, without exception.

// Transactions.
const (
	begin      = `BEGIN IMMEDIATE`
	commit     = `COMMIT`
	rollback   = `ROLLBACK`
	savepoint  = `SAVEPOINT change`
	release    = `RELEASE change`
	rollbackTo = `ROLLBACK TO change`
)

// The file.
const (
	selectVersion  = `SELECT sqlite_version()`
	selectIdentity = `SELECT (SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema)`
	selectSchema   = `SELECT coalesce(max(version), 0) FROM migration`
	setWAL         = `PRAGMA journal_mode = WAL`
	setDelete      = `PRAGMA journal_mode = DELETE`
	vacuumInto     = `VACUUM INTO ?1`
	truncateLog    = `PRAGMA wal_checkpoint(TRUNCATE)`
	setBusyTimeout = `PRAGMA busy_timeout = %d` // milliseconds; what is bound has no place here

	selectObjects = `SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_stat%' ESCAPE '\'`

	createIdentity = `
		PRAGMA application_id = 0x43617272;
		CREATE TABLE migration (version INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT`
	insertMigration = `INSERT INTO migration (version, name) VALUES (?1, ?2)`
)

// Writing. The columns of a session are bound in the order of headValues.
const (
	selectRevision = `SELECT revision FROM session WHERE scope = ?1 AND session_id = ?2`

	upsertSession = `
		INSERT INTO session (scope, session_id, revision, format, model, encoding, about,
			messages, blocks, tokens, window_tokens, bytes, created, updated)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
		ON CONFLICT DO UPDATE SET revision = ?3, format = ?4, model = ?5, encoding = ?6, about = ?7,
			messages = ?8, blocks = ?9, tokens = ?10, window_tokens = ?11, bytes = ?12, created = ?13, updated = ?14`

	upsertSummary = `
		INSERT INTO summary (scope, session_id, cell_id) VALUES (?1, ?2, ?3)
		ON CONFLICT DO UPDATE SET cell_id = ?3`
	deleteSummary = `DELETE FROM summary WHERE scope = ?1 AND session_id = ?2`

	insertCell = `
		INSERT INTO cell (scope, cell_id, kind, commitment, len, salt, body)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`
	insertEdge = `INSERT INTO edge (scope, derived, source, rel) VALUES (?1, ?2, ?3, ?4)`

	// Blocks that will be replaced give up their turns first, so that they can
	// trade them.
	yieldTurn = `UPDATE block SET off = 1 WHERE scope = ?1 AND session_id = ?2 AND block_id = ?3`

	upsertBlock = `
		INSERT INTO block (scope, session_id, block_id, turn, kind, tools, tokens, state, form,
			window_tokens, stub, pinned, off)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
		ON CONFLICT (scope, session_id, block_id) DO UPDATE SET turn = ?4, kind = ?5, tools = ?6, tokens = ?7,
			state = ?8, form = ?9, window_tokens = ?10, stub = ?11, pinned = ?12, off = ?13`
	deleteBlockCells = `DELETE FROM block_cell WHERE scope = ?1 AND session_id = ?2 AND block_id = ?3`
	insertBlockCell  = `INSERT INTO block_cell (scope, session_id, block_id, ord, cell_id) VALUES (?1, ?2, ?3, ?4, ?5)`

	countItems  = `SELECT coalesce(max(ord) + 1, 0) FROM item WHERE scope = ?1 AND session_id = ?2`
	deleteItems = `DELETE FROM item WHERE scope = ?1 AND session_id = ?2 AND ord >= ?3`
	insertItem  = `INSERT INTO item (scope, session_id, ord, cell_id) VALUES (?1, ?2, ?3, ?4)`

	insertEntry = `
		INSERT INTO entry (scope, session_id, revision, entry_id, op, actor, time, data)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`
	countStatements = `SELECT coalesce(max(ord) + 1, 0) FROM statement WHERE scope = ?1 AND session_id = ?2`
	insertStatement = `INSERT INTO statement (scope, session_id, ord, text) VALUES (?1, ?2, ?3, ?4)`

	upsertDoc = `
		INSERT INTO doc (scope, session_id, block_id) VALUES (?1, ?2, ?3)
		ON CONFLICT (scope, session_id, block_id) DO UPDATE SET doc = doc
		RETURNING doc`
	replaceWords = `INSERT OR REPLACE INTO words (rowid, text) VALUES (?1, ?2)`
)

// Writing artifacts. The first parameter of most is the key of the scope plus
// a place.
const (
	nextVersion = `
		INSERT INTO scope (name, version, seq) VALUES (?1, 1, ?2)
		ON CONFLICT (name) DO UPDATE SET version = version + 1, seq = seq + ?2
		RETURNING num << 40, version, seq`
	insertLog = `
		INSERT INTO log (log_key, num, entry_id, op, actor, time, data) VALUES (?1, ?1 >> 40, ?2, ?3, ?4, ?5, ?6)`

	// The last parameter of both is the log_key of what is replaced, or the name
	// of the scope.
	insertArtifact = `
		INSERT INTO artifact (doc, num, artifact_id, log_key, class, status, pinned, content, about, bytes, tokens,
			encoding, source, created, updated, expires, address, gate, scope)
		VALUES (?1, ?1 >> 40, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)`
	updateArtifact = `
		UPDATE artifact SET log_key = ?3, class = ?4, status = ?5, pinned = ?6, content = ?7, about = ?8, bytes = ?9,
			tokens = ?10, encoding = ?11, source = ?12, created = ?13, updated = ?14, expires = ?15, address = ?16, gate = ?17
		WHERE num = ?1 >> 40 AND artifact_id = ?2 AND log_key = ?18
		RETURNING doc`

	purgeCell = `
		UPDATE cell SET state = 'purged', salt = NULL, body = NULL WHERE scope = ?1 AND cell_id = ?2 RETURNING len`

	insertArtifactWords   = `INSERT INTO artifact_words (rowid, text) VALUES (?1, ?2)`
	replaceArtifactWords  = `INSERT OR REPLACE INTO artifact_words (rowid, text) VALUES (?1, ?2)`
	deleteArtifactWords   = `DELETE FROM artifact_words WHERE rowid = ?1`
	optimizeArtifactWords = `INSERT INTO artifact_words (artifact_words) VALUES ('optimize')`

	insertManifest = `
		INSERT INTO manifest (log_key, num, manifest_id, session_id, created, format, tier, budget, total, seal, body)
		VALUES (?1, ?1 >> 40, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)`
	insertUse     = `INSERT INTO manifest_use (log_key, ord, doc) VALUES (?1, ?2, ?3)`
	insertOutcome = `INSERT INTO outcome (log_key, manifest, actor, time, data) VALUES (?1, ?2, ?3, ?4, ?5)`
)

// Reading artifacts.
const (
	selectScope    = `SELECT num << 40, version FROM scope WHERE name = ?1`
	selectDocOf    = `SELECT doc FROM artifact WHERE num = ?1 >> 40 AND artifact_id = ?2`
	selectContents = `SELECT doc FROM artifact WHERE num = ?1 >> 40 AND content = ?2`

	artifactColumns = `
		SELECT doc, artifact_id, log_key, class, status, pinned, content, about, bytes, tokens,
			encoding, source, created, updated, expires, address, gate
		FROM artifact `
	selectArtifacts      = artifactColumns + `WHERE doc BETWEEN ?1 AND ?1 | 0xffffffffff ORDER BY doc LIMIT ?2`
	selectArtifactsAfter = artifactColumns + `INDEXED BY artifact_log WHERE log_key > ?1 AND log_key <= ?1 | 0xffffffffff ORDER BY doc`
	selectArtifact       = artifactColumns + `WHERE doc = ?1`

	pickPrefix = artifactColumns + `
		WHERE num = ?1 >> 40 AND artifact_id >= ?3 AND (?4 = '' OR artifact_id < ?4) ORDER BY doc LIMIT ?2`
	pickAddress = artifactColumns + `WHERE num = ?1 >> 40 AND address = ?3 AND address <> '' ORDER BY doc LIMIT ?2`
	pickStatus  = artifactColumns + `WHERE num = ?1 >> 40 AND status = ?3 AND status <> 'live' ORDER BY doc LIMIT ?2`
	pickLive    = artifactColumns + `WHERE doc BETWEEN ?1 AND ?1 | 0xffffffffff AND status = 'live' ORDER BY doc LIMIT ?2`

	// All of them have the scope's mark before each word; the range of docs
	// keeps out a scope whose mark is the same.
	//
	// They come as one text: a row for each would take several times as long.
	selectHits = `
		SELECT ifnull(group_concat(doc), '') FROM (
			SELECT rowid & 0xffffffffff AS doc FROM artifact_words
			WHERE artifact_words MATCH ?1 AND rowid > ?2 AND rowid <= ?3 ORDER BY rowid DESC LIMIT ?4
		)`
	selectLast = `SELECT seq FROM scope WHERE num = ?1 >> 40`

	manifestColumns = `
		SELECT manifest_id, log_key, session_id, created, format, tier, budget, total, seal`
	selectManifest         = manifestColumns + `, body FROM manifest WHERE num = ?1 >> 40 AND manifest_id = ?2`
	selectManifestKey      = `SELECT log_key FROM manifest WHERE num = ?1 >> 40 AND manifest_id = ?2`
	selectManifests        = manifestColumns + ` FROM manifest WHERE log_key BETWEEN ?1 AND ?1 | 0xffffffffff ORDER BY log_key DESC`
	selectSessionManifests = manifestColumns + `
		FROM manifest WHERE num = ?1 >> 40 AND session_id = ?2 AND session_id <> '' ORDER BY log_key DESC`
	selectUses  = `SELECT artifact_id FROM manifest_use JOIN artifact USING (doc) WHERE manifest_use.log_key = ?1 ORDER BY ord`
	selectUsers = `
		SELECT u.log_key, manifest_id
		FROM artifact a JOIN manifest_use u USING (doc) JOIN manifest m ON m.log_key = u.log_key
		WHERE a.num = ?1 >> 40 AND artifact_id = ?2`
	selectOutcomes = `SELECT log_key, actor, time, data FROM outcome WHERE manifest = ?1 ORDER BY log_key`
	selectLog      = `
		SELECT log_key & 0xffffffffff, entry_id, op, actor, time, data
		FROM log WHERE log_key > ?1 AND log_key <= ?2 | 0xffffffffff ORDER BY log_key`
)

// Reading.
const (
	headColumns = `session_id, revision, format, model, encoding, coalesce(about, ''), coalesce(cell_id, ''),
		messages, blocks, tokens, window_tokens, bytes, created, updated
		FROM session LEFT JOIN summary USING (scope, session_id)`

	selectHead  = `SELECT ` + headColumns + ` WHERE scope = ?1 AND session_id = ?2`
	selectHeads = `SELECT ` + headColumns + ` WHERE scope = ?1 ORDER BY updated DESC, session_id`

	selectBlocks = `
		SELECT block_id, turn, kind, tools, tokens, state, form, window_tokens, coalesce(stub, ''), pinned, off
		FROM block WHERE scope = ?1 AND session_id = ?2 ORDER BY off, turn, block_id`
	selectBlockCells = `
		SELECT block_id, cell_id FROM block_cell WHERE scope = ?1 AND session_id = ?2 ORDER BY block_id, ord`

	selectItems   = `SELECT cell_id FROM item WHERE scope = ?1 AND session_id = ?2 ORDER BY ord`
	selectSources = `SELECT source, rel FROM edge WHERE scope = ?1 AND derived = ?2 ORDER BY source, rel`
	selectEntries = `
		SELECT revision, entry_id, op, actor, time, data
		FROM entry WHERE scope = ?1 AND session_id = ?2 AND revision > ?3 ORDER BY revision`
	selectStatements = `SELECT text FROM statement WHERE scope = ?1 AND session_id = ?2 ORDER BY ord`

	selectPrefix = `
		SELECT session_id, block_id FROM block
		WHERE scope = ?1 AND block_id >= ?2 AND (?3 = '' OR block_id < ?3)
		ORDER BY session_id, block_id LIMIT ?4`
	selectDocs = `SELECT rowid FROM words WHERE words MATCH ?1`
	selectDoc  = `SELECT session_id, block_id FROM doc WHERE scope = ?1 AND doc = ?2`
)

// cellsAtOnce is how many cells selectCells looks up. Unused places are NULL
// and find nothing.
const cellsAtOnce = 64

// selectDerived takes the scope and cellsAtOnce ids.
var selectDerived = `
	WITH given (place, id) AS (SELECT column1, column2 FROM (VALUES ` + places(cellsAtOnce) + `))
	SELECT derived FROM given CROSS JOIN edge ON edge.scope = ?1 AND source = id`

// selectCells takes the scope and cellsAtOnce ids. The first column is the
// place in the list, the second whether the row that the index led to is the
// one that was asked for: no commitment tells that of a damaged index.
var selectCells = `
	WITH wanted (place, id) AS (SELECT column1, column2 FROM (VALUES ` + places(cellsAtOnce) + `))
	SELECT place, c.scope = ?1 AND c.cell_id = id, c.state = 'purged', c.kind, c.commitment, c.salt, c.body
	FROM wanted CROSS JOIN cell AS k ON k.scope = ?1 AND k.cell_id = id
	CROSS JOIN cell AS c ON c.rowid = k.rowid`

// places returns n rows of a number and a parameter each, from ?2 on.
func places(n int) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf("(%d, ?%d)", i, i+2)
	}
	return strings.Join(rows, ", ")
}

// Tokens. The columns are in the order of scanToken.
const (
	insertToken = `
		INSERT INTO token (token_id, hash, actor, scopes, permissions, note, created, expires, revoked)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`
	selectToken = `
		SELECT token_id, hash, actor, scopes, permissions, note, created, expires, revoked FROM token WHERE token_id = ?1`
	selectTokens = `
		SELECT token_id, hash, actor, scopes, permissions, note, created, expires, revoked FROM token ORDER BY created, token_id`
	revokeToken = `UPDATE token SET revoked = coalesce(revoked, ?2) WHERE token_id = ?1 RETURNING revoked`
)

// Looking after the file.
const (
	selectCounts = `
		SELECT (SELECT count(*) FROM session), (SELECT count(*) FROM block), (SELECT count(*) FROM cell),
			(SELECT count(*) FROM artifact), (SELECT count(*) FROM manifest)`
	checkIntegrity = `PRAGMA integrity_check`

	touchWords         = `SELECT rowid FROM words WHERE rowid = 0`
	touchArtifactWords = `SELECT rowid FROM artifact_words WHERE rowid = 0`

	checkForeignKeys = `PRAGMA foreign_key_check`
	selectAllCells   = `SELECT scope, cell_id, kind, commitment, salt, body FROM cell WHERE state <> 'purged' ORDER BY scope, cell_id`

	// Each check yields a scope, a session, what it has and what it should have.
	checkTokens = `
		SELECT scope, session_id, tokens, coalesce(
			(SELECT sum(b.tokens) FROM block b WHERE b.scope = s.scope AND b.session_id = s.session_id AND off = 0), 0) AS want
		FROM session s WHERE tokens <> want ORDER BY scope, session_id`
	checkBlocks = `
		SELECT scope, session_id, blocks,
			(SELECT count(*) FROM block b WHERE b.scope = s.scope AND b.session_id = s.session_id AND off = 0) AS want
		FROM session s WHERE blocks <> want ORDER BY scope, session_id`
	checkEntries = `
		SELECT scope, session_id, revision,
			(SELECT count(*) FROM entry e WHERE e.scope = s.scope AND e.session_id = s.session_id AND e.revision BETWEEN 1 AND s.revision) AS want
		FROM session s WHERE revision <> want ORDER BY scope, session_id`
	checkItems = `
		SELECT scope, session_id, count(*) AS n, max(ord) + 1 AS want
		FROM item GROUP BY scope, session_id HAVING n <> want ORDER BY scope, session_id`

	checkPurged = `SELECT scope, cell_id FROM cell WHERE state = 'purged' AND (body IS NOT NULL OR salt IS NOT NULL) ORDER BY scope, cell_id`

	// Each check yields a scope, what it has and what it should have.
	checkLog = `
		SELECT name, version, (SELECT count(*) FROM log l WHERE l.num = s.num AND l.log_key & 0xffffffffff BETWEEN 1 AND version) AS want
		FROM scope s WHERE version <> want ORDER BY name`
	checkArtifacts = `
		SELECT name, seq, (SELECT count(*) FROM artifact a WHERE a.num = s.num AND a.doc & 0xffffffffff BETWEEN 1 AND seq) AS want
		FROM scope s WHERE seq <> want ORDER BY name`
	checkIndexed = `
		SELECT name, min(id & 0xffffffffff), count(*)
		FROM artifact_words_docsize JOIN scope ON num = id >> 40
		WHERE NOT EXISTS (SELECT 1 FROM artifact WHERE doc = id) GROUP BY num ORDER BY name`
	checkNames = `
		SELECT name, a.doc & 0xffffffffff, count(*)
		FROM artifact a JOIN scope s USING (num) WHERE a.scope <> name GROUP BY num ORDER BY name`
)
