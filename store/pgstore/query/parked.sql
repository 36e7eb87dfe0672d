-- The parking lot.

-- name: due
-- Per shard the rows that count and are due, longest first (_parked_due, one range), each with those right behind it
-- (_parked_chain, at most $3), then their messages by primary key. None after the one that crosses $5 bytes.
-- $1 shards, $2 limit, $3 followers, $4 seqs to skip, $6 mask of slots, $7 box. Locks nothing. (A planner takes "= 1" for one
-- row in 200, and would sort all that are due to find them.)
WITH h AS MATERIALIZED (
  SELECT p.* FROM unnest($1::integer[]) s(id) CROSS JOIN LATERAL (
    SELECT p.* FROM postbag._parked p
    WHERE p.shard = s.id AND p.due IS NOT NULL AND p.due <= statement_timestamp() AND p.seq <> ALL ($4::bigint[]) AND get_bit($6::bytea, p.slot) <> 0
    ORDER BY p.due LIMIT $2::integer) p
  ORDER BY p.due, p.seq LIMIT $2::integer
), f AS MATERIALIZED (
  SELECT t.* FROM (
    SELECT h.due AS turn, h.seq AS head, h.* FROM h
    UNION ALL
    SELECT h.due, h.seq, q.* FROM h CROSS JOIN LATERAL (
      SELECT q.* FROM (
        SELECT p AS r, count(*) FILTER (WHERE p.state <> 2 OR p.seq = ANY ($4::bigint[])) OVER (ORDER BY p.seq) AS ended FROM (
          SELECT p.* FROM postbag._parked p WHERE p.shard = h.shard AND p.hash = h.hash AND p.blocking AND p.seq > h.seq
          ORDER BY p.seq LIMIT $3::integer) p) e, LATERAL (SELECT (e.r).*) q
      WHERE e.ended = 0) q
    WHERE h.blocking
  ) t ORDER BY t.turn, t.head, t.seq LIMIT $2::integer
)
SELECT f.seq, f.slot, f.hash, f.state, f.blocking, f.attempts,
  CASE f.state WHEN 1 THEN (extract(epoch FROM f.ready - clock_timestamp()) * 1000000)::bigint ELSE 0 END, f.reason, f.held,
  (extract(epoch FROM clock_timestamp() - f.first) * 1000000)::bigint, f.at, f.id, f.topic, f.key, f.shard_key, f.type, f.headers, f.payload
FROM (
  SELECT f.*, m.at, m.topic, m.key, m.shard_key, m.type, m.headers, m.payload,
    sum(m.size) OVER (ORDER BY f.turn, f.head, f.seq) - m.size AS before
  FROM f CROSS JOIN LATERAL (
    SELECT b.at, b.topic, b.key, b.shard_key, b.type, b.headers::json, b.payload,
      octet_length(b.payload) + coalesce(octet_length(b.headers::text), 0) + coalesce(octet_length(b.key), 0) AS size
    FROM postbag.{box} b WHERE b.seq = f.seq
    UNION ALL
    SELECT c.at, c.topic, c.key, c.shard_key, c.type, c.headers, c.payload,
      octet_length(c.payload) + coalesce(octet_length(c.headers::text), 0) + coalesce(octet_length(c.key), 0)
    FROM postbag._copies c WHERE c.box = $7::integer AND c.seq = f.seq
    LIMIT 1) m
) f WHERE f.before < $5::bigint ORDER BY f.turn, f.head, f.seq;

-- name: due_held
-- Per shard and topic of $8 the rows that are held for it and first of their hash, lowest seq first (_parked_held, and
-- _parked_chain for each), then their messages by primary key. Parameters as of due.
WITH f AS MATERIALIZED (
  SELECT p.* FROM unnest($1::integer[]) s(id) CROSS JOIN (SELECT DISTINCT t.held FROM unnest($8::text[]) t(held)) t CROSS JOIN LATERAL (
    SELECT p.* FROM postbag._parked p
    WHERE p.shard = s.id AND p.held = t.held AND p.state = 5 AND p.seq <> ALL ($4::bigint[]) AND get_bit($6::bytea, p.slot) <> 0 AND $3::integer >= 0
      AND (NOT p.blocking OR p.seq = (SELECT h.seq FROM postbag._parked h
        WHERE h.shard = p.shard AND h.hash = p.hash AND h.blocking ORDER BY h.seq LIMIT 1))
    ORDER BY p.held, p.seq LIMIT $2::integer) p
  ORDER BY p.seq LIMIT $2::integer
)
SELECT f.seq, f.slot, f.hash, f.state, f.blocking, f.attempts,
  CASE f.state WHEN 1 THEN (extract(epoch FROM f.ready - clock_timestamp()) * 1000000)::bigint ELSE 0 END, f.reason, f.held,
  (extract(epoch FROM clock_timestamp() - f.first) * 1000000)::bigint, f.at, f.id, f.topic, f.key, f.shard_key, f.type, f.headers, f.payload
