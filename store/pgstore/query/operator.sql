-- Operators' orders.

-- name: command_rows
-- The rows of messages $1, of the log or copied from it. Primary keys. $2 box.
SELECT m.seq, m.xid, m.id, (CASE WHEN m.place > 0 THEN m.place - 1 ELSE postbag.slot_of(coalesce(nullif(m.shard_key, ''), m.key), m.id) END)::smallint,
  (extract(epoch FROM greatest(least(m.at, timestamptz '10000-01-01 00:00:00Z'), timestamptz '0001-01-01 00:00:00Z')) * 1000000)::bigint, coalesce(nullif(m.topic, ''), '{box}'), m.key, m.shard_key, m.type, m.headers::text
FROM unnest($1::bigint[]) i(seq) CROSS JOIN LATERAL (
  SELECT b.seq, b.xid::text::bigint AS xid, b.id, b.place, b.shard_key, b.key, b.at, b.topic, b.type, b.headers::json AS headers FROM postbag.{box} b WHERE b.seq = i.seq
  UNION ALL
  SELECT c.seq, 0, c.id, c.place, c.shard_key, c.key, c.at, c.topic, c.type, c.headers FROM postbag._copies c WHERE c.box = $2::integer AND c.seq = i.seq
  LIMIT 1) m ORDER BY m.seq;

-- name: lock_subscription
-- Has one at a time queue commands of a subscription, change its pauses, or remove it. Comes before locks of its shards and its
-- pauses. One row.
SELECT FROM postbag._subscriptions u WHERE u.id = $1::integer FOR NO KEY UPDATE;

-- name: command
-- Queues a command of kind $6 for messages $2 of subscription $1, in slots $3, that have none of its kind, and audits it, all
-- in one; nothing if of those that are pending ($4) more than $10 would wait. $5 are their names for the audit log. Comes
-- after lock_subscription. Returns the seqs it was queued for, or -1 if there would be too many. Primary keys, whose parked
-- rows it locks against being resolved meanwhile, and _commands_pending.
WITH i AS MATERIALIZED (
  SELECT i.* FROM unnest($2::bigint[], $3::smallint[], $4::boolean[], $5::text[]) i(seq, slot, pending, name)
  WHERE (SELECT c.id FROM postbag._commands c WHERE c.sub = $1::integer AND c.seq = i.seq AND c.kind = $6::integer::smallint LIMIT 1) IS NULL
    AND EXISTS (SELECT FROM postbag._subscriptions u WHERE u.id = $1::integer)
    AND (i.pending OR (SELECT p.seq FROM postbag._parked p WHERE p.sub = $1::integer AND p.seq = i.seq LIMIT 1 FOR KEY SHARE) IS NOT NULL)
), w AS MATERIALIZED (
  SELECT count(*) AS n FROM (SELECT c.seq FROM postbag._commands c WHERE c.sub = $1::integer AND c.pending ORDER BY c.sub, c.id) c
  WHERE (SELECT p.seq FROM postbag._parked p WHERE p.sub = $1::integer AND p.seq = c.seq LIMIT 1) IS NULL
), f AS MATERIALIZED (
  SELECT count(*) FILTER (WHERE i.pending) > 0 AND count(*) FILTER (WHERE i.pending) + (SELECT w.n FROM w) > $10::integer AS full FROM i
), c AS (
  INSERT INTO postbag._commands (sub, slot, seq, kind, pending)
  SELECT $1::integer, i.slot, i.seq, $6::integer::smallint, i.pending FROM i, f WHERE NOT f.full ORDER BY i.seq
  ON CONFLICT (sub, seq, kind) DO NOTHING RETURNING seq
), a AS (
  INSERT INTO postbag._audit (who, why, what)
  SELECT $7::text, $8::text, $9::text || string_agg(l.name, ' ' ORDER BY l.seq) FILTER (WHERE l.n <= 20)
    || CASE WHEN count(*) > 20 THEN ' and ' || count(*) - 20 || ' more' ELSE '' END || $11::text
  FROM (SELECT c.seq, i.name, row_number() OVER (ORDER BY c.seq) AS n FROM c JOIN i ON i.seq = c.seq) l HAVING count(*) > 0
)
SELECT c.seq FROM c UNION ALL SELECT -1 FROM f WHERE f.full;

