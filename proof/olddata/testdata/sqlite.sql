CREATE TABLE postbag__meta (
	one      INTEGER PRIMARY KEY CHECK (one = 1),
	identity TEXT    NOT NULL, -- a UUID, drawn once
	version  INTEGER NOT NULL, -- the last migration that was applied
	reader   INTEGER NOT NULL, -- the oldest program that may work here, as the version it knows
	epoch    INTEGER NOT NULL, -- grows with every change of relays, leases, shards, subscriptions
	token    INTEGER NOT NULL  -- the last lease token that was given out
)
;;
CREATE TABLE postbag__box (
	name       TEXT    PRIMARY KEY,
	created_at INTEGER NOT NULL,
	swept      INTEGER NOT NULL DEFAULT 0 -- retention has deleted up to here
, keep_delivered     INTEGER NOT NULL DEFAULT 0, keep_discarded     INTEGER NOT NULL DEFAULT 0, keep_dead          INTEGER NOT NULL DEFAULT 0, deployed_delivered INTEGER NOT NULL DEFAULT 0, deployed_discarded INTEGER NOT NULL DEFAULT 0, deployed_dead      INTEGER NOT NULL DEFAULT 0, deployed_at        INTEGER NOT NULL DEFAULT 0, deployed_by        TEXT    NOT NULL DEFAULT '') WITHOUT ROWID
;;
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
	id_sum     INTEGER NOT NULL DEFAULT 0, replay TEXT, types_by TEXT NOT NULL DEFAULT '', wanted_by TEXT NOT NULL DEFAULT '',
	UNIQUE (box, name)
)
;;
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
) WITHOUT ROWID
;;
CREATE TABLE postbag__relay (
	id      TEXT    PRIMARY KEY,
	name    TEXT    NOT NULL,
	works   TEXT    NOT NULL, -- JSON array of [box, subscription]
	expires INTEGER NOT NULL,
	dead    INTEGER NOT NULL DEFAULT 0
, conditions TEXT) WITHOUT ROWID
;;
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
	history      TEXT    NOT NULL, held TEXT, -- JSON array of [at, state, reason], the latest 20
	PRIMARY KEY (subscription, seq)
) WITHOUT ROWID
;;
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
) WITHOUT ROWID
;;
CREATE TABLE postbag__discarded (
	subscription INTEGER NOT NULL,
	seq          INTEGER NOT NULL,
	PRIMARY KEY (subscription, seq)
) WITHOUT ROWID
;;
CREATE TABLE postbag__floor (
	box TEXT    NOT NULL,
	seq INTEGER NOT NULL,
	at  INTEGER NOT NULL,
	PRIMARY KEY (box, seq)
) WITHOUT ROWID
;;
CREATE TABLE postbag__command (
	id           INTEGER PRIMARY KEY AUTOINCREMENT,
	subscription INTEGER NOT NULL,
	seq          INTEGER NOT NULL,
	kind         INTEGER NOT NULL, pending INTEGER NOT NULL DEFAULT 0, -- 1 retry, 2 discard
	UNIQUE (subscription, seq, kind)
)
;;
CREATE TABLE postbag__audit (
	id   INTEGER PRIMARY KEY AUTOINCREMENT,
	at   INTEGER NOT NULL,
	who  TEXT    NOT NULL,
	why  TEXT    NOT NULL,
	what TEXT    NOT NULL
)
;;
CREATE TABLE postbag__past (
	subscription INTEGER NOT NULL,
	seq          INTEGER NOT NULL,
	attempts     INTEGER NOT NULL,
	reason       TEXT    NOT NULL,
	history      TEXT    NOT NULL,
	PRIMARY KEY (subscription, seq)
) WITHOUT ROWID
;;
CREATE TABLE postbag__scheduled (
	n         INTEGER PRIMARY KEY AUTOINCREMENT,
	box       TEXT    NOT NULL,
	due       INTEGER NOT NULL CHECK (typeof(due) = 'integer' AND (due BETWEEN 0 AND 253402300799999999 OR due = 9223372036854775807)),
	id        BLOB    NOT NULL CHECK (typeof(id) = 'blob' AND length(id) = 16),
	at        INTEGER NOT NULL CHECK (typeof(at) = 'integer' AND at BETWEEN 0 AND 253402300799999999),
	topic     TEXT    NOT NULL CHECK (topic <> ''),
	key       TEXT    NOT NULL,
	shard_key TEXT    NOT NULL,
	type      TEXT    NOT NULL,
	headers   TEXT,
	payload   BLOB    NOT NULL
)
;;
CREATE TABLE postbag__once (
	consumer BLOB    NOT NULL CHECK (typeof(consumer) = 'blob' AND length(consumer) BETWEEN 1 AND 100),
	id       BLOB    NOT NULL CHECK (typeof(id) = 'blob' AND length(id) BETWEEN 1 AND 255),
	sum      BLOB    CHECK (sum IS NULL OR typeof(sum) = 'blob' AND length(sum) = 32), -- SHA-256 of what the message holds; null: none is compared
	-- Microseconds since 1970, UTC, when the message was marked first.
	at       INTEGER NOT NULL DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000) CHECK (typeof(at) = 'integer' AND at > 0),
	PRIMARY KEY (consumer, id)
) WITHOUT ROWID
;;
CREATE TABLE postbag__consumer (
	name BLOB    PRIMARY KEY NOT NULL CHECK (typeof(name) = 'blob' AND length(name) BETWEEN 1 AND 100),
	keep INTEGER NOT NULL CHECK (typeof(keep) = 'integer' AND keep >= 60000000) -- microseconds
) WITHOUT ROWID
;;
CREATE TABLE postbag__forgetting (
	one      INTEGER PRIMARY KEY CHECK (one = 1),
	consumer BLOB    NOT NULL,
	id       BLOB    NOT NULL,
	token    INTEGER NOT NULL, -- grows with each call
	expires  INTEGER NOT NULL  -- until then others keep out; zero: nobody is at it
)
;;
CREATE TABLE postbag__lane (
	lane   BLOB    PRIMARY KEY NOT NULL CHECK (typeof(lane) = 'blob' AND length(lane) BETWEEN 1 AND 500),
	epoch  INTEGER NOT NULL CHECK (typeof(epoch) = 'integer' AND epoch > 0), -- another one after each opening
	record BLOB    CHECK (record IS NULL OR typeof(record) = 'blob' AND length(record) <= 524288) -- null: none was written
) WITHOUT ROWID
;;
CREATE TABLE postbag__pause (
	subscription INTEGER NOT NULL, -- 0 for a destination
	scope        TEXT    NOT NULL,
	held         TEXT    NOT NULL,
	who          TEXT    NOT NULL,
	why          TEXT    NOT NULL,
	began        INTEGER NOT NULL,
	ends         INTEGER NOT NULL DEFAULT 0, -- 0: it has no end
	PRIMARY KEY (subscription, scope, held)
) WITHOUT ROWID
;;
CREATE TABLE postbag__removed (
	box  TEXT    NOT NULL,
	name TEXT    NOT NULL,
	at   INTEGER NOT NULL,
	who  TEXT    NOT NULL,
	PRIMARY KEY (box, name)
) WITHOUT ROWID
;;
CREATE TABLE postbag_outbox (
	-- AUTOINCREMENT: a seq is never given out again, not even that of a row that
	-- was deleted. One writer at a time: it is the order of commits.
	seq       INTEGER PRIMARY KEY AUTOINCREMENT,
	-- A UUID of version 7: 48 bits of milliseconds, then random ones.
	id        BLOB    NOT NULL DEFAULT (CAST(
		substr(x'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff', 1 + (((CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)) >> 40) & 255), 1) ||
		substr(x'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff', 1 + (((CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)) >> 32) & 255), 1) ||
		substr(x'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff', 1 + (((CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)) >> 24) & 255), 1) ||
		substr(x'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff', 1 + (((CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)) >> 16) & 255), 1) ||
		substr(x'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff', 1 + (((CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)) >> 8) & 255), 1) ||
		substr(x'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff', 1 + (((CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER))) & 255), 1) ||
		substr(x'707172737475767778797a7b7c7d7e7f', 1 + (random() & 15), 1) || randomblob(1) ||
		substr(x'808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf', 1 + (random() & 63), 1) || randomblob(7) AS BLOB)),
	-- Microseconds since 1970, UTC, when the row was inserted.
	at        INTEGER NOT NULL DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000),
	topic     TEXT    NOT NULL DEFAULT 'outbox',
	key       TEXT    NOT NULL DEFAULT '',
	shard_key TEXT    NOT NULL DEFAULT '',
	type      TEXT    NOT NULL DEFAULT '',
	-- A JSON object of strings, as text. Null: none.
	headers   TEXT,
	-- Bytes; text is taken as its UTF-8 bytes.
	payload   BLOB    NOT NULL,
	CONSTRAINT "id is 16 bytes, not all zero"
		CHECK (typeof(id) = 'blob' AND length(id) = 16 AND id <> zeroblob(16)),
	CONSTRAINT "at is an integer"
		CHECK (typeof(at) = 'integer'),
	CONSTRAINT "topic is not empty"
		CHECK (topic <> ''),
	CONSTRAINT "topic is text without NUL, 255 bytes at most"
		CHECK (topic = '' OR (typeof(topic) = 'text' AND length(CAST(topic AS BLOB)) <= 255 AND instr(topic, char(0)) = 0)),
	CONSTRAINT "key is text without NUL, 1024 bytes at most"
		CHECK (key = '' OR (typeof(key) = 'text' AND length(CAST(key AS BLOB)) <= 1024 AND instr(key, char(0)) = 0)),
	CONSTRAINT "shard_key is text without NUL, 1024 bytes at most"
		CHECK (shard_key = '' OR (typeof(shard_key) = 'text' AND length(CAST(shard_key AS BLOB)) <= 1024 AND instr(shard_key, char(0)) = 0)),
	CONSTRAINT "type is text without NUL, 255 bytes at most"
		CHECK (type = '' OR (typeof(type) = 'text' AND length(CAST(type AS BLOB)) <= 255 AND instr(type, char(0)) = 0)),
	CONSTRAINT "headers is a JSON object, 64 KiB at most"
		CHECK (headers IS NULL OR (typeof(headers) = 'text' AND length(CAST(headers AS BLOB)) <= 65536 AND instr(headers, char(0)) = 0 AND json_valid(headers) AND json_type(headers) = 'object')),
	CONSTRAINT "payload is a blob or text, 16 MiB at most"
		CHECK (typeof(payload) IN ('blob', 'text') AND length(CAST(payload AS BLOB)) <= 16777216)
)
;;
INSERT INTO "postbag__meta" ("one", "identity", "version", "reader", "epoch", "token") VALUES (1, 'ede88904-565d-4a29-aea2-52a2b0885dce', 12, 2, 14, 0)
;;
INSERT INTO "postbag__box" ("name", "created_at", "swept", "keep_delivered", "keep_discarded", "keep_dead", "deployed_delivered", "deployed_discarded", "deployed_dead", "deployed_at", "deployed_by") VALUES ('outbox', 1795729518103567, 0, 0, 0, 0, 0, 0, 0, 0, '')
;;
INSERT INTO "postbag__subscription" ("id", "box", "name", "types", "wanted", "paused", "started", "created_at", "span", "upto", "agreed", "count", "seq_sum", "id_sum", "replay", "types_by", "wanted_by") VALUES (1, 'outbox', '@maintenance', '[]', 1, 0, 0, 1795729518103567, 0, 0, 0, 0, 0, 0, NULL, '', ''), (2, 'outbox', 'default', '[]', 4, 0, 0, 1795729518126921, 0, 0, 0, 0, 0, 0, NULL, '', '')
;;
INSERT INTO "sqlite_sequence" ("name", "seq") VALUES ('postbag__scheduled', 0), ('postbag__subscription', 2), ('postbag_outbox', 20)
;;
INSERT INTO "postbag__shard" ("subscription", "lo", "hi", "owner", "token", "version", "settled", "position") VALUES (1, 0, 4096, '', 0, 1, 0, x''), (2, 0, 1024, '', 0, 1, 0, x''), (2, 1024, 2048, '', 0, 1, 0, x''), (2, 2048, 3072, '', 0, 1, 0, x''), (2, 3072, 4096, '', 0, 1, 0, x'')
;;
INSERT INTO "postbag__forgetting" ("one", "consumer", "id", "token", "expires") VALUES (1, x'', x'', 0, 0)
;;
INSERT INTO "postbag_outbox" ("seq", "id", "at", "topic", "key", "shard_key", "type", "headers", "payload") VALUES (1, x'01a219d1ee3a72138b0b35301e46d2e0', 1795729518144000, 't', 'old-0', '', '', NULL, x'30316132313964312d656533612d373231332d386230622d333533303165343664326530'), (2, x'01a219d1ee5074d5974d4e80fcbf06a5', 1795729518160000, 't', 'old-1', '', '', NULL, x'30316132313964312d656535302d373464352d393734642d346538306663626630366135'), (3, x'01a219d1ee52751fb58377d3ca6d7f90', 1795729518163000, 't', 'old-2', '', '', NULL, x'30316132313964312d656535322d373531662d623538332d373764336361366437663930'), (4, x'01a219d1ee5373369762b80fa76e6613', 1795729518163000, 't', 'old-3', '', '', NULL, x'30316132313964312d656535332d373333362d393736322d623830666137366536363133'), (5, x'01a219d1ee53733697b8471116a95ebd', 1795729518164000, 't', 'old-4', '', '', NULL, x'30316132313964312d656535332d373333362d393762382d343731313136613935656264'), (6, x'01a219d1ee54719fb50278f57c55e339', 1795729518164000, 't', 'old-0', '', '', NULL, x'30316132313964312d656535342d373139662d623530322d373866353763353565333339'), (7, x'01a219d1ee54719fb55fe0af73f4b558', 1795729518165000, 't', 'old-1', '', '', NULL, x'30316132313964312d656535342d373139662d623535662d653061663733663462353538'), (8, x'01a219d1ee55779f958c127183c60231', 1795729518165000, 't', 'old-2', '', '', NULL, x'30316132313964312d656535352d373739662d393538632d313237313833633630323331'), (9, x'01a219d1ee55779f95dd0b22c7a510c3', 1795729518166000, 't', 'old-3', '', '', NULL, x'30316132313964312d656535352d373739662d393564642d306232326337613531306333'), (10, x'01a219d1ee56719bb7b9b40cf85bca06', 1795729518166000, 't', 'old-4', '', '', NULL, x'30316132313964312d656535362d373139622d623762392d623430636638356263613036'), (11, x'01a219d1ee5770199190bd947fa90e73', 1795729518168000, 't', 'old-0', '', '', NULL, x'30316132313964312d656535372d373031392d393139302d626439343766613930653733'), (12, x'01a219d1ee5875798bb9be502f6d3731', 1795729518168000, 't', 'old-1', '', '', NULL, x'30316132313964312d656535382d373537392d386262392d626535303266366433373331'), (13, x'01a219d1ee5875798bc26486585a5c5d', 1795729518169000, 't', 'old-2', '', '', NULL, x'30316132313964312d656535382d373537392d386263322d363438363538356135633564'), (14, x'01a219d1ee597638be22febf2635e497', 1795729518169000, 't', 'old-3', '', '', NULL, x'30316132313964312d656535392d373633382d626532322d666562663236333565343937'), (15, x'01a219d1ee597638be47e178c3d4dc4c', 1795729518169000, 't', 'old-4', '', '', NULL, x'30316132313964312d656535392d373633382d626534372d653137386333643464633463'), (16, x'01a219d1ee5a7177849bf3c1900a6f5a', 1795729518170000, 't', 'old-0', '', '', NULL, x'30316132313964312d656535612d373137372d383439622d663363313930306136663561'), (17, x'01a219d1ee5a717784f7343e3f7b9649', 1795729518170000, 't', 'old-1', '', '', NULL, x'30316132313964312d656535612d373137372d383466372d333433653366376239363439'), (18, x'01a219d1ee5b735598e5e41914e52c99', 1795729518171000, 't', 'old-2', '', '', NULL, x'30316132313964312d656535622d373335352d393865352d653431393134653532633939'), (19, x'01a219d1ee5b7355990f4114f04c8780', 1795729518171000, 't', 'old-3', '', '', NULL, x'30316132313964312d656535622d373335352d393930662d343131346630346338373830'), (20, x'01a219d1ee5c750382e8bf9beaa7ce16', 1795729518172000, 't', 'old-4', '', '', NULL, x'30316132313964312d656535632d373530332d383265382d626639626561613763653136')
;;
CREATE INDEX postbag__parked_chain ON postbag__parked (subscription, chain, seq, slot) WHERE chain IS NOT NULL
;;
CREATE INDEX postbag__parked_ready ON postbag__parked (subscription, ready) WHERE ready IS NOT NULL
;;
CREATE INDEX postbag__parked_head ON postbag__parked (subscription, chain) WHERE ready IS NOT NULL AND chain IS NOT NULL
;;
CREATE INDEX postbag__parked_state ON postbag__parked (subscription, state, seq)
;;
CREATE INDEX postbag__parked_held ON postbag__parked (subscription, held, seq, slot, chain) WHERE held IS NOT NULL
;;
CREATE INDEX postbag__command_order ON postbag__command (subscription, pending)
;;
CREATE INDEX postbag__scheduled_due ON postbag__scheduled (box, due, n)
;;
CREATE INDEX postbag__scheduled_id ON postbag__scheduled (box, id)
;;
CREATE INDEX postbag__parked_waiting ON postbag__parked (subscription, hash, seq) WHERE state = 1 AND chain IS NULL AND hash <> 0
;;
CREATE TRIGGER postbag_outbox__seq AFTER INSERT ON postbag_outbox
WHEN NEW.seq - coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'postbag_outbox'), 0) NOT BETWEEN 1 AND 1000000000
BEGIN
	SELECT RAISE(ABORT, 'postbag: leave seq out of the INSERT; the database gives it');
END
;;
CREATE TRIGGER postbag_outbox__fixed BEFORE UPDATE ON postbag_outbox
BEGIN
	SELECT RAISE(ABORT, 'postbag: a message cannot be changed; insert another one');
END
;;
