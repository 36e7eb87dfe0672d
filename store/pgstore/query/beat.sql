-- One heartbeat: a transaction of these statements. Every one that changes something does so only if renew renewed the
-- relay's row in this very transaction (beat_x). Tables of a few rows each; shards are found by (sub, lo).

-- name: renew
-- Renews the row of a live relay, or makes one. Locks it. The second column is the time.
WITH o AS MATERIALIZED (
  SELECT r.* FROM postbag._relays r WHERE r.id = $1::text FOR UPDATE
), u AS (
  UPDATE postbag._relays r SET name = $2::text, expires = clock_timestamp() + $3::bigint * interval '1 microsecond',
    boxes = $4::text[], subs = $5::text[], format = $7::integer, conditions = $8::text, beat_x = pg_current_xact_id(),
    changed_x = CASE WHEN o.name = $2::text AND o.boxes = $4::text[] AND o.subs = $5::text[] THEN r.changed_x ELSE pg_current_xact_id() END
  FROM o WHERE r.id = o.id AND NOT o.dead AND o.expires > clock_timestamp()
  RETURNING 1
), n AS (
  INSERT INTO postbag._relays (id, name, expires, boxes, subs, format, conditions, beat_x, changed_x)
  SELECT $1::text, $2::text, clock_timestamp() + $3::bigint * interval '1 microsecond', $4::text[], $5::text[], $7::integer, $8::text,
    pg_current_xact_id(), pg_current_xact_id()
  WHERE $6::boolean AND NOT EXISTS (SELECT FROM o)
  ON CONFLICT (id) DO NOTHING
  RETURNING 1
)
SELECT pg_current_xact_id(), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint FROM (SELECT FROM u UNION ALL SELECT FROM n) t;

-- name: lock_shards
SELECT s.id FROM postbag._shards s WHERE s.id IN (
  SELECT s.id FROM unnest($1::text[], $2::text[], $3::smallint[], $4::smallint[]) i(box, sub, lo, hi)
  JOIN postbag._boxes b ON b.name = i.box JOIN postbag._subscriptions u ON u.box = b.id AND u.name = i.sub
  JOIN postbag._shards s ON s.sub = u.id AND s.lo = i.lo AND s.hi = i.hi)
ORDER BY s.id FOR UPDATE;

-- name: lock_owned
SELECT s.id FROM postbag._shards s WHERE s.owner = $1::text ORDER BY s.id FOR UPDATE;

-- name: leave
WITH me AS (
  DELETE FROM postbag._relays r WHERE r.id = $1::text AND r.beat_x = pg_current_xact_id() RETURNING r.id
)
UPDATE postbag._shards s SET owner = NULL, changed_x = pg_current_xact_id() FROM me WHERE s.owner = me.id;

-- name: give
UPDATE postbag._shards s SET owner = NULL, changed_x = pg_current_xact_id()
FROM unnest($2::text[], $3::text[], $4::smallint[], $5::smallint[], $6::bigint[]) i(box, sub, lo, hi, token)
JOIN postbag._boxes b ON b.name = i.box JOIN postbag._subscriptions u ON u.box = b.id AND u.name = i.sub
WHERE s.sub = u.id AND s.lo = i.lo AND s.hi = i.hi AND s.token = i.token AND s.owner = $1::text
  AND EXISTS (SELECT FROM postbag._relays r WHERE r.id = $1::text AND r.beat_x = pg_current_xact_id());

-- name: bury
-- Marks dead those whose time is over. One that is just being renewed, or marked, by another is left to it. Rows of the
-- long dead go.
WITH gone AS (
  DELETE FROM postbag._relays r WHERE r.id IN (
    SELECT g.id FROM postbag._relays g WHERE g.dead AND g.expires < clock_timestamp() - interval '1 hour' FOR UPDATE SKIP LOCKED)
)
UPDATE postbag._relays r SET dead = true, changed_x = pg_current_xact_id()
WHERE r.id IN (SELECT e.id FROM postbag._relays e WHERE NOT e.dead AND e.expires <= clock_timestamp() FOR UPDATE SKIP LOCKED)
  AND EXISTS (SELECT FROM postbag._relays m WHERE m.id = $1::text AND m.beat_x = pg_current_xact_id());

