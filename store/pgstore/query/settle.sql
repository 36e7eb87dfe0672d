-- One settling transaction. guard_last comes first (server.sql), then move; every further statement joins the shards that
-- move moved in this very transaction: settled_x is its id. Shards are locked in the order of their ids, and whatever else
-- is written belongs to a locked shard, so that no two settlements wait for each other.

-- name: move
-- Judges each settlement and moves its shard. A row is returned for each that is applied, now or by an earlier try. The
-- ledger of a span that is over moves out of the shard's row. Reads and locks _shards by primary key.
WITH i AS MATERIALIZED (
  SELECT * FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[], $6::bigint[], $7::bigint[],
    $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
  WITH ORDINALITY AS i(shard, token, version, position, span, dn, ds, di, fn, fs, fi, n)
), o AS MATERIALIZED (
  SELECT i.*, s.sub, s.version AS found, s.span AS was, s.delivered, s.delivered_seq, s.delivered_id, s.filtered, s.filtered_seq, s.filtered_id
  FROM i JOIN postbag._shards s ON s.id = i.shard
  WHERE s.token = i.token AND i.token <> 0 AND (s.version = i.version OR s.version = i.version + 1 AND s.settled = i.token)
  ORDER BY s.id FOR UPDATE OF s
), u AS (
  UPDATE postbag._shards s SET
    position = CASE WHEN o.position = '' THEN s.position ELSE o.position END,
    version = o.version + 1, settled = o.token, settled_x = pg_current_xact_id(),
    span = CASE WHEN o.span < 0 THEN s.span ELSE o.span END,
    delivered     = o.dn + CASE WHEN o.span < 0 OR o.span = o.was THEN o.delivered     ELSE 0 END,
    delivered_seq = o.ds + CASE WHEN o.span < 0 OR o.span = o.was THEN o.delivered_seq ELSE 0 END,
    delivered_id  = o.di + CASE WHEN o.span < 0 OR o.span = o.was THEN o.delivered_id  ELSE 0 END,
    filtered      = o.fn + CASE WHEN o.span < 0 OR o.span = o.was THEN o.filtered      ELSE 0 END,
    filtered_seq  = o.fs + CASE WHEN o.span < 0 OR o.span = o.was THEN o.filtered_seq  ELSE 0 END,
    filtered_id   = o.fi + CASE WHEN o.span < 0 OR o.span = o.was THEN o.filtered_id   ELSE 0 END
  FROM o WHERE s.id = o.shard AND o.found = o.version
), l AS (
  INSERT INTO postbag._ledger AS l (sub, span, fate, shard, n, seqs, ids)
  SELECT o.sub, o.was, k.fate, o.shard, k.n, k.seqs, k.ids
  FROM o CROSS JOIN LATERAL (VALUES (1, o.delivered, o.delivered_seq, o.delivered_id), (2, o.filtered, o.filtered_seq, o.filtered_id)) k(fate, n, seqs, ids)
  WHERE o.found = o.version AND o.span >= 0 AND o.span <> o.was AND o.was >= 0 AND k.n <> 0
  ON CONFLICT (sub, span, fate, shard) DO UPDATE SET n = l.n + EXCLUDED.n, seqs = l.seqs + EXCLUDED.seqs, ids = l.ids + EXCLUDED.ids
)
SELECT o.n, pg_current_xact_id() FROM o;

-- name: tally
-- Writes ledger lines by primary key.
INSERT INTO postbag._ledger AS l (sub, span, fate, shard, n, seqs, ids)
SELECT s.sub, i.span, i.fate, s.id, i.n, i.seqs, i.ids
FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::smallint[], $5::bigint[], $6::bigint[], $7::bigint[]) i(shard, version, span, fate, n, seqs, ids)
JOIN postbag._shards s ON s.id = i.shard AND s.version = i.version AND s.settled_x = pg_current_xact_id()
ON CONFLICT (sub, span, fate, shard) DO UPDATE SET n = l.n + EXCLUDED.n, seqs = l.seqs + EXCLUDED.seqs, ids = l.ids + EXCLUDED.ids;

