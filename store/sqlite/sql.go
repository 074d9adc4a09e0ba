package sqlite

import (
	"fmt"
	"strings"
)

// All statements of the driver, except those of the migrations and of the index of blocks
// (segment.go). Values are always bound.

// Transactions.
const (
	begin        = `BEGIN IMMEDIATE`
	beginReading = `BEGIN`
	commit       = `COMMIT`
	rollback     = `ROLLBACK`
	savepoint    = `SAVEPOINT change`
	release      = `RELEASE change`
	rollbackTo   = `ROLLBACK TO change`
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
	setBusyTimeout = `PRAGMA busy_timeout = %d` // milliseconds; a pragma takes no bound parameters

	selectObjects = `SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_stat%' ESCAPE '\'`

	createIdentity = `
		PRAGMA application_id = 0x43617272;
		CREATE TABLE migration (version INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT`
	insertMigration = `INSERT INTO migration (version, name) VALUES (?1, ?2)`
)

// Writing. The columns of a session are bound in the order of headValues.
const (
	selectPresent = `
		SELECT revision, cell_id IS NOT NULL, status IS NOT NULL, t.items IS NOT NULL, t.items, t.blocks, t.statements, t.rewrites,
			(SELECT coalesce(max(ord) + 1, 0) FROM item WHERE scope = ?1 AND session_id = ?2)
		FROM session LEFT JOIN summary USING (scope, session_id) LEFT JOIN session_status USING (scope, session_id)
			LEFT JOIN session_total t USING (scope, session_id)
		WHERE scope = ?1 AND session_id = ?2`

	upsertSession = `
		INSERT INTO session (scope, session_id, revision, format, model, encoding, about,
			messages, blocks, tokens, window_tokens, bytes, created, updated, imprint)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
		ON CONFLICT DO UPDATE SET revision = ?3, format = ?4, model = ?5, encoding = ?6, about = ?7,
			messages = ?8, blocks = ?9, tokens = ?10, window_tokens = ?11, bytes = ?12, created = ?13, updated = ?14, imprint = ?15`

	selectSessionTotal = `SELECT items, blocks, statements, rewrites FROM session_total WHERE scope = ?1 AND session_id = ?2`
	upsertSessionTotal = `
		INSERT INTO session_total (scope, session_id, items, blocks, statements, rewrites) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
		ON CONFLICT DO UPDATE SET items = ?3, blocks = ?4, statements = ?5, rewrites = ?6`
	selectEdgeTotal = `SELECT edges FROM scope_total WHERE name = ?1`
	upsertEdgeTotal = `
		INSERT INTO scope_total (name, num, version, seq, held, manifests, edges) VALUES (?1, 0, 0, 0, 0, 0, ?2)
		ON CONFLICT DO UPDATE SET edges = ?2`

	upsertSummary = `
		INSERT INTO summary (scope, session_id, cell_id) VALUES (?1, ?2, ?3)
		ON CONFLICT DO UPDATE SET cell_id = ?3`
	deleteSummary = `DELETE FROM summary WHERE scope = ?1 AND session_id = ?2`

	upsertStatus = `
		INSERT INTO session_status (scope, session_id, status) VALUES (?1, ?2, ?3)
		ON CONFLICT DO UPDATE SET status = ?3`
	deleteStatus      = `DELETE FROM session_status WHERE scope = ?1 AND session_id = ?2`
	insertSessionCell = `INSERT INTO session_cell (scope, session_id, cell_id) VALUES (?1, ?2, ?3)`

	selectSessionDocs = `SELECT doc FROM doc WHERE scope = ?1 AND session_id = ?2`
	deleteDocs        = `DELETE FROM doc WHERE scope = ?1 AND session_id = ?2`
	deleteStatements  = `DELETE FROM statement WHERE scope = ?1 AND session_id = ?2`

	insertCell = `
		INSERT INTO cell (scope, cell_id, kind, state, commitment, len, salt, body, imprint)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`
	insertEdge = `INSERT INTO edge (scope, derived, source, rel) VALUES (?1, ?2, ?3, ?4)`

	// Blocks that will move are first marked as off, which frees their turns, so that blocks can
	// trade turns.
	selectTurn = `SELECT imprint, turn, off FROM block WHERE scope = ?1 AND session_id = ?2 AND block_id = ?3`
	yieldTurn  = `UPDATE block SET off = 1 WHERE scope = ?1 AND session_id = ?2 AND block_id = ?3`

	upsertBlock = `
		INSERT INTO block (scope, session_id, block_id, turn, kind, tools, tokens, state, form,
			window_tokens, stub, pinned, off, imprint, earlier)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
		ON CONFLICT (scope, session_id, block_id) DO UPDATE SET turn = ?4, kind = ?5, tools = ?6, tokens = ?7,
			state = ?8, form = ?9, window_tokens = ?10, stub = ?11, pinned = ?12, off = ?13, imprint = ?14, earlier = ?15`

	// Updates a block that stays at its turn, without a write to the index of turns. It has the
	// parameters of upsertBlock.
	updateBlock = `
		UPDATE block SET kind = ?5, tools = ?6, tokens = ?7, state = ?8, form = ?9, window_tokens = ?10, stub = ?11,
			pinned = ?12, imprint = ?14, earlier = ?15
		WHERE scope = ?1 AND session_id = ?2 AND block_id = ?3 AND turn = ?4 AND off = ?13`

	selectPlacesOfCells = `SELECT ord, cell_id FROM block_cell WHERE scope = ?1 AND session_id = ?2 AND block_id = ?3 ORDER BY ord`

	deleteBlockCells = `DELETE FROM block_cell WHERE scope = ?1 AND session_id = ?2 AND block_id = ?3`
	insertBlockCell  = `INSERT INTO block_cell (scope, session_id, block_id, ord, cell_id) VALUES (?1, ?2, ?3, ?4, ?5)`

	deleteItems = `DELETE FROM item WHERE scope = ?1 AND session_id = ?2 AND ord >= ?3 RETURNING ord, cell_id`
	insertItem  = `INSERT INTO item (scope, session_id, ord, cell_id) VALUES (?1, ?2, ?3, ?4)`

	insertEntry = `
		INSERT INTO entry (scope, session_id, revision, entry_id, op, actor, time, data, imprint)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`
	countStatements = `SELECT coalesce(max(ord) + 1, 0) FROM statement WHERE scope = ?1 AND session_id = ?2`
	insertStatement = `INSERT INTO statement (scope, session_id, ord, text) VALUES (?1, ?2, ?3, ?4)`
)

