-- Programs that know neither commands for pending messages nor held ones are refused from here on: they take such a command for
-- one whose message is gone, and delete it. Those that run are told by the end of the life, and look.
UPDATE postbag._meta SET reader = greatest(reader, 2);
DELETE FROM postbag._life;
