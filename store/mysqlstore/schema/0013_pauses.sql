-- What operators hold: a subscription, a destination of all subscriptions, or messages of a
-- topic, a type or a key. One row a pause. held is what of its scope is held, and empty for
-- a whole subscription, whose flag says so to relays of older versions, too. A row whose end
-- is over holds nothing: the next heartbeat removes it. The table has a few rows, and is
-- read whole with each heartbeat.
CREATE TABLE IF NOT EXISTS postbag__pause (
	subscription BIGINT          NOT NULL, -- 0 for a destination
	scope        VARBINARY(20)   NOT NULL,
	held         VARBINARY(1024) NOT NULL,
	who          MEDIUMBLOB      NOT NULL,
	why          MEDIUMBLOB      NOT NULL,
	began        BIGINT          NOT NULL,
	ends         BIGINT          NOT NULL DEFAULT 0, -- 0: it has no end
	PRIMARY KEY (subscription, scope, held)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;
