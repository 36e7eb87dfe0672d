-- Lanes of exactly-once effects. All of it runs in the user's transaction, with its search_path and its client_encoding, as what marks
-- does in inbox.sql. Parameters are texts and bytes only.

-- name: open_lane
-- One row by the primary key. It waits for who has written the row and is open.
INSERT INTO postbag._lanes (lane, epoch) VALUES ($1::bytea, $2::text::bigint)
ON CONFLICT (lane) DO UPDATE SET epoch = excluded.epoch
RETURNING epoch, record;

-- name: write_lane
-- One row by the primary key. None is written if the lane was opened again.
UPDATE postbag._lanes SET record = $3::bytea
WHERE lane OPERATOR(pg_catalog.=) $1::bytea AND epoch OPERATOR(pg_catalog.=) (SELECT $2::text::bigint);
