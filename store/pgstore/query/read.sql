-- The statements that read the log. They run in autocommit, never in a transaction that has an id: a snapshot leaves its
-- own transaction's id out of its list.
--
-- Placeholders: {box}; {facts}, {from}, {first}, {slots}, {rows}, {types}, {topics}, {seen}: the parts below and in turn_read_sql.go.
-- $1 to $12 are the same in both:
--   $1 xid8         xmax of the position's snapshot; zero at a floor
--   $2 xid8[]       its running transactions
--   $3              poll: bigint[], their bounds; page: pg_snapshot, the window's
--   $4 bigint       the bound of transactions from xmax on; the floor at a floor
--   $5 integer      the most rows
--   $6 bigint       how many seqs to look at: bounds the work whatever the planner thinks
--   $7 boolean      first skip what has no rows
--   $8 bigint       rows: the most bytes of headers and payload to send of a row; bounded: the most bytes, of all in the rows
--   $9 integer[]    shards to tell the next due time of
--   $10 integer[], $11 smallint[], $12 smallint[]  subscriptions and slots to look for commands of

-- name: facts
-- One value with all that a turn needs besides messages, so that an idle turn is one statement: last seq given out, the
-- file of the sequence, the last row that lies below the bound of new transactions with its xid, the same for the place where
-- the poll begins, first row if asked for, life, server's start, epoch, next due time (microseconds; -1: none), commands
-- waiting, standby, and the statement's own snapshot. The sequence is read after the snapshot was taken, so that no row that
-- the snapshot sees has a higher seq; a number that is too high (see guard_last) does no harm as a bound from above. Reads
-- single rows, _parked_due once a shard, _commands by subscription. Locks nothing.
int8send((SELECT CASE WHEN q.is_called THEN q.last_value ELSE q.last_value - 1 END FROM postbag.{box}__seq q))
|| int8send(coalesce(pg_relation_filenode('postbag.{box}__seq'::regclass)::bigint, 0))
|| coalesce({below}, int8send(-1) || int8send(0))
|| coalesce({missed}, int8send(-1) || int8send(0))
|| int8send(coalesce(CASE WHEN $7::boolean THEN {first} END, -1))
|| {state}
|| pg_snapshot_send(pg_current_snapshot())

-- name: state
int8send(coalesce((SELECT l.life FROM postbag._life l), 0))
|| timestamptz_send(pg_postmaster_start_time())
|| int8send((SELECT e.n FROM postbag._epoch e))
|| int8send(coalesce((
  SELECT greatest(0, ceil(extract(epoch FROM min(p.due) - clock_timestamp()) * 1000000))::bigint
  FROM unnest({shards}::integer[]) s(id) CROSS JOIN LATERAL (
    SELECT p.due FROM postbag._parked p WHERE p.shard = s.id AND p.due IS NOT NULL ORDER BY p.due LIMIT 1) p
  HAVING min(p.due) IS NOT NULL), -1))
|| boolsend(EXISTS (
  SELECT FROM unnest({subs}::integer[], {los}::smallint[], {his}::smallint[]) r(sub, lo, hi)
  CROSS JOIN LATERAL (SELECT FROM postbag._commands c WHERE c.sub = r.sub AND c.slot >= r.lo AND c.slot < r.hi ORDER BY c.sub, c.seq LIMIT 1) c))
|| boolsend(pg_is_in_recovery())

-- name: ask
-- The facts alone, for a turn that reads nothing. $1 to $4 are $9 to $12 above.
SELECT {state};

-- name: poll_from
(SELECT least(min(u.low), $4::bigint) FROM unnest($2::xid8[], $3::bigint[]) u(xid, low) WHERE pg_visible_in_snapshot(u.xid, pg_current_snapshot()))

-- name: poll_from_ended
$4::bigint

-- name: below
-- No row up to the bound is of a transaction that the position has not passed. Where one is, numbers were given out again. At
-- most a thousand entries of the primary key, one as a rule.
(SELECT int8send(p.seq) || xid8send(p.xid) FROM postbag.{box} p
  WHERE p.seq <= $4::bigint AND p.seq > $4::bigint - 1000 AND $1::xid8 > '0'::xid8 ORDER BY p.seq DESC LIMIT 1)

-- name: missed
-- Nor is one up to where the poll begins, if that is lower since transactions have ended that ran. At most a thousand entries
-- of the primary key, one as a rule.
CASE WHEN {from} < $4::bigint THEN (SELECT int8send(p.seq) || xid8send(p.xid) FROM postbag.{box} p
  WHERE p.seq <= {from} AND p.seq > {from} - 1000 ORDER BY p.seq DESC LIMIT 1) END

-- name: page_from
$13::bigint

-- name: first
(SELECT f.seq FROM postbag.{box} f WHERE f.seq > {from} ORDER BY f.seq LIMIT 1)

-- name: slots
AND get_bit({mask}::bytea, CASE WHEN b.place > 0 THEN b.place - 1
  ELSE postbag.slot_of(coalesce(nullif(b.shard_key, ''), b.key), b.id) END) = 1

-- name: rows
-- Rows as they come. Headers and payload above $8 are left out; the reader then asks again with a bound on the sum. The length
-- of a payload is known without reading it. That of headers is taken as it is stored, perhaps compressed: they have 64 KiB at most,
-- and a cast to text would cost as much as reading them twice.
(SELECT b.seq, b.place, b.id, b.at, true, b.topic, b.key, b.shard_key, b.type,
  CASE WHEN pg_column_size(b.headers) <= $8::bigint THEN b.headers::json END,
  CASE WHEN octet_length(b.payload) + coalesce(pg_column_size(b.headers), 0) <= $8::bigint THEN b.payload END
FROM postbag.{box} b WHERE {where} {slots} ORDER BY b.seq LIMIT $5::integer)

