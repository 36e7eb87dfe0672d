-- Long operations: commands for many messages, that survive the process which began them. One row each. The ids are not
-- given out again. Times are microseconds, and 0 is none.
CREATE TABLE postbag__operation (
	id           INTEGER PRIMARY KEY AUTOINCREMENT,
	version      INTEGER NOT NULL,
	kind         TEXT    NOT NULL,
	box          TEXT    NOT NULL,
	name         TEXT    NOT NULL, -- of the subscription; empty: of scheduled messages
	subscription INTEGER NOT NULL, -- its id
	messages     TEXT    NOT NULL, -- the state that they have
	chosen       TEXT    NOT NULL, -- JSON
	as_of        INTEGER NOT NULL, -- before they were looked up
	rate         INTEGER NOT NULL,
	who          TEXT    NOT NULL,
	why          TEXT    NOT NULL,
	matched      INTEGER NOT NULL,
	at           INTEGER NOT NULL DEFAULT 0, -- how many are behind it
	given        INTEGER NOT NULL DEFAULT 0,
	changed      INTEGER NOT NULL DEFAULT 0,
	passed       INTEGER NOT NULL DEFAULT 0,
	state        TEXT    NOT NULL,
	error        TEXT    NOT NULL DEFAULT '',
	by_who       TEXT    NOT NULL DEFAULT '', -- who paused, resumed or cancelled it last
	by_why       TEXT    NOT NULL DEFAULT '',
	worker       TEXT    NOT NULL DEFAULT '',
	token        INTEGER NOT NULL DEFAULT 0,
	lease_ends   INTEGER NOT NULL DEFAULT 0,
	made         INTEGER NOT NULL,
	begun        INTEGER NOT NULL DEFAULT 0,
	touched      INTEGER NOT NULL, -- the last change
	ended        INTEGER NOT NULL DEFAULT 0
);
-- What housekeeping removes, the oldest first; how many there are.
CREATE INDEX postbag__operation_touched ON postbag__operation (box, touched);
CREATE INDEX postbag__operation_state ON postbag__operation (state);

-- The messages of operations, up to 500 in a row.
CREATE TABLE postbag__operation_part (
	operation INTEGER NOT NULL,
	part      INTEGER NOT NULL,
	messages  BLOB    NOT NULL,
	PRIMARY KEY (operation, part)
) WITHOUT ROWID;