-- name: park
-- Writes parked rows by primary key. A message's id comes from the log (primary key), or from the row that is replaced; a
-- seq that neither has is passed over. A row that blocks is not due until lead says so. What only postpones is not in the history.
INSERT INTO postbag._parked AS p (sub, seq, shard, slot, hash, state, blocking, attempts, ready, due, first, id, reason, history, held)
SELECT m.sub, m.seq, m.shard, m.slot, m.hash, m.state, m.blocking, m.attempts, m.ready, CASE WHEN m.blocking THEN NULL ELSE m.ready END,
  m.now, m.id, m.reason, jsonb_build_array(jsonb_build_array((extract(epoch FROM m.now) * 1000000)::bigint, m.state, m.reason)), m.held
FROM (
  SELECT s.sub, i.seq, s.id AS shard, i.slot, i.hash, i.state, i.blocking, i.attempts, t.now, i.reason, CASE i.state WHEN 5 THEN i.held ELSE '' END AS held,
    CASE i.state WHEN 1 THEN t.now + i.delay * interval '1 microsecond' WHEN 2 THEN t.now END AS ready,
    coalesce((SELECT b.id FROM postbag.{box} b WHERE b.seq = i.seq),
      (SELECT q.id FROM postbag._parked q WHERE q.sub = s.sub AND q.seq = i.seq)) AS id
  FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::smallint[], $5::bigint[], $6::smallint[], $7::boolean[], $8::integer[], $9::bigint[], $10::text[], $11::text[])
    i(shard, version, seq, slot, hash, state, blocking, attempts, delay, reason, held)
  JOIN postbag._shards s ON s.id = i.shard AND s.version = i.version AND s.settled_x = pg_current_xact_id()
  CROSS JOIN (SELECT clock_timestamp() AS now) t
) m WHERE m.id IS NOT NULL
ON CONFLICT (sub, seq) DO UPDATE SET shard = EXCLUDED.shard, slot = EXCLUDED.slot, hash = EXCLUDED.hash, state = EXCLUDED.state,
  blocking = EXCLUDED.blocking, attempts = EXCLUDED.attempts, ready = EXCLUDED.ready, due = EXCLUDED.due, reason = EXCLUDED.reason, held = EXCLUDED.held,
  history = CASE WHEN p.state = EXCLUDED.state AND p.attempts = EXCLUDED.attempts AND p.state <> 4 THEN p.history
    ELSE CASE WHEN jsonb_array_length(p.history) >= 20 THEN p.history - 0 ELSE p.history END || EXCLUDED.history END
WHERE EXCLUDED.state <> 2;

-- name: resolve
-- Removes parked rows by primary key, and the commands about them (at most one a kind). What of them is discarded, $5 of the
-- shards $4, is noted. Rows are found one by one and then removed by their place in the table: a join with the table might
-- be planned as a walk through all of it. Nobody else moves them, since their shard is locked.
WITH d AS (
  DELETE FROM postbag._parked p WHERE p.ctid = ANY (ARRAY(
    SELECT f.ctid FROM unnest($1::integer[], $2::bigint[], $3::bigint[]) i(shard, version, seq)
    JOIN postbag._shards s ON s.id = i.shard AND s.version = i.version AND s.settled_x = pg_current_xact_id()
    CROSS JOIN LATERAL (SELECT f.ctid FROM postbag._parked f WHERE f.sub = s.sub AND f.seq = i.seq AND f.shard = s.id LIMIT 1) f))
  RETURNING p.sub, p.seq, p.shard, p.attempts, p.reason, p.history
), h AS (
  INSERT INTO postbag._past AS h (sub, seq, attempts, reason, history)
  SELECT d.sub, d.seq, d.attempts, d.reason, d.history FROM d
  JOIN postbag._subscriptions u ON u.id = d.sub JOIN postbag._boxes b ON b.id = u.box
  WHERE (d.attempts > 0 OR d.reason <> '') AND d.seq > b.dropped
  ON CONFLICT (sub, seq) DO UPDATE SET attempts = EXCLUDED.attempts, reason = EXCLUDED.reason, history = EXCLUDED.history
), c AS (
  DELETE FROM postbag._commands c WHERE c.ctid = ANY (ARRAY(
    SELECT f.ctid FROM d CROSS JOIN LATERAL (
      SELECT f.ctid FROM postbag._commands f WHERE f.sub = d.sub AND f.seq = d.seq ORDER BY f.sub, f.seq LIMIT 8) f))
)
INSERT INTO postbag._discarded (sub, seq)
SELECT d.sub, d.seq FROM unnest($4::integer[], $5::bigint[]) k(shard, seq) JOIN d ON d.shard = k.shard AND d.seq = k.seq
ON CONFLICT DO NOTHING;