// Writing artifacts. The first parameter of most is the key of the scope (its number << 40)
// plus a place in the scope, such as a version or the number of an artifact.
const (
	nextVersion = `
		INSERT INTO scope (name, version, seq) VALUES (?1, 1, ?2)
		ON CONFLICT (name) DO UPDATE SET version = version + 1, seq = seq + ?2
		RETURNING num << 40, version, seq`
	insertLog = `
		INSERT INTO log (log_key, num, entry_id, op, actor, time, data, imprint)
		VALUES (?1, ?1 >> 40, ?2, ?3, ?4, ?5, ?6, ?7)`
	upsertScopeTotal = `
		INSERT INTO scope_total (name, num, version, seq, held, manifests, edges) VALUES (?1, ?2 >> 40, ?3, ?4, 0, 0, zeroblob(16))
		ON CONFLICT DO UPDATE SET num = ?2 >> 40, version = ?3, seq = ?4`
	addHeld      = `UPDATE scope_total SET held = held + ?2 WHERE num = ?1 >> 40`
	countToScope = `UPDATE scope_total SET manifests = manifests + 1 WHERE num = ?1 >> 40`

	insertArtifact = `
		INSERT INTO artifact (doc, num, artifact_id, log_key, class, status, pinned, content, about, bytes, tokens,
			encoding, source, created, updated, expires, address, gate, imprint, scope, words)
		VALUES (?1, ?1 >> 40, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)`
	selectReplaced = `SELECT doc, status = 'held' FROM artifact WHERE num = ?1 >> 40 AND artifact_id = ?2 AND log_key = ?3`
	updateArtifact = `
		UPDATE artifact SET log_key = ?3, class = ?4, status = ?5, pinned = ?6, content = ?7, about = ?8, bytes = ?9,
			tokens = ?10, encoding = ?11, source = ?12, created = ?13, updated = ?14, expires = ?15, address = ?16, gate = ?17,
			imprint = ?18
		WHERE doc = ?1 AND artifact_id = ?2`
	setArtifactWords = `UPDATE artifact SET words = ?2 WHERE doc = ?1`

	selectCommitment = `SELECT kind, commitment FROM cell WHERE scope = ?1 AND cell_id = ?2`
	purgeCell        = `
		UPDATE cell SET state = 'purged', salt = NULL, body = NULL, imprint = ?3 WHERE scope = ?1 AND cell_id = ?2`

	insertArtifactWords   = `INSERT INTO artifact_words (rowid, text) VALUES (?1, ?2)`
	replaceArtifactWords  = `INSERT OR REPLACE INTO artifact_words (rowid, text) VALUES (?1, ?2)`
	deleteArtifactWords   = `DELETE FROM artifact_words WHERE rowid = ?1`
	optimizeArtifactWords = `INSERT INTO artifact_words (artifact_words) VALUES ('optimize')`

	insertManifest = `
		INSERT INTO manifest (log_key, num, manifest_id, session_id, created, format, tier, budget, total, seal, body)
		VALUES (?1, ?1 >> 40, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)`
	insertUse = `
		INSERT INTO manifest_use (log_key, ord, doc)
		SELECT ?1, ?2, doc FROM artifact WHERE num = ?1 >> 40 AND artifact_id = ?3 RETURNING doc`
	insertOutcome = `INSERT INTO outcome (log_key, manifest, actor, time, data, imprint) VALUES (?1, ?2, ?3, ?4, ?5, ?6)`

	insertManifestImprint = `INSERT INTO manifest_imprint (log_key, row, body, uses, outcomes) VALUES (?1, ?2, ?3, ?4, 0)`
	countOutcome          = `UPDATE manifest_imprint SET outcomes = outcomes + 1 WHERE log_key = ?1`
)

