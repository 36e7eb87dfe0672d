-- Making subscriptions.

-- name: lock_box
-- Declarations for one box wait for each other here, and for retention, as it does for them. Returns how far the log is
-- gone.
SELECT b.dropped FROM postbag._boxes b WHERE b.name = $1::text FOR UPDATE;

-- name: is_removed
-- Whether an operator removed a subscription. By primary key.
SELECT EXISTS (SELECT FROM postbag._removed r JOIN postbag._boxes b ON b.id = r.box WHERE b.name = $1::text AND r.name = $2::text);

-- name: declare
-- Makes a subscription with its shards, unless there is one of that name, an operator removed it, or it would begin ($7) with
-- what is gone. One that begins with a snapshot ($8) does not.
WITH u AS (
  INSERT INTO postbag._subscriptions (box, name, types, takes, wanted)
  SELECT b.id, $2::text, $3::text[], $9::text, cardinality($4::smallint[]) FROM postbag._boxes b
  WHERE b.name = $1::text AND ($8::boolean OR $7::bigint >= b.dropped)
    AND NOT EXISTS (SELECT FROM postbag._removed r WHERE r.box = b.id AND r.name = $2::text)
  ON CONFLICT (box, name) DO NOTHING RETURNING id
), c AS (
  INSERT INTO postbag._cuts (sub, position, floor) SELECT u.id, $6::bytea, $7::bigint FROM u
), s AS (
  INSERT INTO postbag._shards (sub, lo, hi, position) SELECT u.id, n.lo, n.hi, $6::bytea
  FROM u CROSS JOIN unnest($4::smallint[], $5::smallint[]) n(lo, hi) RETURNING 1
)
UPDATE postbag._epoch e SET n = e.n + 1 WHERE EXISTS (SELECT FROM s);

-- name: types
-- The filter that a subscription has by now, who set it, and whether it is a replay.
SELECT u.types, u.takes, u.types_by, u.replay IS NOT NULL FROM postbag._boxes b JOIN postbag._subscriptions u ON u.box = b.id WHERE b.name = $1::text AND u.name = $2::text;

-- name: ends
-- The lowest and the highest row of the log. Reads the primary key at both ends.
SELECT coalesce((SELECT b.seq FROM postbag.{box} b ORDER BY b.seq LIMIT 1), 0), coalesce((SELECT b.seq FROM postbag.{box} b ORDER BY b.seq DESC LIMIT 1), 0);

-- name: stored_at
-- When the first row at or after a seq was stored, and its seq; microseconds since 2000. Reads the primary key.
SELECT b.seq, timestamptz_send(b.at) FROM postbag.{box} b WHERE b.seq >= $1::bigint ORDER BY b.seq LIMIT 1;

-- name: instant
-- A snapshot and a bound of what it sees: the last seq given out after it was taken, or a little more (see guard_last).
SELECT pg_snapshot_send(pg_current_snapshot()), (SELECT CASE WHEN q.is_called THEN q.last_value ELSE q.last_value - 1 END FROM postbag.{box}__seq q);

-- name: writers
-- Which running transactions have written to the box: those hold a lock on one of its tables until they end. Reads the
-- lock table: milliseconds, so it is asked about old transactions only. It is read once: a transaction that is prepared, or
-- takes its first lock, between two readings would be in one and not in the other. Even one reading may see a transaction
-- that is just being prepared with a part of its locks under its session and a part under -1/xid: its own locks count under
-- either, and while there is a writer whose id is not seen, no prepared one counts as quiet. A transaction that ends gives its
-- locks back one by one, after it has ended: only one that runs still, when the locks have been read, counts as quiet.
WITH l AS MATERIALIZED (
  SELECT k.locktype, k.transactionid, k.virtualtransaction, k.relation, k.database, k.mode, k.granted FROM pg_locks k
), r AS MATERIALIZED (
  SELECT DISTINCT l.virtualtransaction FROM l
  WHERE l.locktype = 'relation' AND l.mode = 'RowExclusiveLock'
    AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
    AND l.relation IN (SELECT 'postbag.{box}'::regclass UNION ALL SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = 'postbag.{box}'::regclass)
), t AS MATERIALIZED (
  SELECT l.transactionid, l.virtualtransaction FROM l WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted
), o AS MATERIALIZED (
  SELECT EXISTS (SELECT FROM r WHERE r.virtualtransaction NOT IN (SELECT t.virtualtransaction FROM t)) AS unknown
)
SELECT t.transactionid::text::bigint, bool_or(t.virtualtransaction IN (SELECT r.virtualtransaction FROM r)
  OR '-1/' || t.transactionid::text IN (SELECT r.virtualtransaction FROM r)
  OR t.virtualtransaction LIKE '-1/%' AND (SELECT o.unknown FROM o)
  OR pg_xact_status((x.n + CASE WHEN x.n - x.xmax > 2147483648 THEN -4294967296 WHEN x.xmax - x.n > 2147483648 THEN 4294967296 ELSE 0 END)::text::xid8)
    IS DISTINCT FROM 'in progress')
FROM t CROSS JOIN LATERAL (SELECT (m.xmax >> 32 << 32) + t.transactionid::text::bigint AS n, m.xmax
  FROM (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS xmax) m) x GROUP BY 1;
