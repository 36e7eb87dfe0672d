-- Long operations.

-- name: operation
-- The database's clock, and an operation with its revision and the id of its subscription. One row.
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, o.id, o.revision, o.sub, o.version, o.kind, o.box, o.name, o.messages, o.chosen, o.as_of, o.rate,
  o.who, o.why, o.matched, o.made, o.at, o.given, o.changed, o.passed, o.state, o.error, o.by_who, o.by_why, o.worker, o.token, o.lease_ends, o.begun,
  o.touched, o.ended
FROM postbag._operations o WHERE o.id = $1::bigint;

-- name: operations
-- The same of the latest. The end of the primary key.
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, o.id, o.revision, o.sub, o.version, o.kind, o.box, o.name, o.messages, o.chosen, o.as_of, o.rate,
  o.who, o.why, o.matched, o.made, o.at, o.given, o.changed, o.passed, o.state, o.error, o.by_who, o.by_why, o.worker, o.token, o.lease_ends, o.begun,
  o.touched, o.ended
FROM postbag._operations o ORDER BY o.id DESC LIMIT $1::integer;

-- name: plan_operation
-- Makes an operation, unless $15 are open, and returns its id. By the index of those that are open.
WITH f AS MATERIALIZED (
  SELECT count(*) AS n FROM postbag._operations o WHERE o.state IN ('planned', 'running', 'paused')
)
INSERT INTO postbag._operations (sub, version, kind, box, name, messages, chosen, as_of, rate, who, why, matched, made, state, touched)
SELECT $1::integer, $2::integer, $3::text, $4::text, $5::text, $6::text, $7::text, $8::bigint, $9::bigint, $10::text, $11::text, $12::bigint, $13::bigint,
  $14::text, $13::bigint
FROM f WHERE f.n < $15::bigint RETURNING id;

-- name: lock_operation
-- Has one at a time step an operation, pause it or change it otherwise. Comes before lock_subscription. One row.
SELECT FROM postbag._operations o WHERE o.id = $1::bigint AND o.revision = $2::bigint FOR NO KEY UPDATE;

-- name: add_part
-- Writes a part of the messages of an operation, in place of the one there is. Comes after lock_operation. Single rows.
INSERT INTO postbag._operation_parts AS p (operation, part, messages)
SELECT o.id, $3::bigint, $4::bytea FROM postbag._operations o WHERE o.id = $1::bigint AND o.revision = $2::bigint
ON CONFLICT (operation, part) DO UPDATE SET messages = EXCLUDED.messages;

-- name: operation_parts
-- Parts $2 to $3 of an operation. A range of the primary key.
SELECT p.messages FROM postbag._operation_parts p WHERE p.operation = $1::bigint AND p.part >= $2::bigint AND p.part <= $3::bigint ORDER BY p.part;

-- name: count_parts
-- How many parts an operation has. A range of the primary key.
SELECT count(*) FROM postbag._operation_parts p WHERE p.operation = $1::bigint;

-- name: set_operation
-- Writes what changes of an operation, if its revision is $2, and audits it by $13 and $14 if $15 is not empty. Returns a row then. One row.
WITH u AS (
  UPDATE postbag._operations o SET revision = o.revision + 1, state = $3::text, error = $4::text, by_who = $5::text, by_why = $6::text, worker = $7::text,
    token = $8::bigint, lease_ends = $9::bigint, begun = $10::bigint, touched = $11::bigint, ended = $12::bigint
  WHERE o.id = $1::bigint AND o.revision = $2::bigint RETURNING o.id
), a AS (
  INSERT INTO postbag._audit (who, why, what) SELECT $13::text, $14::text, $15::text FROM u WHERE $15::text <> ''
)
SELECT u.id FROM u;