-- name: bounded
-- Rows that the filter refuses come with their id alone, and none after the one with which they have $8 bytes in all.
(SELECT b.seq,
  CASE WHEN b.keep OR b.place > 0 THEN b.place
    ELSE (postbag.slot_of(coalesce(nullif(b.shard_key, ''), b.key), b.id) + 1)::smallint END,
  b.id, b.at, b.keep, CASE WHEN b.keep THEN b.topic END, CASE WHEN b.keep THEN b.key END, CASE WHEN b.keep THEN b.shard_key END,
  CASE WHEN b.keep THEN b.type END, CASE WHEN b.keep THEN b.headers::json END, CASE WHEN b.keep THEN b.payload END
FROM (
  SELECT b.*, sum(b.size) OVER (ORDER BY b.seq) - b.size AS before FROM (
    SELECT b.*, CASE WHEN b.keep THEN octet_length(b.payload) + coalesce(octet_length(b.headers::text), 0) + octet_length(b.topic)
      + coalesce(octet_length(b.key), 0) + coalesce(octet_length(b.shard_key), 0) + coalesce(octet_length(b.type), 0) ELSE 0 END AS size FROM (
      SELECT b.*, {types} AND {topics} AS keep FROM postbag.{box} b WHERE {where} {slots} ORDER BY b.seq LIMIT $5::integer) b) b) b
WHERE b.before < $8::bigint ORDER BY b.seq)

-- name: kept
-- Rows as they come, and of those that the filter refuses the id alone. $8 is as in rows.
(SELECT b.seq,
  CASE WHEN b.keep OR b.place > 0 THEN b.place
    ELSE (postbag.slot_of(coalesce(nullif(b.shard_key, ''), b.key), b.id) + 1)::smallint END,
  b.id, b.at, b.keep, CASE WHEN b.keep THEN b.topic END, CASE WHEN b.keep THEN b.key END, CASE WHEN b.keep THEN b.shard_key END,
  CASE WHEN b.keep THEN b.type END, CASE WHEN b.keep AND pg_column_size(b.headers) <= $8::bigint THEN b.headers::json END,
  CASE WHEN b.keep AND octet_length(b.payload) + coalesce(pg_column_size(b.headers), 0) <= $8::bigint THEN b.payload END
FROM (SELECT b.*, {types} AND {topics} AS keep FROM postbag.{box} b WHERE {where} {slots} ORDER BY b.seq LIMIT $5::integer) b ORDER BY b.seq)

-- name: keep_types
-- LIKE costs half of starts_with, and a fourth of a subquery.
(coalesce(b.type, '') = ANY ({exact}::text[]) OR coalesce(b.type, '') LIKE ANY ({like}::text[]))

-- name: keep_topics
(coalesce(nullif(b.topic, ''), '{box}') = ANY ({exact}::text[]) OR coalesce(nullif(b.topic, ''), '{box}') LIKE ANY ({like}::text[]))

-- name: poll
-- Opens a window: the statement's own snapshot is the window's, so that what the statement sees is what it may read. Reads
-- the primary key from the lowest bound of what has ended since, at most $6 seqs of it; $13 and $14 are bounds on that which
-- are known beforehand, so that the partitions beyond are not even opened. Locks nothing.
SELECT NULL::bigint, NULL::smallint, NULL::uuid, NULL::timestamptz, NULL::boolean, NULL::text, NULL::text, NULL::text, NULL::text, NULL::json, {facts}
UNION ALL
{rows}

-- name: poll_where
b.seq > $13::bigint AND b.seq <= $14::bigint AND b.seq > {from} AND b.seq <= CASE WHEN $7::boolean THEN {first} ELSE {from} END + $6::bigint
AND (b.xid >= $1::xid8 AND b.seq > $4::bigint OR {ran})

-- name: page
-- Reads on in a window: $13 where it is, $14 where it ends. Reads the primary key, at most $6 seqs of it. Locks nothing.
SELECT NULL::bigint, NULL::smallint, NULL::uuid, NULL::timestamptz, NULL::boolean, NULL::text, NULL::text, NULL::text, NULL::text, NULL::json, {facts}
UNION ALL
{rows}

-- name: page_where
b.seq > $13::bigint AND b.seq <= least($14::bigint, CASE WHEN $7::boolean THEN {first} ELSE $13::bigint END + $6::bigint)
AND (b.xid >= $1::xid8 AND b.seq > $4::bigint OR {ran})
AND (pg_visible_in_snapshot(b.xid, $3::pg_snapshot) {foreign})

-- name: ran
b.xid = ANY ($2::xid8[])

-- name: ran_none
-- False. The parameters that it has no use for get their types here.
($2::xid8[], $3::bigint[]) IS NULL

-- name: ran_moved
-- A row that came from another cluster may have the id of a transaction that runs in this one. Up to that one's bound it was
-- passed: it was read before there was such a transaction.
EXISTS (SELECT FROM unnest($2::xid8[], {lows}::bigint[]) u(xid, low) WHERE u.xid = b.xid AND b.seq > u.low)

-- name: foreign
OR b.seq <= {base}::bigint AND b.xid <> ALL ({running}::xid8[])