-- name: discard
-- Notes that messages without a parked row are discarded, which the settlement's position passes. Comes after park and
-- resolve. Primary keys.
INSERT INTO postbag._discarded (sub, seq)
SELECT s.sub, i.seq FROM unnest($1::integer[], $2::bigint[], $3::bigint[]) i(shard, version, seq)
JOIN postbag._shards s ON s.id = i.shard AND s.version = i.version AND s.settled_x = pg_current_xact_id()
WHERE (SELECT p.seq FROM postbag._parked p WHERE p.sub = s.sub AND p.seq = i.seq LIMIT 1) IS NULL
ON CONFLICT DO NOTHING;

-- name: done
-- Removes commands, found by primary key, that are what the settlement says they are.
DELETE FROM postbag._commands c WHERE c.ctid = ANY (ARRAY(
  SELECT f.ctid FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::smallint[], $5::bigint[]) i(shard, version, id, kind, seq)
  JOIN postbag._shards s ON s.id = i.shard AND s.version = i.version AND s.settled_x = pg_current_xact_id()
  CROSS JOIN LATERAL (SELECT f.ctid FROM postbag._commands f WHERE f.id = i.id AND f.sub + 0 = s.sub AND f.seq + 0 = i.seq AND f.kind + 0 = i.kind LIMIT 1) f));

-- name: lead
-- Of each hash that was touched, has the first blocking row count and the one that was the first before count no more. The
-- latter is among the first $4 + 1: all before it were parked just now. Reads _parked_chain, and then the rows by their place
-- in the table, as resolve does.
WITH t AS MATERIALIZED (
  SELECT h.head, o.old
  FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::integer[]) i(shard, version, hash, parks)
  JOIN postbag._shards s ON s.id = i.shard AND s.version = i.version AND s.settled_x = pg_current_xact_id()
  CROSS JOIN LATERAL (SELECT p.seq, p.ctid AS head FROM postbag._parked p
    WHERE p.shard = i.shard AND p.hash = i.hash AND p.blocking ORDER BY p.seq LIMIT 1) h
  LEFT JOIN LATERAL (SELECT f.ctid AS old FROM (SELECT p.seq, p.due, p.ctid FROM postbag._parked p
    WHERE p.shard = i.shard AND p.hash = i.hash AND p.blocking ORDER BY p.seq LIMIT i.parks + 1) f
    WHERE f.due IS NOT NULL AND f.seq > h.seq ORDER BY f.seq LIMIT 1) o ON i.parks > 0
), heads AS MATERIALIZED (
  SELECT t.head FROM t
)
UPDATE postbag._parked p SET due = CASE WHEN p.ctid IN (SELECT h.head FROM heads h) THEN CASE p.state WHEN 1 THEN p.ready ELSE clock_timestamp() END END
WHERE p.ctid = ANY (ARRAY(SELECT t.head FROM t UNION ALL SELECT t.old FROM t WHERE t.old IS NOT NULL))
  AND (p.ctid NOT IN (SELECT h.head FROM heads h) OR p.due IS NULL AND p.state IN (1, 2));

