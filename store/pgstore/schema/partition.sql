-- Partition {part} of box {box}: seqs from {from} up to, not including, {to}.
CREATE TABLE postbag.{part} (
  LIKE postbag.{box} INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION,
  CONSTRAINT {part}__pk PRIMARY KEY (seq)
) WITH (vacuum_truncate = false);
-- Pages without rows, kept by vacuum_truncate: a planner that sees no page at all in a table chooses to scan it, and keeps
-- that plan when the table has grown. {pages} pages cost more to scan than an index to ask.
DO $filler$ BEGIN
  INSERT INTO postbag.{part} (seq, payload) SELECT {from} + g, decode(repeat('00', 1800), 'hex') FROM generate_series(0, 4 * {pages} - 1) g;
  RAISE EXCEPTION USING ERRCODE = 'PB000';
EXCEPTION WHEN SQLSTATE 'PB000' THEN NULL;
END $filler$;
-- NOT VALID: a dump could not be restored otherwise.
ALTER TABLE postbag.{part} ADD CONSTRAINT {box}__sound {sound} NOT VALID;
-- A role that adds it as a member of the owner gives it to the owner. Otherwise the owner could not migrate the box later.
DO $owner$
DECLARE owner name := (SELECT pg_catalog.pg_get_userbyid(relowner) FROM pg_catalog.pg_class WHERE oid = 'postbag.{box}'::regclass);
BEGIN
  IF owner <> current_user THEN EXECUTE pg_catalog.format('ALTER TABLE postbag.{part} OWNER TO %I', owner); END IF;
EXCEPTION WHEN insufficient_privilege THEN NULL; -- a member that may not become the owner keeps it
END $owner$;
-- Takes no lock that a writer or reader of the box waits for.
ALTER TABLE postbag.{box} ATTACH PARTITION postbag.{part} FOR VALUES FROM ({from}) TO ({to});
