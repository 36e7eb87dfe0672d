-- A box of an older version: a trigger does what the constraints of schema/box.sql do in a new one. $box is the
-- box's name. Of rows that are there it asks nothing.
CREATE TRIGGER IF NOT EXISTS postbag_$box__tight BEFORE INSERT ON postbag_$box
WHEN length(CAST(NEW.payload AS BLOB)) > 16777216 OR NEW.headers IS NOT NULL AND NOT (
	typeof(NEW.headers) = 'text' AND length(CAST(NEW.headers AS BLOB)) <= 65536 AND instr(NEW.headers, char(0)) = 0
	AND json_valid(NEW.headers) AND json_type(NEW.headers) = 'object')
BEGIN
	SELECT RAISE(ABORT, 'postbag: headers is a JSON object, 64 KiB at most, and payload has 16 MiB at most');
END;