-- name: take
-- Takes what is free, or whose owner is dead, unless its position is in a format that this relay cannot read.
UPDATE postbag._shards s SET owner = $1::text, token = postbag._new_token(), taken_x = pg_current_xact_id(), changed_x = pg_current_xact_id()
FROM unnest($2::text[], $3::text[], $4::smallint[], $5::smallint[]) i(box, sub, lo, hi)
JOIN postbag._boxes b ON b.name = i.box JOIN postbag._subscriptions u ON u.box = b.id AND u.name = i.sub
WHERE s.sub = u.id AND s.lo = i.lo AND s.hi = i.hi
  AND NOT EXISTS (SELECT FROM postbag._relays r WHERE r.id = s.owner AND NOT r.dead)
  AND CASE WHEN s.position = '' THEN true ELSE get_byte(s.position, 0) <= $6::integer END
  AND EXISTS (SELECT FROM postbag._relays r WHERE r.id = $1::text AND r.beat_x = pg_current_xact_id());

-- name: land
-- Makes the rows in flight of the shards just taken due: nobody waits for their answers any more. Reads _parked_state, and
-- _parked_chain for each row.
UPDATE postbag._parked p SET state = 1, ready = clock_timestamp(), due = CASE WHEN NOT p.blocking OR p.seq = (
    SELECT h.seq FROM postbag._parked h WHERE h.shard = p.shard AND h.hash = p.hash AND h.blocking ORDER BY h.seq LIMIT 1)
  THEN clock_timestamp() END
FROM postbag._shards s
WHERE s.taken_x = pg_current_xact_id() AND s.owner = $1::text AND p.sub = s.sub AND p.shard = s.id AND p.state = 3;

-- name: reshape
-- Replaces all shards of a subscription, if the leases are all of them, held as they say, at one position. The new rows'
-- tokens are new. The uniqueness of (sub, lo) is looked at when the transaction ends.
WITH u AS MATERIALIZED (
  SELECT u.id FROM postbag._boxes b JOIN postbag._subscriptions u ON u.box = b.id WHERE b.name = $2::text AND u.name = $3::text
), ok AS MATERIALIZED (
  SELECT u.id AS sub, (array_agg(s.position))[1] AS position
  FROM u JOIN postbag._shards s ON s.sub = u.id
  LEFT JOIN (SELECT DISTINCT * FROM unnest($4::smallint[], $5::smallint[], $6::bigint[], $7::bigint[]) l(lo, hi, token, version)) l
    ON l.lo = s.lo AND l.hi = s.hi AND l.token = s.token AND l.version = s.version AND s.owner = $1::text
  WHERE EXISTS (SELECT FROM postbag._relays r WHERE r.id = $1::text AND r.beat_x = pg_current_xact_id())
  GROUP BY u.id
  HAVING count(*) = count(l.lo) AND count(*) = cardinality($4::smallint[]) AND count(DISTINCT s.position) = 1
), d AS (
  DELETE FROM postbag._shards s USING ok WHERE s.sub = ok.sub RETURNING s.*
), l AS (
  INSERT INTO postbag._ledger AS l (sub, span, fate, shard, n, seqs, ids)
  SELECT d.sub, d.span, k.fate, d.id, k.n, k.seqs, k.ids
  FROM d CROSS JOIN LATERAL (VALUES (1, d.delivered, d.delivered_seq, d.delivered_id), (2, d.filtered, d.filtered_seq, d.filtered_id)) k(fate, n, seqs, ids)
  WHERE d.span >= 0 AND k.n <> 0
  ON CONFLICT (sub, span, fate, shard) DO UPDATE SET n = l.n + EXCLUDED.n, seqs = l.seqs + EXCLUDED.seqs, ids = l.ids + EXCLUDED.ids
)
INSERT INTO postbag._shards (sub, lo, hi, position, token, version, owner, changed_x)
SELECT ok.sub, n.lo, n.hi, ok.position, postbag._new_token(), 1, $1::text, pg_current_xact_id()
FROM ok CROSS JOIN unnest($8::smallint[], $9::smallint[]) n(lo, hi);

-- name: rehome
-- Gives parked rows to the shards that have their slots now. Reads the parked rows of the subscriptions just reshaped.
UPDATE postbag._parked p SET shard = s.id
FROM postbag._shards s
WHERE s.changed_x = pg_current_xact_id() AND s.owner = $1::text
  AND p.sub = s.sub AND p.slot >= s.lo AND p.slot < s.hi AND p.shard <> s.id;

-- name: relead
-- A hash whose rows lie in several shards, as under strict order, may have other first rows now.
UPDATE postbag._parked p SET due = CASE WHEN h.head <> p.seq THEN NULL WHEN p.state = 1 THEN p.ready ELSE clock_timestamp() END
FROM postbag._shards s CROSS JOIN LATERAL (
  SELECT q.sub, q.seq, (SELECT f.seq FROM postbag._parked f WHERE f.shard = q.shard AND f.hash = q.hash AND f.blocking ORDER BY f.seq LIMIT 1) AS head
  FROM postbag._parked q WHERE q.sub = s.sub AND q.shard = s.id AND q.blocking) h
