-- One box: the log. $box is the box's name, which is letters, digits and underscores;
-- $partitions is how its table is divided, or nothing. How slots are made, and what refuses
-- keys that are no numbers, is in slots.go.
--
-- A plain INSERT INTO postbag_$box (topic, `key`, payload) is a full publisher. Text
-- is UTF-8 in VARBINARY columns, somewhat wider than what is allowed, so that a
-- session without strict mode, which would cut a longer one silently, runs into the
-- checks.
CREATE TABLE IF NOT EXISTS postbag_$box (
	-- Given by the database, and nothing else is unique here: a position is made of
	-- seqs, and a seq that nobody wrote is proved dead by a tombstone under it. Signed,
	-- since no position names a seq above 2^63-1.
	seq       BIGINT          NOT NULL AUTO_INCREMENT PRIMARY KEY,
	-- A UUID of version 7: 48 bits of milliseconds, then random ones.
	id        BINARY(16)      NOT NULL DEFAULT (UNHEX(CONCAT(
		LPAD(HEX(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000), 12, '0'),
		'7', LEFT(HEX(RANDOM_BYTES(2)), 3), HEX(128 + (ORD(RANDOM_BYTES(1)) & 63)), HEX(RANDOM_BYTES(7))))),
	-- Microseconds since 1970, UTC, when the row was inserted.
	at        BIGINT          NOT NULL DEFAULT (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))),
	topic     VARBINARY(300)  NOT NULL DEFAULT '$box',
	`key`     VARBINARY(1100) NOT NULL DEFAULT '',
	shard_key VARBINARY(1100) NOT NULL DEFAULT '',
	type      VARBINARY(300)  NOT NULL DEFAULT '',
	-- A JSON object of strings, as text. Null: none.
	headers   MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
	payload   LONGBLOB        NOT NULL,
	-- The slot is the database's to compute. A tombstone, which is no message, has 65535.
	slot      SMALLINT UNSIGNED GENERATED ALWAYS AS (
		CASE WHEN topic = '' THEN 65535
		$rule
		END) STORED,
	CONSTRAINT postbag_$box__id CHECK (topic = '' OR id <> x'00000000000000000000000000000000'),
	-- An empty topic is the mark of a tombstone, which also has this type and no id.
	CONSTRAINT postbag_$box__topic CHECK (
		LENGTH(topic) <= 255 AND LOCATE(x'00', topic) = 0 AND (topic <> ''
		OR type = '@tombstone' AND id = x'00000000000000000000000000000000' AND payload = '')),
	CONSTRAINT postbag_$box__key CHECK (LENGTH(`key`) <= 1024 AND LOCATE(x'00', `key`) = 0),
	CONSTRAINT postbag_$box__shard_key CHECK (LENGTH(shard_key) <= 1024 AND LOCATE(x'00', shard_key) = 0),
	CONSTRAINT postbag_$box__type CHECK (LENGTH(type) <= 255 AND LOCATE(x'00', type) = 0),
	-- MySQL's JSON_VALID looks at nothing behind a NUL.
	CONSTRAINT postbag_$box__headers CHECK (
		headers IS NULL OR LENGTH(headers) <= 65536 AND LOCATE(CHAR(0 USING utf8mb4), headers) = 0 AND JSON_VALID(headers) AND JSON_TYPE(headers) = 'OBJECT'),
	-- MariaDB's JSON_VALID takes what no reader does, as escapes that are none and {"a":1.}, so that there the grammar of
	-- RFC 8259 is asked too. It never goes back: what it takes grows with the text alone. An exclamation mark stands for
	-- a backslash, whose meaning in a text depends on the session. For MySQL it is a comment.
	/*M! CONSTRAINT postbag_$box__json CHECK (headers IS NULL OR COALESCE(headers REGEXP REPLACE(CONCAT(
		'(?(DEFINE)(?<w>[!x20!t!r!n]*+)',
		'(?<s>"(?>[^"!!!x00-!x1f]++|!!(?>["!!/bfnrt]|u[0-9A-Fa-f]{4}))*+")',
		'(?<n>-?+(?>0|[1-9][0-9]*+)(?>!.[0-9]++)?+(?>[Ee][-+]?+[0-9]++)?+)',
		'(?<v>(?>(?&s)|(?&n)|true|false|null|(?&o)|(?&a))(?&w))',
		'(?<m>(?&s)(?&w):(?&w)(?&v))',
		'(?<o>{(?&w)(?>}|(?&m)(?>,(?&w)(?&m))*+}))',
		'(?<a>![(?&w)(?>!]|(?&v)(?>,(?&w)(?&v))*+!])))',
		'!A(?&w)(?&o)(?&w)!z'), '!', CHAR(92 USING utf8mb4)), FALSE)), */
	$number
	CONSTRAINT postbag_$box__payload CHECK (LENGTH(payload) <= 16777216),
	CONSTRAINT postbag_$box__at CHECK (at > 0)
) ENGINE = InnoDB DEFAULT CHARSET = binary $partitions;
