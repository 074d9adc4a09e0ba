-- Requests with an idempotency key, so that each write is made once, at whichever node. A row is
-- written in the transaction of the write. It has only digests, ids and figures.

CREATE TABLE request (
	scope   BYTEA  NOT NULL,
	actor   BYTEA  NOT NULL,
	key     BYTEA  NOT NULL CHECK (key <> ''),
	attempt BYTEA  NOT NULL,
	asking  BYTEA  NOT NULL CHECK (length(asking) = 32),
	time    BIGINT NOT NULL, -- milliseconds since 1970, UTC
	outcome BYTEA, -- NULL: it is not known
	PRIMARY KEY (scope, actor, key)
);

CREATE INDEX request_time ON request (scope, time);
