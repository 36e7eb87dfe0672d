-- Rejected messages that wait until a newer one of their key is delivered (on_reject: supersede): those of a key, in order.
-- MySQL has no ADD KEY IF NOT EXISTS: what is there already is looked up first.
SET @postbag_add = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE postbag__parked ADD KEY postbag__parked_hash (subscription, hash, seq)')
FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'postbag__parked' AND index_name = 'postbag__parked_hash');
PREPARE postbag_add FROM @postbag_add;
EXECUTE postbag_add;
DEALLOCATE PREPARE postbag_add;
