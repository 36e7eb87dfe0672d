package sqlitestore

import "github.com/postbag/postbag/store/storekit"

// Every statement of the store but the schema. Unless its comment says
// otherwise a statement runs in a write transaction, which holds the one writer
// lock of the database from BEGIN to COMMIT; one outside reads a snapshot and
// locks nothing that a writer could wait for. %s is the table of a box, whose
// name has been validated; it is asked for by its PRIMARY KEY, seq, alone.

// Settings and transactions.
const (
	sqlFile           = `SELECT file FROM pragma_database_list WHERE name = 'main'`
	sqlLibrary        = `SELECT sqlite_version()`
	sqlEncoding       = `PRAGMA encoding`
	sqlJournalMode    = `PRAGMA journal_mode`
	sqlSynchronous    = `PRAGMA synchronous`
	sqlBusyTimeout    = `PRAGMA busy_timeout`
	sqlSetBusyTimeout = `PRAGMA busy_timeout = %d`

	// Takes the writer lock, or fails with SQLITE_BUSY.
	sqlBegin  = `BEGIN IMMEDIATE`
	sqlCommit = `COMMIT`

	// Begins a transaction that reads: all its statements see one moment.
	sqlBeginRead = `BEGIN`

	sqlRollback = `ROLLBACK`

	// Changes nothing, but takes the writer lock, in a transaction that another
	// began: the first statement of a transaction may wait for it.
	sqlLock = `DELETE FROM postbag__meta WHERE 0`
)

// The schema and this database.
const (
	// Reads the list of tables. Outside a transaction, and in Migrate's.
	sqlHasTable    = `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?`
	sqlCountSchema = `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'postbag__meta'`

	// All boxes, and the catalogue: those whose tables have the constraints of an older version.
	sqlBoxesToConstrain = `
SELECT b.name FROM postbag__box b JOIN sqlite_master m ON m.type = 'table' AND m.name = 'postbag_' || b.name
WHERE instr(m.sql, '"headers is a JSON object, 64 KiB at most"') = 0 ORDER BY b.name`

	// One row. Outside a transaction too.
	sqlVersion = `SELECT version, reader FROM postbag__meta`

	// One row: begins every write transaction.
	sqlMeta = `SELECT identity, epoch FROM postbag__meta`

	// A number in shared memory, that each commit changes. Outside a transaction.
	sqlDataVersion = `PRAGMA data_version`

	// One row: ends a write transaction that changed what relays look at.
	sqlEpoch = `UPDATE postbag__meta SET epoch = epoch + 1`

	// All shards, which are few, by subscription.
	sqlPositions = `
SELECT s.box, s.name, h.position FROM postbag__subscription s JOIN postbag__shard h ON h.subscription = s.id
ORDER BY s.id`

	// A scan of sqlite_sequence.
	sqlRaiseSeq = `UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1`

	// One row.
	sqlInsertSeq = `INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)`

	// By primary key.
	// The clock, in microseconds since 1970, as in schema/box.sql.
	sqlMicros = `CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000`
)

// Subscriptions and shards.
const (
	// The last seq that was given out, by a scan of sqlite_sequence, which has a
	// row for each AUTOINCREMENT table of the file.
	sqlLastSeq = `SELECT seq FROM sqlite_sequence WHERE name = ?`

	// By primary key. Outside a transaction too.
	sqlIDOf = `SELECT id FROM %s WHERE seq = ?`
)

