-- Artifacts, the manifests that use them, and the log of their updates.
--
-- Ordered rows of a scope have a number as key: the number of the scope times
-- 2^40, plus the position in the scope. So the rows of a scope are a range of
-- the table, in order, and new rows come last.

CREATE TABLE scope (
	num     INTEGER PRIMARY KEY CHECK (num BETWEEN 1 AND 0x7fffff),
	name    TEXT    NOT NULL UNIQUE,
	version INTEGER NOT NULL CHECK (version BETWEEN 1 AND 0xffffffffff), -- the last
	seq     INTEGER NOT NULL CHECK (seq BETWEEN 0 AND 0xffffffffff)      -- the last
) STRICT;

-- An update, by its version.
CREATE TABLE log (
	log_key  INTEGER PRIMARY KEY,
	num      INTEGER NOT NULL CHECK (num = log_key >> 40),
	entry_id TEXT    NOT NULL,
	op       TEXT    NOT NULL,
	actor    TEXT    NOT NULL,
	time     INTEGER NOT NULL, -- milliseconds since 1970, UTC, here and below
	data     BLOB, -- JSON, byte for byte
	UNIQUE (num, entry_id),
	FOREIGN KEY (num) REFERENCES scope (num)
) STRICT;

-- Ids of entries are unique in a scope, across journals and the log.
CREATE TRIGGER entry_not_in_log BEFORE INSERT ON entry
	WHEN EXISTS (SELECT 1 FROM log JOIN scope USING (num) WHERE name = NEW.scope AND entry_id = NEW.entry_id)
BEGIN
	SELECT RAISE (ABORT, 'the entry is in the log');
END;
CREATE TRIGGER log_not_in_entry BEFORE INSERT ON log
	WHEN EXISTS (SELECT 1 FROM scope JOIN entry ON entry.scope = name WHERE num = NEW.num AND entry_id = NEW.entry_id)
BEGIN
	SELECT RAISE (ABORT, 'the entry is in a journal');
END;

-- An artifact, by its position in the order of arrival. The row has the scope as
-- a number and by name, because the key of a cell has the name.
CREATE TABLE artifact (
	doc         INTEGER PRIMARY KEY,
	num         INTEGER NOT NULL CHECK (num = doc >> 40),
	artifact_id TEXT    NOT NULL,
	log_key     INTEGER NOT NULL CHECK (num = log_key >> 40), -- of the update that wrote it last
	class       TEXT    NOT NULL,
	status      TEXT    NOT NULL
		CHECK (status IN ('live', 'held', 'rejected', 'refuted', 'tombstoned', 'purged')),
	pinned      INTEGER NOT NULL CHECK (pinned IN (0, 1)),
	content     TEXT    NOT NULL, -- a cell
	about       TEXT    NOT NULL, -- a cell
	bytes       INTEGER NOT NULL,
	tokens      INTEGER NOT NULL,
	encoding    TEXT    NOT NULL,
	source      TEXT    NOT NULL,
	created     INTEGER NOT NULL,
	updated     INTEGER NOT NULL,
	expires     INTEGER, -- NULL: never
	address     TEXT    NOT NULL,
	gate        BLOB, -- JSON, byte for byte
	scope       TEXT    NOT NULL,
	UNIQUE (num, artifact_id),
	FOREIGN KEY (num) REFERENCES scope (num),
	FOREIGN KEY (log_key) REFERENCES log (log_key),
	FOREIGN KEY (scope, content) REFERENCES cell (scope, cell_id),
	FOREIGN KEY (scope, about) REFERENCES cell (scope, cell_id)
) STRICT;

CREATE INDEX artifact_log ON artifact (log_key);
CREATE INDEX artifact_content ON artifact (num, content);
CREATE INDEX artifact_address ON artifact (num, address) WHERE address <> '';
CREATE INDEX artifact_status ON artifact (num, status) WHERE status <> 'live';

-- The words of each artifact, in the same form as those of blocks. The rowid is
-- the doc of the artifact.
CREATE VIRTUAL TABLE artifact_words USING fts5 (
	text, content = '', contentless_delete = 1, detail = 'none', tokenize = "ascii tokenchars '_'"
);

-- A manifest, by the version of the update that wrote it.
CREATE TABLE manifest (
	log_key     INTEGER PRIMARY KEY,
	num         INTEGER NOT NULL CHECK (num = log_key >> 40),
	manifest_id TEXT    NOT NULL,
	session_id  TEXT    NOT NULL, -- or empty
	created     INTEGER NOT NULL,
	format      TEXT    NOT NULL,
	tier        TEXT    NOT NULL,
	budget      INTEGER NOT NULL,
	total       INTEGER NOT NULL,
	seal        BLOB    NOT NULL CHECK (length(seal) = 32),
	body        BLOB    NOT NULL,
	UNIQUE (num, manifest_id),
	FOREIGN KEY (log_key) REFERENCES log (log_key)
) STRICT;

CREATE INDEX manifest_session ON manifest (num, session_id) WHERE session_id <> '';

CREATE TABLE manifest_use (
	log_key INTEGER NOT NULL, -- of the manifest
	ord     INTEGER NOT NULL, -- from 0, without gaps
	doc     INTEGER NOT NULL,
	PRIMARY KEY (log_key, ord),
	UNIQUE (doc, log_key),
	FOREIGN KEY (log_key) REFERENCES manifest (log_key),
	FOREIGN KEY (doc) REFERENCES artifact (doc)
) STRICT, WITHOUT ROWID;

-- An outcome, by the version of the update that wrote it.
CREATE TABLE outcome (
	log_key  INTEGER PRIMARY KEY,
	manifest INTEGER NOT NULL, -- its log_key
	actor    TEXT    NOT NULL,
	time     INTEGER NOT NULL,
	data     BLOB, -- JSON, byte for byte
	FOREIGN KEY (log_key) REFERENCES log (log_key),
	FOREIGN KEY (manifest) REFERENCES manifest (log_key)
) STRICT;

CREATE INDEX outcome_manifest ON outcome (manifest);
