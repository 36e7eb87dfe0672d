-- Listings, for people. Nothing here locks anything, and each statement is a snapshot of its own. A message's state is put
-- together from where the shards stand, then the row, then what is parked, then what was discarded, in this order: so that
-- it is the state of some moment of the call.

-- name: standings
-- The clock (microseconds since 1970), the last seq given out, how far the log is gone, and where the shards of a box stand.
-- Single rows, and the shards by subscription. $1 box, $2 subscription; empty: all.
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
  (SELECT CASE WHEN q.is_called THEN q.last_value ELSE q.last_value - 1 END FROM postbag.{box}__seq q), b.dropped, r.subs, r.names, r.los, r.his, r.positions
FROM postbag._boxes b
CROSS JOIN LATERAL (
  SELECT array_agg(u.id ORDER BY u.id, s.lo) AS subs, array_agg(u.name ORDER BY u.id, s.lo) AS names,
    array_agg(s.lo::integer ORDER BY u.id, s.lo) AS los, array_agg(s.hi::integer ORDER BY u.id, s.lo) AS his,
    array_agg(s.position ORDER BY u.id, s.lo) AS positions
  FROM postbag._subscriptions u JOIN postbag._shards s ON s.sub = u.id
  WHERE u.box = b.id AND u.name <> '@maintenance' AND ($2::text = '' OR u.name = $2::text)) r
WHERE b.id = $1::integer;

-- name: list_log
-- Rows of the log without their bytes, before them one with how many were looked at and the last of them. A range of the
-- primary key, bounded by the caller: after $1 up to $2, at most $3, in the direction {way}.
WITH q AS MATERIALIZED (
  SELECT {row} FROM postbag.{box} b WHERE b.seq > $1::bigint AND b.seq <= $2::bigint ORDER BY b.seq {way} LIMIT $3::integer
)
{matching}

-- name: list_copies
-- The same of parked messages whose partition is gone. A range of the primary key. $12 box.
WITH q AS MATERIALIZED (
  SELECT {row} FROM (SELECT c.*, '0'::xid8 AS xid FROM postbag._copies c
    WHERE c.box = $12::integer AND c.seq > $1::bigint AND c.seq <= $2::bigint ORDER BY c.seq {way} LIMIT $3::integer) b
)
{matching}

-- name: list_parked
-- The same of messages that subscriptions $12 have parked in state $13: those whose error has $15 in it, which is in small letters.
-- A row whose error is not all ASCII is left to the caller. A database in Turkish has other small letters than "C".
-- Ranges of _parked_state, then primary keys.
WITH s AS MATERIALIZED (
  SELECT p.seq, bool_or(p.fits) AS fits FROM unnest($12::integer[]) u(id) CROSS JOIN LATERAL (
    SELECT p.seq, $15::text = '' OR position($15::text IN lower(p.reason COLLATE "C")) > 0 OR octet_length(p.reason) <> char_length(p.reason) AS fits
    FROM postbag._parked p WHERE p.sub = u.id AND p.state = $13::integer AND p.state > 0 AND p.seq > $1::bigint AND p.seq <= $2::bigint
    ORDER BY p.seq {way} LIMIT $3::integer) p
  GROUP BY p.seq ORDER BY p.seq {way} LIMIT $3::integer
), {apart}

-- name: list_parked_key
-- The same of those with hash $15, or with the one that tells no key. Ranges of _parked_hash, then primary keys.
WITH s AS MATERIALIZED (
  SELECT p.seq, bool_or(p.fits) AS fits FROM unnest($12::integer[]) u(id) CROSS JOIN unnest(ARRAY[1, $15::bigint]) h(hash) CROSS JOIN LATERAL (
    SELECT p.seq, $16::text = '' OR position($16::text IN lower(p.reason COLLATE "C")) > 0 OR octet_length(p.reason) <> char_length(p.reason) AS fits
    FROM postbag._parked p WHERE p.sub = u.id AND p.hash = h.hash AND p.state = $13::integer AND p.state > 0 AND p.seq > $1::bigint AND p.seq <= $2::bigint
    ORDER BY p.seq {way} LIMIT $3::integer) p
  GROUP BY p.seq ORDER BY p.seq {way} LIMIT $3::integer
), {apart}

