-- Boxes whose slots are made by number: an option of a box, that never changes.

-- How slots are made: 0 by hash, 1 by number.
ALTER TABLE postbag__box ADD COLUMN slots INTEGER NOT NULL DEFAULT 0;

-- A message that its box would refuse is refused when it is scheduled.
CREATE TRIGGER postbag__scheduled_number BEFORE INSERT ON postbag__scheduled
WHEN EXISTS (SELECT 1 FROM postbag__box WHERE name = NEW.box AND slots = 1)
	AND (CASE WHEN NEW.shard_key <> '' THEN NEW.shard_key ELSE NEW.key END = '-'
		OR ltrim(substr(CASE WHEN NEW.shard_key <> '' THEN NEW.shard_key ELSE NEW.key END,
			1 + (substr(CASE WHEN NEW.shard_key <> '' THEN NEW.shard_key ELSE NEW.key END, 1, 1) = '-')), '0123456789') <> '')
BEGIN
	SELECT RAISE(ABORT, 'postbag: the box takes slots by number: set shard_key, or else key, to a decimal integer');
END;
