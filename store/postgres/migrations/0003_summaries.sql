-- The cell with the summary that replaces the older blocks in a session's window.

ALTER TABLE session ADD COLUMN summary BYTEA;
ALTER TABLE session ADD FOREIGN KEY (scope, summary) REFERENCES cell (scope, cell_id);
