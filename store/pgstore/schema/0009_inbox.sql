-- The inbox: which messages a consumer has applied. A consumer writes a mark in the transaction of the message's effect.

-- One row a mark. sum is the SHA-256 of what the message holds, where the consumer compares that. at is when the row was
-- written, and not when its transaction began: a long transaction would bring a mark whose time is over.
CREATE TABLE postbag._once (
  consumer text        COLLATE "C" NOT NULL,
  id       bytea       NOT NULL,
  sum      bytea,
  at       timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (vacuum_truncate = false);
-- Pages without rows, as in 0001_postbag.sql.
DO $filler$ BEGIN
  INSERT INTO postbag._once (consumer, id) SELECT repeat('x', 1800), '' FROM generate_series(1, 4 * {pages}) g;
  RAISE EXCEPTION USING ERRCODE = 'PB000';
EXCEPTION WHEN SQLSTATE 'PB000' THEN NULL;
END $filler$;
-- There is no index on at. It would cost every mark a second entry; to forget old marks the table is walked by its blocks instead.
ALTER TABLE postbag._once
  ADD CONSTRAINT _once_pkey PRIMARY KEY (consumer, id),
  ADD CONSTRAINT _once_consumer CHECK (octet_length(consumer) BETWEEN 1 AND 100),
  ADD CONSTRAINT _once_id CHECK (octet_length(id) BETWEEN 1 AND 255),
  ADD CONSTRAINT _once_sum CHECK (octet_length(sum) = 32);
-- A role that row-level security hides marks from gets an error, and never an answer: a policy that hides a mark would have ON CONFLICT
-- meet a row that nobody can compare. The constraint is looked at before a conflict is. NOT VALID: a dump could not be restored otherwise.
ALTER TABLE postbag._once ADD CONSTRAINT _once_visible CHECK (NOT row_security_active('postbag._once'::regclass)) NOT VALID;

-- For how long the marks of a consumer are kept. One that is not here has the program's default.
CREATE TABLE postbag._consumers (
  name text     COLLATE "C" PRIMARY KEY CHECK (octet_length(name) BETWEEN 1 AND 100),
  keep interval NOT NULL CHECK (keep BETWEEN interval '1 minute' AND interval '300 years')
);

-- How far the walk through _once has come: its next block, and the number of blocks when it began. holder is who walks, until
-- the time that it has. done is when a walk came to the end last.
CREATE TABLE postbag._forgetting (
  one    boolean     PRIMARY KEY DEFAULT true CHECK (one),
  block  bigint      NOT NULL DEFAULT 0,
  blocks bigint      NOT NULL DEFAULT 0,
  holder text        NOT NULL DEFAULT '',
  until  timestamptz NOT NULL DEFAULT '-infinity',
  done   timestamptz
) WITH (fillfactor = 20);
INSERT INTO postbag._forgetting DEFAULT VALUES;
