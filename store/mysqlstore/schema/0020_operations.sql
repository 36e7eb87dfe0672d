-- Long operations: commands for many messages, that survive the process which began them.
-- One row each. Times are microseconds, and 0 is none.
CREATE TABLE IF NOT EXISTS postbag__operation (
	id           BIGINT         NOT NULL AUTO_INCREMENT PRIMARY KEY,
	version      INT            NOT NULL,
	kind         VARBINARY(64)  NOT NULL,
	box          VARBINARY(64)  NOT NULL,
	name         VARBINARY(255) NOT NULL, -- of the subscription; empty: of scheduled messages
	subscription BIGINT         NOT NULL, -- its id
	messages     VARBINARY(64)  NOT NULL, -- the state that they have
	chosen       MEDIUMBLOB     NOT NULL, -- JSON
	as_of        BIGINT         NOT NULL, -- before they were looked up
	rate         BIGINT         NOT NULL,
	who          MEDIUMBLOB     NOT NULL,
	why          MEDIUMBLOB     NOT NULL,
	matched      BIGINT         NOT NULL,
	at           BIGINT         NOT NULL, -- how many are behind it
	given        BIGINT         NOT NULL,
	changed      BIGINT         NOT NULL,
	passed       BIGINT         NOT NULL,
	state        VARBINARY(64)  NOT NULL,
	error        MEDIUMBLOB     NOT NULL,
	by_who       MEDIUMBLOB     NOT NULL, -- who paused, resumed or cancelled it last
	by_why       MEDIUMBLOB     NOT NULL,
	worker       VARBINARY(255) NOT NULL,
	token        BIGINT         NOT NULL,
	lease_ends   BIGINT         NOT NULL,
	made         BIGINT         NOT NULL,
	begun        BIGINT         NOT NULL,
	touched      BIGINT         NOT NULL, -- the last change
	ended        BIGINT         NOT NULL,
	-- What housekeeping removes, the oldest first; how many there are.
	KEY postbag__operation_touched (box, touched),
	KEY postbag__operation_state (state)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

-- The messages of operations, up to 500 in a row.
CREATE TABLE IF NOT EXISTS postbag__operation_part (
	operation BIGINT     NOT NULL,
	part      BIGINT     NOT NULL,
	messages  MEDIUMBLOB NOT NULL,
	PRIMARY KEY (operation, part)
) ENGINE = InnoDB;
