-- What Postbag keeps beside the boxes. Every name has two underscores, so that
-- none can be the name of a box's table. All of it can be run again: DDL commits
-- by itself here, so that a step may have been taken in part.

-- One row: which database this is, and the counters that all relays share.
CREATE TABLE IF NOT EXISTS postbag__meta (
	one      TINYINT       NOT NULL PRIMARY KEY,
	identity VARBINARY(64) NOT NULL, -- a UUID, drawn once
	version  INT           NOT NULL, -- the last migration that was applied
	reader   INT           NOT NULL, -- the oldest program that may work here, as the version it knows
	epoch    BIGINT        NOT NULL, -- grows with every change of relays, leases, shards, subscriptions
	token    BIGINT        NOT NULL, -- the last lease token that was given out
	CONSTRAINT postbag__meta__one CHECK (one = 1)
) ENGINE = InnoDB;

-- A number that is drawn anew after each start of the server: a table in memory
-- is empty then. Positions that were read and not settled end with it.
CREATE TABLE IF NOT EXISTS postbag__life (
	one  TINYINT         NOT NULL PRIMARY KEY,
	life BIGINT UNSIGNED NOT NULL
) ENGINE = MEMORY;

-- The boxes. Box b has its log in table postbag_b, and its first subscription,
-- "@maintenance", whose shard is the right to maintain it.
CREATE TABLE IF NOT EXISTS postbag__box (
	name       VARBINARY(64) NOT NULL PRIMARY KEY,
	created_at BIGINT        NOT NULL,
	swept      BIGINT        NOT NULL DEFAULT 0, -- retention has deleted up to here
	-- A row that the log had at its end and still must have: another one means
	-- that the table was replaced.
	witness    BIGINT        NOT NULL DEFAULT 0,
	witness_id BINARY(16)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS postbag__subscription (
	id         BIGINT         NOT NULL AUTO_INCREMENT PRIMARY KEY,
	box        VARBINARY(64)  NOT NULL,
	name       VARBINARY(255) NOT NULL,
	types      MEDIUMBLOB     NOT NULL, -- JSON array, sorted
	wanted     INT            NOT NULL, -- shards that an operator asked for
	paused     TINYINT        NOT NULL DEFAULT 0,
	started    BIGINT         NOT NULL, -- its ledger begins after this seq
	created_at BIGINT         NOT NULL,
	-- The sums of the log's own rows of one span, from its beginning or from
	-- started, up to a seq: what the ledger is compared with before rows go; and
	-- up to where they agreed.
	span       BIGINT         NOT NULL,
	upto       BIGINT         NOT NULL,
	agreed     BIGINT         NOT NULL,
	count      BIGINT         NOT NULL DEFAULT 0,
	seq_sum    BIGINT         NOT NULL DEFAULT 0,
	id_sum     BIGINT         NOT NULL DEFAULT 0,
	UNIQUE KEY postbag__subscription_name (box, name)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS postbag__shard (
	subscription BIGINT          NOT NULL,
	lo           INT             NOT NULL,
	hi           INT             NOT NULL,
	owner        VARBINARY(255)  NOT NULL DEFAULT '', -- a relay's id; empty: free
	token        BIGINT          NOT NULL DEFAULT 0,
	version      BIGINT          NOT NULL DEFAULT 1,
	settled      BIGINT          NOT NULL DEFAULT 0, -- the token of the last settlement
	position     VARBINARY(8192) NOT NULL DEFAULT '',
	PRIMARY KEY (subscription, lo)
) ENGINE = InnoDB;

-- Heartbeats. A dead relay's row stays a while, so that its id is not used anew.
CREATE TABLE IF NOT EXISTS postbag__relay (
	id      VARBINARY(255)  NOT NULL PRIMARY KEY,
	name    VARBINARY(1024) NOT NULL,
	works   MEDIUMBLOB      NOT NULL, -- JSON array of [box, subscription]
	expires BIGINT          NOT NULL,
	dead    TINYINT         NOT NULL DEFAULT 0
) ENGINE = InnoDB;

-- Parked messages, as references to the log.
CREATE TABLE IF NOT EXISTS postbag__parked (
	subscription BIGINT        NOT NULL,
	seq          BIGINT        NOT NULL,
	slot         INT           NOT NULL,
	hash         BIGINT        NOT NULL,
	state        TINYINT       NOT NULL, -- 1 waiting, 2 blocked, 3 in flight, 4 dead
	chain        BIGINT,                 -- the hash, if later messages wait behind this one, else null
	attempts     INT           NOT NULL,
	due          BIGINT        NOT NULL, -- when a waiting row may be tried
	ready        BIGINT,                 -- the same, but only while the row counts: see Due
	first        BIGINT        NOT NULL, -- when it was first parked
	reason       VARCHAR(1024) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
	history      MEDIUMTEXT    CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- JSON array of [at, state, reason], the latest 20
	PRIMARY KEY (subscription, seq),
	-- The messages of one chain in order: which is the first, who follows it.
	KEY postbag__parked_chain (subscription, chain, seq, slot),
	-- What may be tried, longest due first.
	KEY postbag__parked_ready (subscription, ready, seq),
	-- The row of a chain that may be tried, to find it when another gets before it.
	KEY postbag__parked_head (subscription, chain, ready),
	-- Listings and counts by state, and what was in flight at a takeover.
	KEY postbag__parked_state (subscription, state, seq)
) ENGINE = InnoDB;

-- Counts and sums of what became of the messages of a span. The sums are modulo
-- 2^64, each in two halves, since an integer that overflows is an error here. Each
-- shard has lines of its own, so that no two settlements wait for each other.
CREATE TABLE IF NOT EXISTS postbag__ledger (
	subscription BIGINT  NOT NULL,
	span         BIGINT  NOT NULL,
	fate         TINYINT NOT NULL,
	lo           INT     NOT NULL,
	count        BIGINT  NOT NULL,
	seq_hi       BIGINT  NOT NULL,
	seq_lo       BIGINT  NOT NULL,
	id_hi        BIGINT  NOT NULL,
	id_lo        BIGINT  NOT NULL,
	PRIMARY KEY (subscription, span, fate, lo)
) ENGINE = InnoDB;

-- Messages that an operator discarded, for listings, while the log has them.
CREATE TABLE IF NOT EXISTS postbag__discarded (
	subscription BIGINT NOT NULL,
	seq          BIGINT NOT NULL,
	PRIMARY KEY (subscription, seq)
) ENGINE = InnoDB;

-- Up to which seq all subscriptions of a box had passed everything, and when.
CREATE TABLE IF NOT EXISTS postbag__floor (
	box VARBINARY(64) NOT NULL,
	seq BIGINT        NOT NULL,
	at  BIGINT        NOT NULL,
	PRIMARY KEY (box, seq)
) ENGINE = InnoDB;

-- Operators' orders that wait for the owner of the shard.
CREATE TABLE IF NOT EXISTS postbag__command (
	id           BIGINT  NOT NULL AUTO_INCREMENT PRIMARY KEY,
	subscription BIGINT  NOT NULL,
	seq          BIGINT  NOT NULL,
	kind         TINYINT NOT NULL, -- 1 retry, 2 discard
	UNIQUE KEY postbag__command_once (subscription, seq, kind),
	-- The oldest first.
	KEY postbag__command_order (subscription, id)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS postbag__audit (
	id   BIGINT     NOT NULL AUTO_INCREMENT PRIMARY KEY,
	at   BIGINT     NOT NULL,
	who  MEDIUMBLOB NOT NULL,
	why  MEDIUMBLOB NOT NULL,
	what MEDIUMBLOB NOT NULL
) ENGINE = InnoDB;

-- Messages that are not due yet, outside the log.
CREATE TABLE IF NOT EXISTS postbag__scheduled (
	n         BIGINT          NOT NULL AUTO_INCREMENT PRIMARY KEY,
	box       VARBINARY(64)   NOT NULL,
	due       BIGINT          NOT NULL,
	id        BINARY(16)      NOT NULL,
	at        BIGINT          NOT NULL,
	topic     VARBINARY(255)  NOT NULL,
	`key`     VARBINARY(1024) NOT NULL,
	shard_key VARBINARY(1024) NOT NULL,
	type      VARBINARY(255)  NOT NULL,
	headers   MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
	payload   LONGBLOB        NOT NULL,
	KEY postbag__scheduled_due (box, due, n),
	KEY postbag__scheduled_id (box, id)
) ENGINE = InnoDB;

-- What PublishOrdered locks: a key's row is that of its hash.
CREATE TABLE IF NOT EXISTS postbag__lock (
	n INT NOT NULL PRIMARY KEY
) ENGINE = InnoDB;

INSERT IGNORE INTO postbag__lock (n)
WITH d AS (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5
	UNION ALL SELECT 6 UNION ALL SELECT 7)
SELECT a.n * 512 + b.n * 64 + c.n * 8 + d.n FROM d a, d b, d c, d;
