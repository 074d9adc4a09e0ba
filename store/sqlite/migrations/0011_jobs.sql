-- Jobs of several writes that have begun and not ended. A row has only ids. The imprint is that of
-- what stays the same while the job is recorded: its scope, name, actor and data.

CREATE TABLE job (
	scope   TEXT    NOT NULL,
	name    TEXT    NOT NULL CHECK (name <> ''),
	mark    TEXT    NOT NULL, -- of the process that does it
	actor   TEXT    NOT NULL,
	data    BLOB, -- JSON, byte for byte
	until   INTEGER NOT NULL, -- milliseconds since 1970, UTC: from then on any process can take it
	imprint BLOB    NOT NULL CHECK (length(imprint) = 16),
	PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;
