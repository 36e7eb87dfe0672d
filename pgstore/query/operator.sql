-- Operators' orders.

-- name: command
-- Queues an order for the parked messages $2 of subscription $1 that have none of its kind, and audits it, all in one. Locks
-- the parked rows (primary key) against being resolved meanwhile, in the order of seq; whoever settles waits for that
-- one statement. Returns the seqs it was queued for.
WITH p AS MATERIALIZED (
  SELECT p.sub, p.slot, p.seq FROM (SELECT DISTINCT m.seq FROM unnest($2::bigint[]) m(seq) ORDER BY m.seq) m CROSS JOIN LATERAL (
    SELECT p.* FROM postbag._parked p WHERE p.sub = $1::integer AND p.seq = m.seq LIMIT 1 FOR KEY SHARE) p
), c AS (
  INSERT INTO postbag._commands (sub, slot, seq, kind) SELECT p.sub, p.slot, p.seq, $3::integer::smallint FROM p ORDER BY p.seq
  ON CONFLICT (sub, seq, kind) DO NOTHING RETURNING seq
), a AS (
  INSERT INTO postbag._audit (who, why, what)
  SELECT $4::text, $5::text, $6::text || ' ' || string_agg(l.seq::text, ' ' ORDER BY l.seq) FILTER (WHERE l.n <= 20)
    || CASE WHEN count(*) > 20 THEN ' and ' || count(*) - 20 || ' more' ELSE '' END
  FROM (SELECT c.seq, row_number() OVER (ORDER BY c.seq) AS n FROM c) l HAVING count(*) > 0
)
SELECT c.seq FROM c;

-- name: want_shards
-- Asks for so many shards, and audits it. One row; the epoch last.
WITH u AS (
  UPDATE postbag._subscriptions u SET wanted = $2::integer WHERE u.id = $1::integer AND u.wanted <> $2::integer RETURNING 1
), a AS (
  INSERT INTO postbag._audit (who, why, what) VALUES ($3::text, $4::text, $5::text)
)
UPDATE postbag._epoch e SET n = e.n + 1 WHERE EXISTS (SELECT FROM u);

-- name: audited
-- The latest entries. The end of the primary key.
SELECT (extract(epoch FROM a.at) * 1000000)::bigint, a.who, a.why, a.what FROM postbag._audit a ORDER BY a.id DESC LIMIT $1::integer;
