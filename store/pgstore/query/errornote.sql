-- Notes of operators on errors.

-- name: set_error_note
-- Writes a note $5 of $6 on the kind of error $4, whose hash is $3, of subscription $2 in box $1, in place of the one there is, and
-- audits it by $6, $7 and $8, unless the box has $9 others. Returns a row then. By primary key, and a range of it: some hundred rows.
WITH f AS MATERIALIZED (
  SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now, count(*) AS others FROM postbag._error_notes o
  WHERE o.box = $1::text AND NOT (o.name = $2::text AND o.hash = $3::bytea)
), n AS (
  INSERT INTO postbag._error_notes AS e (box, name, hash, kind, note, who, at, seen, checked)
  SELECT $1::text, $2::text, $3::bytea, $4::text, $5::text, $6::text, f.now, f.now, f.now FROM f WHERE f.others < $9::integer
  ON CONFLICT (box, name, hash) DO UPDATE SET note = EXCLUDED.note, who = EXCLUDED.who, at = EXCLUDED.at, seen = EXCLUDED.seen, checked = EXCLUDED.checked
  RETURNING 1
), a AS (
  INSERT INTO postbag._audit (who, why, what) SELECT $6::text, $7::text, $8::text FROM n
)
SELECT 1 FROM n;

-- name: remove_error_note
-- Removes a note, and audits it by $4, $5 and $6 if there was one. By primary key.
WITH n AS (
  DELETE FROM postbag._error_notes e WHERE e.box = $1::text AND e.name = $2::text AND e.hash = $3::bytea RETURNING 1
)
INSERT INTO postbag._audit (who, why, what) SELECT $4::text, $5::text, $6::text FROM n;

-- name: error_notes
-- The notes of box $1, or of subscription $2 of it if that is not empty. A range of the primary key.
SELECT e.box, e.name, e.kind, e.note, e.who, e.at, e.seen FROM postbag._error_notes e
WHERE e.box = $1::text AND ($2::text = '' OR e.name = $2::text);

-- name: unchecked_error_notes
-- The notes of box $1 that nobody looked after since $2, the oldest first. By (box, checked).
SELECT e.box, e.name, e.kind, e.note, e.who, e.at, e.seen FROM postbag._error_notes e
WHERE e.box = $1::text AND e.checked <= $2::bigint ORDER BY e.checked LIMIT 500;

-- name: checked_error_note
-- Notes that the errors of a note were looked for at $6, and were there last at $5, unless somebody has changed it since $4. By primary key.
UPDATE postbag._error_notes e SET seen = $5::bigint, checked = $6::bigint
WHERE e.box = $1::text AND e.name = $2::text AND e.hash = $3::bytea AND e.seen = $4::bigint;

-- name: forget_error_note
-- Removes a note, unless somebody has changed it since $4. By primary key.
DELETE FROM postbag._error_notes e WHERE e.box = $1::text AND e.name = $2::text AND e.hash = $3::bytea AND e.seen = $4::bigint;