-- name: cleared
-- The hashes, of those that were touched, without a blocking row. Of a settlement that was applied earlier too. Reads
-- _parked_chain.
SELECT i.n FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bigint[]) WITH ORDINALITY AS i(shard, version, hash, token, n)
JOIN postbag._shards s ON s.id = i.shard AND s.version = i.version AND s.settled = i.token
WHERE (SELECT p.seq FROM postbag._parked p WHERE p.shard = i.shard AND p.hash = i.hash AND p.blocking ORDER BY p.seq LIMIT 1) IS NULL;

-- name: stored
-- Whether a position is one that was settled. Reads the shards of one subscription.
SELECT EXISTS (SELECT FROM postbag._shards s WHERE s.sub = $1::integer AND s.position = $2::bytea);

-- name: letters
-- What dead letters are made of, but for the payloads: messages $1 of box $2, in the log, or copied when it was
-- dropped. Primary keys.
SELECT i.n, clock_timestamp(), m.at, m.id, coalesce(nullif(m.topic, ''), '{box}'), m.key, m.shard_key, m.type, m.headers
FROM unnest($1::bigint[]) WITH ORDINALITY AS i(seq, n)
CROSS JOIN LATERAL (
  SELECT b.at, b.id, b.topic, b.key, b.shard_key, b.type, b.headers::json FROM postbag.{box} b WHERE b.seq = i.seq
  UNION ALL
  SELECT c.at, c.id, c.topic, c.key, c.shard_key, c.type, c.headers FROM postbag._copies c WHERE c.box = $2::integer AND c.seq = i.seq
  LIMIT 1) m
ORDER BY i.n;

-- name: write_letters
-- Writes dead letters of messages of box {from} into box {to}, in their sequence, with the payloads of the messages. Primary keys.
INSERT INTO postbag.{to} (id, place, topic, key, shard_key, type, headers, payload)
SELECT i.id::uuid, i.place, i.topic, i.key, i.shard_key, i.type, i.headers::json, m.payload
FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::text[], $5::smallint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])
  WITH ORDINALITY AS i(shard, version, seq, id, place, topic, key, shard_key, type, headers, n)
JOIN postbag._shards s ON s.id = i.shard AND s.version = i.version AND s.settled_x = pg_current_xact_id()
JOIN postbag._subscriptions u ON u.id = s.sub
CROSS JOIN LATERAL (
  SELECT b.payload FROM postbag.{from} b WHERE b.seq = i.seq
  UNION ALL
  SELECT c.payload FROM postbag._copies c WHERE c.box = u.box AND c.seq = i.seq
  LIMIT 1) m
ORDER BY i.n;

-- name: no_letter
-- Says in the audit log why dead letters are not written, if the settlement was applied just now.
INSERT INTO postbag._audit (who, why, what)
SELECT $3::text, $4::text, $5::text FROM unnest($1::integer[], $2::bigint[]) i(shard, version)
JOIN postbag._shards s ON s.id = i.shard AND s.version = i.version AND s.settled_x = pg_current_xact_id();

-- name: may_write
-- Writes nothing, and fails without the right to write messages.
INSERT INTO postbag.{box} (id, place, topic, key, shard_key, type, headers, payload)
SELECT NULL::uuid, 0::smallint, '', '', '', '', NULL::json, ''::bytea WHERE false;

