-- What stands in the window of a session for its older blocks: one cell.

ALTER TABLE session ADD COLUMN summary BYTEA;
ALTER TABLE session ADD FOREIGN KEY (scope, summary) REFERENCES cell (scope, cell_id);