-- name: list_discarded_rows
-- The same of messages that subscriptions $12 have discarded. Ranges of the primary key, then primary keys. $13 nothing.
WITH s AS MATERIALIZED (
  SELECT DISTINCT p.seq, $13::integer = 0 AS fits FROM unnest($12::integer[]) u(id) CROSS JOIN LATERAL (
    SELECT p.seq FROM postbag._discarded p WHERE p.sub = u.id AND p.seq > $1::bigint AND p.seq <= $2::bigint
    ORDER BY p.seq {way} LIMIT $3::integer) p
  ORDER BY p.seq {way} LIMIT $3::integer
), {apart}

-- name: list_past_rows
-- The same of messages with an error that are resolved, and unless $13 is 0 of those that are parked, too. Ranges of the primary
-- keys, then primary keys.
WITH s AS MATERIALIZED (
  SELECT p.seq, bool_or(p.fits) AS fits FROM unnest($12::integer[]) u(id) CROSS JOIN LATERAL (
    SELECT e.seq, $15::text = '' OR position($15::text IN lower(e.reason COLLATE "C")) > 0 OR octet_length(e.reason) <> char_length(e.reason) AS fits FROM (
      (SELECT h.seq, h.reason FROM postbag._past h WHERE h.sub = u.id AND h.seq > $1::bigint AND h.seq <= $2::bigint
      ORDER BY h.seq {way} LIMIT $3::integer)
      UNION ALL
      (SELECT p.seq, p.reason FROM postbag._parked p WHERE $13::integer <> 0 AND p.sub = u.id AND p.seq > $1::bigint AND p.seq <= $2::bigint
      ORDER BY p.seq {way} LIMIT $3::integer)) e) p
  GROUP BY p.seq ORDER BY p.seq {way} LIMIT $3::integer
), {apart}

-- name: list_scheduled
-- The same of scheduled messages, by their number. A range of the primary key.
WITH q AS MATERIALIZED (
  SELECT {row} FROM (SELECT s.*, s.n AS seq, '0'::xid8 AS xid FROM postbag.{box}__scheduled s
    WHERE s.n > $1::bigint AND s.n <= $2::bigint ORDER BY s.n {way} LIMIT $3::integer) b
)
{matching}

-- name: list_apart
-- The rows of the messages s that fit, of the log of box $14 or copied from it. Primary keys.
q AS MATERIALIZED (
  SELECT b.* FROM s CROSS JOIN LATERAL (
    SELECT {row} FROM postbag.{box} b WHERE b.seq = s.seq
    UNION ALL
    SELECT {row} FROM (SELECT c.*, '0'::xid8 AS xid FROM postbag._copies c WHERE c.box = $14::integer AND c.seq = s.seq) b
    LIMIT 1) b WHERE s.fits
)
{matching}

-- name: list_row
b.seq, b.xid, b.id, b.place, b.at, coalesce(nullif(b.topic, ''), '{box}') AS topic, b.key, b.shard_key, b.type, b.headers::json AS headers

-- name: list_matching
-- What the query selects: $4 id, $5 topic, $6 key, $7 exact types, $8 patterns of types, $9 and $10 microseconds since
-- 1970 between which it was stored, {headers} the headers if a filter asks for them, $11 whether there is anything to select by. Empty and zero select everything.
SELECT count(*), coalesce({end}(l.seq), 0), NULL::uuid, NULL::smallint, NULL::bigint, NULL, NULL, NULL, NULL, NULL::text FROM {looked} l
UNION ALL
SELECT q.seq, q.xid::text::bigint, q.id, (CASE WHEN q.place > 0 THEN q.place - 1 ELSE postbag.slot_of(coalesce(nullif(q.shard_key, ''), q.key), q.id) END)::smallint,
  (extract(epoch FROM greatest(least(q.at, timestamptz '10000-01-01 00:00:00Z'), timestamptz '0001-01-01 00:00:00Z')) * 1000000)::bigint, q.topic, q.key, q.shard_key, q.type, {headers}
FROM (SELECT * FROM q ORDER BY q.seq {way}) q
WHERE NOT $11::boolean OR ($4::uuid = '00000000-0000-0000-0000-000000000000' OR q.id = $4::uuid)
  AND ($5::text = '' OR q.topic = $5::text) AND ($6::text = '' OR q.key = $6::text)
  AND (cardinality($7::text[]) + cardinality($8::text[]) = 0 OR q.type = ANY ($7::text[]) OR q.type LIKE ANY ($8::text[]))
  AND ($9::bigint = 0 OR q.at >= timestamptz 'epoch' + $9::bigint * interval '1 microsecond')
  AND ($10::bigint = 0 OR q.at < timestamptz 'epoch' + $10::bigint * interval '1 microsecond')