-- name: supersede
-- Removes the rows that wait for the messages that were delivered, and the commands about them, and moves them in the ledger.
-- What is known of them stays, with the message that was delivered. Returns how many went, a line for each that was named.
-- Reads _parked_waiting, and then the rows by their place in the table, as resolve does.
WITH i AS MATERIALIZED (
  SELECT i.*, s.sub FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[]) WITH ORDINALITY AS i(shard, version, hash, seq, reason, n)
  JOIN postbag._shards s ON s.id = i.shard AND s.version = i.version AND s.settled_x = pg_current_xact_id()
), d AS (
  DELETE FROM postbag._parked p WHERE p.ctid = ANY (ARRAY(
    SELECT f.ctid FROM i CROSS JOIN LATERAL (SELECT f.ctid FROM postbag._parked f
      WHERE f.shard = i.shard AND f.hash = i.hash AND f.seq < i.seq AND f.state = 1 AND NOT f.blocking AND f.hash <> 0
      ORDER BY f.seq OFFSET 0) f))
  RETURNING p.sub, p.seq, p.shard, p.hash, p.attempts, p.history, p.id
), g AS MATERIALIZED (
  SELECT d.*, i.reason, i.n FROM d JOIN i ON i.shard = d.shard AND i.hash = d.hash
), h AS (
  INSERT INTO postbag._past AS h (sub, seq, attempts, reason, history)
  SELECT g.sub, g.seq, g.attempts, g.reason, CASE WHEN jsonb_array_length(g.history) >= 20 THEN g.history - 0 ELSE g.history END
    || jsonb_build_array(jsonb_build_array((extract(epoch FROM clock_timestamp()) * 1000000)::bigint, 9, g.reason))
  FROM g JOIN postbag._subscriptions u ON u.id = g.sub JOIN postbag._boxes b ON b.id = u.box WHERE g.seq > b.dropped
  ON CONFLICT (sub, seq) DO UPDATE SET attempts = EXCLUDED.attempts, reason = EXCLUDED.reason, history = EXCLUDED.history
), c AS (
  DELETE FROM postbag._commands c WHERE c.ctid = ANY (ARRAY(
    SELECT f.ctid FROM g CROSS JOIN LATERAL (
      SELECT f.ctid FROM postbag._commands f WHERE f.sub = g.sub AND f.seq = g.seq ORDER BY f.sub, f.seq LIMIT 8) f))
), l AS (
  INSERT INTO postbag._ledger AS l (sub, span, fate, shard, n, seqs, ids)
  SELECT t.sub, t.span, k.fate, t.shard, k.sign * t.n, k.sign * t.seqs, k.sign * t.ids FROM (
    SELECT g.sub, (g.seq - 1) / 1048576 AS span, g.shard, count(*) AS n, sum(g.seq) AS seqs,
      sum(('x' || right(replace(g.id::text, '-', ''), 16))::bit(64)::bigint) AS ids
    FROM g GROUP BY g.sub, (g.seq - 1) / 1048576, g.shard) t CROSS JOIN (VALUES (3, -1), (7, 1)) k(fate, sign)
  ON CONFLICT (sub, span, fate, shard) DO UPDATE SET n = l.n + EXCLUDED.n, seqs = l.seqs + EXCLUDED.seqs, ids = l.ids + EXCLUDED.ids
)
SELECT g.n, count(*) FROM g GROUP BY g.n;

