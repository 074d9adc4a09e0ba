-- Sessions, cells, journals and contracts.
--
-- The scope comes first in every key. Names and texts are BYTEA, because any string is a valid
-- name, and they compare as bytes in every locale. Columns with a fixed set of values are TEXT.
-- Text of conversations is only in the column body of cell and in lines of contracts; all other
-- rows refer to cells. A purge erases salt and body of a cell but keeps its row and its
-- commitment.

-- The names of the scopes with records. This table has no row-level security, because it has
-- only names.
CREATE TABLE scope (
	name BYTEA PRIMARY KEY
);

CREATE TABLE cell (
	scope      BYTEA  NOT NULL,
	cell_id    BYTEA  NOT NULL,
	kind       TEXT   NOT NULL,
	state      TEXT   NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'purged')),
	commitment BYTEA  NOT NULL CHECK (length(commitment) = 32),
	len        BIGINT NOT NULL,
	salt       BYTEA  CHECK (length(salt) = 32),
	body       BYTEA  CHECK (length(body) = len),
	CHECK ((salt IS NULL) = (body IS NULL)),
	CHECK ((body IS NULL) = (state = 'purged')),
	PRIMARY KEY (scope, cell_id)
);

CREATE TABLE edge (
	scope   BYTEA NOT NULL,
	derived BYTEA NOT NULL,
	source  BYTEA NOT NULL,
	rel     BYTEA NOT NULL,
	PRIMARY KEY (scope, derived, source, rel),
	FOREIGN KEY (scope, derived) REFERENCES cell (scope, cell_id),
	FOREIGN KEY (scope, source) REFERENCES cell (scope, cell_id)
);

CREATE INDEX edge_source ON edge (scope, source);

-- The first change of a session adds its row. Each change locks the row.
CREATE TABLE session (
	scope         BYTEA  NOT NULL,
	session_id    BYTEA  NOT NULL,
	revision      BIGINT NOT NULL DEFAULT 0,
	format        BYTEA  NOT NULL DEFAULT '',
	model         BYTEA  NOT NULL DEFAULT '',
	encoding      BYTEA  NOT NULL DEFAULT '',
	about         BYTEA, -- a cell
	messages      BIGINT NOT NULL DEFAULT 0,
	blocks        BIGINT NOT NULL DEFAULT 0,
	tokens        BIGINT NOT NULL DEFAULT 0,
	window_tokens BIGINT NOT NULL DEFAULT 0,
	bytes         BIGINT NOT NULL DEFAULT 0,
	created       BIGINT NOT NULL DEFAULT 0, -- milliseconds since 1970, UTC, here and below
	updated       BIGINT NOT NULL DEFAULT 0,
	items         BIGINT NOT NULL DEFAULT 0, -- how many there are
	statements    BIGINT NOT NULL DEFAULT 0, -- how many there are
	PRIMARY KEY (scope, session_id),
	FOREIGN KEY (scope, about) REFERENCES cell (scope, cell_id)
);

CREATE INDEX session_updated ON session (scope, updated DESC, session_id);

CREATE TABLE item (
	scope      BYTEA  NOT NULL,
	session_id BYTEA  NOT NULL,
	ord        BIGINT NOT NULL, -- from 0, without gaps
	cell_id    BYTEA  NOT NULL,
	PRIMARY KEY (scope, session_id, ord),
	FOREIGN KEY (scope, session_id) REFERENCES session (scope, session_id),
	FOREIGN KEY (scope, cell_id) REFERENCES cell (scope, cell_id)
);

CREATE TABLE block (
	scope         BYTEA   NOT NULL,
	session_id    BYTEA   NOT NULL,
	block_id      BYTEA   NOT NULL,
	turn          BIGINT  NOT NULL,
	kind          TEXT    NOT NULL,
	tools         TEXT    NOT NULL, -- a JSON array of names
	tokens        BIGINT  NOT NULL,
	state         TEXT    NOT NULL CHECK (state IN ('live', 'stub', 'cold', 'purged')),
	form          TEXT    NOT NULL,
	window_tokens BIGINT  NOT NULL,
	stub          BYTEA, -- a cell
	pinned        BOOLEAN NOT NULL,
	off           BOOLEAN NOT NULL,
	PRIMARY KEY (scope, session_id, block_id),
	FOREIGN KEY (scope, session_id) REFERENCES session (scope, session_id),
	FOREIGN KEY (scope, stub) REFERENCES cell (scope, cell_id)
);

CREATE UNIQUE INDEX block_turn ON block (scope, session_id, turn) WHERE NOT off;
CREATE INDEX block_prefix ON block (scope, block_id);

CREATE TABLE block_cell (
	scope      BYTEA  NOT NULL,
	session_id BYTEA  NOT NULL,
	block_id   BYTEA  NOT NULL,
	ord        BIGINT NOT NULL, -- from 0, without gaps
	cell_id    BYTEA  NOT NULL,
	PRIMARY KEY (scope, session_id, block_id, ord),
	FOREIGN KEY (scope, session_id, block_id) REFERENCES block (scope, session_id, block_id),
	FOREIGN KEY (scope, cell_id) REFERENCES cell (scope, cell_id)
);

-- Ids of entries are unique in a scope, across journals and the log.
CREATE TABLE entry_name (
	scope    BYTEA NOT NULL,
	entry_id BYTEA NOT NULL,
	PRIMARY KEY (scope, entry_id)
);

CREATE TABLE entry (
	scope      BYTEA  NOT NULL,
	session_id BYTEA  NOT NULL,
	revision   BIGINT NOT NULL,
	entry_id   BYTEA  NOT NULL,
	op         BYTEA  NOT NULL,
	actor      BYTEA  NOT NULL,
	time       BIGINT NOT NULL,
	data       BYTEA, -- JSON, byte for byte
	PRIMARY KEY (scope, session_id, revision),
	FOREIGN KEY (scope, session_id) REFERENCES session (scope, session_id)
);

CREATE TABLE statement (
	scope      BYTEA  NOT NULL,
	session_id BYTEA  NOT NULL,
	ord        BIGINT NOT NULL, -- from 0, without gaps
	text       BYTEA  NOT NULL,
	PRIMARY KEY (scope, session_id, ord),
	FOREIGN KEY (scope, session_id) REFERENCES session (scope, session_id)
);
