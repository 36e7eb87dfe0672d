-- Retention. Rows up to _boxes.dropped are gone or going; a session that moves it has locked the box's row, as one that declares a
-- subscription has, so that none begins behind it. What else a transaction writes is written only if it moved it: swept_x is
-- its id then.

-- name: cuts
-- Where the ledgers of the box's subscriptions begin. A few rows.
SELECT c.sub, c.position, c.floor FROM postbag._cuts c JOIN postbag._subscriptions u ON u.id = c.sub
WHERE u.box = $1::integer ORDER BY c.id;

-- name: scan
-- What the ledger is compared with. {box} may be a partition. A range of the primary key, bounded by the caller. Locks
-- nothing.
SELECT b.seq, b.xid, b.id FROM postbag.{box} b WHERE b.seq > $1::bigint AND b.seq <= $2::bigint ORDER BY b.seq LIMIT $3::integer;

-- name: tail
-- The same with the slot and the time (microseconds since 2000).
SELECT b.seq, b.xid, b.id, CASE WHEN b.place > 0 THEN b.place - 1
  ELSE postbag.slot_of(coalesce(nullif(b.shard_key, ''), b.key), b.id) END::smallint, timestamptz_send(b.at)
FROM postbag.{box} b WHERE b.seq > $1::bigint AND b.seq <= $2::bigint ORDER BY b.seq LIMIT $3::integer;

-- name: ledger_lines
-- What the ledgers of subscriptions $1 say of span $2, and where their shards stand, as of one moment: rows of kind 0 are
-- shards with what their own rows hold of the span, of kind 1 the lines of the ledger, of kind 2 what was deleted already.
-- Reads _shards by subscription and _ledger by primary key.
SELECT 0, s.sub, s.lo, s.hi, s.position,
  CASE WHEN s.span = $2::bigint THEN s.delivered + s.filtered ELSE 0 END,
  CASE WHEN s.span = $2::bigint THEN s.delivered_seq + s.filtered_seq ELSE 0 END::text,
  CASE WHEN s.span = $2::bigint THEN s.delivered_id + s.filtered_id ELSE 0 END::text
FROM unnest($1::integer[]) u(id) JOIN postbag._shards s ON s.sub = u.id
UNION ALL
SELECT CASE WHEN l.fate = 6 THEN 2 ELSE 1 END, l.sub, NULL, NULL, NULL, l.n, l.seqs::text, l.ids::text
FROM unnest($1::integer[]) u(id) JOIN postbag._ledger l ON l.sub = u.id WHERE l.span = $2::bigint;

-- name: next_ledger_line
-- The first span from $2 on that a ledger speaks of; the largest number: none. Reads _shards by subscription and one entry of
-- the primary key of _ledger a subscription.
SELECT coalesce(least(
  (SELECT min(s.span) FROM unnest($1::integer[]) u(id) JOIN postbag._shards s ON s.sub = u.id WHERE s.span >= $2::bigint),
  (SELECT min(l.span) FROM unnest($1::integer[]) u(id) CROSS JOIN LATERAL (
    SELECT l.span FROM postbag._ledger l WHERE l.sub = u.id AND l.span >= $2::bigint ORDER BY l.span LIMIT 1) l)),
  9223372036854775807);

-- name: note_floor
-- Notes that all have passed $2, and forgets notes that an older one stands for ($3), or that turned out to be of
-- subscriptions that were not there yet (above $2).
WITH d AS (
  DELETE FROM postbag._floors f WHERE f.box = $1::integer AND (f.seq < $3::bigint OR f.seq > $2::bigint)
)
INSERT INTO postbag._floors (box, seq) SELECT $1::integer, $2::bigint WHERE $2::bigint > 0 ON CONFLICT DO NOTHING;

-- name: copy
-- Copies parked messages after $3 up to $4 out of the log, at most $5, and returns how many it copied, how many it looked
-- at and the last of them. Reads the primary keys of _parked, of _copies and of the log.
WITH q AS MATERIALIZED (
  SELECT DISTINCT p.seq FROM unnest($2::integer[]) u(id) CROSS JOIN LATERAL (
    SELECT p.seq FROM postbag._parked p WHERE p.sub = u.id AND p.seq > $3::bigint AND p.seq <= $4::bigint ORDER BY p.seq LIMIT $5::integer) p
  ORDER BY p.seq LIMIT $5::integer
), i AS (
  INSERT INTO postbag._copies (box, seq, at, id, place, topic, key, shard_key, type, headers, payload)
  SELECT $1::integer, m.* FROM q CROSS JOIN LATERAL (
    SELECT b.seq, b.at, b.id, b.place, b.topic, b.key, b.shard_key, b.type, b.headers::json, b.payload
    FROM postbag.{box} b WHERE b.seq = q.seq LIMIT 1) m
  ON CONFLICT DO NOTHING RETURNING 1
)
SELECT (SELECT count(*) FROM i), count(*), coalesce(max(q.seq), 0) FROM q;

