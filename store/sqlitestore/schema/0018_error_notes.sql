-- Notes of operators on errors: one row a subscription and kind of error. The hash is SHA-256 of the kind. Times are
-- microseconds: seen is when its errors were there last, and checked when housekeeping looked for them last.
CREATE TABLE postbag__error_note (
	box     TEXT    NOT NULL,
	name    TEXT    NOT NULL, -- of the subscription
	hash    BLOB    NOT NULL,
	kind    BLOB    NOT NULL,
	note    TEXT    NOT NULL,
	who     TEXT    NOT NULL,
	at      INTEGER NOT NULL,
	seen    INTEGER NOT NULL,
	checked INTEGER NOT NULL,
	PRIMARY KEY (box, name, hash)
) WITHOUT ROWID;
-- What housekeeping looks at, the oldest first.
CREATE INDEX postbag__error_note_checked ON postbag__error_note (box, checked);
