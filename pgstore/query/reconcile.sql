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
DELETE FROM postbag._parked p WHERE p.sub = $1::integer AND p.seq > $2::bigint;

-- name: back_shards
UPDATE postbag._shards s SET position = $2::bytea, owner = NULL, token = postbag._new_token(), span = -1, delivered = 0, delivered_seq = 0,
  delivered_id = 0, filtered = 0, filtered_seq = 0, filtered_id = 0 WHERE s.sub = $1::integer;