-- name: before
-- The last row up to a seq, zero if there is none. One entry of the primary key.
SELECT coalesce((SELECT b.seq FROM postbag.{box} b WHERE b.seq <= $1::bigint ORDER BY b.seq DESC LIMIT 1), 0);

-- name: list_states
-- What of messages $2 subscriptions $1 have parked, with the command that waits. Primary keys.
SELECT p.sub, p.seq, p.state, p.attempts, CASE p.state WHEN 1 THEN (extract(epoch FROM p.ready - clock_timestamp()) * 1000000)::bigint ELSE 0 END,
  p.reason, p.history::text, coalesce((SELECT max(c.kind) FROM postbag._commands c WHERE c.sub = p.sub AND c.seq = p.seq), 0)::smallint
FROM unnest($1::integer[]) u(id) CROSS JOIN unnest($2::bigint[]) m(seq)
CROSS JOIN LATERAL (SELECT p.* FROM postbag._parked p WHERE p.sub = u.id AND p.seq = m.seq LIMIT 1) p;

-- name: list_discarded
-- Which of messages $2 were discarded. The primary key.
SELECT d.sub, d.seq FROM unnest($1::integer[]) u(id) CROSS JOIN unnest($2::bigint[]) m(seq)
CROSS JOIN LATERAL (SELECT d.* FROM postbag._discarded d WHERE d.sub = u.id AND d.seq = m.seq LIMIT 1) d;

-- name: list_past
-- What is known of errors of messages $2 that are resolved. The primary key.
SELECT h.sub, h.seq, h.attempts, h.reason, h.history::text FROM unnest($1::integer[]) u(id) CROSS JOIN unnest($2::bigint[]) m(seq)
CROSS JOIN LATERAL (SELECT h.* FROM postbag._past h WHERE h.sub = u.id AND h.seq = m.seq LIMIT 1) h;

-- name: list_queued
-- The last command of each of messages $2 that are not parked. The unique index.
SELECT c.sub, c.seq, c.kind FROM unnest($1::integer[]) u(id) CROSS JOIN unnest($2::bigint[]) m(seq)
CROSS JOIN LATERAL (SELECT c.* FROM postbag._commands c WHERE c.sub = u.id AND c.seq = m.seq ORDER BY c.sub, c.seq, c.kind DESC LIMIT 1) c;

-- name: list_states_in
-- list_states of all messages from $2 to $3. Ranges of the primary key; OFFSET 0 keeps the planner from joining whole tables.
SELECT p.sub, p.seq, p.state, p.attempts, CASE p.state WHEN 1 THEN (extract(epoch FROM p.ready - clock_timestamp()) * 1000000)::bigint ELSE 0 END,
  p.reason, p.history::text, coalesce((SELECT max(c.kind) FROM postbag._commands c WHERE c.sub = p.sub AND c.seq = p.seq), 0)::smallint
FROM unnest($1::integer[]) u(id) CROSS JOIN LATERAL (SELECT p.* FROM postbag._parked p WHERE p.sub = u.id AND p.seq >= $2::bigint AND p.seq <= $3::bigint OFFSET 0) p;

-- name: list_discarded_in
-- list_discarded of all messages from $2 to $3. Ranges of the primary key.
SELECT d.sub, d.seq FROM unnest($1::integer[]) u(id)
CROSS JOIN LATERAL (SELECT d.* FROM postbag._discarded d WHERE d.sub = u.id AND d.seq >= $2::bigint AND d.seq <= $3::bigint OFFSET 0) d;

-- name: list_past_in
-- list_past of all messages from $2 to $3. Ranges of the primary key.
SELECT h.sub, h.seq, h.attempts, h.reason, h.history::text FROM unnest($1::integer[]) u(id)
CROSS JOIN LATERAL (SELECT h.* FROM postbag._past h WHERE h.sub = u.id AND h.seq >= $2::bigint AND h.seq <= $3::bigint OFFSET 0) h;

-- name: list_queued_in
-- All commands for messages from $2 to $3. Ranges of the unique index.
SELECT c.sub, c.seq, c.kind FROM unnest($1::integer[]) u(id)
CROSS JOIN LATERAL (SELECT c.* FROM postbag._commands c WHERE c.sub = u.id AND c.seq >= $2::bigint AND c.seq <= $3::bigint OFFSET 0) c;

