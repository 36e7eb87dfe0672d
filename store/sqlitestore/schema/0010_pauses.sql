-- What operators hold: a subscription, a destination of all subscriptions, or messages of a
-- topic, a type or a key. One row a pause. held is what of its scope is held, and empty for
-- a whole subscription, whose flag says so to relays of older versions, too. A row whose end
-- is over holds nothing: the next heartbeat removes it.
CREATE TABLE postbag__pause (
	subscription INTEGER NOT NULL, -- 0 for a destination
	scope        TEXT    NOT NULL,
	held         TEXT    NOT NULL,
	who          TEXT    NOT NULL,
	why          TEXT    NOT NULL,
	began        INTEGER NOT NULL,
	ends         INTEGER NOT NULL DEFAULT 0, -- 0: it has no end
	PRIMARY KEY (subscription, scope, held)
) WITHOUT ROWID;
