-- Bodies of cells that are outside of this file, in blobs. The row of such a cell has an empty
-- body. The commitment of the cell also protects the reference: another blob, and a missing row
-- here, do not match it.

CREATE TABLE cell_blob (
	scope   TEXT NOT NULL,
	cell_id TEXT NOT NULL,
	blob    TEXT NOT NULL CHECK (blob <> ''), -- its key, which has its size
	PRIMARY KEY (scope, cell_id),
	UNIQUE (scope, blob),
	FOREIGN KEY (scope, cell_id) REFERENCES cell (scope, cell_id)
) STRICT, WITHOUT ROWID;

-- Blobs to which no cell refers: those that are being written, and those to delete.
CREATE TABLE loose_blob (
	scope    TEXT    NOT NULL,
	blob     TEXT    NOT NULL CHECK (blob <> ''),
	since    INTEGER NOT NULL, -- milliseconds since 1970, UTC
	dropping INTEGER NOT NULL CHECK (dropping IN (0, 1)), -- whether no cell can refer to it any more
	PRIMARY KEY (scope, blob)
) STRICT, WITHOUT ROWID;
