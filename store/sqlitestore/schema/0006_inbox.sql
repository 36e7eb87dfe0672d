-- Which messages consumers have applied (package inbox), each recorded in the transaction
-- of its effect. Names and ids are bytes.
CREATE TABLE postbag__once (
	consumer BLOB    NOT NULL CHECK (typeof(consumer) = 'blob' AND length(consumer) BETWEEN 1 AND 100),
	id       BLOB    NOT NULL CHECK (typeof(id) = 'blob' AND length(id) BETWEEN 1 AND 255),
	sum      BLOB    CHECK (sum IS NULL OR typeof(sum) = 'blob' AND length(sum) = 32), -- SHA-256 of what the message holds; null: none is compared
	-- Microseconds since 1970, UTC, when the message was marked first.
	at       INTEGER NOT NULL DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000) CHECK (typeof(at) = 'integer' AND at > 0),
	PRIMARY KEY (consumer, id)
) WITHOUT ROWID;

-- For how long the marks of a consumer are kept. Those of others are kept for 30 days.
CREATE TABLE postbag__consumer (
	name BLOB    PRIMARY KEY NOT NULL CHECK (typeof(name) = 'blob' AND length(name) BETWEEN 1 AND 100),
	keep INTEGER NOT NULL CHECK (typeof(keep) = 'integer' AND keep >= 60000000) -- microseconds
) WITHOUT ROWID;

-- One row: how far the removal of old marks has come, and who is at it.
CREATE TABLE postbag__forgetting (
	one      INTEGER PRIMARY KEY CHECK (one = 1),
	consumer BLOB    NOT NULL,
	id       BLOB    NOT NULL,
	token    INTEGER NOT NULL, -- grows with each call
	expires  INTEGER NOT NULL  -- until then others keep out; zero: nobody is at it
);

INSERT INTO postbag__forgetting (one, consumer, id, token, expires) VALUES (1, x'', x'', 0, 0);
