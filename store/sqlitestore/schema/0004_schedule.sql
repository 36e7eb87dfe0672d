-- What no box could ever take is refused where it is scheduled, and not set aside when it
-- is due: an empty topic, and times that are no numbers or not within the years 1970 to
-- 9999. The end of all numbers is where housekeeping sets aside what it cannot promote.
--
-- The table is made anew, and what is there is brought along. Nothing is renamed: SQLite
-- refuses that where some view of the application's does not work.
CREATE TABLE postbag__schedule AS
SELECT n, box,
	CASE WHEN typeof(due) <> 'integer' OR due > 253402300799999999 THEN 9223372036854775807 ELSE max(due, 0) END AS due,
	id, CASE WHEN typeof(at) = 'integer' AND at BETWEEN 0 AND 253402300799999999 THEN at ELSE 0 END AS at,
	CASE topic WHEN '' THEN box ELSE topic END AS topic, key, shard_key, type, headers, payload
FROM postbag__scheduled;
DROP TABLE postbag__scheduled;

CREATE TABLE postbag__scheduled (
	n         INTEGER PRIMARY KEY AUTOINCREMENT,
	box       TEXT    NOT NULL,
	due       INTEGER NOT NULL CHECK (typeof(due) = 'integer' AND (due BETWEEN 0 AND 253402300799999999 OR due = 9223372036854775807)),
	id        BLOB    NOT NULL CHECK (typeof(id) = 'blob' AND length(id) = 16),
	at        INTEGER NOT NULL CHECK (typeof(at) = 'integer' AND at BETWEEN 0 AND 253402300799999999),
	topic     TEXT    NOT NULL CHECK (topic <> ''),
	key       TEXT    NOT NULL,
	shard_key TEXT    NOT NULL,
	type      TEXT    NOT NULL,
	headers   TEXT,
	payload   BLOB    NOT NULL
);

INSERT INTO postbag__scheduled (n, box, due, id, at, topic, key, shard_key, type, headers, payload)
SELECT n, box, due, id, at, topic, key, shard_key, type, headers, payload FROM postbag__schedule ORDER BY n;
DROP TABLE postbag__schedule;

CREATE INDEX postbag__scheduled_due ON postbag__scheduled (box, due, n);
CREATE INDEX postbag__scheduled_id ON postbag__scheduled (box, id);
