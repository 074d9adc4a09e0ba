-- Calls to models, and rewrites: texts sent in place of a client's messages.
--
-- A call has only ids, figures and digests, and no text. Its session need not exist, so
-- there is no foreign key to the table of sessions. Calls are numbered from 1 without gaps,
-- in their scope and in their session, so that a missing call is noticed even if only some
-- are read. The column latest is the latest begin time of this and all earlier calls: a
-- reader of the calls since a time can stop by it, even if a clock went back.

CREATE TABLE call (
	scope      TEXT    NOT NULL,
	seq        INTEGER NOT NULL,
	call_id    TEXT    NOT NULL CHECK (call_id <> ''),
	session_id TEXT    NOT NULL, -- or empty
	place      INTEGER NOT NULL, -- among those of the session
	state      TEXT    NOT NULL CHECK (state IN ('intent', 'done', 'failed', 'unknown')),
	begun      INTEGER NOT NULL,
	latest     INTEGER NOT NULL,
	ended      INTEGER, -- NULL while it is an intent
	intent     BLOB, -- JSON, byte for byte
	outcome    BLOB, -- JSON, byte for byte
	imprint    BLOB    NOT NULL CHECK (length(imprint) = 16),
	PRIMARY KEY (scope, seq),
	UNIQUE (scope, call_id),
	UNIQUE (scope, session_id, place)
) STRICT, WITHOUT ROWID;

CREATE INDEX call_open ON call (scope, seq) WHERE state = 'intent';

ALTER TABLE scope_total ADD COLUMN calls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope_total ADD COLUMN open_calls INTEGER NOT NULL DEFAULT 0; -- of those

-- The number of calls of each session.
CREATE TABLE session_calls (
	scope      TEXT    NOT NULL,
	session_id TEXT    NOT NULL,
	calls      INTEGER NOT NULL,
	PRIMARY KEY (scope, session_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE rewrite (
	scope      TEXT    NOT NULL,
	session_id TEXT    NOT NULL,
	kind       TEXT    NOT NULL CHECK (kind IN ('head', 'message')),
	chain      BLOB    NOT NULL CHECK (length(chain) = 32),
	epoch      INTEGER NOT NULL,
	messages   INTEGER NOT NULL,
	cell_id    TEXT    NOT NULL,
	PRIMARY KEY (scope, session_id, kind, chain),
	FOREIGN KEY (scope, session_id) REFERENCES session (scope, session_id),
	FOREIGN KEY (scope, cell_id) REFERENCES cell (scope, cell_id)
) STRICT, WITHOUT ROWID;

-- The imprint of the rewrites of a session, as for its other lists.
ALTER TABLE session_total ADD COLUMN rewrites BLOB NOT NULL DEFAULT x'00000000000000000000000000000000'
	CHECK (length(rewrites) = 16);

-- The number of segments of the index of blocks, so that a search notices a lost segment.
ALTER TABLE scope_total ADD COLUMN segments INTEGER NOT NULL DEFAULT 0;

INSERT INTO scope_total (name, num, version, seq, held, manifests, edges, segments)
SELECT scope, 0, 0, 0, 0, 0, zeroblob(16), count(*) FROM segment WHERE true GROUP BY scope
ON CONFLICT DO UPDATE SET segments = excluded.segments;
