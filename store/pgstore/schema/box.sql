-- The tables of box {box}.

CREATE SEQUENCE postbag.{box}__seq AS bigint CACHE 1 NO CYCLE;

-- The log. The contract of the columns is in docs/reference/sql-contract.md.
--
-- xid comes before seq and is assigned before it, and neither can be chosen: the order of transaction ids bounds the
-- order of seqs, and all that is read rests on that. place is 1 + the message's slot where the library has stored it;
-- null or zero, as from plain SQL: it is computed when it is read. Lengths are those of varchar, in characters: a CHECK
-- would cost each statement about a microsecond apiece.
CREATE TABLE postbag.{box} (
  xid       xid8            NOT NULL DEFAULT pg_current_xact_id(),
  seq       bigint          NOT NULL DEFAULT CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval('postbag.{box}__seq') END,
  at        timestamptz     NOT NULL DEFAULT clock_timestamp(),
  id        uuid            NOT NULL DEFAULT postbag.new_id(),
  place     smallint,
  topic     varchar(255)    COLLATE "C" NOT NULL DEFAULT '{box}',
  key       varchar(1024)   COLLATE "C",
  shard_key varchar(1024)   COLLATE "C",
  type      varchar(255)    COLLATE "C",
  headers   postbag.headers,
  payload   bytea           NOT NULL DEFAULT '',
  CONSTRAINT {box}__pk PRIMARY KEY (seq)
) PARTITION BY RANGE (seq);
ALTER SEQUENCE postbag.{box}__seq OWNED BY postbag.{box}.seq;
ALTER TABLE postbag.{box} ADD CONSTRAINT {box}__sound {sound} NOT VALID;

-- Messages whose time has not come.
CREATE TABLE postbag.{box}__scheduled (
  n         bigint          GENERATED ALWAYS AS IDENTITY,
  due       timestamptz     NOT NULL,
  at        timestamptz     NOT NULL DEFAULT clock_timestamp(),
  id        uuid            NOT NULL DEFAULT postbag.new_id() CHECK (id <> '00000000-0000-0000-0000-000000000000'),
  place     smallint        CHECK (place BETWEEN 0 AND 4096),
  topic     varchar(255)    COLLATE "C" NOT NULL DEFAULT '{box}',
  key       varchar(1024)   COLLATE "C",
  shard_key varchar(1024)   COLLATE "C",
  type      varchar(255)    COLLATE "C",
  headers   postbag.headers,
  payload   bytea           NOT NULL DEFAULT '',
  CONSTRAINT {box}__scheduled__sound CHECK (isfinite(due) AND due < '10000-01-01 00:00:00Z' AND octet_length(payload) <= 16777216 AND topic <> ''),
  CONSTRAINT {box}__scheduled__pk PRIMARY KEY (n)
) WITH (vacuum_truncate = false);
CREATE INDEX {box}__scheduled__due ON postbag.{box}__scheduled (due, n);
CREATE INDEX {box}__scheduled__id ON postbag.{box}__scheduled (id);
-- Cancels a scheduled message, by its id alone: whoever does not know that can neither see nor remove one. Reads the index on
-- id; the time is written so that no planner takes the index on due for it. Waits for a promotion of the same message.
CREATE FUNCTION postbag.{box}__cancel(message uuid) RETURNS boolean LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET row_security = off AS $cancel$
  WITH d AS (
    DELETE FROM postbag.{box}__scheduled s WHERE s.id = message AND (s.due > statement_timestamp()) IS TRUE RETURNING 1
  )
  SELECT EXISTS (SELECT FROM d)
$cancel$;
REVOKE EXECUTE ON FUNCTION postbag.{box}__cancel(uuid) FROM PUBLIC;
-- Pages without rows, as in 0001_postbag.sql.
DO $filler$ BEGIN
  INSERT INTO postbag.{box}__scheduled (n, due, id, payload) OVERRIDING SYSTEM VALUE
  SELECT g, now(), '00000000-0000-0000-0000-000000000001', decode(repeat('00', 1800), 'hex') FROM generate_series(1, 16 * {pages}) g;
  RAISE EXCEPTION USING ERRCODE = 'PB000';
EXCEPTION WHEN SQLSTATE 'PB000' THEN NULL;
END $filler$;