// Calls and rewrites. The columns of a call are in the order of scanCall, those of a
// rewrite in that of scanRewrite.
const (
	nextCall = `
		INSERT INTO scope_total (name, num, version, seq, held, manifests, edges, calls, open_calls)
		VALUES (?1, 0, 0, 0, 0, 0, zeroblob(16), 1, 1)
		ON CONFLICT DO UPDATE SET calls = calls + 1, open_calls = open_calls + 1 RETURNING calls`
	nextCallOfSession = `
		INSERT INTO session_calls (scope, session_id, calls) VALUES (?1, ?2, 1)
		ON CONFLICT DO UPDATE SET calls = calls + 1 RETURNING calls`
	selectLatestCall = `SELECT latest FROM call WHERE scope = ?1 AND seq = ?2`
	insertCall       = `
		INSERT INTO call (scope, seq, call_id, session_id, place, state, begun, latest, intent, imprint)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)`
	closeCall  = `UPDATE scope_total SET open_calls = open_calls - 1 WHERE name = ?1`
	updateCall = `UPDATE call SET state = ?3, ended = ?4, outcome = ?5, imprint = ?6 WHERE scope = ?1 AND seq = ?2`

	callColumns = `
		SELECT seq, call_id, session_id, place, state, begun, latest, ended, intent, outcome, imprint FROM call WHERE scope = ?1 `
	selectCall           = callColumns + `AND call_id = ?2`
	selectCalls          = callColumns + `ORDER BY seq DESC`
	selectCallsOfSession = callColumns + `AND session_id = ?2 ORDER BY place DESC`
	selectCallsBefore    = callColumns + `AND seq < ?2 ORDER BY seq DESC`
	selectOpenCalls      = callColumns + `AND state = 'intent' ORDER BY seq DESC`

	selectCallTotal        = `SELECT calls FROM scope_total WHERE name = ?1`
	selectCallsBeforeTotal = `SELECT min(calls, ?2 - 1) FROM scope_total WHERE name = ?1`
	selectOpenCallTotal    = `SELECT open_calls FROM scope_total WHERE name = ?1`
	selectSessionCallTotal = `SELECT calls FROM session_calls WHERE scope = ?1 AND session_id = ?2`

	rewriteColumns = `kind, chain, epoch, messages, cell_id`
	insertRewrite  = `INSERT INTO rewrite (scope, session_id, ` + rewriteColumns + `) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`
	deleteRewrite  = `
		DELETE FROM rewrite WHERE scope = ?1 AND session_id = ?2 AND kind = ?3 AND chain = ?4 RETURNING ` + rewriteColumns
	deleteRewrites = `DELETE FROM rewrite WHERE scope = ?1 AND session_id = ?2`
	selectRewrites = `
		SELECT ` + rewriteColumns + ` FROM rewrite WHERE scope = ?1 AND session_id = ?2 ORDER BY epoch, messages, kind, chain`

	// All pairs of a scope and a session that occur in the table of calls or in that of the numbers
	// of calls. For each scope there is also a pair with an empty session.
	selectCallers = `
		SELECT scope, session_id FROM call UNION SELECT scope, session_id FROM session_calls
		UNION SELECT name, '' FROM scope_total ORDER BY 1, 2`
)

