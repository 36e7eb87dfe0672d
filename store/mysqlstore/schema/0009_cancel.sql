-- The same procedure, by the index of ids. Without the hint a server with few scheduled
-- messages may read by the time at which they are due: then a cancel that is not committed
-- yet locks messages that it does not concern, and they are not delivered meanwhile. Rights
-- on the procedure go with the old one: grant EXECUTE again (postbag grants).
DROP PROCEDURE IF EXISTS postbag__cancel;
CREATE PROCEDURE IF NOT EXISTS postbag__cancel(IN of_box VARBINARY(64), IN message BINARY(16)) MODIFIES SQL DATA SQL SECURITY DEFINER
DELETE s FROM postbag__scheduled s FORCE INDEX (postbag__scheduled_id)
WHERE box = of_box AND id = message AND due > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
