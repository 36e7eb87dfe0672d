-- Subscriptions that operators change while relays run. MySQL has no ADD COLUMN IF NOT
-- EXISTS: what is there already is looked up first.

-- Who set the filter with a command, and who asked for the number of shards. Empty: they
-- are as declared.
SET @postbag_add = (SELECT IF(COUNT(*) > 0, 'DO 0',
	'ALTER TABLE postbag__subscription ADD COLUMN types_by VARBINARY(1024) NOT NULL DEFAULT '''', ADD COLUMN wanted_by VARBINARY(1024) NOT NULL DEFAULT ''''')
FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'postbag__subscription' AND column_name = 'types_by');
PREPARE postbag_add FROM @postbag_add;
EXECUTE postbag_add;
DEALLOCATE PREPARE postbag_add;

-- Subscriptions that an operator removed. A relay that still names one does not declare it
-- again.
CREATE TABLE IF NOT EXISTS postbag__removed (
	box  VARBINARY(64)   NOT NULL,
	name VARBINARY(255)  NOT NULL,
	at   BIGINT          NOT NULL,
	who  VARBINARY(1024) NOT NULL,
	PRIMARY KEY (box, name)
) ENGINE = InnoDB;
