-- Housekeeping, but for retention (retain.sql).

-- name: upkeep
-- All that a round of housekeeping needs to know in order to find that there is nothing to do: one row, none without the
-- box. Reads single rows of our tables by primary key, the shards of the box, one entry of the index on (due, n), the ends
-- of _floors (some hundred rows), and the catalog's rows of the box's partitions. Locks nothing.
-- What the box holds of its retention comes before what the relay says.
-- $1, $2 server and life, $3 box, $4 to $6 lease, $7 microseconds to keep.
SELECT CASE WHEN timestamptz_send(pg_postmaster_start_time()) = int8send($1::bigint)
    AND (SELECT l.life FROM postbag._life l) = $2::bigint THEN 0 ELSE postbag._refuse() END,
  b.id, b.spans, b.dropped,
  EXISTS (SELECT FROM postbag._subscriptions u JOIN postbag._shards s ON s.sub = u.id
    WHERE u.box = b.id AND u.name = '@maintenance' AND s.lo = $4::integer AND s.hi = $5::integer AND s.token = $6::bigint),
  (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
  coalesce((SELECT CASE WHEN isfinite(c.due) THEN ceil(extract(epoch FROM c.due - clock_timestamp()) * 1000000)::bigint
      WHEN c.due < clock_timestamp() THEN 0 END
    FROM postbag.{box}__scheduled c ORDER BY c.due LIMIT 1), 9223372036854775807),
  (SELECT CASE WHEN q.is_called THEN q.last_value ELSE q.last_value - 1 END FROM postbag.{box}__seq q),
  coalesce(n.seq, 0), CASE WHEN n.at IS NULL THEN 0 ELSE (extract(epoch FROM greatest(least(n.at, timestamptz '10000-01-01 00:00:00Z'), timestamptz '0001-01-01 00:00:00Z')) * 1000000)::bigint END,
  coalesce(o.seq, 0), CASE WHEN o.at IS NULL THEN 0 ELSE (extract(epoch FROM greatest(least(o.at, timestamptz '10000-01-01 00:00:00Z'), timestamptz '0001-01-01 00:00:00Z')) * 1000000)::bigint END,
  (SELECT array_agg(c.relname || CASE WHEN i.inhdetachpending THEN ' pending ' ELSE ' attached ' END || pg_get_expr(c.relpartbound, c.oid))
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'postbag.{box}'::regclass),
  r.subs, r.names, r.los, r.his, r.positions,
  EXISTS (SELECT FROM postbag._drops d WHERE d.box = b.id),
  EXISTS (SELECT FROM (SELECT FROM postbag._copies c WHERE c.box = b.id ORDER BY c.box, c.seq LIMIT 1) c),
  EXISTS (SELECT FROM (SELECT FROM postbag._leftovers l ORDER BY l.sub LIMIT 1) l),
  coalesce((SELECT o.touched FROM postbag._operations o WHERE o.box = b.name ORDER BY o.box, o.touched LIMIT 1)
    < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - 86400000000, false),
  coalesce((SELECT e.checked FROM postbag._error_notes e WHERE e.box = b.name ORDER BY e.box, e.checked LIMIT 1)
    <= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - 86400000000, false),
  coalesce(p.seq, 0), b.keep_delivered, b.keep_discarded, b.keep_dead, b.deployed_delivered, b.deployed_discarded, b.deployed_dead,
  b.deployed_at, b.deployed_by
FROM postbag._boxes b
CROSS JOIN LATERAL (SELECT coalesce(nullif(b.keep_delivered, 0), nullif(b.deployed_delivered, 0), $7::bigint) AS delivered,
  coalesce(nullif(b.keep_discarded, 0), nullif(b.deployed_discarded, 0), 0) AS discarded) k
LEFT JOIN LATERAL (SELECT f.seq, f.at FROM postbag._floors f WHERE f.box = b.id ORDER BY f.seq DESC LIMIT 1) n ON true
LEFT JOIN LATERAL (SELECT f.seq, f.at FROM postbag._floors f
  WHERE f.box = b.id AND f.at <= clock_timestamp() - k.delivered * interval '1 microsecond' ORDER BY f.seq DESC LIMIT 1) o ON true
LEFT JOIN LATERAL (SELECT f.seq FROM postbag._floors f WHERE f.box = b.id AND k.discarded > k.delivered
  AND f.at <= clock_timestamp() - k.discarded * interval '1 microsecond' ORDER BY f.seq DESC LIMIT 1) p ON true
CROSS JOIN LATERAL (
  SELECT array_agg(u.id ORDER BY u.id, s.lo) AS subs, array_agg(u.name ORDER BY u.id, s.lo) AS names,
    array_agg(s.lo::integer ORDER BY u.id, s.lo) AS los, array_agg(s.hi::integer ORDER BY u.id, s.lo) AS his,
    array_agg(s.position ORDER BY u.id, s.lo) AS positions
  FROM postbag._subscriptions u JOIN postbag._shards s ON s.sub = u.id WHERE u.box = b.id AND u.name <> '@maintenance') r
WHERE b.name = $3::text;

-- name: promote
-- Moves due messages into the log, in the order in which they are due. One that is being cancelled is passed over. Reads
-- the index on (due, n), at most $3 rows, and locks those; then they are where they were, since nobody changes one. A session that
-- else promotes at the same time gets others. An empty topic, which earlier versions took, is the box's name.
WITH c AS MATERIALIZED (
  SELECT c.ctid FROM postbag.{box}__scheduled c
  WHERE c.due <= statement_timestamp() AND EXISTS (SELECT FROM postbag._subscriptions u JOIN postbag._shards s ON s.sub = u.id
    WHERE u.box = $1::integer AND u.name = '@maintenance' AND s.token = $2::bigint)
  ORDER BY c.due, c.n LIMIT $3::integer FOR UPDATE OF c SKIP LOCKED
), d AS MATERIALIZED (
  DELETE FROM postbag.{box}__scheduled s WHERE s.ctid = ANY (ARRAY(SELECT c.ctid FROM c)) RETURNING s.*
), i AS (
  INSERT INTO postbag.{box} (id, place, topic, key, shard_key, type, headers, payload)
  SELECT d.id, d.place, coalesce(nullif(d.topic, ''), '{box}'), d.key, d.shard_key, d.type, d.headers, d.payload FROM d ORDER BY d.due, d.n
  RETURNING 1
)
SELECT count(*) FROM i;

-- name: next_scheduled
-- Microseconds until the next scheduled message is due, negative when it was; the largest number: none. Reads one entry of
-- the index on (due, n).
SELECT coalesce((SELECT CASE WHEN isfinite(c.due) THEN ceil(extract(epoch FROM c.due - clock_timestamp()) * 1000000)::bigint
    WHEN c.due < clock_timestamp() THEN 0 END
  FROM postbag.{box}__scheduled c ORDER BY c.due LIMIT 1), 9223372036854775807);

-- name: tidy
-- Deletes copies that nothing refers to any more, among the next $3 after $2, and returns how many it looked at and the
-- last of them. Reads the primary keys of _copies and _parked.
WITH q AS MATERIALIZED (
  SELECT c.seq, c.ctid FROM postbag._copies c WHERE c.box = $1::integer AND c.seq > $2::bigint ORDER BY c.seq LIMIT $3::integer
), d AS (
  DELETE FROM postbag._copies c WHERE c.ctid = ANY (ARRAY(
    SELECT q.ctid FROM q WHERE NOT EXISTS (SELECT FROM unnest($4::integer[]) u(id) CROSS JOIN LATERAL (
      SELECT FROM postbag._parked p WHERE p.sub = u.id AND p.seq = q.seq LIMIT 1) p)))
)
SELECT count(*), coalesce(max(q.seq), 0) FROM q;

-- name: detach
-- Takes a partition out of the log. By itself, never in a transaction. It waits, without a lock that others would queue
-- for, until those who use the box just now are done; where that takes longer than lock_timeout it stays pending.
ALTER TABLE postbag.{box} DETACH PARTITION postbag.{part} CONCURRENTLY;

-- name: finalize
-- Ends a detach that is pending: until then no other partition can be taken out.
ALTER TABLE postbag.{box} DETACH PARTITION postbag.{part} FINALIZE;

-- name: wait_briefly
-- Bounds how long a DDL statement of this session waits for a lock, and others behind it, and remembers what the bound was.
SELECT set_config('postbag.lock_timeout', current_setting('lock_timeout'), false), set_config('lock_timeout', $1::text, false);

-- name: wait_as_before
SELECT set_config('lock_timeout', current_setting('postbag.lock_timeout'), false);