-- name: supersede_first
-- Does the same for settlements that are still to be applied, in a transaction of its own: $6 rows of each shard at most.
-- Rows that the settlements write themselves, $8 of the shards $7, stay. Returns how many went of each that was named, and
-- whether there are more. Locks the shards; reads and locks _shards by primary key.
WITH i AS MATERIALIZED (
  SELECT i.*, s.sub FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $9::bigint[])
    WITH ORDINALITY AS i(shard, version, hash, seq, reason, token, n)
  JOIN postbag._shards s ON s.id = i.shard AND s.token = i.token AND s.version = i.version WHERE i.token <> 0 ORDER BY s.id FOR UPDATE OF s
), w AS MATERIALIZED (
  SELECT x.n, x.ctid, row_number() OVER (PARTITION BY x.shard ORDER BY x.n, x.seq) AS nth
  FROM (SELECT DISTINCT i.shard FROM i) s CROSS JOIN LATERAL (
    SELECT i.shard, i.n, f.seq, f.ctid FROM i CROSS JOIN LATERAL (SELECT f.seq, f.ctid FROM postbag._parked f
      WHERE f.shard = i.shard AND f.hash = i.hash AND f.seq < i.seq AND f.state = 1 AND NOT f.blocking AND f.hash <> 0
        AND NOT EXISTS (SELECT FROM unnest($7::integer[], $8::bigint[]) x(shard, seq) WHERE x.shard = f.shard AND x.seq = f.seq)
      ORDER BY f.seq LIMIT $6::bigint + 1) f
    WHERE i.shard = s.shard LIMIT $6::bigint + 1) x
), d AS (
  DELETE FROM postbag._parked p WHERE p.ctid = ANY (ARRAY(SELECT w.ctid FROM w WHERE w.nth <= $6::bigint))
  RETURNING p.sub, p.seq, p.shard, p.hash, p.attempts, p.history, p.id
), g AS MATERIALIZED (
  SELECT d.*, i.reason, i.n FROM d JOIN i ON i.shard = d.shard AND i.hash = d.hash
), h AS (
  INSERT INTO postbag._past AS h (sub, seq, attempts, reason, history)
  SELECT g.sub, g.seq, g.attempts, g.reason, CASE WHEN jsonb_array_length(g.history) >= 20 THEN g.history - 0 ELSE g.history END
    || jsonb_build_array(jsonb_build_array((extract(epoch FROM clock_timestamp()) * 1000000)::bigint, 9, g.reason))
  FROM g JOIN postbag._subscriptions u ON u.id = g.sub JOIN postbag._boxes b ON b.id = u.box WHERE g.seq > b.dropped
  ON CONFLICT (sub, seq) DO UPDATE SET attempts = EXCLUDED.attempts, reason = EXCLUDED.reason, history = EXCLUDED.history
), c AS (
  DELETE FROM postbag._commands c WHERE c.ctid = ANY (ARRAY(
    SELECT f.ctid FROM g CROSS JOIN LATERAL (
      SELECT f.ctid FROM postbag._commands f WHERE f.sub = g.sub AND f.seq = g.seq ORDER BY f.sub, f.seq LIMIT 8) f))
), l AS (
  INSERT INTO postbag._ledger AS l (sub, span, fate, shard, n, seqs, ids)
  SELECT t.sub, t.span, k.fate, t.shard, k.sign * t.n, k.sign * t.seqs, k.sign * t.ids FROM (
    SELECT g.sub, (g.seq - 1) / 1048576 AS span, g.shard, count(*) AS n, sum(g.seq) AS seqs,
      sum(('x' || right(replace(g.id::text, '-', ''), 16))::bit(64)::bigint) AS ids
    FROM g GROUP BY g.sub, (g.seq - 1) / 1048576, g.shard) t CROSS JOIN (VALUES (3, -1), (7, 1)) k(fate, sign)
  ON CONFLICT (sub, span, fate, shard) DO UPDATE SET n = l.n + EXCLUDED.n, seqs = l.seqs + EXCLUDED.seqs, ids = l.ids + EXCLUDED.ids
)
SELECT w.n, (SELECT count(*) FROM g WHERE g.n = w.n), bool_or(w.nth > $6::bigint) FROM w GROUP BY w.n;

-- name: waiting_left
-- The newest row that waits of each hash that was named, if there is one. Of a settlement that was applied earlier too. Reads
-- _parked_waiting.
SELECT i.n, p.seq FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bigint[]) WITH ORDINALITY AS i(shard, version, hash, token, n)
JOIN postbag._shards s ON s.id = i.shard AND s.version = i.version AND s.settled = i.token
CROSS JOIN LATERAL (SELECT p.seq FROM postbag._parked p
  WHERE p.shard = i.shard AND p.hash = i.hash AND p.state = 1 AND NOT p.blocking AND p.hash <> 0 ORDER BY p.seq DESC LIMIT 1) p;