WHERE s.changed_x = pg_current_xact_id() AND s.owner = $1::text AND p.sub = h.sub AND p.seq = h.seq
  AND (h.head <> p.seq AND p.due IS NOT NULL OR h.head = p.seq AND p.due IS NULL AND p.state IN (1, 2));

-- name: end_pauses
-- Removes the pauses whose end is over, with the flags of their subscriptions. What another removes just now is left to it. So is a
-- subscription that another has locked: who locks it may want its pauses next. All pauses, which are few.
WITH k AS MATERIALIZED (
  SELECT u.id FROM postbag._subscriptions u
  WHERE u.id IN (SELECT o.sub FROM postbag._pauses o WHERE o.scope = 'subscription' AND o.ends <= clock_timestamp())
  ORDER BY u.id FOR NO KEY UPDATE SKIP LOCKED
), d AS (
  DELETE FROM postbag._pauses p
  WHERE p.id IN (SELECT o.id FROM postbag._pauses o WHERE o.ends <= clock_timestamp() AND (o.scope <> 'subscription'
    OR o.sub IN (SELECT k.id FROM k) OR NOT EXISTS (SELECT FROM postbag._subscriptions x WHERE x.id = o.sub)) FOR UPDATE SKIP LOCKED)
  RETURNING p.sub, p.scope
), u AS (
  UPDATE postbag._subscriptions u SET paused = false
  WHERE u.paused AND u.id IN (SELECT d.sub FROM d WHERE d.scope = 'subscription') RETURNING 1
)
UPDATE postbag._epoch e SET n = e.n + 1 WHERE EXISTS (SELECT FROM d) AND (SELECT count(*) FROM u) >= 0;

-- name: epoch
-- Grows if this transaction has changed something, and is returned. The last row to be locked.
WITH e AS (
  UPDATE postbag._epoch e SET n = e.n + 1
  WHERE EXISTS (SELECT FROM postbag._relays r WHERE r.changed_x = pg_current_xact_id())
    OR EXISTS (SELECT FROM postbag._shards s WHERE s.changed_x = pg_current_xact_id())
    OR $2::boolean AND NOT EXISTS (SELECT FROM postbag._relays r WHERE r.id = $1::text)
  RETURNING e.n
)
SELECT coalesce((SELECT e.n FROM e), (SELECT e.n FROM postbag._epoch e));

-- name: relays
-- Those whose heartbeat was not over $1 microseconds ago: zero, but where a standby is that much behind.
SELECT r.id, r.name, (extract(epoch FROM r.expires - clock_timestamp()) * 1000000)::bigint + $1::bigint, r.boxes, r.subs, r.conditions
FROM postbag._relays r WHERE NOT r.dead AND r.expires > clock_timestamp() - $1::bigint * interval '1 microsecond' ORDER BY r.id;

-- name: pauses
-- All that are in force, oldest first. Those of a subscription that is gone are left out, and those of which a program of an older version
-- has cleared the flag.
SELECT coalesce(b.name, ''), coalesce(u.name, ''), p.scope, p.held, p.who, p.why, (extract(epoch FROM p.began) * 1000000)::bigint,
  coalesce((extract(epoch FROM p.ends) * 1000000)::bigint, 0)
FROM postbag._pauses p LEFT JOIN postbag._subscriptions u ON u.id = p.sub LEFT JOIN postbag._boxes b ON b.id = u.box
WHERE (p.ends > clock_timestamp()) IS NOT FALSE AND (p.sub = 0 OR u.id IS NOT NULL) AND (p.scope <> 'subscription' OR u.paused)
ORDER BY p.began, p.id;

-- name: shards
-- The first shard of a subscription brings its filter and settings, which may be large.
SELECT b.name, u.name, u.wanted,
  u.paused AND NOT EXISTS (SELECT FROM postbag._pauses p WHERE p.sub = u.id AND p.scope = 'subscription' AND p.ends <= clock_timestamp()),
  CASE WHEN s.lo = 0 THEN u.types END, CASE WHEN s.lo = 0 THEN u.takes END, u.types_by, CASE WHEN s.lo = 0 THEN u.settings::text END,
  s.lo, s.hi, s.token, s.version,
  coalesce((SELECT r.id FROM postbag._relays r WHERE r.id = s.owner AND NOT r.dead), ''), s.position
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS i(box, sub, n)
JOIN postbag._boxes b ON b.name = i.box JOIN postbag._subscriptions u ON u.box = b.id AND u.name = i.sub
JOIN postbag._shards s ON s.sub = u.id
ORDER BY i.n, u.id, s.lo;