-- name: list_bytes
-- Headers and payload of messages $1, none after the one that crosses $2 bytes in all. Primary keys of the log and
-- of _copies. $3 box.
SELECT t.seq, t.headers, t.payload FROM (
  SELECT i.n, i.seq, m.headers, m.payload, sum(m.size) OVER (ORDER BY i.n) - m.size AS before
  FROM unnest($1::bigint[]) WITH ORDINALITY AS i(seq, n) CROSS JOIN LATERAL (
    SELECT b.headers::json, b.payload, octet_length(b.payload) + coalesce(octet_length(b.headers::text), 0) AS size FROM postbag.{box} b WHERE b.seq = i.seq
    UNION ALL
    SELECT c.headers, c.payload, octet_length(c.payload) + coalesce(octet_length(c.headers::text), 0) FROM postbag._copies c WHERE c.box = $3::integer AND c.seq = i.seq
    LIMIT 1) m
) t WHERE t.before < $2::bigint ORDER BY t.n;

-- name: list_later
-- The same of scheduled messages, with when they are due (microseconds since 1970). $3: without headers and payload, all of them.
SELECT t.n, t.headers, t.payload, t.due FROM (
  SELECT i.i, s.n, CASE WHEN NOT $3::boolean THEN s.headers::json END AS headers, CASE WHEN $3::boolean THEN '' ELSE s.payload END AS payload,
    (extract(epoch FROM greatest(least(s.due, timestamptz '10000-01-01 00:00:00Z'), timestamptz '0001-01-01 00:00:00Z')) * 1000000)::bigint AS due,
    sum(s.size) OVER (ORDER BY i.i) - s.size AS before
  FROM unnest($1::bigint[]) WITH ORDINALITY AS i(n, i) CROSS JOIN LATERAL (
    SELECT s.*, CASE WHEN $3::boolean THEN 0 ELSE octet_length(s.payload) + coalesce(octet_length(s.headers::text), 0) END AS size
    FROM postbag.{box}__scheduled s WHERE s.n = i.n LIMIT 1) s
) t WHERE t.before < $2::bigint ORDER BY t.i;

-- name: find
-- Whether a message with an id is among some rows of the log, how many they are and the last of them. A range of the primary
-- key, bounded by the caller.
SELECT count(*), coalesce(max(q.seq), 0), coalesce(array_agg(q.seq ORDER BY q.seq) FILTER (WHERE q.id = $4::uuid), '{}')
FROM (SELECT b.seq, b.id FROM postbag.{box} b WHERE b.seq > $1::bigint AND b.seq <= $2::bigint ORDER BY b.seq LIMIT $3::integer) q;

-- name: find_all
-- The same of all messages with ids $4, and the id of each.
WITH q AS MATERIALIZED (
  SELECT b.seq, b.id FROM postbag.{box} b WHERE b.seq > $1::bigint AND b.seq <= $2::bigint ORDER BY b.seq LIMIT $3::integer
)
SELECT l.n, l.last, f.seqs, f.ids FROM (SELECT count(*) AS n, coalesce(max(q.seq), 0) AS last FROM q) l
CROSS JOIN (SELECT coalesce(array_agg(q.seq ORDER BY q.seq), '{}') AS seqs, coalesce(array_agg(q.id::text ORDER BY q.seq), '{}') AS ids
  FROM q WHERE q.id IN (SELECT t.id::uuid FROM unnest($4::text[]) t(id))) f;

-- name: find_apart
-- The same among copies, by the primary key of the box's (as many as are parked), and among scheduled messages, by the index
-- on id.
SELECT coalesce((SELECT array_agg(c.seq ORDER BY c.seq) FROM postbag._copies c WHERE c.box = $1::integer AND c.id = $2::uuid), '{}'),
  coalesce((SELECT array_agg(s.n ORDER BY s.n) FROM postbag.{box}__scheduled s WHERE s.id = $2::uuid), '{}');

