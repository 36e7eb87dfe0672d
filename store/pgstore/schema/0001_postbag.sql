-- Postbag's own tables. Their names begin with an underscore, which no box's name does, so that later versions can add
-- tables without looking what boxes there are. Everything here is small: the messages lie in the boxes (box.sql).

-- The version of this schema is the highest one here. Whoever migrates locks row 0 first.
CREATE SCHEMA IF NOT EXISTS postbag;
CREATE TABLE IF NOT EXISTS postbag._migrations (
  version integer     PRIMARY KEY,
  name    text        NOT NULL,
  made    timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What this database is. identity is the cluster in whose transaction ids the positions speak; a restored dump finds
-- another one. reader is the lowest version of the program that can work with this schema.
CREATE TABLE postbag._meta (
  one      boolean  PRIMARY KEY DEFAULT true CHECK (one),
  identity text     NOT NULL,
  reader   smallint NOT NULL DEFAULT 1
);

-- A number that a crash takes away: unlogged tables are empty after one, and on a promoted standby. Transaction ids that
-- were not yet durable are then given out again, so that a position that was read and never settled is worthless.
CREATE UNLOGGED TABLE postbag._life (
  one  boolean PRIMARY KEY DEFAULT true CHECK (one),
  life bigint  NOT NULL
);

-- Grows whenever relays, leases, shards or subscriptions change. Always the last row that a transaction locks.
CREATE TABLE postbag._epoch (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  n   bigint  NOT NULL
) WITH (fillfactor = 10);
INSERT INTO postbag._epoch (n) VALUES (1);

-- What tells one cluster from another, and a database from a dump of it that was restored: the system's identifier, where
-- it may be asked for, and the ids of two tables. A clone of a cluster has its identifier, but a restored dump does not keep
-- the tables' ids: it makes them in another order. It answers everybody with the rights of its owner, hence alike.
CREATE FUNCTION postbag._identity() RETURNS text LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  tables text := ' tables ' || 'postbag._meta'::regclass::oid || ' ' || 'postbag._epoch'::regclass::oid;
BEGIN
  RETURN (SELECT 'system ' || system_identifier || tables FROM pg_control_system());
EXCEPTION WHEN insufficient_privilege OR undefined_function THEN
  RETURN (SELECT 'database ' || oid || tables FROM pg_database WHERE datname = current_database());
END $$;
INSERT INTO postbag._meta (identity) VALUES (postbag._identity());

-- Tokens of leases. The random half keeps a token that an asynchronous standby gives out again from being the same one.
CREATE SEQUENCE postbag._token;
CREATE FUNCTION postbag._new_token() RETURNS bigint LANGUAGE sql VOLATILE
  RETURN nextval('postbag._token') * 65536 + floor(random() * 65536)::bigint;

CREATE TABLE postbag._boxes (
  id    integer     GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name  text        COLLATE "C" NOT NULL UNIQUE,
  -- How many spans of the ledger (2^20 seqs each) a new partition has.
  spans integer     NOT NULL,
  -- Rows up to here may come from another cluster, whose transaction ids mean nothing in this one: the last seq that was
  -- given out when the restored database was first worked with. Zero: it never was.
  "foreign" bigint  NOT NULL DEFAULT 0,
  -- Retention has decided that rows up to here are gone: whoever begins now begins behind them, and parked messages up to
  -- here lie in _copies. Every subscription has passed them. swept_x is the transaction that moved it last.
  dropped bigint    NOT NULL DEFAULT 0,
  swept_x xid8,
  made  timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Up to which seq all subscriptions of a box had passed everything, and when: what is older than the retention time may go.
CREATE TABLE postbag._floors (
  box integer     NOT NULL,
  seq bigint      NOT NULL,
  at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (box, seq)
) WITH (vacuum_truncate = false);

-- Partitions that retention has decided to drop, which takes several transactions. A table that is not here is never dropped.
CREATE TABLE postbag._drops (
  box  integer     NOT NULL,
  lo   bigint      NOT NULL,
  hi   bigint      NOT NULL,
  part text        COLLATE "C" NOT NULL,
  made timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (box, lo)
);

CREATE TABLE postbag._subscriptions (
  id     integer     GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  box    integer     NOT NULL REFERENCES postbag._boxes,
  name   text        COLLATE "C" NOT NULL,
  -- Exact types, or prefixes followed by ".*". Empty: every message.
  types  text[]      NOT NULL DEFAULT '{}',
  wanted integer     NOT NULL,
  paused boolean     NOT NULL DEFAULT false,
  made   timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (box, name)
);

-- Positions before which a subscription's ledger has no lines: where it started, and where a restored database made it
-- start again. What position has passed, of the spans from floor's on, is not in the ledger.
CREATE TABLE postbag._cuts (
  id       bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sub      integer     NOT NULL REFERENCES postbag._subscriptions,
  position bytea       NOT NULL,
  floor    bigint      NOT NULL,
  made     timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- One row a shard: the unit of ownership, and the only row that a settlement without exceptions writes. The columns from
-- span on are the ledger of the span that is being delivered; they move to _ledger when the next one begins, which spares
-- a second row in nearly every settlement. Not a column that changes is indexed, so that updates stay on the page.
CREATE TABLE postbag._shards (
  id        integer  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sub       integer  NOT NULL REFERENCES postbag._subscriptions,
  lo        smallint NOT NULL,
  hi        smallint NOT NULL,
  position  bytea    NOT NULL DEFAULT '',
  token     bigint   NOT NULL DEFAULT 0,
  version   bigint   NOT NULL DEFAULT 1,
  -- The token of the last settlement, and the transactions of the last settlement, take, and change of owner or shape.
  settled   bigint   NOT NULL DEFAULT 0,
  settled_x xid8,
  taken_x   xid8,
  changed_x xid8,
  owner     text     COLLATE "C",
  span          bigint  NOT NULL DEFAULT -1,
  delivered     bigint  NOT NULL DEFAULT 0,
  delivered_seq numeric NOT NULL DEFAULT 0,
  delivered_id  numeric NOT NULL DEFAULT 0,
  filtered      bigint  NOT NULL DEFAULT 0,
  filtered_seq  numeric NOT NULL DEFAULT 0,
  filtered_id   numeric NOT NULL DEFAULT 0,
  -- Deferred: a reshape replaces the rows of a subscription in one statement.
  CONSTRAINT _shards_range UNIQUE (sub, lo) DEFERRABLE INITIALLY DEFERRED
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- One row a relay: its heartbeat, which is the validity of all its leases.
CREATE TABLE postbag._relays (
  id        text        COLLATE "C" PRIMARY KEY,
  name      text        NOT NULL,
  expires   timestamptz NOT NULL,
  dead      boolean     NOT NULL DEFAULT false,
  -- The subscriptions it can work: parallel arrays.
  boxes     text[]      NOT NULL,
  subs      text[]      NOT NULL,
  -- The highest format of a position that it can read.
  format    smallint    NOT NULL,
  -- The transactions of the last heartbeat and of the last one that changed something.
  beat_x    xid8,
  changed_x xid8
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- The parking lot: references to messages. ready is when the row can be tried by itself; due is the same, but only while
-- the row counts, that is, not behind another of its hash, so that finding what is due is one range of an index however
-- many wait. shard is that in whose slots the row lies.
CREATE TABLE postbag._parked (
  sub      integer     NOT NULL,
  seq      bigint      NOT NULL,
  shard    integer     NOT NULL,
  slot     smallint    NOT NULL,
  hash     bigint      NOT NULL,
  state    smallint    NOT NULL,
  blocking boolean     NOT NULL,
  attempts integer     NOT NULL,
  ready    timestamptz,
  due      timestamptz,
  first    timestamptz NOT NULL,
  id       uuid        NOT NULL,
  reason   text        NOT NULL,
  -- The latest 20 attempts, oldest first: [[microseconds since 1970, state, reason], ...]
  history  jsonb       NOT NULL,
  PRIMARY KEY (sub, seq)
) WITH (fillfactor = 70, vacuum_truncate = false);
CREATE INDEX _parked_due   ON postbag._parked (shard, due) WHERE due IS NOT NULL;
CREATE INDEX _parked_chain ON postbag._parked (shard, hash, seq) WHERE blocking;
-- Listings and counts by state. The condition holds for every row: a statement that does not say it cannot be planned to look
-- here for what the primary key finds.
CREATE INDEX _parked_state ON postbag._parked (sub, state, seq) WHERE state > 0;

-- Messages that an operator discarded, for listings, while the log has them.
CREATE TABLE postbag._discarded (
  sub integer NOT NULL,
  seq bigint  NOT NULL,
  PRIMARY KEY (sub, seq)
) WITH (vacuum_truncate = false);

-- Messages that were parked when retention wanted their partition.
CREATE TABLE postbag._copies (
  box       integer     NOT NULL,
  seq       bigint      NOT NULL,
  at        timestamptz NOT NULL,
  id        uuid        NOT NULL,
  place     smallint,
  topic     text        COLLATE "C" NOT NULL,
  key       text        COLLATE "C",
  shard_key text        COLLATE "C",
  type      text        COLLATE "C",
  headers   json,
  payload   bytea       NOT NULL,
  PRIMARY KEY (box, seq)
) WITH (vacuum_truncate = false);

-- What became of the messages: by subscription, span of 2^20 seqs, fate and shard. Sums are modulo 2^64 once the multiples
-- of that are taken off. Fate 6, of shard 0, is what retention has deleted from the log of the messages that the
-- subscription has to account for. Span -1 has the lines of all spans whose partition is dropped.
CREATE TABLE postbag._ledger (
  sub   integer  NOT NULL,
  span  bigint   NOT NULL,
  fate  smallint NOT NULL,
  shard integer  NOT NULL,
  n     bigint   NOT NULL,
  seqs  numeric  NOT NULL,
  ids   numeric  NOT NULL,
  PRIMARY KEY (sub, span, fate, shard)
) WITH (fillfactor = 70, vacuum_truncate = false);

-- Orders of operators that wait for the owner of a shard.
CREATE TABLE postbag._commands (
  id   bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sub  integer     NOT NULL,
  slot smallint    NOT NULL,
  seq  bigint      NOT NULL,
  kind smallint    NOT NULL,
  made timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (sub, seq, kind)
) WITH (vacuum_truncate = false);

CREATE TABLE postbag._audit (
  id   bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  who  text        NOT NULL,
  why  text        NOT NULL,
  what text        NOT NULL
) WITH (vacuum_truncate = false);

-- Pages without rows, kept by vacuum_truncate. A planner that sees no page at all in a table chooses to scan it, and keeps
-- that plan when the table has grown; {pages} pages cost more to scan than an index to ask, and four
-- times as many more than to fetch some rows by their place.
DO $filler$ BEGIN
  INSERT INTO postbag._parked (sub, seq, shard, slot, hash, state, blocking, attempts, first, id, reason, history)
  SELECT 0, g, 0, 0, 0, 0, false, 0, now(), '00000000-0000-0000-0000-000000000000', repeat('x', 1800), '[]' FROM generate_series(1, 12 * {pages}) g;
  INSERT INTO postbag._copies (box, seq, at, id, topic, payload)
  SELECT 0, g, now(), '00000000-0000-0000-0000-000000000000', '', decode(repeat('00', 1800), 'hex') FROM generate_series(1, 16 * {pages}) g;
  INSERT INTO postbag._ledger (sub, span, fate, shard, n, seqs, ids) SELECT 0, g, 0, 0, 0, repeat('9', 3600)::numeric, 0 FROM generate_series(1, 4 * {pages}) g;
  INSERT INTO postbag._audit (id, who, why, what) OVERRIDING SYSTEM VALUE SELECT g, '', repeat('x', 1800), '' FROM generate_series(1, 4 * {pages}) g;
  INSERT INTO postbag._discarded (sub, seq) SELECT 0, g FROM generate_series(1, 226 * {pages}) g;
  INSERT INTO postbag._floors (box, seq) SELECT 0, g FROM generate_series(1, 156 * {pages}) g;
  INSERT INTO postbag._commands (id, sub, slot, seq, kind) OVERRIDING SYSTEM VALUE SELECT g, 0, 0, g, 0 FROM generate_series(1, 480 * {pages}) g;
  RAISE EXCEPTION USING ERRCODE = 'PB000';
EXCEPTION WHEN SQLSTATE 'PB000' THEN NULL;
END $filler$;

-- The slot of a message: the first twelve bits of SHA-256 of k, or of the bytes of i if k is empty. decode() with
-- doubled backslashes is the cast of a text to its bytes that is immutable, so that the planner can inline the function.
CREATE FUNCTION postbag.slot_of(k text, i uuid) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN ('x' || left(encode(sha256(
    CASE WHEN k <> '' THEN decode(replace(k, chr(92), chr(92) || chr(92)), 'escape') ELSE uuid_send(i) END
  ), 'hex'), 3))::bit(12)::integer::smallint;

-- A UUID of version 7 (RFC 9562, section 5.7): 48 bits of milliseconds, the rest random.
CREATE FUNCTION postbag.new_id() RETURNS uuid LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$
DECLARE
  random bytea := uuid_send(gen_random_uuid());
  ms bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
BEGIN
  RETURN encode(int8send((ms << 16) | 28672 | ((get_byte(random, 6) & 15) << 8) | get_byte(random, 7))
    || substr(random, 9), 'hex')::uuid;
END $$;

-- Ends the transaction that reads it. A statement uses it to refuse a server that is not the one it was meant for.
CREATE FUNCTION postbag._refuse() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RAISE EXCEPTION 'postbag: this server session is not the one that was checked' USING ERRCODE = 'PB001';
END $$;

-- Headers are a JSON object of strings. A domain costs an insert less than a constraint does.
CREATE DOMAIN postbag.headers AS json CHECK (json_typeof(VALUE) = 'object');
