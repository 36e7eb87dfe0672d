-- MySQL lets lock a row who may change it: with the right to change this column alone,
-- which means nothing, producers lock the rows of keys and can change none of them. Who
-- could change n could take away the rows that others lock: those that are gone come back.
SET @postbag_add = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE postbag__lock ADD COLUMN unused TINYINT')
FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'postbag__lock' AND column_name = 'unused');
PREPARE postbag_add FROM @postbag_add;
EXECUTE postbag_add;
DEALLOCATE PREPARE postbag_add;

INSERT IGNORE INTO postbag__lock (n)
WITH d AS (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5
	UNION ALL SELECT 6 UNION ALL SELECT 7)
SELECT a.n * 512 + b.n * 64 + c.n * 8 + d.n FROM d a, d b, d c, d;
