-- The mark of the transaction that wrote an entry. Ids of entries may be derived from their
-- revision, so two nodes can try to write different entries with the same id. After a lost
-- connection, a node finds out by the mark whether the stored entry is its own. NULL for entries
-- from before this migration.

ALTER TABLE entry ADD COLUMN mark BYTEA CHECK (length(mark) = 16);
ALTER TABLE log ADD COLUMN mark BYTEA CHECK (length(mark) = 16);
