-- Cancels a scheduled message that is not yet due, by its box and id alone: who does not
-- know the id can neither see nor remove one. With EXECUTE on it a producer needs no
-- SELECT and no DELETE on the table. It runs as who has made it.
CREATE PROCEDURE IF NOT EXISTS postbag__cancel(IN of_box VARBINARY(64), IN message BINARY(16)) MODIFIES SQL DATA SQL SECURITY DEFINER
DELETE FROM postbag__scheduled
WHERE box = of_box AND id = message AND due > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
