-- Artifacts, the manifests that use them, and the log of their updates.

-- The numbers of updates and artifacts of a scope. Each update locks the row, so that versions
-- and positions have no gaps.
CREATE TABLE version (
	scope   BYTEA  PRIMARY KEY,
	version BIGINT NOT NULL, -- the last
	seq     BIGINT NOT NULL  -- the last
);

-- An update, by its version.
CREATE TABLE log (
	scope    BYTEA  NOT NULL,
	version  BIGINT NOT NULL,
	entry_id BYTEA  NOT NULL,
	op       BYTEA  NOT NULL,
	actor    BYTEA  NOT NULL,
	time     BIGINT NOT NULL, -- milliseconds since 1970, UTC, here and below
	data     BYTEA, -- JSON, byte for byte
	PRIMARY KEY (scope, version),
	UNIQUE (scope, entry_id)
);

-- An artifact, by its position in the order of arrival.
CREATE TABLE artifact (
	scope       BYTEA   NOT NULL,
	seq         BIGINT  NOT NULL,
	artifact_id BYTEA   NOT NULL,
	version     BIGINT  NOT NULL, -- of the update that wrote it last
	class       TEXT    NOT NULL,
	status      TEXT    NOT NULL
		CHECK (status IN ('live', 'held', 'rejected', 'refuted', 'tombstoned', 'purged')),
	pinned      BOOLEAN NOT NULL,
	content     BYTEA   NOT NULL, -- a cell
	about       BYTEA   NOT NULL, -- a cell
	bytes       BIGINT  NOT NULL,
	tokens      BIGINT  NOT NULL,
	encoding    BYTEA   NOT NULL,
	source      BYTEA   NOT NULL,
	created     BIGINT  NOT NULL,
	updated     BIGINT  NOT NULL,
	expires     BIGINT, -- NULL: never
	address     BYTEA   NOT NULL,
	gate        BYTEA, -- JSON, byte for byte
	PRIMARY KEY (scope, seq),
	UNIQUE (scope, artifact_id),
	FOREIGN KEY (scope, version) REFERENCES log (scope, version),
	FOREIGN KEY (scope, content) REFERENCES cell (scope, cell_id),
	FOREIGN KEY (scope, about) REFERENCES cell (scope, cell_id)
);

CREATE INDEX artifact_version ON artifact (scope, version);
CREATE INDEX artifact_content ON artifact (scope, content);
CREATE INDEX artifact_address ON artifact (scope, address) WHERE address <> '';
CREATE INDEX artifact_status ON artifact (scope, status, seq) WHERE status <> 'live';

-- The artifacts that have a word, by position, to read the newest first. A long word is
-- replaced by its digest.
CREATE TABLE artifact_word (
	scope BYTEA  NOT NULL,
	word  BYTEA  NOT NULL,
	seq   BIGINT NOT NULL,
	PRIMARY KEY (scope, word, seq)
);

-- The words of each artifact, needed to delete its rows in the table above.
CREATE TABLE artifact_words (
	scope BYTEA   NOT NULL,
	seq   BIGINT  NOT NULL,
	words BYTEA[] NOT NULL,
	PRIMARY KEY (scope, seq),
	FOREIGN KEY (scope, seq) REFERENCES artifact (scope, seq)
);

-- A manifest, by the version of the update that wrote it.
CREATE TABLE manifest (
	scope       BYTEA  NOT NULL,
	version     BIGINT NOT NULL,
	manifest_id BYTEA  NOT NULL,
	session_id  BYTEA  NOT NULL, -- or empty
	created     BIGINT NOT NULL,
	format      BYTEA  NOT NULL,
	tier        TEXT   NOT NULL,
	budget      BIGINT NOT NULL,
	total       BIGINT NOT NULL,
	seal        BYTEA  NOT NULL CHECK (length(seal) = 32),
	body        BYTEA  NOT NULL,
	PRIMARY KEY (scope, version),
	UNIQUE (scope, manifest_id),
	FOREIGN KEY (scope, version) REFERENCES log (scope, version)
);

CREATE INDEX manifest_session ON manifest (scope, session_id, version);

CREATE TABLE manifest_use (
	scope   BYTEA  NOT NULL,
	version BIGINT NOT NULL, -- of the manifest
	ord     BIGINT NOT NULL, -- from 0, without gaps
	seq     BIGINT NOT NULL, -- of the artifact
	PRIMARY KEY (scope, version, ord),
	UNIQUE (scope, seq, version),
	FOREIGN KEY (scope, version) REFERENCES manifest (scope, version),
	FOREIGN KEY (scope, seq) REFERENCES artifact (scope, seq)
);

-- An outcome, by the version of the update that wrote it.
CREATE TABLE outcome (
	scope    BYTEA  NOT NULL,
	version  BIGINT NOT NULL,
	manifest BIGINT NOT NULL, -- its version
	actor    BYTEA  NOT NULL,
	time     BIGINT NOT NULL,
	data     BYTEA, -- JSON, byte for byte
	PRIMARY KEY (scope, version),
	FOREIGN KEY (scope, version) REFERENCES log (scope, version),
	FOREIGN KEY (scope, manifest) REFERENCES manifest (scope, version)
);

CREATE INDEX outcome_manifest ON outcome (scope, manifest, version);
