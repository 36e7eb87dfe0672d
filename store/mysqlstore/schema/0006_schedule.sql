-- What no box could ever take is refused where it is scheduled, and not set aside when it
-- is due: an empty topic, and times that are not within the years 1970 to 9999. The end of
-- all numbers is where housekeeping sets aside what it cannot promote. What is there is
-- brought along first.
UPDATE postbag__scheduled SET topic = box WHERE topic = '';
UPDATE postbag__scheduled SET due = IF(due < 0, 0, 9223372036854775807)
WHERE due < 0 OR due > 253402300799999999 AND due <> 9223372036854775807;
UPDATE postbag__scheduled SET at = 0 WHERE at < 0 OR at > 253402300799999999;

-- The servers copy the table for it, and who schedules waits: where many messages are
-- scheduled it is left as it is.
SET @postbag_add = (SELECT IF(COUNT(*) > 0 OR (SELECT COUNT(*) FROM (SELECT 1 FROM postbag__scheduled LIMIT 100001) x) > 100000, 'DO 0',
	'ALTER TABLE postbag__scheduled ADD CONSTRAINT postbag__scheduled__topic CHECK (topic <> ''''),
	ADD CONSTRAINT postbag__scheduled__due CHECK (due BETWEEN 0 AND 253402300799999999 OR due = 9223372036854775807),
	ADD CONSTRAINT postbag__scheduled__at CHECK (at BETWEEN 0 AND 253402300799999999)')
FROM information_schema.table_constraints
WHERE table_schema = DATABASE() AND table_name = 'postbag__scheduled' AND constraint_name = 'postbag__scheduled__topic');
PREPARE postbag_add FROM @postbag_add;
EXECUTE postbag_add;
DEALLOCATE PREPARE postbag_add;
