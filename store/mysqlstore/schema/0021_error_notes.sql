-- Notes of operators on errors: one row a subscription and kind of error. The hash is SHA-256 of the kind. Times are
-- microseconds: seen is when its errors were there last, and checked when housekeeping looked for them last.
CREATE TABLE IF NOT EXISTS postbag__error_note (
	box     VARBINARY(64)  NOT NULL,
	name    VARBINARY(255) NOT NULL, -- of the subscription
	hash    BINARY(32)     NOT NULL,
	kind    MEDIUMBLOB     NOT NULL,
	note    MEDIUMBLOB     NOT NULL,
	who     MEDIUMBLOB     NOT NULL,
	at      BIGINT         NOT NULL,
	seen    BIGINT         NOT NULL,
	checked BIGINT         NOT NULL,
	PRIMARY KEY (box, name, hash),
	-- What housekeeping looks at, the oldest first.
	KEY postbag__error_note_checked (box, checked)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;