-- name: box_view
-- The clock, the last seq given out, how far the log is gone, its rows counted up to $2 and as the statistics have them, and
-- the scheduled messages in the same way. Reads the beginning of the primary keys, and the catalog's rows of the partitions.
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
  (SELECT CASE WHEN q.is_called THEN q.last_value ELSE q.last_value - 1 END FROM postbag.{box}__seq q), b.dropped,
  (SELECT count(*) FROM (SELECT FROM postbag.{box} l WHERE l.seq > b.dropped ORDER BY l.seq LIMIT $2::integer) l),
  coalesce((SELECT sum(c.reltuples) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'postbag.{box}'::regclass AND c.reltuples > 0), 0)::bigint,
  (SELECT count(*) FROM (SELECT FROM postbag.{box}__scheduled s ORDER BY s.n LIMIT $2::integer) s),
  coalesce((SELECT c.reltuples FROM pg_class c WHERE c.oid = 'postbag.{box}__scheduled'::regclass AND c.reltuples > 0), 0)::bigint,
  b.keep_delivered, b.keep_discarded, b.keep_dead, b.deployed_delivered, b.deployed_discarded, b.deployed_dead, b.deployed_at, b.deployed_by
FROM postbag._boxes b WHERE b.id = $1::integer;

-- name: sub_held
-- The topics that messages of subscriptions $1 are held for, those with most first, each with the reason of one of them. Reads
-- _parked_held.
SELECT t.sub, t.held, t.n, coalesce((SELECT p.reason FROM postbag._shards s
  JOIN postbag._parked p ON p.shard = s.id AND p.state = 5 AND p.held = t.held AND p.reason <> ''
  WHERE s.sub = t.sub LIMIT 1), '') FROM unnest($1::integer[]) u(id) CROSS JOIN LATERAL (
  SELECT s.sub, p.held, count(*) AS n FROM postbag._shards s JOIN postbag._parked p ON p.shard = s.id AND p.state = 5
  WHERE s.sub = u.id GROUP BY s.sub, p.held ORDER BY count(*) DESC, p.held LIMIT 20) t;

-- name: removed
-- The subscriptions of a box that operators removed. By primary key.
SELECT r.name, (extract(epoch FROM r.at) * 1000000)::bigint, r.who FROM postbag._removed r WHERE r.box = $1::integer ORDER BY r.name;

-- name: sub_view
-- What subscriptions $1 have delivered, discarded and superseded, by ledger and shards, their parked messages by state, counted up to $2
-- each, their commands, how they came to be, and of replays what they send again, and what they have filtered. By subscription, and _parked_state.
SELECT u.id,
  coalesce((SELECT sum(l.n) FROM postbag._ledger l WHERE l.sub = u.id AND l.fate = 1), 0)::bigint
    + coalesce((SELECT sum(s.delivered) FROM postbag._shards s WHERE s.sub = u.id), 0)::bigint,
  coalesce((SELECT sum(l.n) FROM postbag._ledger l WHERE l.sub = u.id AND l.fate = 4), 0)::bigint,
  coalesce((SELECT sum(l.n) FROM postbag._ledger l WHERE l.sub = u.id AND l.fate = 7), 0)::bigint,
  (SELECT count(*) FROM (SELECT FROM postbag._parked p WHERE p.sub = u.id AND p.state = 1 ORDER BY p.seq LIMIT $2::integer) p),
  (SELECT count(*) FROM (SELECT FROM postbag._parked p WHERE p.sub = u.id AND p.state = 2 ORDER BY p.seq LIMIT $2::integer) p),
  (SELECT count(*) FROM (SELECT FROM postbag._parked p WHERE p.sub = u.id AND p.state = 3 ORDER BY p.seq LIMIT $2::integer) p),
  (SELECT count(*) FROM (SELECT FROM postbag._parked p WHERE p.sub = u.id AND p.state = 4 ORDER BY p.seq LIMIT $2::integer) p),
  (SELECT count(*) FROM (SELECT FROM postbag._parked p WHERE p.sub = u.id AND p.state = 5 ORDER BY p.seq LIMIT $2::integer) p),
  (SELECT count(*) FROM postbag._commands c WHERE c.sub = u.id),
  (extract(epoch FROM u.made) * 1000000)::bigint, coalesce((SELECT c.floor FROM postbag._cuts c WHERE c.sub = u.id ORDER BY c.id LIMIT 1), 0), u.wanted_by, coalesce(u.replay, ''),
  CASE WHEN u.replay IS NULL THEN 0 ELSE
    coalesce((SELECT sum(l.n) FROM postbag._ledger l WHERE l.sub = u.id AND l.fate = 2), 0)::bigint
    + coalesce((SELECT sum(s.filtered) FROM postbag._shards s WHERE s.sub = u.id), 0)::bigint END
FROM postbag._subscriptions u WHERE u.id = ANY ($1::integer[]) ORDER BY u.id;
