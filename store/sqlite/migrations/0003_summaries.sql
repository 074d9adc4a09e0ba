-- The cell with the summary that replaces the older blocks in a session's window.

CREATE TABLE summary (
	scope      TEXT NOT NULL,
	session_id TEXT NOT NULL,
	cell_id    TEXT NOT NULL,
	PRIMARY KEY (scope, session_id),
	FOREIGN KEY (scope, session_id) REFERENCES session (scope, session_id),
	FOREIGN KEY (scope, cell_id) REFERENCES cell (scope, cell_id)
) STRICT, WITHOUT ROWID;
