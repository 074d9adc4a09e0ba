-- The status of sessions that are not live, and the cells that the changes of a session
-- have added. A purge of the session needs all of these cells, also those to which no
-- row refers any more.

CREATE TABLE session_status (
	scope      TEXT NOT NULL,
	session_id TEXT NOT NULL,
	status     TEXT NOT NULL CHECK (status IN ('tombstoned', 'purged')),
	PRIMARY KEY (scope, session_id),
	FOREIGN KEY (scope, session_id) REFERENCES session (scope, session_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE session_cell (
	scope      TEXT NOT NULL,
	session_id TEXT NOT NULL,
	cell_id    TEXT NOT NULL,
	PRIMARY KEY (scope, session_id, cell_id),
	FOREIGN KEY (scope, session_id) REFERENCES session (scope, session_id),
	FOREIGN KEY (scope, cell_id) REFERENCES cell (scope, cell_id)
) STRICT, WITHOUT ROWID;

-- For existing sessions: the cells to which rows of the session refer, and the stubs and
-- summaries derived from them.
INSERT INTO session_cell (scope, session_id, cell_id)
	SELECT scope, session_id, cell_id FROM item
	UNION SELECT scope, session_id, cell_id FROM block_cell
	UNION SELECT scope, session_id, stub FROM block WHERE stub IS NOT NULL
	UNION SELECT scope, session_id, about FROM session WHERE about IS NOT NULL
	UNION SELECT scope, session_id, cell_id FROM summary;

INSERT OR IGNORE INTO session_cell (scope, session_id, cell_id)
	SELECT sc.scope, session_id, derived
	FROM session_cell sc
	JOIN edge e ON e.scope = sc.scope AND e.source = sc.cell_id
	JOIN cell c ON c.scope = e.scope AND c.cell_id = derived
	WHERE c.kind IN ('stub', 'summary');