-- name: publish_now
-- Has scheduled messages $1 be due, and audits it; $5 names them. By the index on id.
WITH d AS (
  UPDATE postbag.{box}__scheduled s SET due = least(s.due, clock_timestamp())
  WHERE s.n = ANY (ARRAY(SELECT s.n FROM unnest($1::text[]) i(id) CROSS JOIN LATERAL (
    SELECT s.n FROM postbag.{box}__scheduled s WHERE s.id = i.id::uuid ORDER BY s.id LIMIT 100) s)) RETURNING s.id
), a AS (
  INSERT INTO postbag._audit (who, why, what)
  SELECT $2::text, $3::text, $4::text || string_agg(l.id::text, ' ') FILTER (WHERE l.n <= 20)
    || CASE WHEN count(*) > 20 THEN ' and ' || count(*) - 20 || ' more' ELSE '' END || $5::text
  FROM (SELECT d.id, row_number() OVER () AS n FROM d) l HAVING count(*) > 0
)
SELECT d.id FROM d;

-- name: unschedule
-- Deletes scheduled messages $1, and audits it. By the index on id.
WITH d AS (
  DELETE FROM postbag.{box}__scheduled s
  WHERE s.n = ANY (ARRAY(SELECT s.n FROM unnest($1::text[]) i(id) CROSS JOIN LATERAL (
    SELECT s.n FROM postbag.{box}__scheduled s WHERE s.id = i.id::uuid ORDER BY s.id LIMIT 100) s)) RETURNING s.id
), a AS (
  INSERT INTO postbag._audit (who, why, what)
  SELECT $2::text, $3::text, $4::text || string_agg(l.id::text, ' ') FILTER (WHERE l.n <= 20)
    || CASE WHEN count(*) > 20 THEN ' and ' || count(*) - 20 || ' more' ELSE '' END || $5::text
  FROM (SELECT d.id, row_number() OVER () AS n FROM d) l HAVING count(*) > 0
)
SELECT d.id FROM d;

-- name: erasing
-- Lets the transaction change rows of the log, which their constraint refuses otherwise.
SELECT set_config('postbag.erasing', 'on', true);

-- name: erase
-- Empties rows $1 of the log, and marks them. Primary keys. The slot of an emptied row is no longer that of its key, so it is written down.
UPDATE postbag.{box} b SET payload = '', headers = '{"Postbag-Erased":"true"}', key = NULL, shard_key = NULL,
  place = CASE WHEN b.place > 0 THEN b.place ELSE 1 + postbag.slot_of(coalesce(nullif(b.shard_key, ''), b.key), b.id) END
WHERE b.seq = ANY ($1::bigint[]);

-- name: erase_copies
-- The same of copies. Primary keys. $2 box.
UPDATE postbag._copies c SET payload = '', headers = '{"Postbag-Erased":"true"}', key = NULL, shard_key = NULL,
  place = CASE WHEN c.place > 0 THEN c.place ELSE 1 + postbag.slot_of(coalesce(nullif(c.shard_key, ''), c.key), c.id) END
WHERE c.box = $2::integer AND c.seq = ANY ($1::bigint[]);

-- name: note
-- Writes to the audit log.
INSERT INTO postbag._audit (who, why, what) VALUES ($1::text, $2::text, $3::text);

-- name: accept
-- Adds what the ledgers lack: of subscriptions $1 in spans $2. Primary keys.
INSERT INTO postbag._ledger AS l (sub, span, fate, shard, n, seqs, ids)
SELECT i.sub, i.span, 5, 0, i.n, i.seqs, i.ids
FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) i(sub, span, n, seqs, ids)
ON CONFLICT (sub, span, fate, shard) DO UPDATE SET n = l.n + EXCLUDED.n, seqs = l.seqs + EXCLUDED.seqs, ids = l.ids + EXCLUDED.ids;

