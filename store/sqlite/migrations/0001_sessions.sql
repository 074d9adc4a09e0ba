-- Sessions, cells, journals, contracts and the index of blocks.
--
-- The scope comes first in every key. Text is only in the column body of cell
-- and in contract lines; all other rows refer to cells. A purge erases salt and
-- body of a cell but keeps its row and its commitment, so that references to it
-- stay valid.

CREATE TABLE cell (
	scope      TEXT    NOT NULL,
	cell_id    TEXT    NOT NULL,
	kind       TEXT    NOT NULL,
	class      TEXT    NOT NULL DEFAULT '', -- of retention
	state      TEXT    NOT NULL DEFAULT 'live'
		CHECK (state IN ('live', 'tombstoned', 'restricted', 'shredded', 'purged')),
	commitment BLOB    NOT NULL CHECK (length(commitment) = 32),
	len        INTEGER NOT NULL,
	salt       BLOB    CHECK (length(salt) = 32),
	body       BLOB    CHECK (length(body) = len),
	CHECK ((salt IS NULL) = (body IS NULL)),
	PRIMARY KEY (scope, cell_id)
) STRICT;

CREATE TABLE edge (
	scope   TEXT NOT NULL,
	derived TEXT NOT NULL,
	source  TEXT NOT NULL,
	rel     TEXT NOT NULL,
	PRIMARY KEY (scope, derived, source, rel),
	FOREIGN KEY (scope, derived) REFERENCES cell (scope, cell_id),
	FOREIGN KEY (scope, source) REFERENCES cell (scope, cell_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX edge_source ON edge (scope, source);

CREATE TABLE session (
	scope         TEXT    NOT NULL,
	session_id    TEXT    NOT NULL,
	revision      INTEGER NOT NULL CHECK (revision > 0),
	format        TEXT    NOT NULL,
	model         TEXT    NOT NULL,
	encoding      TEXT    NOT NULL,
	about         TEXT, -- a cell
	messages      INTEGER NOT NULL,
	blocks        INTEGER NOT NULL,
	tokens        INTEGER NOT NULL,
	window_tokens INTEGER NOT NULL,
	bytes         INTEGER NOT NULL,
	created       INTEGER NOT NULL, -- milliseconds since 1970, UTC, here and below
	updated       INTEGER NOT NULL,
	PRIMARY KEY (scope, session_id),
	FOREIGN KEY (scope, about) REFERENCES cell (scope, cell_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX session_updated ON session (scope, updated DESC, session_id);

CREATE TABLE item (
	scope      TEXT    NOT NULL,
	session_id TEXT    NOT NULL,
	ord        INTEGER NOT NULL, -- from 0, without gaps
	cell_id    TEXT    NOT NULL,
	PRIMARY KEY (scope, session_id, ord),
	FOREIGN KEY (scope, session_id) REFERENCES session (scope, session_id),
	FOREIGN KEY (scope, cell_id) REFERENCES cell (scope, cell_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE block (
	scope         TEXT    NOT NULL,
	session_id    TEXT    NOT NULL,
	block_id      TEXT    NOT NULL,
	turn          INTEGER NOT NULL,
	kind          TEXT    NOT NULL,
	tools         TEXT    NOT NULL, -- a JSON array of names
	tokens        INTEGER NOT NULL,
	state         TEXT    NOT NULL CHECK (state IN ('live', 'stub', 'cold', 'purged')),
	form          TEXT    NOT NULL,
	window_tokens INTEGER NOT NULL,
	stub          TEXT, -- a cell
	pinned        INTEGER NOT NULL CHECK (pinned IN (0, 1)),
	off           INTEGER NOT NULL CHECK (off IN (0, 1)),
	PRIMARY KEY (scope, session_id, block_id),
	FOREIGN KEY (scope, session_id) REFERENCES session (scope, session_id),
	FOREIGN KEY (scope, stub) REFERENCES cell (scope, cell_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX block_turn ON block (scope, session_id, turn) WHERE off = 0;
CREATE INDEX block_prefix ON block (scope, block_id);

CREATE TABLE block_cell (
	scope      TEXT    NOT NULL,
	session_id TEXT    NOT NULL,
	block_id   TEXT    NOT NULL,
	ord        INTEGER NOT NULL, -- from 0, without gaps
	cell_id    TEXT    NOT NULL,
	PRIMARY KEY (scope, session_id, block_id, ord),
	FOREIGN KEY (scope, session_id, block_id) REFERENCES block (scope, session_id, block_id),
	FOREIGN KEY (scope, cell_id) REFERENCES cell (scope, cell_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE entry (
	scope      TEXT    NOT NULL,
	session_id TEXT    NOT NULL,
	revision   INTEGER NOT NULL,
	entry_id   TEXT    NOT NULL,
	op         TEXT    NOT NULL,
	actor      TEXT    NOT NULL,
	time       INTEGER NOT NULL,
	data       BLOB, -- JSON, byte for byte
	PRIMARY KEY (scope, session_id, revision),
	UNIQUE (scope, entry_id),
	FOREIGN KEY (scope, session_id) REFERENCES session (scope, session_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE statement (
	scope      TEXT    NOT NULL,
	session_id TEXT    NOT NULL,
	ord        INTEGER NOT NULL, -- from 0, without gaps
	text       TEXT    NOT NULL,
	PRIMARY KEY (scope, session_id, ord),
	FOREIGN KEY (scope, session_id) REFERENCES session (scope, session_id)
) STRICT, WITHOUT ROWID;

-- The block behind each row of words.
CREATE TABLE doc (
	doc        INTEGER PRIMARY KEY,
	scope      TEXT NOT NULL,
	session_id TEXT NOT NULL,
	block_id   TEXT NOT NULL,
	UNIQUE (scope, session_id, block_id),
	FOREIGN KEY (scope, session_id, block_id) REFERENCES block (scope, session_id, block_id)
) STRICT;

-- The words of each block, each once and after the mark of the scope. They are
-- already split, so the tokenizer only splits at spaces. The index does not
-- store the text.
CREATE VIRTUAL TABLE words USING fts5 (
	text, content = '', contentless_delete = 1, detail = 'none', tokenize = "ascii tokenchars '_'"
);
