-- A box as it was made at schema version 1, with two partitions.
-- The tables of box outbox.

CREATE SEQUENCE postbag.outbox__seq AS bigint CACHE 1 NO CYCLE;

-- The log. The contract of the columns is in docs/reference/sql-contract.md.
--
-- xid comes before seq and is assigned before it, and neither can be chosen: the order of transaction ids bounds the
-- order of seqs, and all that is read rests on that. place is 1 + the message's slot where the library has stored it;
-- null or zero, as from plain SQL: it is computed when it is read. Lengths are those of varchar, in characters: a CHECK
-- would cost each statement about a microsecond apiece.
CREATE TABLE postbag.outbox (
  xid       xid8            NOT NULL DEFAULT pg_current_xact_id(),
  seq       bigint          NOT NULL DEFAULT CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval('postbag.outbox__seq') END,
  at        timestamptz     NOT NULL DEFAULT clock_timestamp(),
  id        uuid            NOT NULL DEFAULT postbag.new_id(),
  place     smallint,
  topic     varchar(255)    COLLATE "C" NOT NULL DEFAULT 'outbox',
  key       varchar(1024)   COLLATE "C",
  shard_key varchar(1024)   COLLATE "C",
  type      varchar(255)    COLLATE "C",
  headers   postbag.headers,
  payload   bytea           NOT NULL DEFAULT '',
  CONSTRAINT outbox__pk PRIMARY KEY (seq)
) PARTITION BY RANGE (seq);
ALTER SEQUENCE postbag.outbox__seq OWNED BY postbag.outbox.seq;
ALTER TABLE postbag.outbox ADD CONSTRAINT outbox__sound CHECK (xid = pg_current_xact_id() AND id <> '00000000-0000-0000-0000-000000000000' AND octet_length(payload) <= 67108864 AND (place IS NULL OR place BETWEEN 0 AND 4096)) NOT VALID;

-- Messages whose time has not come.
CREATE TABLE postbag.outbox__scheduled (
  n         bigint          GENERATED ALWAYS AS IDENTITY,
  due       timestamptz     NOT NULL,
  at        timestamptz     NOT NULL DEFAULT clock_timestamp(),
  id        uuid            NOT NULL DEFAULT postbag.new_id() CHECK (id <> '00000000-0000-0000-0000-000000000000'),
  place     smallint        CHECK (place BETWEEN 0 AND 4096),
  topic     varchar(255)    COLLATE "C" NOT NULL DEFAULT 'outbox',
  key       varchar(1024)   COLLATE "C",
  shard_key varchar(1024)   COLLATE "C",
  type      varchar(255)    COLLATE "C",
  headers   postbag.headers,
  payload   bytea           NOT NULL DEFAULT '' CHECK (octet_length(payload) <= 67108864),
  CONSTRAINT outbox__scheduled__pk PRIMARY KEY (n)
) WITH (vacuum_truncate = false);
CREATE INDEX outbox__scheduled__due ON postbag.outbox__scheduled (due, n);
CREATE INDEX outbox__scheduled__id ON postbag.outbox__scheduled (id);
-- Pages without rows, as in 0001_postbag.sql.
DO $filler$ BEGIN
  INSERT INTO postbag.outbox__scheduled (n, due, id, payload) OVERRIDING SYSTEM VALUE
  SELECT g, now(), '00000000-0000-0000-0000-000000000001', decode(repeat('00', 1800), 'hex') FROM generate_series(1, 16 * 1) g;
  RAISE EXCEPTION USING ERRCODE = 'PB000';
EXCEPTION WHEN SQLSTATE 'PB000' THEN NULL;
END $filler$;
-- Partition outbox__p0 of box outbox: seqs from 1 up to, not including, 33554433.
CREATE TABLE postbag.outbox__p0 (
  LIKE postbag.outbox INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION,
  CONSTRAINT outbox__p0__pk PRIMARY KEY (seq)
) WITH (vacuum_truncate = false);
-- NOT VALID: a dump could not be restored otherwise.
ALTER TABLE postbag.outbox__p0 ADD CONSTRAINT outbox__sound CHECK (xid = pg_current_xact_id() AND id <> '00000000-0000-0000-0000-000000000000' AND octet_length(payload) <= 67108864 AND (place IS NULL OR place BETWEEN 0 AND 4096)) NOT VALID;
-- Pages without rows, kept by vacuum_truncate: a planner that sees no page at all in a table chooses to scan it, and keeps
-- that plan when the table has grown. 1 pages cost more to scan than an index to ask.
DO $filler$ BEGIN
  INSERT INTO postbag.outbox__p0 (seq, payload) SELECT 1 + g, decode(repeat('00', 1800), 'hex') FROM generate_series(0, 4 * 1 - 1) g;
  RAISE EXCEPTION USING ERRCODE = 'PB000';
EXCEPTION WHEN SQLSTATE 'PB000' THEN NULL;
END $filler$;
-- Takes no lock that a writer or reader of the box waits for.
ALTER TABLE postbag.outbox ATTACH PARTITION postbag.outbox__p0 FOR VALUES FROM (1) TO (33554433);
-- Partition outbox__p32 of box outbox: seqs from 33554433 up to, not including, 67108865.
CREATE TABLE postbag.outbox__p32 (
  LIKE postbag.outbox INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION,
  CONSTRAINT outbox__p32__pk PRIMARY KEY (seq)
) WITH (vacuum_truncate = false);
-- NOT VALID: a dump could not be restored otherwise.
ALTER TABLE postbag.outbox__p32 ADD CONSTRAINT outbox__sound CHECK (xid = pg_current_xact_id() AND id <> '00000000-0000-0000-0000-000000000000' AND octet_length(payload) <= 67108864 AND (place IS NULL OR place BETWEEN 0 AND 4096)) NOT VALID;
-- Pages without rows, kept by vacuum_truncate: a planner that sees no page at all in a table chooses to scan it, and keeps
-- that plan when the table has grown. 1 pages cost more to scan than an index to ask.
DO $filler$ BEGIN
  INSERT INTO postbag.outbox__p32 (seq, payload) SELECT 33554433 + g, decode(repeat('00', 1800), 'hex') FROM generate_series(0, 4 * 1 - 1) g;
  RAISE EXCEPTION USING ERRCODE = 'PB000';
EXCEPTION WHEN SQLSTATE 'PB000' THEN NULL;
END $filler$;
-- Takes no lock that a writer or reader of the box waits for.
ALTER TABLE postbag.outbox ATTACH PARTITION postbag.outbox__p32 FOR VALUES FROM (33554433) TO (67108865);
WITH b AS (INSERT INTO postbag._boxes (name, spans) VALUES ('outbox', 32) RETURNING id),
u AS (INSERT INTO postbag._subscriptions (box, name, wanted) SELECT id, '@maintenance', 1 FROM b RETURNING id)
INSERT INTO postbag._shards (sub, lo, hi) SELECT id, 0, 4096 FROM u;
