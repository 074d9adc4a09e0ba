-- Bodies of cells that are outside of this database, in blobs. The row of such a cell has an empty
-- body.

CREATE TABLE cell_blob (
	scope   BYTEA NOT NULL,
	cell_id BYTEA NOT NULL,
	blob    BYTEA NOT NULL CHECK (blob <> ''), -- its key, which has its size
	PRIMARY KEY (scope, cell_id),
	UNIQUE (scope, blob),
	FOREIGN KEY (scope, cell_id) REFERENCES cell (scope, cell_id)
);

-- Blobs to which no cell refers: those that are being written, and those to delete.
CREATE TABLE loose_blob (
	scope    BYTEA   NOT NULL,
	blob     BYTEA   NOT NULL CHECK (blob <> ''),
	since    BIGINT  NOT NULL, -- milliseconds since 1970, UTC
	dropping BOOLEAN NOT NULL, -- whether no cell can refer to it any more
	PRIMARY KEY (scope, blob)
);