FROM (
  SELECT f.*, m.at, m.topic, m.key, m.shard_key, m.type, m.headers, m.payload,
    sum(octet_length(m.payload)) OVER (ORDER BY f.seq) - octet_length(m.payload) AS before
  FROM f CROSS JOIN LATERAL (
    SELECT b.at, b.topic, b.key, b.shard_key, b.type, b.headers::json, b.payload FROM postbag.{box} b WHERE b.seq = f.seq
    UNION ALL
    SELECT c.at, c.topic, c.key, c.shard_key, c.type, c.headers, c.payload FROM postbag._copies c WHERE c.box = $7::integer AND c.seq = f.seq
    LIMIT 1) m
) f WHERE f.before < $5::bigint ORDER BY f.seq;

-- name: held_topics
-- The topics that messages of a shard are held for. Reads _parked_held.
SELECT p.held, count(*) FROM postbag._boxes b
JOIN postbag._subscriptions u ON u.box = b.id AND u.name = $2::text
JOIN postbag._shards s ON s.sub = u.id AND s.lo = $3::integer AND s.hi = $4::integer AND s.token = $5::bigint
JOIN postbag._parked p ON p.shard = s.id AND p.state = 5
WHERE b.name = $1::text GROUP BY p.held;

-- name: blocked
-- The hashes that block something in a shard, or one null if none; nothing if the lease is lost. Reads _parked_chain.
SELECT h.hash FROM postbag._boxes b
JOIN postbag._subscriptions u ON u.box = b.id AND u.name = $2::text
JOIN postbag._shards s ON s.sub = u.id AND s.lo = $3::integer AND s.hi = $4::integer AND s.token = $5::bigint
LEFT JOIN LATERAL (SELECT DISTINCT p.hash FROM postbag._parked p WHERE p.shard = s.id AND p.blocking) h ON true
WHERE b.name = $1::text;

-- name: waiting
-- The newest row that waits of each hash of a shard. Reads _parked_waiting.
SELECT h.hash, h.seq FROM postbag._boxes b
JOIN postbag._subscriptions u ON u.box = b.id AND u.name = $2::text
JOIN postbag._shards s ON s.sub = u.id AND s.lo = $3::integer AND s.hi = $4::integer AND s.token = $5::bigint
CROSS JOIN LATERAL (SELECT p.hash, max(p.seq) AS seq FROM postbag._parked p
  WHERE p.shard = s.id AND p.state = 1 AND NOT p.blocking AND p.hash <> 0 GROUP BY p.hash) h
WHERE b.name = $1::text;

-- name: close_commands
-- Commands $1 are closed, if their messages are not parked by now. Primary keys.
DELETE FROM postbag._commands c WHERE c.id = ANY ($1::bigint[])
  AND (SELECT p.seq FROM postbag._parked p WHERE p.sub = c.sub AND p.seq = c.seq LIMIT 1) IS NULL;

-- name: pending_commands
-- Commands about messages that are not parked, with their rows in the log of box $4, if they are there. Reads
-- _commands_pending by subscription, then primary keys.
SELECT c.id, c.sub, c.kind, c.seq, c.slot, b.xid::text::bigint, b.id, b.key, coalesce(nullif(b.topic, ''), '{box}')
FROM (SELECT DISTINCT c.* FROM unnest($1::integer[], $2::smallint[], $3::smallint[]) r(sub, lo, hi)
  JOIN postbag._subscriptions u ON u.id = r.sub AND u.box = $4::integer
  CROSS JOIN LATERAL (SELECT c.* FROM postbag._commands c WHERE c.sub = r.sub AND c.pending ORDER BY c.sub, c.id) c
  WHERE c.slot >= r.lo AND c.slot < r.hi) c
LEFT JOIN LATERAL (SELECT b.* FROM postbag.{box} b WHERE b.seq = c.seq LIMIT 1) b ON true
WHERE (SELECT p.seq FROM postbag._parked p WHERE p.sub = c.sub AND p.seq = c.seq LIMIT 1) IS NULL
ORDER BY c.id;

-- name: command_shards
-- Where the shards of subscriptions $1 stand. By subscription.
SELECT s.sub, s.lo, s.hi, s.position FROM unnest($1::integer[]) u(id) JOIN postbag._shards s ON s.sub = u.id;

-- name: commands
-- Reads _commands by subscription, and the rows they are about by primary key.
SELECT c.id, c.sub, c.kind, p.seq, p.slot, p.hash, p.state, p.blocking, p.attempts,
  CASE p.state WHEN 1 THEN (extract(epoch FROM p.ready - clock_timestamp()) * 1000000)::bigint ELSE 0 END, p.reason, p.held, p.id
FROM (SELECT DISTINCT c.* FROM unnest($1::integer[], $2::smallint[], $3::smallint[]) r(sub, lo, hi)
  JOIN postbag._commands c ON c.sub = r.sub AND c.slot >= r.lo AND c.slot < r.hi) c
CROSS JOIN LATERAL (SELECT p.* FROM postbag._parked p WHERE p.sub = c.sub AND p.seq = c.seq LIMIT 1) p
ORDER BY c.id LIMIT 1000;