// Reading artifacts.
const (
	selectScope = `
		SELECT coalesce(s.num, 0), coalesce(s.version, 0), coalesce(s.seq, 0),
			coalesce(t.num, 0), coalesce(t.version, 0), coalesce(t.seq, 0), coalesce(t.held, 0), coalesce(t.manifests, 0)
		FROM (SELECT ?1 AS name) LEFT JOIN scope s USING (name) LEFT JOIN scope_total t USING (name)`
	selectDocOf    = `SELECT doc FROM artifact WHERE num = ?1 >> 40 AND artifact_id = ?2`
	selectContents = `SELECT doc FROM artifact WHERE num = ?1 >> 40 AND content = ?2`

	artifactColumns = `
		SELECT doc, artifact_id, log_key, class, status, pinned, content, about, bytes, tokens,
			encoding, source, created, updated, expires, address, gate, imprint
		FROM artifact `
	selectArtifacts      = artifactColumns + `WHERE doc BETWEEN ?1 AND ?1 | 0xffffffffff ORDER BY doc LIMIT ?2`
	selectArtifactsAfter = artifactColumns + `INDEXED BY artifact_log WHERE log_key > ?1 AND log_key <= ?1 | 0xffffffffff ORDER BY doc`
	selectArtifact       = artifactColumns + `WHERE doc = ?1`

	pickPrefix = artifactColumns + `
		WHERE num = ?1 >> 40 AND artifact_id >= ?3 AND artifact_id < ?4 ORDER BY doc LIMIT ?2`
	pickAddress = artifactColumns + `WHERE num = ?1 >> 40 AND address = ?3 AND address <> '' ORDER BY doc LIMIT ?2`
	pickStatus  = artifactColumns + `WHERE num = ?1 >> 40 AND status = ?3 AND status <> 'live' ORDER BY doc LIMIT ?2`
	pickLive    = artifactColumns + `WHERE doc BETWEEN ?1 AND ?1 | 0xffffffffff AND status = 'live' ORDER BY doc LIMIT ?2`

	// Each term has the scope's mark before each word; the range of docs excludes another scope
	// that happens to have the same mark.
	//
	// The docs are returned as one text, because one row each would take several times as long.
	selectHits = `
		SELECT ifnull(group_concat(doc), '') FROM (
			SELECT rowid & 0xffffffffff AS doc FROM artifact_words
			WHERE artifact_words MATCH ?1 AND rowid > ?2 AND rowid <= ?3 ORDER BY rowid DESC LIMIT ?4
		)`

	manifestColumns = `
		SELECT manifest_id, m.log_key, session_id, created, format, tier, budget, total, seal, i.row, coalesce(i.outcomes, 0)`
	manifestTables    = ` FROM manifest m LEFT JOIN manifest_imprint i USING (log_key) `
	selectManifest    = manifestColumns + `, m.body, i.body, i.uses` + manifestTables + `WHERE num = ?1 >> 40 AND manifest_id = ?2`
	selectManifestKey = `SELECT log_key FROM manifest WHERE num = ?1 >> 40 AND manifest_id = ?2`
	selectManifests   = manifestColumns + manifestTables + `WHERE m.log_key BETWEEN ?1 AND ?1 | 0xffffffffff ORDER BY m.log_key DESC`
	selectUses        = `
		SELECT u.doc, coalesce(artifact_id, '') FROM manifest_use u LEFT JOIN artifact a USING (doc) WHERE u.log_key = ?1 ORDER BY ord`
	selectUsers = `
		SELECT u.log_key, manifest_id
		FROM artifact a JOIN manifest_use u USING (doc) JOIN manifest m ON m.log_key = u.log_key
		WHERE a.num = ?1 >> 40 AND artifact_id = ?2`
	selectOutcomes = `SELECT log_key, actor, time, data, imprint FROM outcome WHERE manifest = ?1 ORDER BY log_key`
	selectLog      = `
		SELECT log_key, entry_id, op, actor, time, data, imprint
		FROM log WHERE log_key > ?1 AND log_key <= ?2 | 0xffffffffff ORDER BY log_key`
)