-- name: step_commands
-- One step of an operation $1 with revision $2: queues a command of kind $11 for messages $13 of subscription $12, in slots $14, that have
-- none of its kind, as command does; nothing if of those that are pending ($15) more than $16 would wait. $17: only for those that are
-- dead since $18 at the latest, and have no other command; the others are counted as changed, with $10 more. In the same statement it
-- moves the operation by $3 messages and writes $4 to $8 of it, and audits that by its who and why if $9 is not empty: $9, and how
-- many. Comes after lock_operation and lock_subscription. Returns a row with 0 and the counts, or one with -1 if there would be too many.
-- Primary keys, whose parked rows it locks against being resolved meanwhile, and _commands_pending.
WITH o AS MATERIALIZED (
  SELECT o.id FROM postbag._operations o
  WHERE o.id = $1::bigint AND o.revision = $2::bigint AND EXISTS (SELECT FROM postbag._subscriptions u WHERE u.id = $12::integer)
), l AS MATERIALIZED (
  SELECT i.*, (SELECT c.id FROM postbag._commands c WHERE c.sub = $12::integer AND c.seq = i.seq AND c.kind = $11::integer::smallint LIMIT 1) IS NOT NULL AS queued,
    CASE WHEN $17::boolean THEN (SELECT c.id FROM postbag._commands c WHERE c.sub = $12::integer AND c.seq = i.seq AND c.kind <> $11::integer::smallint LIMIT 1) IS NULL
      AND (SELECT p.seq FROM postbag._parked p WHERE p.sub = $12::integer AND p.seq = i.seq AND p.state + 0 = 4
        AND coalesce((p.history -> -1 ->> 0)::bigint, (extract(epoch FROM p.first) * 1000000)::bigint) <= $18::bigint LIMIT 1 FOR KEY SHARE) IS NOT NULL
    ELSE i.pending OR (SELECT p.seq FROM postbag._parked p WHERE p.sub = $12::integer AND p.seq = i.seq LIMIT 1 FOR KEY SHARE) IS NOT NULL END AS fits
  FROM o, unnest($13::bigint[], $14::smallint[], $15::boolean[]) i(seq, slot, pending)
), i AS MATERIALIZED (
  SELECT l.* FROM l WHERE l.fits AND NOT l.queued
), w AS MATERIALIZED (
  SELECT count(*) AS n FROM (SELECT c.seq FROM postbag._commands c WHERE c.sub = $12::integer AND c.pending ORDER BY c.sub, c.id) c
  WHERE (SELECT p.seq FROM postbag._parked p WHERE p.sub = $12::integer AND p.seq = c.seq LIMIT 1) IS NULL
), f AS MATERIALIZED (
  SELECT count(*) FILTER (WHERE i.pending) > 0 AND count(*) FILTER (WHERE i.pending) + (SELECT w.n FROM w) > $16::integer AS full FROM i
), c AS (
  INSERT INTO postbag._commands (sub, slot, seq, kind, pending)
  SELECT $12::integer, i.slot, i.seq, $11::integer::smallint, i.pending FROM i, f WHERE NOT f.full ORDER BY i.seq
  ON CONFLICT (sub, seq, kind) DO NOTHING RETURNING seq
), n AS MATERIALIZED (
  SELECT (SELECT count(*) FROM c) AS given, $10::bigint + (SELECT count(*) FROM l WHERE $17::boolean AND NOT l.fits AND NOT l.queued) AS changed FROM o, f WHERE NOT f.full
), u AS (
  UPDATE postbag._operations x SET revision = x.revision + 1, at = x.at + $3::bigint, given = x.given + n.given, changed = x.changed + n.changed,
    passed = x.passed + $3::bigint - n.given - n.changed, state = $4::text, error = '', worker = $5::text, lease_ends = $6::bigint, touched = $7::bigint, ended = $8::bigint
  FROM n WHERE x.id = $1::bigint AND x.revision = $2::bigint RETURNING x.given, x.changed, x.passed, x.who, x.why
), a AS (
  INSERT INTO postbag._audit (who, why, what)
  SELECT u.who, u.why, $9::text || u.given || ' given, ' || u.changed || ' changed, ' || u.passed || ' passed' FROM u WHERE $9::text <> ''
)
SELECT 0, u.given, u.changed, u.passed FROM u UNION ALL SELECT -1, 0, 0, 0 FROM f WHERE f.full;

