-- Which blocks have a word, and how often, in segments: see package internal/postings. A
-- segment has blocks that were made findable one after the other, and their words in
-- pages by hash. It never changes: a new one takes the place of several, or of one of
-- which something has to go. No text can be read back from it, but for the words.

-- The last number of a block and of a segment. Who makes blocks findable has the row locked,
-- so that a block has no smaller number than one that was findable before it.
CREATE TABLE index_head (
	scope    BYTEA  PRIMARY KEY,
	docs     BIGINT NOT NULL,
	segments BIGINT NOT NULL
);

-- The number of each block that is findable.
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

-- Numbers that are in a segment and stand for nothing any more: something else took the
-- place of what their blocks were findable by.
CREATE TABLE gone_doc (
	scope BYTEA  NOT NULL,
	doc   BIGINT NOT NULL,
	PRIMARY KEY (scope, doc)
);

-- The number of the earlier window that a block is in, the oldest is 1; 0 if it is in
-- none, or if it is not known.
ALTER TABLE block ADD COLUMN earlier BIGINT NOT NULL DEFAULT 0;
