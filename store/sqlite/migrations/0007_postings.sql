-- Which blocks have a word, and how often, in segments: see package internal/postings. A
-- segment has blocks that were made findable one after the other, and their words in
-- pages by hash. It never changes: a new one takes the place of several, or of one of
-- which something has to go. No text can be read back from it, but for the words.

CREATE TABLE segment (
	segment INTEGER PRIMARY KEY,
	scope   TEXT    NOT NULL,
	last    INTEGER NOT NULL, -- doc of the last block
	pages   INTEGER NOT NULL CHECK (pages BETWEEN 1 AND 0x100000),
	size    INTEGER NOT NULL, -- of the pages, in bytes
	docs    BLOB    NOT NULL, -- of the blocks, with how many words each has
	imprint BLOB    NOT NULL CHECK (length(imprint) = 16)
) STRICT;

CREATE INDEX segment_scope ON segment (scope, last);

-- A page: its key is that of the segment times 2^20, plus its number.
CREATE TABLE posting (
	page    INTEGER PRIMARY KEY,
	body    BLOB NOT NULL,
	imprint BLOB NOT NULL CHECK (length(imprint) = 16)
) STRICT;

-- Docs that are in a segment and stand for nothing any more: something else took the
-- place of what their blocks were findable by.
CREATE TABLE gone_doc (
	scope TEXT    NOT NULL,
	doc   INTEGER NOT NULL,
	PRIMARY KEY (scope, doc)
) STRICT, WITHOUT ROWID;

-- The number of the earlier window that a block is in, the oldest is 1; 0 if it is in
-- none, or if it is not known.
ALTER TABLE block ADD COLUMN earlier INTEGER NOT NULL DEFAULT 0;

-- The index before this one is read by the program, and dropped.
