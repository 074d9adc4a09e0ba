-- Imprints: checksums of rows and of lists of rows. They detect a changed row, and
-- a list with a missing or an additional row. The migration computes the imprints
-- of existing rows.

ALTER TABLE cell ADD COLUMN imprint BLOB; -- of what does not go with the body
ALTER TABLE session ADD COLUMN imprint BLOB; -- with its summary
ALTER TABLE block ADD COLUMN imprint BLOB; -- with its cells
ALTER TABLE entry ADD COLUMN imprint BLOB;
ALTER TABLE doc ADD COLUMN imprint BLOB;
ALTER TABLE doc ADD COLUMN words INTEGER; -- a sum over the words that it is found by
ALTER TABLE log ADD COLUMN imprint BLOB;
ALTER TABLE artifact ADD COLUMN imprint BLOB;
ALTER TABLE artifact ADD COLUMN words INTEGER;
ALTER TABLE outcome ADD COLUMN imprint BLOB;
ALTER TABLE token ADD COLUMN imprint BLOB;

-- The imprints of the lists of a session: the XOR of the imprints of their rows.
CREATE TABLE session_total (
	scope      TEXT NOT NULL,
	session_id TEXT NOT NULL,
	items      BLOB NOT NULL CHECK (length(items) = 16),
	blocks     BLOB NOT NULL CHECK (length(blocks) = 16),
	statements BLOB NOT NULL CHECK (length(statements) = 16),
	PRIMARY KEY (scope, session_id)
) STRICT, WITHOUT ROWID;

-- A copy of the row of a scope, and the numbers of its held artifacts and manifests.
CREATE TABLE scope_total (
	name      TEXT    NOT NULL PRIMARY KEY,
	num       INTEGER NOT NULL, -- 0 for a scope that never saw an update
	version   INTEGER NOT NULL,
	seq       INTEGER NOT NULL,
	held      INTEGER NOT NULL, -- artifacts with that status
	manifests INTEGER NOT NULL,
	edges     BLOB    NOT NULL CHECK (length(edges) = 16)
) STRICT, WITHOUT ROWID;

-- In a table of its own, so that a list of manifests does not read their bodies.
CREATE TABLE manifest_imprint (
	log_key  INTEGER PRIMARY KEY,
	row      BLOB    NOT NULL CHECK (length(row) = 16), -- all but the body
	body     BLOB    NOT NULL CHECK (length(body) = 16),
	uses     BLOB    NOT NULL CHECK (length(uses) = 16), -- the list of what it uses
	outcomes INTEGER NOT NULL
) STRICT;

CREATE TABLE token_total (
	only   INTEGER PRIMARY KEY CHECK (only = 1),
	tokens INTEGER NOT NULL
) STRICT;

INSERT INTO token_total (only, tokens) SELECT 1, count(*) FROM token;