// Settling.
const (
	// By primary key: moves the position of a shard, under its lease.
	sqlAdvance = `
UPDATE postbag__shard SET position = ?6, version = version + 1, settled = token
WHERE subscription = ?1 AND lo = ?2 AND hi = ?3 AND token = ?4 AND version = ?5`

	// The same, without a new position.
	sqlSettleInPlace = `
UPDATE postbag__shard SET version = version + 1, settled = token
WHERE subscription = ?1 AND lo = ?2 AND hi = ?3 AND token = ?4 AND version = ?5`

	// By primary key: whether a settlement was applied before.
	sqlApplied = `
SELECT 1 FROM postbag__shard
WHERE subscription = ? AND lo = ? AND hi = ? AND token = ? AND version = ? + 1 AND settled = token`

	// By primary key. A row that is there keeps first and its history, and is left
	// alone by a new one of state 2 (blocked). What only postpones is not in the history.
	// A message that the log does not have is not parked.
	sqlPark = `
INSERT INTO postbag__parked
	(subscription, seq, slot, hash, state, chain, attempts, due, ready, first, reason, held, history)
SELECT ?1, seq, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, json_array(json_array(?10, ?5, ?11))
FROM %s WHERE seq = ?2
ON CONFLICT (subscription, seq) DO UPDATE SET
	slot = excluded.slot, hash = excluded.hash, state = excluded.state, chain = excluded.chain,
	attempts = excluded.attempts, due = excluded.due, ready = excluded.ready, reason = excluded.reason, held = excluded.held,
	history = CASE WHEN state = excluded.state AND attempts = excluded.attempts AND state <> 4 THEN history ELSE json_insert(
		CASE WHEN json_array_length(history) >= 20 THEN json_remove(history, '$[0]') ELSE history END,
		'$[#]', json_extract(excluded.history, '$[0]')) END
WHERE excluded.state <> 2`

	// By primary key.
	sqlResolve = `DELETE FROM postbag__parked WHERE subscription = ? AND seq = ?`

	// By the unique (subscription, seq, kind): the commands for a message that
	// is parked no more.
	sqlCloseCommands = `DELETE FROM postbag__command WHERE subscription = ? AND seq = ?`

	// By primary key.
	sqlDiscarded = `INSERT INTO postbag__discarded (subscription, seq) VALUES (?, ?) ON CONFLICT DO NOTHING`

	// By primary keys: a message of the log that was discarded without being parked.
	sqlDiscardedPending = `
INSERT INTO postbag__discarded (subscription, seq)
SELECT ?1, l.seq FROM %s l WHERE l.seq = ?2
	AND NOT EXISTS (SELECT 1 FROM postbag__parked p WHERE p.subscription = ?1 AND p.seq = ?2) ON CONFLICT DO NOTHING`

	// By primary key. The halves carry.
	sqlTally = `
INSERT INTO postbag__ledger (subscription, span, fate, count, seq_hi, seq_lo, id_hi, id_lo)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (subscription, span, fate) DO UPDATE SET
	count  = count + excluded.count,
	seq_hi = (seq_hi + excluded.seq_hi + ((seq_lo + excluded.seq_lo) >> 32)) & 4294967295,
	seq_lo = (seq_lo + excluded.seq_lo) & 4294967295,
	id_hi  = (id_hi + excluded.id_hi + ((id_lo + excluded.id_lo) >> 32)) & 4294967295,
	id_lo  = (id_lo + excluded.id_lo) & 4294967295`
)

// Reading. None of these runs in a transaction.
const (
	// Three rows by their keys, and the ends of two indexes: what an idle relay asks.
	sqlStatus = `
SELECT m.identity, m.epoch, coalesce(s.id, 0), coalesce(s.types, '[]'), coalesce(s.takes, ''), coalesce(b.swept, 0), coalesce(b.slots, 0),
	(SELECT min(p.ready) FROM postbag__parked p WHERE p.subscription = s.id AND p.ready IS NOT NULL),
	EXISTS (SELECT 1 FROM postbag__command c WHERE c.subscription = s.id)
FROM postbag__meta m
LEFT JOIN postbag__subscription s ON s.box = ?1 AND s.name = ?2
LEFT JOIN postbag__box b ON b.name = s.box`

	// A range of the primary key, in its order, ended by the limit. The short
	// columns come as one, see pageRow.
	sqlPage = `
SELECT seq, at,
	id || x'00' || topic || x'00' || key || x'00' || shard_key || x'00' || type || x'00' || ifnull(headers, ''),
	payload
FROM %s WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3`

	// The same, where a filter looks at type or topic: what it refuses
	// comes without headers and payload, which then are not even read from the file.
	sqlFilteredPage = `
SELECT seq, at,
	id || x'00' || topic || x'00' || key || x'00' || shard_key || x'00' || type || x'00' ||
		CASE WHEN %[2]s THEN ifnull(headers, '') ELSE '' END,
	CASE WHEN %[2]s THEN payload END, %[2]s
FROM %[1]s WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3`
)

// Writing messages, in the application's transaction.
const (
	sqlAppend    = `INSERT INTO %s (id, at, topic, key, shard_key, type, headers, payload) VALUES `
	sqlAppendRow = `(?, ?, ?, ?, ?, ?, ?, coalesce(?, x''))`

	// A row by primary key, whose payload is copied.
	sqlLetter = `
INSERT INTO %s (id, at, topic, key, shard_key, type, headers, payload)
SELECT ?, ?, ?, ?, ?, ?, ?, payload FROM %s WHERE seq = ?`

	// One row.
	sqlSchedule = `
INSERT INTO postbag__scheduled (box, due, at, id, topic, key, shard_key, type, headers, payload)
SELECT name, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, coalesce(?10, x'') FROM postbag__box WHERE name = ?1`

	// Rows by primary key: those that are new come back. The consumer and the time are the
	// first arguments.
	sqlMark    = `INSERT INTO postbag__once (consumer, at, id, sum) VALUES %s ON CONFLICT (consumer, id) DO NOTHING RETURNING id`
	sqlMarkRow = `(?1, ?2, ?%d, ?%d)`

	// By primary key.
	sqlMarkedSum = `SELECT sum FROM postbag__once WHERE consumer = ? AND id = ?`

	// A row by primary key, each. None comes back from the second if the lane was opened
	// again.
	sqlOpenLane  = `INSERT INTO postbag__lane (lane, epoch) VALUES (?1, ?2) ON CONFLICT (lane) DO UPDATE SET epoch = ?2 RETURNING epoch, record`
	sqlWriteLane = `UPDATE postbag__lane SET record = ?3 WHERE lane = ?1 AND epoch = ?2 RETURNING epoch`

	// By the index (box, id).
	sqlCancel = `DELETE FROM postbag__scheduled WHERE box = ? AND id = ? AND due > ?`
)

