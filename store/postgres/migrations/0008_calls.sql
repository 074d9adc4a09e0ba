-- Calls to models, and rewrites: texts sent in place of a client's messages.
--
-- A call has only ids, figures and digests, and no text. Its session need not exist, so there
-- is no foreign key to the table of sessions.

-- The number of calls of a scope. Each transaction that begins calls locks the row, so that the
-- numbers of calls have no gaps.
CREATE TABLE call_head (
	scope BYTEA  PRIMARY KEY,
	calls BIGINT NOT NULL
);

CREATE TABLE call (
	scope      BYTEA  NOT NULL,
	seq        BIGINT NOT NULL,
	call_id    BYTEA  NOT NULL CHECK (call_id <> ''),
	session_id BYTEA  NOT NULL, -- or empty
	state      TEXT   NOT NULL CHECK (state IN ('intent', 'done', 'failed', 'unknown')),
	begun      BIGINT NOT NULL,
	ended      BIGINT, -- NULL while it is an intent
	intent     BYTEA, -- JSON, byte for byte
	outcome    BYTEA, -- JSON, byte for byte
	PRIMARY KEY (scope, seq),
	UNIQUE (scope, call_id)
);

CREATE INDEX call_open ON call (scope, seq) WHERE state = 'intent';
CREATE INDEX call_session ON call (scope, session_id, seq);
CREATE INDEX call_begun ON call (scope, begun);

CREATE TABLE rewrite (
	scope      BYTEA  NOT NULL,
	session_id BYTEA  NOT NULL,
	kind       TEXT   NOT NULL CHECK (kind IN ('head', 'message')),
	chain      BYTEA  NOT NULL CHECK (length(chain) = 32),
	epoch      BIGINT NOT NULL,
	messages   BIGINT NOT NULL,
	cell_id    BYTEA  NOT NULL,
	PRIMARY KEY (scope, session_id, kind, chain),
	FOREIGN KEY (scope, session_id) REFERENCES session (scope, session_id),
	FOREIGN KEY (scope, cell_id) REFERENCES cell (scope, cell_id)
);
