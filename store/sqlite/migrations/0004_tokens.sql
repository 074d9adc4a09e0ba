-- The records of bearer tokens. A row has a keyed hash of the token instead of the
-- token, and the key is not in this file. Tokens belong to no scope; they list the
-- scopes that they allow.

CREATE TABLE token (
	token_id    TEXT    PRIMARY KEY NOT NULL CHECK (token_id <> ''),
	hash        BLOB    NOT NULL CHECK (length(hash) = 32),
	actor       TEXT    NOT NULL CHECK (actor <> ''),
	scopes      TEXT    NOT NULL CHECK (json_valid(scopes)),      -- an array of patterns
	permissions TEXT    NOT NULL CHECK (json_valid(permissions)), -- an array of names
	note        TEXT    NOT NULL,
	created     INTEGER NOT NULL,
	expires     INTEGER, -- NULL: never
	revoked     INTEGER  -- NULL: it is not
) STRICT, WITHOUT ROWID;

CREATE INDEX token_by_age ON token (created, token_id);
