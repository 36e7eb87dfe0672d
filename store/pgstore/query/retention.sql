-- How long messages of a box stay.

-- name: retention
-- What a box holds, the number of the change that made it so, and the clock. One row.
SELECT b.id, b.retained, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, b.keep_delivered, b.keep_discarded, b.keep_dead,
  b.deployed_delivered, b.deployed_discarded, b.deployed_dead, b.deployed_at, b.deployed_by
FROM postbag._boxes b WHERE b.name = $1::text;

-- name: set_retention
-- Changes what box $1 holds, unless there was another change since $2, and audits it. Where $3 is false, the audit log alone is
-- written. One row.
WITH u AS (
  UPDATE postbag._boxes b SET retained = b.retained + 1, keep_delivered = $4::bigint, keep_discarded = $5::bigint, keep_dead = $6::bigint,
    deployed_delivered = $7::bigint, deployed_discarded = $8::bigint, deployed_dead = $9::bigint, deployed_at = $10::bigint, deployed_by = $11::text
  WHERE b.id = $1::integer AND b.retained = $2::bigint AND $3::boolean RETURNING 1
), d AS (
  SELECT FROM u UNION ALL SELECT WHERE NOT $3::boolean
), a AS (
  INSERT INTO postbag._audit (who, why, what) SELECT $12::text, $13::text, $14::text || $15::text FROM d WHERE $14::text <> ''
)
SELECT FROM d;

-- name: expired
-- How many seqs of a box all had passed $2 microseconds ago, that are still there. The box, and some hundred notes.
SELECT coalesce((SELECT f.seq FROM postbag._floors f WHERE f.box = b.id AND f.at <= clock_timestamp() - $2::bigint * interval '1 microsecond'
  ORDER BY f.seq DESC LIMIT 1), 0) - b.dropped
FROM postbag._boxes b WHERE b.name = $1::text;

-- name: first_discarded
-- The first discarded message of subscriptions $1 behind $2; zero: none. One entry of the primary key for each.
SELECT coalesce(min(d.seq), 0) FROM unnest($1::integer[]) u(id) CROSS JOIN LATERAL (
  SELECT d.seq FROM postbag._discarded d WHERE d.sub = u.id AND d.seq > $2::bigint ORDER BY d.seq LIMIT 1) d;

-- name: dead
-- The dead messages of subscription $1 behind $2, at most $3, and which of them are dead for longer than $4 microseconds: their
-- last attempt says since when. A range of _parked_state.
SELECT p.seq, coalesce((p.history -> -1 ->> 0)::bigint, (extract(epoch FROM p.first) * 1000000)::bigint)
  <= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - $4::bigint
FROM unnest(ARRAY[$1::integer]) u(id) CROSS JOIN LATERAL (
  SELECT p.seq, p.history, p.first FROM postbag._parked p WHERE p.sub = u.id AND p.state = 4 AND p.seq > $2::bigint
  ORDER BY p.seq LIMIT $3::integer) p;

-- name: expire
-- Queues a discard for those of messages $2 of subscription $1 that are dead for longer than $3 microseconds and have no command,
-- and audits it, all in one; nothing without the lease ($4, $5), or if $6 commands wait. Comes after lock_subscription, so no
-- command can be given meanwhile. Primary keys, whose parked rows it locks against being resolved meanwhile, and the
-- commands of the subscription up to $6.
WITH i AS MATERIALIZED (
  SELECT i.seq, p.slot, p.id FROM unnest($2::bigint[]) i(seq) CROSS JOIN LATERAL (
    SELECT p.slot, p.id FROM postbag._parked p WHERE p.sub = $1::integer AND p.seq = i.seq AND p.state + 0 = 4
      AND coalesce((p.history -> -1 ->> 0)::bigint, (extract(epoch FROM p.first) * 1000000)::bigint)
        <= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - $3::bigint
    LIMIT 1 FOR KEY SHARE) p
  WHERE (SELECT c.id FROM postbag._commands c WHERE c.sub = $1::integer AND c.seq = i.seq LIMIT 1) IS NULL
    AND EXISTS (SELECT FROM postbag._subscriptions u JOIN postbag._shards s ON s.sub = u.id
      WHERE u.box = $4::integer AND u.name = '@maintenance' AND s.token = $5::bigint)
    AND (SELECT count(*) FROM (SELECT FROM postbag._commands c WHERE c.sub = $1::integer ORDER BY c.sub, c.seq LIMIT $6::integer) c) < $6::integer
), c AS (
  INSERT INTO postbag._commands (sub, slot, seq, kind) SELECT $1::integer, i.slot, i.seq, 2 FROM i ORDER BY i.seq
  ON CONFLICT (sub, seq, kind) DO NOTHING RETURNING seq
), a AS (
  INSERT INTO postbag._audit (who, why, what)
  SELECT $7::text, $8::text, $9::text || string_agg(l.name, ' ' ORDER BY l.seq) FILTER (WHERE l.n <= 20)
    || CASE WHEN count(*) > 20 THEN ' and ' || count(*) - 20 || ' more' ELSE '' END
  FROM (SELECT c.seq, c.seq || ' (' || i.id || ')' AS name, row_number() OVER (ORDER BY c.seq) AS n FROM c JOIN i ON i.seq = c.seq) l HAVING count(*) > 0
)
SELECT count(*) FROM c;
