-- Jobs of several writes that have begun and not ended. A row has only ids.

CREATE TABLE job (
	scope BYTEA  NOT NULL,
	name  BYTEA  NOT NULL CHECK (name <> ''),
	mark  BYTEA  NOT NULL, -- of the process that does it
	actor BYTEA  NOT NULL,
	data  BYTEA, -- JSON, byte for byte
	until BIGINT NOT NULL, -- milliseconds since 1970, UTC: from then on any process can take it
	PRIMARY KEY (scope, name)
);