// Reading.
const (
	headColumns = `session_id, revision, coalesce(status, ''), format, model, encoding, coalesce(about, ''), coalesce(cell_id, ''),
		messages, blocks, tokens, window_tokens, bytes, created, updated, imprint
		FROM session LEFT JOIN summary USING (scope, session_id) LEFT JOIN session_status USING (scope, session_id)`

	selectHead  = `SELECT ` + headColumns + ` WHERE scope = ?1 AND session_id = ?2`
	countHeads  = `SELECT (SELECT count(*) FROM session WHERE scope = ?1), (SELECT count(*) FROM session_total WHERE scope = ?1)`
	selectHeads = `SELECT ` + headColumns + ` WHERE scope = ?1 ORDER BY updated DESC, session_id`

	selectBlocks = `
		SELECT block_id, turn, kind, tools, tokens, state, form, window_tokens, coalesce(stub, ''), pinned, off, imprint, earlier
		FROM block WHERE scope = ?1 AND session_id = ?2 ORDER BY off, turn, block_id`
	selectBlock = `
		SELECT block_id, turn, kind, tools, tokens, state, form, window_tokens, coalesce(stub, ''), pinned, off, imprint, earlier
		FROM block WHERE scope = ?1 AND session_id = ?2 AND block_id = ?3`
	selectBlockCells = `
		SELECT block_id, cell_id FROM block_cell WHERE scope = ?1 AND session_id = ?2 ORDER BY block_id, ord`
	selectCellsOfBlock = `
		SELECT block_id, cell_id FROM block_cell WHERE scope = ?1 AND session_id = ?2 AND block_id = ?3 ORDER BY ord`

	selectSessionCells = `SELECT cell_id FROM session_cell WHERE scope = ?1 AND session_id = ?2 ORDER BY cell_id`

	selectItems   = `SELECT ord, cell_id FROM item WHERE scope = ?1 AND session_id = ?2 ORDER BY ord`
	selectSources = `SELECT source, rel FROM edge WHERE scope = ?1 AND derived = ?2 ORDER BY source, rel`
	selectEntries = `
		SELECT revision, entry_id, op, actor, time, data, imprint
		FROM entry WHERE scope = ?1 AND session_id = ?2 AND revision > ?3 ORDER BY revision`
	selectStatements = `SELECT ord, text FROM statement WHERE scope = ?1 AND session_id = ?2 ORDER BY ord`

	selectPrefix = `
		SELECT session_id, block_id FROM block
		WHERE scope = ?1 AND block_id >= ?2 AND block_id < ?3
		ORDER BY session_id, block_id LIMIT ?4`
	selectDoc = `SELECT scope, session_id, block_id, imprint FROM doc WHERE doc = ?1`
)

// cellsAtOnce is how many cells selectCells looks up. Unused places are bound to NULL and match
// nothing.
const cellsAtOnce = 64

// selectDerived finds the cells that were made from some cells. Its parameters are the scope
// and cellsAtOnce ids.
var selectDerived = `
	WITH given (place, id) AS (SELECT column1, column2 FROM (VALUES ` + places(cellsAtOnce) + `))
	SELECT derived FROM given CROSS JOIN edge ON edge.scope = ?1 AND source = id`

// fewCells is how many cells selectFewCells looks up: those of an artifact.
const fewCells = 2

// selectCells and selectFewCells read cells. Their parameters are the scope and the ids.
var selectCells, selectFewCells = cellsOf(cellsAtOnce), cellsOf(fewCells)

