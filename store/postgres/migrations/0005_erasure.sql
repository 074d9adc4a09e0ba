-- The status of sessions that are not live, and the cells that the changes of a session
-- have added. A purge of the session needs all of these cells, also those to which no
-- row refers any more.

ALTER TABLE session ADD COLUMN status TEXT NOT NULL DEFAULT '' CHECK (status IN ('', 'tombstoned', 'purged'));

CREATE TABLE session_cell (
	scope      BYTEA NOT NULL,
	session_id BYTEA NOT NULL,
	cell_id    BYTEA NOT NULL,
	PRIMARY KEY (scope, session_id, cell_id),
	FOREIGN KEY (scope, session_id) REFERENCES session (scope, session_id),
	FOREIGN KEY (scope, cell_id) REFERENCES cell (scope, cell_id)
);
