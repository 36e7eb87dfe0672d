-- Subscriptions that operators change while relays run.

-- Who set the filter with a command, and who asked for the number of shards. Empty: they
-- are as declared.
ALTER TABLE postbag__subscription ADD COLUMN types_by TEXT NOT NULL DEFAULT '';
ALTER TABLE postbag__subscription ADD COLUMN wanted_by TEXT NOT NULL DEFAULT '';

-- Subscriptions that an operator removed. A relay that still names one does not declare it
-- again.
CREATE TABLE postbag__removed (
	box  TEXT    NOT NULL,
	name TEXT    NOT NULL,
	at   INTEGER NOT NULL,
	who  TEXT    NOT NULL,
	PRIMARY KEY (box, name)
) WITHOUT ROWID;