// cellsOf returns a statement that reads n cells. The first column is the place of the cell's id in
// the list of ids. The second column is false if the index has led to the row of another cell,
// because the index is damaged.
func cellsOf(n int) string {
	return `
	WITH wanted (place, id) AS (SELECT column1, column2 FROM (VALUES ` + places(n) + `))
	SELECT place, c.scope = ?1 AND c.cell_id = id, c.state, c.kind, c.commitment, c.salt, c.body, c.imprint, coalesce(` + blobOf + `, '')
	FROM wanted CROSS JOIN cell AS k ON k.scope = ?1 AND k.cell_id = id
	CROSS JOIN cell AS c ON c.rowid = k.rowid`
}

// places returns n rows for VALUES, numbered from 0: "(0, ?2), (1, ?3)" for 2.
func places(n int) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf("(%d, ?%d)", i, i+2)
	}
	return strings.Join(rows, ", ")
}

// Tokens. The columns are in the order of scanCredential.
const (
	insertCredential = `
		INSERT INTO token (token_id, hash, actor, scopes, permissions, note, created, expires, revoked, imprint)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)`
	countCredentials  = `UPDATE token_total SET tokens = tokens + ?1`
	credentialColumns = `SELECT token_id, hash, actor, scopes, permissions, note, created, expires, revoked, imprint FROM token `
	selectCredential  = credentialColumns + `WHERE token_id = ?1`
	selectCredentials = credentialColumns + `ORDER BY created, token_id`
	revokeCredential  = `UPDATE token SET revoked = ?2, imprint = ?3, hash = ?4 WHERE token_id = ?1`

	selectCredentialCounts = `SELECT (SELECT count(*) FROM token), coalesce((SELECT tokens FROM token_total), -1)`
)

// Checks, counts and backups.
const (
	selectCounts = `
		SELECT (SELECT count(*) FROM session), (SELECT count(*) FROM block), (SELECT count(*) FROM cell),
			(SELECT count(*) FROM artifact), (SELECT count(*) FROM manifest)`
	selectHolding = `
		SELECT (SELECT count(*) FROM artifact), max(
			coalesce((SELECT max(time) FROM entry), 0), coalesce((SELECT max(time) FROM log), 0))`
	selectRevisions = `SELECT scope, session_id, revision FROM session`
	selectVersions  = `SELECT name, version FROM scope`

	selectCallNumbers = `SELECT scope, count(*) FROM call GROUP BY scope`
	selectCounted     = `SELECT count(*) FROM sqlite_schema WHERE name = 'call'`
	checkIntegrity    = `PRAGMA integrity_check`

	touchArtifactWords = `SELECT rowid FROM artifact_words WHERE rowid = 0`

	checkForeignKeys = `PRAGMA foreign_key_check`
	selectAllCells   = `
		SELECT scope, cell_id, state, kind, commitment, salt, body, imprint,
			coalesce((SELECT b.blob FROM cell_blob b WHERE b.scope = c.scope AND b.cell_id = c.cell_id), '')
		FROM cell c ORDER BY scope, cell_id`
	selectEdgeTotals = `
		SELECT name, coalesce(t.edges, zeroblob(16))
		FROM (SELECT name FROM scope_total UNION SELECT scope FROM edge) LEFT JOIN scope_total t USING (name) ORDER BY name`
	selectAllSessions = `SELECT scope, session_id FROM session UNION SELECT scope, session_id FROM session_total ORDER BY 1, 2`
	selectAllScopes   = `SELECT name FROM scope UNION SELECT name FROM scope_total ORDER BY 1`
	selectScopes      = `
		SELECT scope FROM session UNION SELECT scope FROM session_total
		UNION SELECT name FROM scope UNION SELECT name FROM scope_total UNION SELECT scope FROM session_calls
		UNION SELECT scope FROM loose_blob ORDER BY 1`
	selectAllDocs      = `SELECT doc, scope, session_id, block_id, imprint FROM doc ORDER BY doc`
	selectMigrations   = `SELECT version, name FROM migration ORDER BY version`
	selectDocSums      = `SELECT doc, coalesce(words, 0) FROM doc`
	selectArtifactSums = `SELECT doc, coalesce(words, 0) FROM artifact`

	// Each check selects the rows that are wrong: scope, session, the value found and the value
	// expected.
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

	// Each check selects the rows that are wrong: scope, the value found and the value
	// expected.
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
