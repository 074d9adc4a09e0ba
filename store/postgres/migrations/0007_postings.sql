-- The index of blocks: which blocks have a word, and how often, in segments (see package
-- internal/postings). A segment has consecutive docs, and pages of words by their hash. It
-- never changes: a new segment replaces several, or one from which docs are removed. The
-- index has the words of a text, but not their order.

-- The last doc and the last key of a segment. Each write to the index locks the row, so that
-- docs ascend in the order in which blocks were indexed.
CREATE TABLE index_head (
	scope    BYTEA  PRIMARY KEY,
	docs     BIGINT NOT NULL,
	segments BIGINT NOT NULL
);

-- The doc of each block with an index entry: its number in the index.
CREATE TABLE doc (
	scope      BYTEA  NOT NULL,
	doc        BIGINT NOT NULL,
	session_id BYTEA  NOT NULL,
	block_id   BYTEA  NOT NULL,
	PRIMARY KEY (scope, doc),
	UNIQUE (scope, session_id, block_id),
	FOREIGN KEY (scope, session_id, block_id) REFERENCES block (scope, session_id, block_id)
);

CREATE TABLE segment (
	scope   BYTEA  NOT NULL,
	segment BIGINT NOT NULL,
	last    BIGINT NOT NULL, -- number of the last block
	pages   BIGINT NOT NULL,
	size    BIGINT NOT NULL, -- of the pages, in bytes
	docs    BYTEA  NOT NULL, -- the numbers of the blocks, with how many words each has
	PRIMARY KEY (scope, segment)
);

CREATE TABLE posting (
	scope   BYTEA  NOT NULL,
	segment BIGINT NOT NULL,
	page    BIGINT NOT NULL, -- from 0
	body    BYTEA  NOT NULL,
	PRIMARY KEY (scope, segment, page)
);

-- Dead docs: segments still have them, but a later index entry of their block, or an erasure,
-- has replaced them.
CREATE TABLE gone_doc (
	scope BYTEA  NOT NULL,
	doc   BIGINT NOT NULL,
	PRIMARY KEY (scope, doc)
);

-- The number of the block's earlier window, from 1 for the oldest; 0 if the block is in
-- no earlier window or the number is not known.
ALTER TABLE block ADD COLUMN earlier BIGINT NOT NULL DEFAULT 0;
