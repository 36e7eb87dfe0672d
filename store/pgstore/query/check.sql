-- What Check looks at.

-- name: sequence
-- How the sequence of a box is set, where it stands, and the highest row. Reads the primary key at its end.
SELECT s.seqcache, s.seqcycle, s.seqincrement,
  (SELECT CASE WHEN q.is_called THEN q.last_value ELSE q.last_value - 1 END FROM postbag.{box}__seq q),
  coalesce((SELECT b.seq FROM postbag.{box} b ORDER BY b.seq DESC LIMIT 1), 0)
FROM pg_sequence s WHERE s.seqrelid = 'postbag.{box}__seq'::regclass;

-- name: triggers
-- How many triggers of a box by number are at work in every session: of the log and of scheduled messages. The catalogue, by tables.
SELECT count(*) FROM pg_trigger t
WHERE t.tgrelid IN ('postbag.{box}'::regclass, 'postbag.{box}__scheduled'::regclass) AND t.tgname = '{box}__number' AND t.tgenabled = 'A';

-- name: settings
SELECT s.name, s.setting FROM pg_settings s WHERE s.name IN ('synchronous_commit', 'fsync', 'full_page_writes');
