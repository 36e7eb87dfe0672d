-- What the session is on.

-- name: unfiltered
-- First of each transaction of ours. A function or an operator of somebody else's, in a schema that our role looks into, is taken
-- for the server's where it fits its arguments better, and would run with our rights: nothing but the server's own is looked
-- for. Where somebody has switched row-level security on for a table, statements under a role
-- that is subject to it fail from here on. They would see some rows, or none, otherwise, and a relay passes what it does not see.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true), pg_catalog.set_config('row_security', 'off', true);

-- name: standby
SELECT pg_is_in_recovery();

-- name: look
-- Single rows of our tables, and the cluster's control file. Refused on a standby, since _life is unlogged. The last columns
-- are the timeline (a write-ahead log file's name begins with it, and knows it before the control file does) a
-- snapshot's xmax, and the boxes whose sequence has another file than when it was last looked through.
SELECT timestamptz_send(pg_postmaster_start_time()),
  coalesce((SELECT l.life FROM postbag._life l), 0), postbag._identity(), m.identity, m.reader,
  (SELECT max(g.version) FROM postbag._migrations g), current_setting('server_version_num')::integer,
  current_setting('server_encoding'), current_setting('server_version'),
  ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint,
  pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
  (SELECT array_agg(b.name ORDER BY b.name) FROM postbag._boxes b
    WHERE b.numbering <> pg_relation_filenode(to_regclass('postbag.' || b.name || '__seq'))::bigint)
FROM postbag._meta m;

-- name: schema
-- What a producer's store looks at, with the rights of one.
SELECT m.reader, (SELECT max(g.version) FROM postbag._migrations g), current_setting('server_encoding') FROM postbag._meta m;

-- name: begin_life
-- Several may try at once; one wins, and all read its number.
INSERT INTO postbag._life (life) SELECT 1 + floor(random() * 9007199254740991)::bigint ON CONFLICT DO NOTHING;

-- name: guard
-- Ends the transaction unless the session is on the server that was started at $1 and lives life $2.
SELECT CASE WHEN pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true) <> '' AND pg_catalog.set_config('row_security', 'off', true) = 'off' AND timestamptz_send(pg_postmaster_start_time()) = int8send($1::bigint)
  AND (SELECT l.life FROM postbag._life l) = $2::bigint THEN 0 ELSE postbag._refuse() END;

-- name: guard_last
-- The same, and unless the box's sequence has the file $3 (zero: it is not known), and the last seq that the box has given out; lower will do, higher would lose messages. It comes before the
-- transaction has an id: see bounds. The function locks the sequence's page to read it. A SELECT from the sequence does not,
-- and now and then sees what nextval has there while it writes the log: the number up to which it has provided, 32 too high.
SELECT CASE WHEN pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true) <> '' AND pg_catalog.set_config('row_security', 'off', true) = 'off' AND timestamptz_send(pg_postmaster_start_time()) = int8send($1::bigint)
  AND (SELECT l.life FROM postbag._life l) = $2::bigint
  AND ($3::bigint = 0 OR pg_relation_filenode('postbag.{box}__seq'::regclass)::bigint = $3::bigint)
  THEN coalesce(pg_sequence_last_value('postbag.{box}__seq'::regclass), 0)
  ELSE postbag._refuse() END;

-- name: last
-- The last seq that the box has given out, as guard_last has it; where none was since the sequence was set, the highest row.
SELECT coalesce(pg_sequence_last_value('postbag.{box}__seq'::regclass), (SELECT b.seq FROM postbag.{box} b ORDER BY b.seq DESC LIMIT 1), 0);

-- name: number
-- Gives the transaction an id, and with what was read before it a bound, without writing anything.
SELECT pg_current_xact_id();

-- name: planning
-- Has the rest of a busy transaction use one plan for all parameters, made once, that walks indexes. Of its own accord a
-- planner that sees the parameters makes a plan each time, which costs more than most statements here, and one that takes a
-- page for a small part of the log reads far beyond it and sorts.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true), pg_catalog.set_config('row_security', 'off', true), pg_catalog.set_config('plan_cache_mode', 'force_generic_plan', true), pg_catalog.set_config('jit', 'off', true),
  pg_catalog.set_config('enable_seqscan', 'off', true), pg_catalog.set_config('enable_bitmapscan', 'off', true), pg_catalog.set_config('enable_sort', 'off', true);
