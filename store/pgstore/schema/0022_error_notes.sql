-- Notes of operators on errors: one row a subscription and kind of error. The hash is SHA-256 of the kind. Times are
-- microseconds since 1970: seen is when its errors were there last, and checked when housekeeping looked for them last.
CREATE TABLE IF NOT EXISTS postbag._error_notes (
  box     text   COLLATE "C" NOT NULL,
  name    text   COLLATE "C" NOT NULL, -- of the subscription
  hash    bytea  NOT NULL,
  kind    text   NOT NULL,
  note    text   NOT NULL,
  who     text   NOT NULL,
  at      bigint NOT NULL,
  seen    bigint NOT NULL,
  checked bigint NOT NULL,
  PRIMARY KEY (box, name, hash)
) WITH (vacuum_truncate = false);
-- What housekeeping looks at, the oldest first.
CREATE INDEX IF NOT EXISTS _error_notes_checked ON postbag._error_notes (box, checked);