-- name: want_shards
-- Asks for so many shards, and audits it. One row; the epoch last.
WITH o AS (
  SELECT u.wanted FROM postbag._subscriptions u WHERE u.id = $1::integer
), u AS (
  UPDATE postbag._subscriptions u SET wanted = $2::integer, wanted_by = $3::text
  WHERE u.id = $1::integer AND (u.wanted <> $2::integer OR u.wanted_by <> $3::text) RETURNING 1
), a AS (
  INSERT INTO postbag._audit (who, why, what) VALUES ($3::text, $4::text, $5::text)
)
UPDATE postbag._epoch e SET n = e.n + 1 WHERE EXISTS (SELECT FROM o, u WHERE o.wanted <> $2::integer);

-- name: set_pause
-- Begins a pause of what $3 of scope $2 in subscription $1 (0: none), in place of the one there is, and audits it. It ends $6
-- microseconds from now, or at $7 microseconds since 1970; 0 and 0: never. Nothing if that is over, if more than $9 would be in force, or
-- if the subscription is gone. Comes after lock_subscription. The flag of the subscription says so to relays of older versions. All
-- pauses, which are few, and single rows; the epoch last.
WITH n AS MATERIALIZED (
  SELECT clock_timestamp() AS now, CASE WHEN $6::bigint <> 0 THEN clock_timestamp() + $6::bigint * interval '1 microsecond'
    WHEN $7::bigint <> 0 THEN timestamptz 'epoch' + $7::bigint * interval '1 microsecond' END AS ends
), o AS MATERIALIZED (
  SELECT p.ends FROM postbag._pauses p, n WHERE p.sub = $1::integer AND p.scope = $2::text AND p.held = $3::text AND (p.ends > n.now) IS NOT FALSE
), f AS MATERIALIZED (
  SELECT n.ends, (n.ends <= n.now) IS TRUE AS over,
    NOT EXISTS (SELECT FROM o) AND (SELECT count(*) FROM postbag._pauses p WHERE (p.ends > n.now) IS NOT FALSE) >= $9::integer AS full
  FROM n
), s AS (
  INSERT INTO postbag._pauses AS p (sub, scope, held, who, why, ends)
  SELECT $1::integer, $2::text, $3::text, $4::text, $5::text, f.ends FROM f WHERE NOT f.over AND NOT f.full
    AND ($1::integer = 0 OR EXISTS (SELECT FROM postbag._subscriptions x WHERE x.id = $1::integer))
  ON CONFLICT (sub, scope, held) DO UPDATE SET who = EXCLUDED.who, why = EXCLUDED.why, ends = EXCLUDED.ends,
    began = CASE WHEN EXISTS (SELECT FROM o) THEN p.began ELSE EXCLUDED.began END
  RETURNING 1
), u AS (
  UPDATE postbag._subscriptions u SET paused = true
  WHERE u.id = $1::integer AND $2::text = 'subscription' AND EXISTS (SELECT FROM s)
), a AS (
  INSERT INTO postbag._audit (who, why, what)
  SELECT $4::text, $5::text, $8::text || coalesce(' until ' || to_char(f.ends AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), '') FROM f
  WHERE EXISTS (SELECT FROM s)
), m AS MATERIALIZED (
  SELECT EXISTS (SELECT FROM s) AND ((SELECT count(*) FROM o) = 0 OR (SELECT o.ends FROM o) IS DISTINCT FROM f.ends)
    OR EXISTS (SELECT FROM s) AND $2::text = 'subscription' AND EXISTS (SELECT FROM postbag._subscriptions x WHERE x.id = $1::integer AND NOT x.paused) AS moved FROM f
)
UPDATE postbag._epoch e SET n = e.n + CASE WHEN m.moved THEN 1 ELSE 0 END FROM f, m RETURNING f.over, f.full, EXISTS (SELECT FROM s);

