-- Replays: subscriptions that end.

-- name: start_replay
-- Makes replay $2 of subscription $8 with its shards, and audits it, unless there is something of that name, or it would
-- begin ($7) with what is gone. Comes after lock_box, so that nobody else declares meanwhile. Returns whether $8 is a
-- subscription and no replay, whether the name is taken, and whether the replay was made. By (box, name); the epoch last.
WITH b AS MATERIALIZED (
  SELECT b.id, b.dropped,
    EXISTS (SELECT FROM postbag._subscriptions u WHERE u.box = b.id AND u.name = $8::text AND u.replay IS NULL) AS plain,
    EXISTS (SELECT FROM postbag._subscriptions u WHERE u.box = b.id AND u.name = $2::text)
      OR EXISTS (SELECT FROM postbag._removed r WHERE r.box = b.id AND r.name = $2::text) AS there
  FROM postbag._boxes b WHERE b.name = $1::text
), u AS (
  INSERT INTO postbag._subscriptions (box, name, types, takes, wanted, replay)
  SELECT b.id, $2::text, $3::text[], $13::text, cardinality($4::smallint[]), $9::text FROM b
  WHERE b.plain AND NOT b.there AND $7::bigint >= b.dropped RETURNING id
), c AS (
  INSERT INTO postbag._cuts (sub, position, floor) SELECT u.id, $6::bytea, $7::bigint FROM u
), s AS (
  INSERT INTO postbag._shards (sub, lo, hi, position) SELECT u.id, n.lo, n.hi, $6::bytea
  FROM u CROSS JOIN unnest($4::smallint[], $5::smallint[]) n(lo, hi) RETURNING 1
), a AS (
  INSERT INTO postbag._audit (who, why, what) SELECT $10::text, $11::text, $12::text FROM u
), e AS (
  UPDATE postbag._epoch e SET n = e.n + 1 WHERE EXISTS (SELECT FROM s)
)
SELECT b.plain, b.there, EXISTS (SELECT FROM u) FROM b;

-- name: lock_replay
-- Waits for settlements of the shards, and keeps others out. By sub.
SELECT s.id FROM postbag._shards s WHERE s.sub = $1::integer ORDER BY s.id FOR UPDATE;

-- name: end_replay
-- Removes a replay, whose shards are locked, but for what is swept later, and audits it. By sub. Comes before gone. Returns a row
-- if it was one.
WITH r AS MATERIALIZED (
  SELECT u.id FROM postbag._subscriptions u WHERE u.id = $1::integer AND u.replay IS NOT NULL
), s AS (
  DELETE FROM postbag._shards s WHERE s.sub = $1::integer AND EXISTS (SELECT FROM r)
), c AS (
  DELETE FROM postbag._cuts c WHERE c.sub = $1::integer AND EXISTS (SELECT FROM r)
), l AS (
  DELETE FROM postbag._ledger l WHERE l.sub = $1::integer AND EXISTS (SELECT FROM r)
), f AS (
  INSERT INTO postbag._leftovers (sub) SELECT r.id FROM r ON CONFLICT DO NOTHING
), z AS (
  DELETE FROM postbag._pauses z WHERE z.sub = $1::integer AND EXISTS (SELECT FROM r)
), u AS (
  DELETE FROM postbag._subscriptions u USING r WHERE u.id = r.id RETURNING u.id
), a AS (
  INSERT INTO postbag._audit (who, why, what) SELECT $2::text, $3::text, $4::text FROM u
)
SELECT u.id FROM u;
