-- One box: the log, and what keeps its rows true. $box is the box's name, which
-- is letters, digits and underscores. A box by number has one more constraint.
--
-- A plain INSERT INTO postbag_$box (topic, key, payload) is a full publisher. All
-- expressions are such that SQLite 3.24 and newer evaluate them, since it is the
-- producer's library that does: so no unhex(), no unixepoch('subsec'). A byte of
-- a number is taken from a blob of all bytes. The clock has milliseconds.
CREATE TABLE postbag_$box (
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
	topic     TEXT    NOT NULL DEFAULT '$box',
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
	$number
	CONSTRAINT "type is text without NUL, 255 bytes at most"
		CHECK (type = '' OR (typeof(type) = 'text' AND length(CAST(type AS BLOB)) <= 255 AND instr(type, char(0)) = 0)),
	CONSTRAINT "headers is a JSON object, 64 KiB at most"
		CHECK (headers IS NULL OR (typeof(headers) = 'text' AND length(CAST(headers AS BLOB)) <= 65536 AND instr(headers, char(0)) = 0 AND json_valid(headers) AND json_type(headers) = 'object')),
	CONSTRAINT "payload is a blob or text, 16 MiB at most"
		CHECK (typeof(payload) IN ('blob', 'text') AND length(CAST(payload AS BLOB)) <= 16777216)
);

-- A seq that a producer chose could lie before a position, where nobody would
-- read it, or so high that none would be left. While a statement runs,
-- sqlite_sequence still holds the last seq of those before it.
CREATE TRIGGER postbag_$box__seq AFTER INSERT ON postbag_$box
WHEN NEW.seq - coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'postbag_$box'), 0) NOT BETWEEN 1 AND 1000000000
BEGIN
	SELECT RAISE(ABORT, 'postbag: leave seq out of the INSERT; the database gives it');
END;

-- What was written once is what every subscription gets.
CREATE TRIGGER postbag_$box__fixed BEFORE UPDATE ON postbag_$box
BEGIN
	SELECT RAISE(ABORT, 'postbag: a message cannot be changed; insert another one');
END;
