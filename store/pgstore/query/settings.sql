-- What operators set of a subscription's policy, and subscriptions that they add.

-- name: tune
-- Sets settings $2 to values $3 by $5 for $6, and drops settings $4. Audits it. Returns a row unless the subscription is gone. One
-- row; the epoch last.
WITH u AS (
  UPDATE postbag._subscriptions u SET settings = (u.settings - $4::text[]) || coalesce((
    SELECT jsonb_object_agg(i.name, jsonb_build_object('value', i.value, 'who', $5::text, 'why', $6::text,
      'at', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint))
    FROM unnest($2::text[], $3::text[]) i(name, value)), '{}')
  WHERE u.id = $1::integer RETURNING 1
), a AS (
  INSERT INTO postbag._audit (who, why, what) SELECT $5::text, $6::text, $7::text FROM u
)
UPDATE postbag._epoch e SET n = e.n + 1 WHERE EXISTS (SELECT FROM u) RETURNING 1;

-- name: add
-- Makes subscription $2 with its shards as an operator says it, by $9, and audits it, unless there is one of that name, or it
-- would begin ($7) with what is gone. One that begins with a snapshot ($8) does not. $12: who asked for its number of shards; $13:
-- the rest of its filter.
-- Comes after lock_box, so that nobody else declares meanwhile. Returns whether the name is taken, and whether it was made.
-- By (box, name); the epoch last.
WITH b AS MATERIALIZED (
  SELECT b.id, $8::boolean OR $7::bigint >= b.dropped AS whole,
    EXISTS (SELECT FROM postbag._subscriptions u WHERE u.box = b.id AND u.name = $2::text) AS there
  FROM postbag._boxes b WHERE b.name = $1::text
), d AS (
  DELETE FROM postbag._removed r USING b WHERE r.box = b.id AND r.name = $2::text AND b.whole AND NOT b.there
), u AS (
  INSERT INTO postbag._subscriptions (box, name, types, takes, wanted, types_by, wanted_by)
  SELECT b.id, $2::text, $3::text[], $13::text, cardinality($4::smallint[]), $9::text, $12::text FROM b
  WHERE b.whole AND NOT b.there RETURNING id
), c AS (
  INSERT INTO postbag._cuts (sub, position, floor) SELECT u.id, $6::bytea, $7::bigint FROM u
), s AS (
  INSERT INTO postbag._shards (sub, lo, hi, position) SELECT u.id, n.lo, n.hi, $6::bytea
  FROM u CROSS JOIN unnest($4::smallint[], $5::smallint[]) n(lo, hi) RETURNING 1
), a AS (
  INSERT INTO postbag._audit (who, why, what) SELECT $9::text, $10::text, $11::text FROM u
), e AS (
  UPDATE postbag._epoch e SET n = e.n + 1 WHERE EXISTS (SELECT FROM s)
)
SELECT b.there, EXISTS (SELECT FROM u) FROM b;

-- name: assigned
-- The subscriptions that operators have given a destination: a small table, read whole when the epoch has changed.
SELECT b.name, u.name, u.settings::text FROM postbag._subscriptions u JOIN postbag._boxes b ON b.id = u.box
WHERE u.settings ? 'destination' AND u.replay IS NULL ORDER BY b.name COLLATE "C", u.name COLLATE "C";
