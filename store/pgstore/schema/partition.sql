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
-- Takes no lock that a writer or reader of the box waits for.
ALTER TABLE postbag.{box} ATTACH PARTITION postbag.{part} FOR VALUES FROM ({from}) TO ({to});
