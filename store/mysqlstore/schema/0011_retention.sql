-- How long messages of a box stay, in microseconds: 0 for nothing said, -1 for ever. What operators have set comes first,
-- then what relays have deployed, with when and who said so last. A box that says nothing goes by the default.
SET @postbag_add = (SELECT IF(COUNT(*) > 0, 'DO 0',
	'ALTER TABLE postbag__box
	ADD COLUMN keep_delivered     BIGINT          NOT NULL DEFAULT 0,
	ADD COLUMN keep_discarded     BIGINT          NOT NULL DEFAULT 0,
	ADD COLUMN keep_dead          BIGINT          NOT NULL DEFAULT 0,
	ADD COLUMN deployed_delivered BIGINT          NOT NULL DEFAULT 0,
	ADD COLUMN deployed_discarded BIGINT          NOT NULL DEFAULT 0,
	ADD COLUMN deployed_dead      BIGINT          NOT NULL DEFAULT 0,
	ADD COLUMN deployed_at        BIGINT          NOT NULL DEFAULT 0,
	ADD COLUMN deployed_by        VARBINARY(1024) NOT NULL DEFAULT ''''')
FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'postbag__box' AND column_name = 'deployed_by');
PREPARE postbag_add FROM @postbag_add;
EXECUTE postbag_add;
DEALLOCATE PREPARE postbag_add;
