-- The inbox. What marks runs in the consumer's transaction, with its search_path and its client_encoding, so that every name is the
-- server's own, and names beyond ASCII come as bytes. Parameters are texts and bytes only, as in append.sql.

-- name: mark_one
-- One entry of the primary key. No row is written if there is one already: then it waits for that row's transaction.
INSERT INTO postbag._once (consumer, id) VALUES ($1::text, $2::bytea) ON CONFLICT DO NOTHING;

-- name: mark_one_with_sum
-- The same.
INSERT INTO postbag._once (consumer, id, sum) VALUES ($1::text, $2::bytea, $3::bytea) ON CONFLICT DO NOTHING;

-- name: mark_many
-- One entry of the primary key a mark. $2 are ids, each once and in the order of their bytes, in which the rows come from the
-- function and are locked. $3 are their sums, or nothing. (An unnest of several arrays is the server's own, whatever the search_path.)
INSERT INTO postbag._once (consumer, id, sum)
SELECT (SELECT pg_catalog.convert_from($1::bytea, 'UTF8')), m.id, m.sum
FROM unnest((SELECT $2::text::bytea[]), (SELECT $3::text::bytea[])) m(id, sum)
ON CONFLICT DO NOTHING RETURNING id;

-- name: marked_sums
-- The sums that were recorded with some ids. Reads the primary key.
SELECT o.id, o.sum FROM pg_catalog.unnest((SELECT $2::text::bytea[])) m(id)
CROSS JOIN LATERAL (SELECT x.id, x.sum FROM postbag._once x
  WHERE x.consumer OPERATOR(pg_catalog.=) (SELECT pg_catalog.convert_from($1::bytea, 'UTF8')) AND x.id OPERATOR(pg_catalog.=) m.id LIMIT 1) o
WHERE o.sum IS NOT NULL;

-- name: declare_consumer
-- $2 are microseconds.
INSERT INTO postbag._consumers (name, keep) VALUES (convert_from($1::bytea, 'UTF8'), $2::text::bigint * interval '1 microsecond')
ON CONFLICT (name) DO UPDATE SET keep = excluded.keep;

-- name: consumers
-- A small table.
SELECT convert_to(c.name, 'UTF8'), (extract(epoch FROM c.keep) * 1000000)::bigint FROM postbag._consumers c ORDER BY c.name;

-- name: make_walk
-- The one row of _forgetting, if somebody has removed it. It looks first, since an insert waits for who is changing the row.
INSERT INTO postbag._forgetting (one) SELECT true WHERE NOT EXISTS (SELECT FROM postbag._forgetting) ON CONFLICT DO NOTHING;

-- name: begin_walk
-- Has $1 walk for $2 microseconds, unless another does. Waits for nobody. (A time further away than anyone takes is of a clock that was
-- set back.) A walk that came to the end begins anew, up to the block that is the last one now.
WITH f AS MATERIALIZED (
  SELECT f.one, f.block < f.blocks AS goes_on, pg_relation_size('postbag._once'::regclass) / current_setting('block_size')::bigint AS now
  FROM postbag._forgetting f
  WHERE f.until NOT BETWEEN clock_timestamp() AND clock_timestamp() + $2::text::bigint * interval '1 microsecond' FOR UPDATE SKIP LOCKED
)
UPDATE postbag._forgetting w SET holder = $1::text, until = clock_timestamp() + $2::text::bigint * interval '1 microsecond',
  block = CASE WHEN f.goes_on THEN w.block ELSE 0 END,
  blocks = CASE WHEN f.goes_on THEN least(w.blocks, f.now) ELSE f.now END
FROM f WHERE w.one = f.one RETURNING w.block, w.blocks;

-- name: walking
-- Leaves a planner one way through the table: by its blocks. One that believes that the table is empty, as it was when somebody
-- looked last, reads all of the primary key otherwise. Consumers are hashed.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true), pg_catalog.set_config('row_security', 'off', true), pg_catalog.set_config('jit', 'off', true),
  pg_catalog.set_config('enable_seqscan', 'off', true), pg_catalog.set_config('enable_bitmapscan', 'off', true), pg_catalog.set_config('enable_indexscan', 'off', true),
  pg_catalog.set_config('enable_indexonlyscan', 'off', true), pg_catalog.set_config('enable_nestloop', 'off', true), pg_catalog.set_config('enable_mergejoin', 'off', true),
  pg_catalog.set_config('enable_tidscan', 'on', true), pg_catalog.set_config('enable_hashjoin', 'on', true);

-- name: forget_marks
-- Looks at the marks in the blocks from $1 up to, not including, $2, and removes those whose time is over, but no more than $3. Reads the
-- table by its blocks (Tid Range Scan), and no index: at has none. It waits for no row's lock. Rows that it has locked are where they
-- were, since nobody changes one. $4 are the microseconds for which the marks of consumers are kept that are not in _consumers.
WITH s AS MATERIALIZED (
  SELECT o.ctid, o.at < statement_timestamp() - coalesce(c.keep, $4::text::bigint * interval '1 microsecond') AS old
  FROM postbag._once o LEFT JOIN postbag._consumers c ON c.name = o.consumer
  WHERE o.ctid >= ('(' || $1::text || ',0)')::tid AND o.ctid < ('(' || $2::text || ',0)')::tid
), l AS MATERIALIZED (
  SELECT o.ctid FROM postbag._once o WHERE o.ctid = ANY (ARRAY(SELECT s.ctid FROM s WHERE s.old LIMIT $3::text::bigint)) FOR UPDATE SKIP LOCKED
), d AS (
  DELETE FROM postbag._once o WHERE o.ctid = ANY (ARRAY(SELECT l.ctid FROM l)) RETURNING 1
)
SELECT (SELECT count(*) FROM s), (SELECT count(*) FROM s WHERE s.old), (SELECT count(*) FROM d);

-- name: keep_place
-- The walk of $1 is at block $2 of $3, and has $4 microseconds more; none: it is over for now. No row if another took over.
UPDATE postbag._forgetting w SET block = $2::text::bigint, blocks = $3::text::bigint,
  until = CASE WHEN $4::text::bigint > 0 THEN clock_timestamp() + $4::text::bigint * interval '1 microsecond' ELSE '-infinity' END,
  done = CASE WHEN $2::text::bigint >= $3::text::bigint THEN clock_timestamp() ELSE w.done END
WHERE w.holder = $1::text;
