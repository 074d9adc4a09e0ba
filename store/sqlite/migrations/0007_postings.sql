-- The index of blocks: which blocks have a word, and how often, in segments (see package
-- internal/postings). A segment has consecutive docs, and pages of words by their hash. It
-- never changes: a new segment replaces several, or one from which docs are removed. The
-- index has the words of a text, but not their order.

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

-- A page. Its key is the key of its segment times 2^20, plus its number.
CREATE TABLE posting (
	page    INTEGER PRIMARY KEY,
	body    BLOB NOT NULL,
	imprint BLOB NOT NULL CHECK (length(imprint) = 16)
) STRICT;

-- Dead docs: segments still have them, but a later index entry of their block, or an
-- erasure, has replaced them.
CREATE TABLE gone_doc (
	scope TEXT    NOT NULL,
	doc   INTEGER NOT NULL,
	PRIMARY KEY (scope, doc)
) STRICT, WITHOUT ROWID;

-- The number of the block's earlier window, from 1 for the oldest; 0 if the block is in
-- no earlier window or the number is not known.
ALTER TABLE block ADD COLUMN earlier INTEGER NOT NULL DEFAULT 0;

-- The program converts the old index and drops it.
