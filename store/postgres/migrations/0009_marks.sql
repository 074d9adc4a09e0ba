-- Which transaction wrote an entry. The ids of entries may follow from where they are, so that
-- two nodes give the same id to entries of which one is written: who does not know whether its
-- own was, because the connection was lost, looks for its mark. NULL: it was written before
-- there were marks.

ALTER TABLE entry ADD COLUMN mark BYTEA CHECK (length(mark) = 16);
ALTER TABLE log ADD COLUMN mark BYTEA CHECK (length(mark) = 16);
