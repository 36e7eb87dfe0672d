-- What Check looks at.

-- name: sequence
-- How the sequence of a box is set, where it stands, and the highest row. Reads the primary key at its end.
SELECT s.seqcache, s.seqcycle, s.seqincrement,
  (SELECT CASE WHEN q.is_called THEN q.last_value ELSE q.last_value - 1 END FROM postbag.{box}__seq q),
  coalesce((SELECT b.seq FROM postbag.{box} b ORDER BY b.seq DESC LIMIT 1), 0)
FROM pg_sequence s WHERE s.seqrelid = 'postbag.{box}__seq'::regclass;

-- name: triggers
-- The tables of a box by number, with its partitions, in which its trigger is not at work in every session. The catalogue, by tables.
SELECT c.relname::text FROM pg_class c
WHERE c.oid IN (SELECT 'postbag.{box}'::regclass::oid UNION ALL SELECT 'postbag.{box}__scheduled'::regclass::oid
    UNION ALL SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = 'postbag.{box}'::regclass)
  AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = '{box}__number' AND t.tgenabled = 'A')
ORDER BY c.relname;

-- name: settings
SELECT s.name, s.setting FROM pg_settings s WHERE s.name IN ('synchronous_commit', 'fsync', 'full_page_writes');
