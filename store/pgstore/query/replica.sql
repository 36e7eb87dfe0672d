-- What a reader of a hot standby asks, and the mark that its primary makes. They write nothing, and read no unlogged table.

-- name: mark
-- On the primary: which database it is, its timeline (a write-ahead log file's name begins with it), and how far that is flushed.
-- What a standby gets is what was flushed.
SELECT postbag._identity(), (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())::bigint,
  ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint,
  pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint;

-- name: replica
-- On a standby: whether it is one, when it was started, which database it is, its timeline, how far it has replayed, and what of
-- the schema. It writes its timeline down where it ends a restart point, or flushes pages: after a promotion of its primary it
-- may say the one before for a while.
SELECT pg_is_in_recovery(), timestamptz_send(pg_postmaster_start_time()), postbag._identity(),
  (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())::bigint,
  greatest(c.timeline_id, r.min_recovery_end_timeline)::bigint,
  coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), 0)::bigint,
  m.reader, (SELECT max(g.version) FROM postbag._migrations g), current_setting('server_encoding')
FROM postbag._meta m, pg_control_checkpoint() c, pg_control_recovery() r;

-- name: guard_replica
-- Ends the transaction unless the session is on a standby that was started at $1.
SELECT CASE WHEN pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true) <> '' AND pg_catalog.set_config('row_security', 'off', true) = 'off'
  AND pg_is_in_recovery() AND timestamptz_send(pg_postmaster_start_time()) = int8send($1::bigint) THEN 0 ELSE postbag._refuse() END;

-- name: newest
-- The highest row of a box, zero if there is none. One entry of the primary key. A standby has of a sequence only up to where it
-- has provided numbers, up to 32 too high.
SELECT coalesce((SELECT b.seq FROM postbag.{box} b ORDER BY b.seq DESC LIMIT 1), 0);
