-- What people see and order: topics that do not work, how destinations are, orders for
-- messages that are not parked, and what became of those that failed. MySQL has no
-- ADD COLUMN IF NOT EXISTS: what is there already is looked up first.

-- The topic that does not work, of a held message; else null. By the index: the held
-- messages of a topic in order, and how many each has.
SET @postbag_add = (SELECT IF(COUNT(*) > 0, 'DO 0',
	'ALTER TABLE postbag__parked ADD COLUMN held VARBINARY(300), ADD KEY postbag__parked_held (subscription, held, seq, slot, chain)')
FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'postbag__parked' AND column_name = 'held');
PREPARE postbag_add FROM @postbag_add;
EXECUTE postbag_add;

-- How a relay's destinations are, as it said with its last heartbeat: JSON, or null.
SET @postbag_add = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE postbag__relay ADD COLUMN conditions MEDIUMBLOB')
FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'postbag__relay' AND column_name = 'conditions');
PREPARE postbag_add FROM @postbag_add;
EXECUTE postbag_add;

-- Whether the message was not parked when the order was given. There are few of these,
-- and all of them come with every turn.
SET @postbag_add = (SELECT IF(COUNT(*) > 0, 'DO 0',
	'ALTER TABLE postbag__command ADD COLUMN pending TINYINT NOT NULL DEFAULT 0, ADD KEY postbag__command_pending (subscription, pending, id)')
FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'postbag__command' AND column_name = 'pending');
PREPARE postbag_add FROM @postbag_add;
EXECUTE postbag_add;
DEALLOCATE PREPARE postbag_add;

-- What failed of messages that were parked and are not any more, while the log has
-- them.
CREATE TABLE IF NOT EXISTS postbag__past (
	subscription BIGINT        NOT NULL,
	seq          BIGINT        NOT NULL,
	attempts     INT           NOT NULL,
	reason       VARCHAR(1024) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
	history      MEDIUMTEXT    CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
	PRIMARY KEY (subscription, seq)
) ENGINE = InnoDB;
