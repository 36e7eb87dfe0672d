-- What people see and order: topics that do not work, how destinations are, orders for
-- messages that are not parked, and what became of those that failed.

-- The topic that does not work, of a held message; else null.
ALTER TABLE postbag__parked ADD COLUMN held TEXT;
-- The held messages of a topic in order, and how many each has.
CREATE INDEX postbag__parked_held ON postbag__parked (subscription, held, seq, slot, chain) WHERE held IS NOT NULL;

-- How a relay's destinations are, as it said with its last heartbeat: JSON, or null.
ALTER TABLE postbag__relay ADD COLUMN conditions TEXT;

-- Whether the message was not parked when the order was given. There are few of these,
-- and all of them come with every turn.
ALTER TABLE postbag__command ADD COLUMN pending INTEGER NOT NULL DEFAULT 0;
DROP INDEX postbag__command_order;
-- The oldest first: an index ends with the rowid, which is the id.
CREATE INDEX postbag__command_order ON postbag__command (subscription, pending);

-- What failed of messages that were parked and are not any more, while the log has
-- them.
CREATE TABLE postbag__past (
	subscription INTEGER NOT NULL,
	seq          INTEGER NOT NULL,
	attempts     INTEGER NOT NULL,
	reason       TEXT    NOT NULL,
	history      TEXT    NOT NULL,
	PRIMARY KEY (subscription, seq)
) WITHOUT ROWID;
