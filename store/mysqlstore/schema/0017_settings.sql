-- What operators have set of a subscription's policy while relays run: JSON, by name. Null:
-- nothing. MySQL has no ADD COLUMN IF NOT EXISTS: what is there already is looked up first.
SET @postbag_add = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE postbag__subscription ADD COLUMN settings MEDIUMBLOB')
FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'postbag__subscription' AND column_name = 'settings');
PREPARE postbag_add FROM @postbag_add;
EXECUTE postbag_add;
DEALLOCATE PREPARE postbag_add;
