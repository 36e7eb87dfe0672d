-- What a replay sends again: JSON. Null: the subscription is no replay. MySQL has no
-- ADD COLUMN IF NOT EXISTS: what is there already is looked up first.
SET @postbag_add = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE postbag__subscription ADD COLUMN replay MEDIUMBLOB')
FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'postbag__subscription' AND column_name = 'replay');
PREPARE postbag_add FROM @postbag_add;
EXECUTE postbag_add;
DEALLOCATE PREPARE postbag_add;