-- name: end_pause
-- Ends the pause of what $3 of scope $2 in subscription $1, and says whether it was in force. Audits it then, or if $7. Comes after
-- lock_subscription. Single rows; the epoch last.
WITH d AS (
  DELETE FROM postbag._pauses p WHERE p.sub = $1::integer AND p.scope = $2::text AND p.held = $3::text
  RETURNING (p.ends > clock_timestamp()) IS NOT FALSE AS alive
), u AS (
  UPDATE postbag._subscriptions u SET paused = false
  WHERE u.id = $1::integer AND $2::text = 'subscription' AND u.paused AND (SELECT count(*) FROM d) >= 0 RETURNING 1
), f AS MATERIALIZED (
  SELECT EXISTS (SELECT FROM d WHERE d.alive) OR EXISTS (SELECT FROM u) AND NOT EXISTS (SELECT FROM d) AS ended,
    EXISTS (SELECT FROM d) OR EXISTS (SELECT FROM u) AS moved
), a AS (
  INSERT INTO postbag._audit (who, why, what) SELECT $4::text, $5::text, $6::text FROM f WHERE f.ended OR $7::boolean
)
UPDATE postbag._epoch e SET n = e.n + CASE WHEN f.moved THEN 1 ELSE 0 END FROM f RETURNING f.ended;

-- name: set_filter
-- Gives a subscription another filter, and audits it. Returns a row unless the subscription is gone. One row; the epoch last.
WITH f AS MATERIALIZED (
  SELECT u.id FROM postbag._subscriptions u WHERE u.id = $1::integer FOR NO KEY UPDATE
), u AS (
  UPDATE postbag._subscriptions u SET types = $2::text[], takes = $6::text, types_by = $3::text
  WHERE u.id = $1::integer AND EXISTS (SELECT FROM f) AND (u.types <> $2::text[] OR u.takes <> $6::text OR u.types_by <> $3::text) RETURNING 1
), m AS MATERIALIZED (
  SELECT count(*) AS n FROM u
), a AS (
  INSERT INTO postbag._audit (who, why, what) SELECT $3::text, $4::text, $5::text FROM f
)
UPDATE postbag._epoch e SET n = e.n + m.n FROM f, m RETURNING 1;

-- name: lock_shards_of
-- Settlements hold a shard: those that began before are done, and no later one finds it. By subscription.
SELECT s.id FROM postbag._shards s WHERE s.sub = $1::integer ORDER BY s.id FOR UPDATE;

-- name: remove
-- Deletes a subscription, but for what is swept later, and audits it; nothing, and no row comes, if a live relay holds a shard of it and it
-- is neither paused nor to be removed by force ($2). Comes after lock_box, lock_subscription and lock_shards_of. Primary keys by their
-- first column.
WITH ok AS MATERIALIZED (
  SELECT u.id, u.box, u.name FROM postbag._subscriptions u WHERE u.id = $1::integer AND ($2::boolean OR u.paused OR NOT EXISTS (
    SELECT FROM postbag._shards s JOIN postbag._relays r ON r.id = s.owner WHERE s.sub = u.id AND NOT r.dead AND r.expires > clock_timestamp()))
), n AS (
  INSERT INTO postbag._removed (box, name, who) SELECT ok.box, ok.name, $3::text FROM ok
  ON CONFLICT (box, name) DO UPDATE SET at = clock_timestamp(), who = EXCLUDED.who
), a AS (
  INSERT INTO postbag._audit (who, why, what) SELECT $3::text, $4::text, $5::text FROM ok
), l AS (
  DELETE FROM postbag._ledger l WHERE l.sub = $1::integer AND EXISTS (SELECT FROM ok)
), h AS (
  INSERT INTO postbag._leftovers (sub) SELECT ok.id FROM ok ON CONFLICT DO NOTHING
), k AS (
  DELETE FROM postbag._cuts k WHERE k.sub = $1::integer AND EXISTS (SELECT FROM ok)
), z AS (
  DELETE FROM postbag._pauses z WHERE z.sub = $1::integer AND EXISTS (SELECT FROM ok)
), s AS (
  DELETE FROM postbag._shards s WHERE s.sub = $1::integer AND EXISTS (SELECT FROM ok)
), u AS (
  DELETE FROM postbag._subscriptions u WHERE u.id = $1::integer AND EXISTS (SELECT FROM ok)
)
SELECT ok.id FROM ok;

