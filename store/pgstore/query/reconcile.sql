-- How a subscription goes back to a floor, when its database was copied to another cluster. All by subscription.

-- name: shard_positions
SELECT s.position FROM postbag._shards s WHERE s.sub = $1::integer ORDER BY s.id FOR UPDATE;

-- name: free_shards
UPDATE postbag._shards s SET owner = NULL, token = postbag._new_token() WHERE s.sub = $1::integer;

-- name: back_flush
INSERT INTO postbag._ledger AS l (sub, span, fate, shard, n, seqs, ids)
SELECT s.sub, s.span, k.fate, s.id, k.n, k.seqs, k.ids FROM postbag._shards s
CROSS JOIN LATERAL (VALUES (1, s.delivered, s.delivered_seq, s.delivered_id), (2, s.filtered, s.filtered_seq, s.filtered_id)) k(fate, n, seqs, ids)
WHERE s.sub = $1::integer AND s.span >= 0 AND k.n <> 0
ON CONFLICT (sub, span, fate, shard) DO UPDATE SET n = l.n + EXCLUDED.n, seqs = l.seqs + EXCLUDED.seqs, ids = l.ids + EXCLUDED.ids;

-- name: back_ledger
-- The lines of the spans that come again, whole or in part. What lies before the floor is behind a cut from now on.
DELETE FROM postbag._ledger l WHERE l.sub = $1::integer AND l.span >= $2::bigint;

-- name: back_cut
INSERT INTO postbag._cuts (sub, position, floor) VALUES ($1::integer, $2::bytea, $3::bigint);

-- name: back_commands
DELETE FROM postbag._commands c WHERE c.sub = $1::integer AND c.seq > $2::bigint;

-- name: back_parked
-- Deletes $3 rows at most: by (sub, seq), and then by their place in the table.
DELETE FROM postbag._parked p WHERE p.ctid = ANY (ARRAY(
  SELECT f.ctid FROM postbag._parked f WHERE f.sub = $1::integer AND f.seq > $2::bigint ORDER BY f.seq LIMIT $3::bigint));

-- name: back_shards
UPDATE postbag._shards s SET position = $2::bytea, owner = NULL, token = postbag._new_token(), span = -1, delivered = 0, delivered_seq = 0,
  delivered_id = 0, filtered = 0, filtered_seq = 0, filtered_id = 0 WHERE s.sub = $1::integer;

-- How a box goes on whose numbering was begun again (numbering.go). $1 is the box, or the subscription.

-- name: shard_bounds
SELECT s.position FROM postbag._shards s WHERE s.sub = $1::integer;

-- name: numbered
-- For each bound: the last seq given out, whether the sequence has the file that it should have and has given out what was
-- dropped, and the last row up to the bound with its xid. At most a thousand entries of the primary key, one as a rule.
SELECT coalesce(pg_sequence_last_value('postbag.{box}__seq'::regclass), 0),
  coalesce((SELECT b.numbering = pg_relation_filenode('postbag.{box}__seq'::regclass)::bigint
      AND b.dropped <= coalesce(pg_sequence_last_value('postbag.{box}__seq'::regclass), 0) FROM postbag._boxes b WHERE b.name = '{box}'), true),
  coalesce(p.seq, -1), coalesce(p.xid::text::bigint, 0)
FROM unnest($1::bigint[]) o(bound) LEFT JOIN LATERAL (
  SELECT p.seq, p.xid FROM postbag.{box} p WHERE p.seq <= o.bound AND p.seq > o.bound - 1000 ORDER BY p.seq DESC LIMIT 1) p ON true;

-- name: back_fold
-- Keeps what a ledger counted, without the spans: seqs may mean other messages in them now.
WITH g AS (
  DELETE FROM postbag._ledger l WHERE l.sub = $1::integer AND l.span >= 0 RETURNING l.*
)
INSERT INTO postbag._ledger AS l (sub, span, fate, shard, n, seqs, ids)
SELECT g.sub, -1, g.fate, 0, sum(g.n)::bigint, sum(g.seqs), sum(g.ids) FROM g WHERE g.fate <> 6 GROUP BY g.sub, g.fate
ON CONFLICT (sub, span, fate, shard) DO UPDATE SET n = l.n + EXCLUDED.n, seqs = l.seqs + EXCLUDED.seqs, ids = l.ids + EXCLUDED.ids;

-- name: begin_parked
-- What is parked stays if it is there still, and the new position has passed it: $2 is its snapshot.
DELETE FROM postbag._parked p WHERE p.sub = $1::integer
  AND NOT EXISTS (SELECT FROM postbag.{box} l WHERE l.seq = p.seq AND l.id = p.id AND pg_visible_in_snapshot(l.xid, $2::text::pg_snapshot))
  AND NOT EXISTS (SELECT FROM postbag._copies c JOIN postbag._subscriptions u ON u.box = c.box WHERE u.id = p.sub AND c.seq = p.seq AND c.id = p.id);

-- name: begin_copies
DELETE FROM postbag._copies c WHERE c.box = $1::integer AND EXISTS (SELECT FROM postbag.{box} l WHERE l.seq = c.seq AND l.id <> c.id);

-- name: begin_past
-- What is known of messages that were resolved stays if they are there still: the position that passed them passes them now.
-- Another message may have such a seq, and would be shown with what failed of the one before.
DELETE FROM postbag._past h WHERE h.sub = $1::integer
  AND NOT EXISTS (SELECT FROM postbag.{box} l WHERE l.seq = h.seq AND pg_visible_in_snapshot(l.xid, $2::text::pg_snapshot));

-- name: begin_discarded
-- The same of what was discarded.
DELETE FROM postbag._discarded d WHERE d.sub = $1::integer
  AND NOT EXISTS (SELECT FROM postbag.{box} l WHERE l.seq = d.seq AND pg_visible_in_snapshot(l.xid, $2::text::pg_snapshot));

-- name: begin_floors
DELETE FROM postbag._floors f WHERE f.box = $1::integer;

-- name: begin_box
-- After the leap: where the role may not make it, the log begins where its numbers do.
UPDATE postbag._boxes b SET numbering = pg_relation_filenode('postbag.{box}__seq'::regclass)::bigint,
  dropped = least(b.dropped, (SELECT l.seq - 1 FROM postbag.{box} l ORDER BY l.seq LIMIT 1),
    coalesce(pg_sequence_last_value('postbag.{box}__seq'::regclass), 0)) WHERE b.id = $1::integer;

-- name: begin_audit
INSERT INTO postbag._audit (who, why, what)
SELECT 'postbag', $2::text, 'look through ' || b.name || ' again' FROM postbag._boxes b WHERE b.id = $1::integer;

-- name: leap
-- Has the sequence go on behind all that was ever given out: $2, what is parked, what is there and what was dropped. It jumps
-- so far ahead of who draws from it just now that it is not set back.
SELECT setval('postbag.{box}__seq'::regclass, t.seq + 1000) FROM (SELECT greatest($2::bigint,
  (SELECT l.seq FROM postbag.{box} l ORDER BY l.seq DESC LIMIT 1), (SELECT max(c.seq) FROM postbag._copies c WHERE c.box = $1::integer),
  (SELECT max(p.seq) FROM postbag._parked p JOIN postbag._subscriptions u ON u.id = p.sub WHERE u.box = $1::integer),
  (SELECT b.dropped FROM postbag._boxes b WHERE b.id = $1::integer)) AS seq) t
WHERE t.seq > coalesce(pg_sequence_last_value('postbag.{box}__seq'::regclass), 0);