// Maintenance.
const (
	// A range of the index (box, due): the next ones due, in order.
	sqlPromote = `
INSERT INTO %[1]s (id, at, topic, key, shard_key, type, headers, payload)
SELECT id, ?2, topic, key, shard_key, type, headers, payload FROM postbag__scheduled
WHERE box = ?1 AND due <= ?2 ORDER BY due, n LIMIT ?3`

	// The same rows, in the same transaction.
	sqlPromoted = `
DELETE FROM postbag__scheduled WHERE n IN (
	SELECT n FROM postbag__scheduled WHERE box = ?1 AND due <= ?2 ORDER BY due, n LIMIT ?3)`

	// The same range, in the same order.
	sqlDueScheduled = `SELECT n FROM postbag__scheduled WHERE box = ? AND due <= ? ORDER BY due, n LIMIT ?`

	// By primary key.
	sqlPromoteOne = `
INSERT INTO %[1]s (id, at, topic, key, shard_key, type, headers, payload)
SELECT id, ?2, topic, key, shard_key, type, headers, payload FROM postbag__scheduled WHERE n = ?1`
	sqlPromotedOne     = `DELETE FROM postbag__scheduled WHERE n = ?`
	sqlPostponeForever = `UPDATE postbag__scheduled SET due = 9223372036854775807 WHERE n = ?`

	// The end of the index (box, due), but for what is no number, which is never due.
	// Outside a transaction.
	sqlNextScheduled = `SELECT CAST(min(due) AS INTEGER) FROM postbag__scheduled WHERE box = ? AND due <= 9223372036854775807`

	// A range of the primary key: the old marks in it.
	sqlForgetMarks = `DELETE FROM postbag__once WHERE consumer = ? AND id > coalesce(?, x'') AND id <= ? AND at < ?`

	// A range of the primary key.
	sqlForgetFloors = `DELETE FROM postbag__floor WHERE box = ? AND seq < ?`

	// A range of the primary key, each row looked for among the parked ones by
	// their primary key.
	sqlSweep = `
DELETE FROM %[1]s WHERE seq > ?1 AND seq <= ?2 AND NOT EXISTS (
	SELECT 1 FROM postbag__subscription s JOIN postbag__parked p ON p.subscription = s.id AND p.seq = %[1]s.seq
	WHERE s.box = ?3)`

	// A range of the primary key for each subscription of the box: what stays.
	sqlKeptRanges = `
SELECT count(*) FROM postbag__subscription s JOIN postbag__parked p ON p.subscription = s.id
WHERE s.box = ?3 AND p.seq > ?1 AND p.seq <= ?2`

	// The same range and condition: whether there is anything. Outside a
	// transaction.
	sqlUnparked = `
SELECT seq FROM %[1]s WHERE seq > ?1 AND seq <= ?2 AND NOT EXISTS (
	SELECT 1 FROM postbag__subscription s JOIN postbag__parked p ON p.subscription = s.id AND p.seq = %[1]s.seq
	WHERE s.box = ?3) ORDER BY seq LIMIT 1`

	// A range of the primary key for each subscription of the box.
	sqlForgetDiscarded = `
DELETE FROM postbag__discarded
WHERE subscription IN (SELECT id FROM postbag__subscription WHERE box = ?3) AND seq > ?1 AND seq <= ?2`

	// The catalogue, by name: what keeps rows from being changed.
	sqlTriggerText = `SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = ?`
	sqlDropTrigger = `DROP TRIGGER %s`

	// Of the connection: whether bytes that are not used any more are overwritten.
	sqlSecure    = `PRAGMA secure_delete`
	sqlSetSecure = `PRAGMA secure_delete = %d`

	// By primary key: a message that everybody has passed is erased.
	sqlBlank = `UPDATE %s SET payload = x'', headers = '` + storekit.ErasedHeaders + `', key = '', shard_key = ? WHERE seq = ?`

	// Moves the write-ahead log into the database; the second form also waits for
	// readers, at most for the connection's busy_timeout, and truncates the file.
	sqlCheckpoint         = `PRAGMA wal_checkpoint(PASSIVE)`
	sqlCheckpointTruncate = `PRAGMA wal_checkpoint(TRUNCATE)`
)