-- name: step_publish_now
-- The same for scheduled messages $11, which it has be due. By the index on id.
WITH o AS MATERIALIZED (
  SELECT o.id FROM postbag._operations o WHERE o.id = $1::bigint AND o.revision = $2::bigint
), d AS (
  UPDATE postbag.{box}__scheduled s SET due = least(s.due, clock_timestamp())
  WHERE EXISTS (SELECT FROM o) AND s.n = ANY (ARRAY(SELECT s.n FROM unnest($11::text[]) i(id) CROSS JOIN LATERAL (
    SELECT s.n FROM postbag.{box}__scheduled s WHERE s.id = i.id::uuid ORDER BY s.id LIMIT 100) s)) RETURNING s.id
), n AS MATERIALIZED (
  SELECT (SELECT count(DISTINCT d.id) FROM d) AS given, $10::bigint AS changed FROM o
), u AS (
  UPDATE postbag._operations x SET revision = x.revision + 1, at = x.at + $3::bigint, given = x.given + n.given, changed = x.changed + n.changed,
    passed = x.passed + $3::bigint - n.given - n.changed, state = $4::text, error = '', worker = $5::text, lease_ends = $6::bigint, touched = $7::bigint, ended = $8::bigint
  FROM n WHERE x.id = $1::bigint AND x.revision = $2::bigint RETURNING x.given, x.changed, x.passed, x.who, x.why
), a AS (
  INSERT INTO postbag._audit (who, why, what)
  SELECT u.who, u.why, $9::text || u.given || ' given, ' || u.changed || ' changed, ' || u.passed || ' passed' FROM u WHERE $9::text <> ''
)
SELECT 0, u.given, u.changed, u.passed FROM u;

-- name: step_unschedule
-- The same, and deletes them. By the index on id.
WITH o AS MATERIALIZED (
  SELECT o.id FROM postbag._operations o WHERE o.id = $1::bigint AND o.revision = $2::bigint
), d AS (
  DELETE FROM postbag.{box}__scheduled s
  WHERE EXISTS (SELECT FROM o) AND s.n = ANY (ARRAY(SELECT s.n FROM unnest($11::text[]) i(id) CROSS JOIN LATERAL (
    SELECT s.n FROM postbag.{box}__scheduled s WHERE s.id = i.id::uuid ORDER BY s.id LIMIT 100) s)) RETURNING s.id
), n AS MATERIALIZED (
  SELECT (SELECT count(DISTINCT d.id) FROM d) AS given, $10::bigint AS changed FROM o
), u AS (
  UPDATE postbag._operations x SET revision = x.revision + 1, at = x.at + $3::bigint, given = x.given + n.given, changed = x.changed + n.changed,
    passed = x.passed + $3::bigint - n.given - n.changed, state = $4::text, error = '', worker = $5::text, lease_ends = $6::bigint, touched = $7::bigint, ended = $8::bigint
  FROM n WHERE x.id = $1::bigint AND x.revision = $2::bigint RETURNING x.given, x.changed, x.passed, x.who, x.why
), a AS (
  INSERT INTO postbag._audit (who, why, what)
  SELECT u.who, u.why, $9::text || u.given || ' given, ' || u.changed || ' changed, ' || u.passed || ' passed' FROM u WHERE $9::text <> ''
)
SELECT 0, u.given, u.changed, u.passed FROM u;

-- name: forget_operation
-- Deletes $2 parts at most of an operation of box $1 that nobody changed since $4, or since $3 if it is planned, and then the operation.
-- Returns a row unless there was none. By (box, touched), by the index of those that are open, and by a range of the primary key.
WITH k AS MATERIALIZED (
  SELECT o.id FROM postbag._operations o WHERE o.box = $1::text AND o.touched <= $4::bigint ORDER BY o.touched LIMIT 1 FOR UPDATE SKIP LOCKED
), l AS MATERIALIZED (
  SELECT o.id FROM postbag._operations o WHERE o.state = 'planned' AND o.box = $1::text AND o.touched + 0 <= $3::bigint AND NOT EXISTS (SELECT FROM k)
  LIMIT 1 FOR UPDATE SKIP LOCKED
), g AS MATERIALIZED (
  SELECT k.id FROM k UNION ALL SELECT l.id FROM l
), p AS (
  DELETE FROM postbag._operation_parts p WHERE p.ctid = ANY (ARRAY(SELECT f.ctid FROM g CROSS JOIN LATERAL (
    SELECT f.ctid FROM postbag._operation_parts f WHERE f.operation = g.id ORDER BY f.part LIMIT $2::bigint) f)) RETURNING 1
), m AS MATERIALIZED (
  SELECT count(*) AS n FROM p
), e AS (
  DELETE FROM postbag._operations x USING g, m WHERE x.id = g.id AND m.n < $2::bigint
)
SELECT g.id FROM g, m;