-- name: sweep
-- Moves dropped from $2 to $3 if the lease stands and the box has just the subscriptions $5, and every parked message up to
-- there lies in _copies. Comes after lock_box.
UPDATE postbag._boxes b SET dropped = $3::bigint, swept_x = pg_current_xact_id()
WHERE b.id = $1::integer AND b.dropped = $2::bigint
  AND EXISTS (SELECT FROM postbag._subscriptions u JOIN postbag._shards s ON s.sub = u.id
    WHERE u.box = b.id AND u.name = '@maintenance' AND s.token = $4::bigint)
  AND $5::integer[] = (SELECT coalesce(array_agg(u.id ORDER BY u.id), '{}') FROM postbag._subscriptions u WHERE u.box = b.id AND u.name <> '@maintenance')
  AND NOT EXISTS (SELECT FROM unnest($5::integer[]) u(id) JOIN postbag._parked p ON p.sub = u.id
    WHERE p.seq > $2::bigint AND p.seq <= $3::bigint AND NOT EXISTS (SELECT FROM postbag._copies c WHERE c.box = b.id AND c.seq = p.seq))
RETURNING 1;

-- name: delete_passed
-- Deletes the rows after $2 up to $3, and ends the transaction, by a division by zero, unless they are $4 and none is of a
-- transaction after $5. A range of the primary key, bounded by the caller; locks the rows, which nobody else wants.
WITH d AS (
  DELETE FROM postbag.{box} b WHERE b.seq > $2::bigint AND b.seq <= $3::bigint
    AND EXISTS (SELECT FROM postbag._boxes x WHERE x.id = $1::integer AND x.swept_x = pg_current_xact_id())
  RETURNING b.xid
)
SELECT count(*) / CASE WHEN count(*) = $4::bigint AND coalesce(bool_and(d.xid <= $5::bigint::text::xid8), true)
  OR NOT EXISTS (SELECT FROM postbag._boxes x WHERE x.id = $1::integer AND x.swept_x = pg_current_xact_id()) THEN 1 ELSE 0 END FROM d;

-- name: note_deleted
-- Adds what was deleted to the ledgers, by primary key.
INSERT INTO postbag._ledger AS l (sub, span, fate, shard, n, seqs, ids)
SELECT i.sub, $2::bigint, 6, 0, i.n, i.seqs, i.ids
FROM unnest($3::integer[], $4::bigint[], $5::bigint[], $6::bigint[]) i(sub, n, seqs, ids)
WHERE EXISTS (SELECT FROM postbag._boxes x WHERE x.id = $1::integer AND x.swept_x = pg_current_xact_id())
ON CONFLICT (sub, span, fate, shard) DO UPDATE SET n = l.n + EXCLUDED.n, seqs = l.seqs + EXCLUDED.seqs, ids = l.ids + EXCLUDED.ids;

-- name: forget
-- Forgets what listings know of messages that are gone, and notes that are no use any more. By primary key.
WITH d AS (
  DELETE FROM postbag._discarded d USING unnest($2::integer[]) u(id) WHERE d.sub = u.id AND d.seq <= $3::bigint
), h AS (
  DELETE FROM postbag._past h USING unnest($2::integer[]) u(id) WHERE h.sub = u.id AND h.seq <= $3::bigint
)
DELETE FROM postbag._floors f WHERE f.box = $1::integer AND f.seq < $3::bigint
  AND EXISTS (SELECT FROM postbag._boxes x WHERE x.id = $1::integer AND x.swept_x = pg_current_xact_id());

-- name: decide
-- Notes that a partition shall be dropped.
INSERT INTO postbag._drops (box, lo, hi, part) SELECT b.id, $2::bigint, $3::bigint, $4::text FROM postbag._boxes b
WHERE b.id = $1::integer AND b.swept_x = pg_current_xact_id() ON CONFLICT DO NOTHING RETURNING 1;

-- name: drops
-- The partitions to be dropped, and how far that is: whether the table exists, and whether it is a partition still. A few
-- rows of the catalog.
SELECT d.lo, d.hi, d.part, c.oid IS NOT NULL, i.inhrelid IS NOT NULL
FROM postbag._drops d
LEFT JOIN pg_class c ON c.relname = d.part AND c.relnamespace = 'postbag'::regnamespace AND c.relkind = 'r'
LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
WHERE d.box = $1::integer ORDER BY d.lo;

-- name: drop_part
-- A table by itself, which nobody uses.
DROP TABLE IF EXISTS postbag.{part};

-- name: dropped
DELETE FROM postbag._drops d WHERE d.box = $1 AND d.lo = $2;

-- name: fold
-- Adds the ledgers' lines of spans before $2, which are gone, up into lines of span -1, so that ledgers do not grow for
-- ever. What was deleted in them need not be known any more. By subscription.
WITH g AS (
  DELETE FROM postbag._ledger l USING postbag._subscriptions u
  WHERE u.box = $1 AND l.sub = u.id AND l.span >= 0 AND l.span < $2 RETURNING l.*
)
INSERT INTO postbag._ledger AS l (sub, span, fate, shard, n, seqs, ids)
SELECT g.sub, -1, g.fate, 0, sum(g.n)::bigint, sum(g.seqs), sum(g.ids) FROM g WHERE g.fate <> 6 GROUP BY g.sub, g.fate
ON CONFLICT (sub, span, fate, shard) DO UPDATE SET n = l.n + EXCLUDED.n, seqs = l.seqs + EXCLUDED.seqs, ids = l.ids + EXCLUDED.ids;
