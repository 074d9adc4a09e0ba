-- The records of bearer tokens. A row has a keyed hash of the token instead of the token, and
-- the key is not in this database. Tokens belong to no scope; they list those that they allow.

CREATE TABLE token (
	token_id    BYTEA  PRIMARY KEY CHECK (token_id <> ''),
	hash        BYTEA  NOT NULL CHECK (length(hash) = 32),
	actor       BYTEA  NOT NULL CHECK (actor <> ''),
	scopes      BYTEA  NOT NULL, -- a JSON array of patterns
	permissions BYTEA  NOT NULL, -- a JSON array of names
	note        BYTEA  NOT NULL,
	created     BIGINT NOT NULL,
	expires     BIGINT, -- NULL: never
	revoked     BIGINT  -- NULL: it is not
);
