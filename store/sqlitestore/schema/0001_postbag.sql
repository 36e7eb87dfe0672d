-- What Postbag keeps beside the boxes. Every name has two underscores, so that
-- none can be the name of a box's table.

-- One row: which database this is, and the counters that all relays share.
CREATE TABLE postbag__meta (
	one      INTEGER PRIMARY KEY CHECK (one = 1),
	identity TEXT    NOT NULL, -- a UUID, drawn once
	version  INTEGER NOT NULL, -- the last migration that was applied
	reader   INTEGER NOT NULL, -- the oldest program that may work here, as the version it knows
	epoch    INTEGER NOT NULL, -- grows with every change of relays, leases, shards, subscriptions
	token    INTEGER NOT NULL  -- the last lease token that was given out
);

-- The boxes. Box b has its log in table postbag_b, and its first
-- subscription, "@maintenance", whose shard is the right to maintain it.
CREATE TABLE postbag__box (
	name       TEXT    PRIMARY KEY,
	created_at INTEGER NOT NULL,
	swept      INTEGER NOT NULL DEFAULT 0 -- retention has deleted up to here
) WITHOUT ROWID;

CREATE TABLE postbag__subscription (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	box        TEXT    NOT NULL,
	name       TEXT    NOT NULL,
	types      TEXT    NOT NULL, -- JSON array, sorted
	wanted     INTEGER NOT NULL, -- shards that an operator asked for
	paused     INTEGER NOT NULL DEFAULT 0,
	started    INTEGER NOT NULL, -- it began after this seq
	created_at INTEGER NOT NULL,
	-- The sums of the log's own rows of one span, from its beginning or from
	-- started, up to a seq: what the ledger is compared with before rows go; and
	-- up to where they agreed.
	span       INTEGER NOT NULL,
	upto       INTEGER NOT NULL,
	agreed     INTEGER NOT NULL,
	count      INTEGER NOT NULL DEFAULT 0,
	seq_sum    INTEGER NOT NULL DEFAULT 0,
	id_sum     INTEGER NOT NULL DEFAULT 0,
	UNIQUE (box, name)
);

CREATE TABLE postbag__shard (
	subscription INTEGER NOT NULL,
	lo           INTEGER NOT NULL,
	hi           INTEGER NOT NULL,
	owner        TEXT    NOT NULL DEFAULT '', -- a relay's id; empty: free
	token        INTEGER NOT NULL DEFAULT 0,
	version      INTEGER NOT NULL DEFAULT 1,
	settled      INTEGER NOT NULL DEFAULT 0, -- the token of the last settlement
	position     BLOB    NOT NULL DEFAULT x'',
	PRIMARY KEY (subscription, lo)
) WITHOUT ROWID;

-- Heartbeats. A dead relay's row stays a while, so that its id is not used anew.
CREATE TABLE postbag__relay (
	id      TEXT    PRIMARY KEY,
	name    TEXT    NOT NULL,
	works   TEXT    NOT NULL, -- JSON array of [box, subscription]
	expires INTEGER NOT NULL,
	dead    INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

-- Parked messages, as references to the log.
CREATE TABLE postbag__parked (
	subscription INTEGER NOT NULL,
	seq          INTEGER NOT NULL,
	slot         INTEGER NOT NULL,
	hash         INTEGER NOT NULL,
	state        INTEGER NOT NULL, -- 1 waiting, 2 blocked, 3 in flight, 4 dead
	chain        INTEGER,          -- the hash, if later messages wait behind this one, else null
	attempts     INTEGER NOT NULL,
	due          INTEGER NOT NULL, -- when a waiting row may be tried
	ready        INTEGER,          -- the same, but only while the row counts: see Due
	first        INTEGER NOT NULL, -- when it was first parked
	reason       TEXT    NOT NULL,
	history      TEXT    NOT NULL, -- JSON array of [at, state, reason], the latest 20
	PRIMARY KEY (subscription, seq)
) WITHOUT ROWID;

-- The messages of one chain in order: which is the first, who follows it.
CREATE INDEX postbag__parked_chain ON postbag__parked (subscription, chain, seq, slot) WHERE chain IS NOT NULL;
-- What may be tried, longest due first.
CREATE INDEX postbag__parked_ready ON postbag__parked (subscription, ready) WHERE ready IS NOT NULL;
-- The row of a chain that may be tried, to find it when another gets before it.
CREATE INDEX postbag__parked_head ON postbag__parked (subscription, chain) WHERE ready IS NOT NULL AND chain IS NOT NULL;
-- Listings and counts by state, and what was in flight at a takeover.
CREATE INDEX postbag__parked_state ON postbag__parked (subscription, state, seq);

-- Counts and sums of what became of the messages of a span. The sums are
-- modulo 2^64, each in two halves, since SQLite would make a float of an
-- integer that overflows.
CREATE TABLE postbag__ledger (
	subscription INTEGER NOT NULL,
	span         INTEGER NOT NULL,
	fate         INTEGER NOT NULL,
	count        INTEGER NOT NULL,
	seq_hi       INTEGER NOT NULL,
	seq_lo       INTEGER NOT NULL,
	id_hi        INTEGER NOT NULL,
	id_lo        INTEGER NOT NULL,
	PRIMARY KEY (subscription, span, fate)
) WITHOUT ROWID;

-- Messages that an operator discarded, for listings, while the log has them.
CREATE TABLE postbag__discarded (
	subscription INTEGER NOT NULL,
	seq          INTEGER NOT NULL,
	PRIMARY KEY (subscription, seq)
) WITHOUT ROWID;

-- Up to which seq all subscriptions of a box had passed everything, and when.
CREATE TABLE postbag__floor (
	box TEXT    NOT NULL,
	seq INTEGER NOT NULL,
	at  INTEGER NOT NULL,
	PRIMARY KEY (box, seq)
) WITHOUT ROWID;

-- Operators' orders that wait for the owner of the shard.
CREATE TABLE postbag__command (
	id           INTEGER PRIMARY KEY AUTOINCREMENT,
	subscription INTEGER NOT NULL,
	seq          INTEGER NOT NULL,
	kind         INTEGER NOT NULL, -- 1 retry, 2 discard
	UNIQUE (subscription, seq, kind)
);

-- The oldest first: an index ends with the rowid, which is the id.
CREATE INDEX postbag__command_order ON postbag__command (subscription);

CREATE TABLE postbag__audit (
	id   INTEGER PRIMARY KEY AUTOINCREMENT,
	at   INTEGER NOT NULL,
	who  TEXT    NOT NULL,
	why  TEXT    NOT NULL,
	what TEXT    NOT NULL
);

-- Messages that are not due yet, outside the log.
CREATE TABLE postbag__scheduled (
	n         INTEGER PRIMARY KEY AUTOINCREMENT,
	box       TEXT    NOT NULL,
	due       INTEGER NOT NULL,
	id        BLOB    NOT NULL CHECK (typeof(id) = 'blob' AND length(id) = 16),
	at        INTEGER NOT NULL,
	topic     TEXT    NOT NULL,
	key       TEXT    NOT NULL,
	shard_key TEXT    NOT NULL,
	type      TEXT    NOT NULL,
	headers   TEXT,
	payload   BLOB    NOT NULL
);

CREATE INDEX postbag__scheduled_due ON postbag__scheduled (box, due, n);
CREATE INDEX postbag__scheduled_id ON postbag__scheduled (box, id);