-- name: sweep_leftovers
-- Deletes $1 rows of each kind at most of a subscription or a replay that is gone. Returns a row unless there was none. All by
-- (sub, seq), and then by their place in the table, as resolve does.
WITH g AS MATERIALIZED (
  SELECT x.sub FROM postbag._leftovers x ORDER BY x.sub LIMIT 1 FOR UPDATE SKIP LOCKED
), p AS (
  DELETE FROM postbag._parked p WHERE p.ctid = ANY (ARRAY(SELECT f.ctid FROM g CROSS JOIN LATERAL (
    SELECT f.ctid FROM postbag._parked f WHERE f.sub = g.sub ORDER BY f.seq LIMIT $1::bigint) f)) RETURNING 1
), c AS (
  DELETE FROM postbag._commands c WHERE c.ctid = ANY (ARRAY(SELECT f.ctid FROM g CROSS JOIN LATERAL (
    SELECT f.ctid FROM postbag._commands f WHERE f.sub = g.sub ORDER BY f.sub, f.seq LIMIT $1::bigint) f)) RETURNING 1
), d AS (
  DELETE FROM postbag._discarded d WHERE d.ctid = ANY (ARRAY(SELECT f.ctid FROM g CROSS JOIN LATERAL (
    SELECT f.ctid FROM postbag._discarded f WHERE f.sub = g.sub ORDER BY f.seq LIMIT $1::bigint) f)) RETURNING 1
), h AS (
  DELETE FROM postbag._past h WHERE h.ctid = ANY (ARRAY(SELECT f.ctid FROM g CROSS JOIN LATERAL (
    SELECT f.ctid FROM postbag._past f WHERE f.sub = g.sub ORDER BY f.seq LIMIT $1::bigint) f)) RETURNING 1
), m AS MATERIALIZED (
  SELECT greatest((SELECT count(*) FROM p), (SELECT count(*) FROM c), (SELECT count(*) FROM d), (SELECT count(*) FROM h)) AS most
), e AS (
  DELETE FROM postbag._leftovers x USING g, m WHERE x.sub = g.sub AND m.most < $1::bigint
)
SELECT m.most FROM g, m;

-- name: gone
-- Has relays look again once a subscription is removed. The last row to be locked.
UPDATE postbag._epoch e SET n = e.n + 1 WHERE NOT EXISTS (SELECT FROM postbag._subscriptions u WHERE u.id = $1::integer);

-- name: readmit
-- Lets a subscription be declared again, and audits it. One row; the epoch last.
WITH d AS (
  DELETE FROM postbag._removed r USING postbag._boxes b WHERE b.name = $1::text AND r.box = b.id AND r.name = $2::text RETURNING 1
), a AS (
  INSERT INTO postbag._audit (who, why, what) SELECT $3::text, $4::text, $5::text FROM d
)
UPDATE postbag._epoch e SET n = e.n + 1 WHERE EXISTS (SELECT FROM d) RETURNING e.n;

-- name: notices
-- Of the latest $1 entries the latest $2 that notices are made of. A range at the end of the primary key.
SELECT (extract(epoch FROM a.at) * 1000000)::bigint, a.who, a.why, a.what FROM postbag._audit a
WHERE a.id > coalesce((SELECT m.id FROM postbag._audit m ORDER BY m.id DESC LIMIT 1), 0) - $1::bigint AND (a.who = 'postbag' OR a.what LIKE 'accept ledger %') ORDER BY a.id DESC LIMIT $2::integer;

-- name: audited
-- The latest entries. The end of the primary key.
SELECT (extract(epoch FROM a.at) * 1000000)::bigint, a.who, a.why, a.what FROM postbag._audit a ORDER BY a.id DESC LIMIT $1::integer;
