-- The writing half. Parameters are texts and bytes only: not every driver and pooler can send arrays, and the types of
-- others. Lists come as the text of an array. In a session with another client_encoding than UTF8 texts would be stored as others:
-- there is no id then, which the table refuses.

-- name: append_one
INSERT INTO postbag.{box} (id, place, topic, key, shard_key, type, headers, payload)
VALUES (CASE current_setting('client_encoding') WHEN 'UTF8' THEN $1::text::uuid END, $2::text::smallint, $3::text, $4::text, $5::text, $6::text, nullif($7::text, '')::json, $8::bytea);

-- name: append_many
-- $8 is where each payload begins in $10, counted from 1, and $9 its size. Rows come from the function in order and get
-- their seqs in that order.
INSERT INTO postbag.{box} (id, place, topic, key, shard_key, type, headers, payload)
SELECT i.id, i.place, i.topic, i.key, i.shard_key, i.type, nullif(i.headers, '')::json, substr($10::bytea, i.begins, i.size)
FROM unnest((SELECT CASE current_setting('client_encoding') WHEN 'UTF8' THEN $1::text::uuid[] END), (SELECT $2::text::smallint[]), (SELECT $3::text::text[]), (SELECT $4::text::text[]), (SELECT $5::text::text[]), (SELECT $6::text::text[]), (SELECT $7::text::text[]),
  (SELECT $8::text::integer[]), (SELECT $9::text::integer[])) i(id, place, topic, key, shard_key, type, headers, begins, size);

-- name: append_scheduled
-- $11 are microseconds since 1970, zero for at once.
WITH i AS MATERIALIZED (
  SELECT u.id, u.place, u.topic, u.key, u.shard_key, u.type, nullif(u.headers, '')::json AS headers, substr($10::bytea, u.begins, u.size) AS payload,
    CASE WHEN u.due > 0 THEN timestamptz 'epoch' + u.due::double precision * interval '1 microsecond' END AS due, u.n
  FROM unnest((SELECT CASE current_setting('client_encoding') WHEN 'UTF8' THEN $1::text::uuid[] END), (SELECT $2::text::smallint[]), (SELECT $3::text::text[]), (SELECT $4::text::text[]), (SELECT $5::text::text[]), (SELECT $6::text::text[]), (SELECT $7::text::text[]),
    (SELECT $8::text::integer[]), (SELECT $9::text::integer[]), (SELECT $11::text::bigint[]))
    WITH ORDINALITY AS u(id, place, topic, key, shard_key, type, headers, begins, size, due, n)
), s AS (
  INSERT INTO postbag.{box}__scheduled (due, id, place, topic, key, shard_key, type, headers, payload)
  SELECT i.due, i.id, i.place, i.topic, i.key, i.shard_key, i.type, i.headers, i.payload FROM i WHERE i.due > statement_timestamp() ORDER BY i.n
)
INSERT INTO postbag.{box} (id, place, topic, key, shard_key, type, headers, payload)
SELECT i.id, i.place, i.topic, i.key, i.shard_key, i.type, i.headers, i.payload FROM i WHERE i.due IS NULL OR i.due <= statement_timestamp() ORDER BY i.n;

-- name: lock_keys
SELECT pg_advisory_xact_lock(h.hash) FROM unnest((SELECT $1::text::bigint[])) h(hash);

-- name: cancel
-- A row if the message was there and was not due. Runs as the owner of the tables, see schema/box.sql.
SELECT FROM postbag.{box}__cancel($1::text::uuid) AS gone WHERE gone;
