package mysqlstore

import "github.com/postbag/postbag/store/storekit"

// Every statement of the store but the schema and what sets up a session. They
// run READ COMMITTED: a SELECT without FOR UPDATE reads a snapshot of its own and
// locks nothing, and a change locks the rows it changes and no gap between them.
// No row of a box is ever locked but by an INSERT, and by the DELETE of rows that
// everybody has passed. %s is the table of a box, whose name has been validated;
// it is asked for by its PRIMARY KEY, seq, alone.

// The server, this database and its life.
const (
	// Reads variables. The identity of a MySQL server is its own; MariaDB's changes
	// with the machine and the port.
	sqlServerMySQL   = `SELECT VERSION(), @@version_comment, @@server_uuid, @@max_allowed_packet, @@global.binlog_format, @@global.log_bin, @@global.innodb_flush_log_at_trx_commit, @@global.sync_binlog`
	sqlServerMariaDB = `SELECT VERSION(), @@version_comment, CONCAT(@@server_uid, ':', @@hostname, ':', @@port), @@max_allowed_packet, @@global.binlog_format, @@global.log_bin, @@global.innodb_flush_log_at_trx_commit, @@global.sync_binlog`
	sqlVersionText   = `SELECT VERSION()`

	// One row of a table in memory, which is empty after a start. Not in a
	// transaction: it could not be rolled back.
	sqlBeginLife = `INSERT IGNORE INTO postbag__life (one, life) VALUES (1, 1 + FLOOR(RAND() * 9007199254740990))`

	// Two single rows and variables: what every Turn, and the begin of every
	// transaction, asks. %s is the server's identity.
	sqlServerState = `SELECT m.identity, m.epoch, COALESCE(l.life, 0), %s, @@global.read_only, @@global.auto_increment_increment,
	TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
FROM postbag__meta m LEFT JOIN postbag__life l ON l.one = 1 WHERE m.one = 1`

	// One row, and what the server has executed, written to its log, or applied of its primary's.
	sqlExecutedMySQL  = `SELECT CONCAT(m.identity, ' in ', DATABASE()), @@global.gtid_executed FROM postbag__meta m WHERE m.one = 1`
	sqlLoggedMariaDB  = `SELECT CONCAT(m.identity, ' in ', DATABASE()), @@global.gtid_binlog_pos FROM postbag__meta m WHERE m.one = 1`
	sqlAppliedMariaDB = `SELECT CONCAT(m.identity, ' in ', DATABASE()), @@global.gtid_slave_pos FROM postbag__meta m WHERE m.one = 1`
	// No table.
	sqlHasMySQL = `SELECT GTID_SUBSET(?, ?)`

	sqlServerIDMySQL   = `@@server_uuid`
	sqlServerIDMariaDB = `CONCAT(@@server_uid, ':', @@hostname, ':', @@port)`

	// The catalogue, by name.
	sqlCountSchema = `
SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'postbag__meta'`

	// One row.
	sqlVersion = `SELECT version, reader FROM postbag__meta WHERE one = 1`

	// One row, locked: changes of who owns what come one after another.
	sqlLockMeta = `SELECT 1 FROM postbag__meta WHERE one = 1 FOR UPDATE`

	// One row.
	sqlEpoch = `UPDATE postbag__meta SET epoch = epoch + 1 WHERE one = 1`

	// One row: beyond all epochs that were seen, and all tokens that were given out before.
	//
	//nolint:gosec // a token of a lease is no secret
	sqlPassEpoch = `UPDATE postbag__meta SET epoch = GREATEST(epoch, ?) + 1, token = token + 1000000000 WHERE one = 1`

	// All shards and all relays.
	sqlVoidAllLeases = `UPDATE postbag__shard SET owner = '', token = 0, version = version + 1`
	sqlAllRelaysDead = `UPDATE postbag__relay SET dead = 1`

	// All shards, which are few, by subscription.
	sqlPositions = `
SELECT s.box, s.name, h.position FROM postbag__subscription s JOIN postbag__shard h ON h.subscription = s.id
ORDER BY s.id`

	// By primary key. Locks the row, new or old.
	// The clock, in microseconds since 1970, as in schema/box.sql.
	sqlMicros = `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))`

	// By primary key, locked: a subscription is declared, and rows are deleted,
	// under this lock.
	sqlLockBox = `SELECT swept FROM postbag__box WHERE name = ? FOR UPDATE`

	// All boxes, with the row that each must still have.
	sqlWitnesses = `SELECT name, swept, witness, witness_id FROM postbag__box`

	// All boxes.
	sqlHasTable = `SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?`

	sqlBoxes = `SELECT name, slots FROM postbag__box ORDER BY name`

	// The catalogue, by the table's name.
	sqlTableText = `SHOW CREATE TABLE %s`

	// A scan of a primary key up to a limit, and the catalogue: about how large a table is.
	sqlSize = `
SELECT (SELECT COUNT(*) FROM (SELECT seq FROM %s LIMIT ?) x), COALESCE(MAX(data_length), 0)
FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?`

	// A scan of a table that is small.
	sqlYoungest = `SELECT COALESCE(MAX(at), 0) FROM %s WHERE at <= ` + sqlMicros

	// By primary key.
	sqlSetWitness = `UPDATE postbag__box SET witness = ?, witness_id = ? WHERE name = ?`

	// By primary key.
	sqlIDOf = `SELECT id FROM %s WHERE seq = ?`

	// The same.
	sqlMarkedBy = `SELECT CONCAT(id, at) FROM %s WHERE seq = ?`
)

// Seqs as SQL writes them: the highest that a position can name, and one that no
// table reaches by counting, so that somebody has chosen it.
const (
	highestSeq = "9223372036854775807"
	farSeq     = "4611686018427387904"
)

// Subscriptions and shards.
const (
	// The end of the primary key.
	sqlLastSeq = `SELECT COALESCE(MAX(seq), 0) FROM %s WHERE seq > 0 AND seq <= ` + highestSeq

	// The same: rows near and beyond the end of all seqs, counted up to a bound.
	sqlFarSeqs = `SELECT COUNT(*), COALESCE(SUM(x.seq > ` + highestSeq + `), 0) FROM (SELECT seq FROM %s WHERE seq >= ` + farSeq + ` LIMIT 1000) x`

	// A range of the primary key, in its order, ended by the limit.
	sqlSeqs = `SELECT seq FROM %s WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?`

	// A range of the primary key: whether a position was settled.
	sqlStored = `SELECT 1 FROM postbag__shard WHERE subscription = ? AND position = ? LIMIT 1`
)

// Settling.
const (
	// By primary key: moves the position of a shard, under its lease.
	sqlAdvance = `
UPDATE postbag__shard SET position = ?, version = version + 1, settled = token
WHERE subscription = ? AND lo = ? AND hi = ? AND token = ? AND version = ?`

	// The same, without a new position.
	sqlSettleInPlace = `
UPDATE postbag__shard SET version = version + 1, settled = token
WHERE subscription = ? AND lo = ? AND hi = ? AND token = ? AND version = ?`

	// Points of the primary key, in its order, and two single rows, read once: some
	// shards move on to one position, in the life of the server that is given. %[1]s
	// is what is assigned, %[2]s the shards with their leases, %[3]s the server's
	// identity. It runs READ COMMITTED: what is asked is not locked.
	sqlAdvanceAll = `
UPDATE postbag__shard FORCE INDEX (PRIMARY) SET %[1]sversion = version + 1, settled = token
WHERE subscription = %[4]d AND (%[2]s) AND ? = (
	SELECT CONCAT(m.identity, '/', COALESCE(l.life, 0), '/', %[3]s)
	FROM postbag__meta m LEFT JOIN postbag__life l ON l.one = 1 WHERE m.one = 1)`

	// By primary key: whether a settlement was applied before.
	sqlApplied = `
SELECT 1 FROM postbag__shard
WHERE subscription = ? AND lo = ? AND hi = ? AND token = ? AND version = ? + 1 AND settled = token`

	// By primary key: which messages the log has. The others are not parked.
	sqlInLog = `SELECT seq FROM %s WHERE seq IN (%s)`

	// By primary key, rows of sqlParkRow. One that is there keeps first and its history,
	// and is left alone by a new one of state 2 (blocked). What only postpones is not in the
	// history, which looks at the old state and attempts: the server assigns in this sequence.
	sqlPark = `
INSERT INTO postbag__parked
	(subscription, seq, slot, hash, state, chain, attempts, due, ready, first, reason, held, history)
VALUES %s
ON DUPLICATE KEY UPDATE
	history = IF(VALUES(state) = 2 OR VALUES(state) = state AND VALUES(attempts) = attempts AND state <> 4, history, JSON_MERGE_PRESERVE(
		IF(JSON_LENGTH(history) >= 20, JSON_REMOVE(history, '$[0]'), history), VALUES(history))),
	slot = IF(VALUES(state) = 2, slot, VALUES(slot)),
	hash = IF(VALUES(state) = 2, hash, VALUES(hash)),
	chain = IF(VALUES(state) = 2, chain, VALUES(chain)),
	attempts = IF(VALUES(state) = 2, attempts, VALUES(attempts)),
	due = IF(VALUES(state) = 2, due, VALUES(due)),
	ready = IF(VALUES(state) = 2, ready, VALUES(ready)),
	reason = IF(VALUES(state) = 2, reason, VALUES(reason)),
	held = IF(VALUES(state) = 2, held, VALUES(held)),
	state = IF(VALUES(state) = 2, state, VALUES(state))`

	sqlParkRow = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, JSON_ARRAY(JSON_ARRAY(?, ?, ?)))`

	// By primary key, locked: which messages are parked.
	sqlParkedOf = `SELECT seq FROM postbag__parked WHERE subscription = ? AND seq IN (%s) FOR UPDATE`

	// By primary key: keeps what failed of parked messages that are about to be removed.
	sqlPast = `
REPLACE INTO postbag__past (subscription, seq, attempts, reason, history)
SELECT subscription, seq, attempts, reason, history FROM postbag__parked
WHERE subscription = ? AND seq IN (%s) AND (attempts > 0 OR reason <> '')`

	// By primary key.
	sqlResolve = `DELETE FROM postbag__parked WHERE subscription = ? AND seq IN (%s)`

	// By the unique (subscription, seq, kind): the commands for messages that are
	// parked no more.
	sqlCloseCommands = `DELETE FROM postbag__command WHERE subscription = ? AND seq IN (%s)`

	// By primary key: closes commands, if they are there as they are named.
	sqlDone = `DELETE FROM postbag__command WHERE subscription = ? AND id IN (%s) AND (id, kind, seq) IN (%s)`

	// By primary key.
	sqlDiscarded = `INSERT IGNORE INTO postbag__discarded (subscription, seq) VALUES %s`

	// By primary keys: messages of the log that were discarded without being parked.
	sqlDiscardedPending = `
INSERT IGNORE INTO postbag__discarded (subscription, seq)
SELECT x.subscription, x.log_seq FROM (SELECT ? AS subscription, seq AS log_seq FROM %s WHERE seq IN (%s)) x
WHERE NOT EXISTS (SELECT 1 FROM postbag__parked p WHERE p.subscription = x.subscription AND p.seq = x.log_seq)`

	// By primary key. The halves carry: assignments are made from left to right.
	sqlLedgerAdd = `
INSERT INTO postbag__ledger (subscription, span, fate, lo, count, seq_hi, seq_lo, id_hi, id_lo) VALUES %s
ON DUPLICATE KEY UPDATE
	count  = count + VALUES(count),
	seq_hi = (seq_hi + VALUES(seq_hi) + ((seq_lo + VALUES(seq_lo)) >> 32)) & 4294967295,
	seq_lo = (seq_lo + VALUES(seq_lo)) & 4294967295,
	id_hi  = (id_hi + VALUES(id_hi) + ((id_lo + VALUES(id_lo)) >> 32)) & 4294967295,
	id_lo  = (id_lo + VALUES(id_lo)) & 4294967295`
)

// Reading. None of these runs in a transaction.
const (
	// What a Turn asks of a subscription: rows by their keys, and the ends of two
	// indexes, of the log and of its primary key.
	sqlStatus = `
SELECT m.identity, m.epoch, COALESCE(l.life, 0), %[1]s, @@global.read_only, @@global.auto_increment_increment,
	TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)),
	COALESCE(b.swept, 0), ` + sqlThere + `, COALESCE((SELECT MAX(x.seq) FROM %[2]s x WHERE x.seq > 0 AND x.seq <= ` + highestSeq + `), 0),
	(SELECT MIN(p.ready) FROM postbag__parked p FORCE INDEX (postbag__parked_ready) WHERE p.subscription = s.id AND p.ready IS NOT NULL),
	EXISTS (SELECT 1 FROM postbag__command c WHERE c.subscription = s.id)
FROM postbag__meta m
LEFT JOIN postbag__life l ON l.one = 1
LEFT JOIN postbag__subscription s ON s.id = ?
LEFT JOIN postbag__box b ON b.name = s.box
WHERE m.one = 1`

	// What is asked again a moment after: sqlServerState, and where the box's log begins.
	sqlTurnStatus = `
SELECT m.identity, m.epoch, COALESCE(l.life, 0), %[1]s, @@global.read_only, @@global.auto_increment_increment,
	TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), COALESCE(b.swept, 0), ` + sqlThere + `
FROM postbag__meta m LEFT JOIN postbag__life l ON l.one = 1 LEFT JOIN postbag__box b ON b.name = '%[4]s'
WHERE m.one = 1`

	// By the primary key of the log: the row at a position, and whether the box's
	// witness is still there. %[2]s is the table, %[3]d the position.
	sqlThere = `(SELECT CONCAT(y.id, y.at) FROM %[2]s y WHERE y.seq = %[3]d),
	COALESCE(b.witness, 0) = 0 OR EXISTS (SELECT 1 FROM %[2]s w WHERE w.seq = b.witness AND w.id = b.witness_id)`

	// A range of the primary key, in its order, ended by the limit; or the rows of
	// open seqs, some ranges of it. All but the payload is packed into one column:
	// a column costs the client more than the server. Text has no zero byte.
	sqlPage = `SELECT seq, ` + sqlPacked + `, payload FROM %s WHERE %s ORDER BY seq LIMIT ?`

	sqlPacked = "CONCAT(id, slot, x'00', at, x'00', topic, x'00', `key`, x'00', shard_key, x'00', type, x'00', COALESCE(headers, ''))"

	// The same, where slots or a filter refuse some rows: those of other slots come
	// as their ids and times alone, and those that are filtered with neither headers nor
	// payload, which are not even read. The conditions are text without placeholders.
	sqlSomePage = `
SELECT seq, IF(%[2]s, IF(%[3]s, ` + sqlPacked + `, ` + sqlFiltered + `), CONCAT(id, at)), IF(%[3]s, payload, NULL)
FROM %[1]s WHERE %[4]s ORDER BY seq LIMIT ?`

	sqlFiltered = "CONCAT(id, slot, x'00', at, x'00', '', x'00', `key`, x'00', '', x'00', '', x'00')"
)

// Writing messages, in the application's transaction. None has a placeholder, so
// that it is one round trip whatever the driver's settings, and the same text for
// wrappers that rewrite placeholders.
const (
	sqlAppend = "INSERT INTO %s (id, topic, `key`, shard_key, type, headers, payload) VALUES "

	// A row by primary key, whose payload is copied.
	sqlLetter = "INSERT INTO %s (id, topic, `key`, shard_key, type, headers, payload)\n" +
		"SELECT ?, ?, ?, ?, ?, ?, payload FROM %s WHERE seq = ?"

	// Rows of the schedule, for a box that exists: its table is named, and not read. What an INSERT ... SELECT reads in REPEATABLE
	// READ it locks, and producers and relays would wait for each other.
	sqlSchedule = "INSERT INTO postbag__scheduled (box, due, at, id, topic, `key`, shard_key, type, headers, payload)\n" +
		`SELECT '%[2]s', x.* FROM (%[1]s) x WHERE NOT EXISTS (SELECT 1 FROM %[3]s WHERE FALSE) ORDER BY 2`

	// By primary key.
	sqlRuleOf = `SELECT slots FROM postbag__box WHERE name = '%s'`

	// By the index (box, id), as who made the procedure.
	sqlCancel = `CALL postbag__cancel('%s', x'%x')`

	// The same, where there is no procedure, or no right to call it.
	sqlCancelPlain = `DELETE s FROM postbag__scheduled s FORCE INDEX (postbag__scheduled_id) WHERE box = '%s' AND id = x'%x' AND due > %d`

	// Rows by primary key, new or with another number of repeats, which never is the old
	// one and never zero. An INSERT IGNORE would hide errors, and a plain one would have to
	// be split where one row is there.
	sqlMark      = "INSERT INTO postbag__once (consumer, id, `sum`) VALUES "
	sqlMarkAgain = ` ON DUPLICATE KEY UPDATE repeats = MOD(repeats, 2000000000) + 1`

	// A row by primary key, each. The second one reads what the first has just changed: a
	// read that locks sees the newest version, whatever the isolation.
	sqlOpenLane   = `INSERT INTO postbag__lane (lane, epoch) VALUES (0x%[1]x, %[2]d) ON DUPLICATE KEY UPDATE epoch = %[2]d`
	sqlOpenedLane = `SELECT epoch, record FROM postbag__lane WHERE lane = 0x%x LIMIT 1 FOR UPDATE`

	// A row by primary key. It counts as changed, because writes is another number, also if
	// the record is the old one. None is if the lane was opened again.
	sqlWriteLane = `UPDATE postbag__lane SET record = %s, writes = MOD(writes, 2000000000) + 1 WHERE lane = 0x%x AND epoch = %d`

	// The same rows, each by primary key. The transaction has just changed all of them, so
	// that it sees them as they are, and not as they were when its snapshot was taken. A
	// list in an IN would not do: the servers may read all rows of the consumer instead,
	// and lock them in SERIALIZABLE. The limit is there since a session can have one of its
	// own (sql_select_limit).
	sqlMarked = "SELECT o.id, o.`sum`, o.repeats FROM " + sqlIDs + ` j
STRAIGHT_JOIN postbag__once o FORCE INDEX (PRIMARY) ON o.consumer = x'%[2]x' AND o.id = UNHEX(j.h) LIMIT 18446744073709551615`

	// Ids as rows of a table, from a JSON array of their hexadecimal forms. What stands in
	// /*!80000 */ is MySQL's alone, which takes no path in the character set binary.
	sqlIDs = `JSON_TABLE(_utf8mb4'[%[1]s]', /*!80000 _utf8mb4 */ '$[*]' COLUMNS (h VARCHAR(510) CHARACTER SET utf8mb4 PATH /*!80000 _utf8mb4 */ '$'))`

	// By primary key, in its order.
	sqlLockKeys = `SELECT n FROM postbag__lock WHERE n IN (%s) ORDER BY n FOR UPDATE`
)

// Tombstones, each statement a transaction of its own on a session of its own.
const (
	// Ranges of the primary key, READ UNCOMMITTED: seqs that are written, committed
	// or not.
	sqlPresent = `SELECT seq FROM %s WHERE %s ORDER BY seq LIMIT ?`

	// One row. Nobody can wait on it: it is committed as soon as it is written.
	sqlTombstone = "INSERT INTO %s (seq, id, topic, `key`, shard_key, type, payload) " +
		`VALUES (?, x'00000000000000000000000000000000', '', '', '', '@tombstone', '')`
)

// Maintenance.
const (
	// A range of the index (box, due), locked: the next ones due, in order. What a
	// cancel has locked is left to it.
	sqlDueScheduled = `
SELECT n FROM postbag__scheduled WHERE box = ? AND due <= ? ORDER BY due, n LIMIT ? FOR UPDATE SKIP LOCKED`

	// By primary key, in the order in which they are due.
	sqlPromote = "INSERT INTO %[1]s (id, topic, `key`, shard_key, type, headers, payload)\n" +
		"SELECT id, topic, `key`, shard_key, type, headers, payload FROM postbag__scheduled WHERE n IN (%[2]s) ORDER BY due, n"

	// The same rows, in the same transaction.
	sqlPromoted = `DELETE FROM postbag__scheduled WHERE n IN (%s)`

	// By primary key.
	sqlPostponeForever = `UPDATE postbag__scheduled SET due = 9223372036854775807 WHERE n IN (%s)`

	// The end of the index (box, due).
	sqlNextScheduled = `SELECT MIN(due) FROM postbag__scheduled WHERE box = ?`

	// A range of the primary key.
	sqlForgetFloors = `DELETE FROM postbag__floor WHERE box = ? AND seq < ?`

	// A range of the primary key, of which these rows stay: what is parked, young
	// tombstones, the last row.
	sqlSweep = `DELETE FROM %s WHERE seq > ? AND seq < ? AND (slot < 4096 OR at < ?)%s`

	// One row, by the primary key.
	sqlSweepOne = `DELETE FROM %s WHERE seq = ? AND (slot < 4096 OR at < ?)%s`

	// The end of a range of the primary key; zero: it is empty.
	sqlLastOf = `SELECT COALESCE(MAX(seq), 0) FROM %s WHERE seq > ? AND seq <= ?`

	// By primary key: a message that everybody has passed is erased.
	sqlBlank = "UPDATE %s SET payload = '', headers = '" + storekit.ErasedHeaders + "', `key` = '', shard_key = ? WHERE seq = ?"

	// By primary key, of rows that retention has kept.
	sqlDeleteRows = `DELETE FROM %s WHERE seq IN (%s)`

	// A range of the primary key: what was kept of it.
	sqlListed = `SELECT seq FROM postbag__discarded WHERE subscription = ? AND seq > ? AND seq <= ?`

	// A range of the primary key, in which is one row or none.
	sqlListedUpTo   = `SELECT COALESCE(-MIN(seq), 0) FROM postbag__discarded WHERE subscription = ? AND seq < 0`
	sqlForgetListed = `DELETE FROM postbag__discarded WHERE subscription = ? AND seq < 0`

	// By primary key.
	sqlSetListed = `INSERT IGNORE INTO postbag__discarded (subscription, seq) VALUES (?, ?)`

	// A range of the primary key.
	sqlForgetDiscardedOf = `DELETE FROM postbag__discarded WHERE subscription = ?`

	// A range of the primary key, of the messages that are left in it; and by primary key.
	sqlEnlist = `
INSERT IGNORE INTO postbag__discarded (subscription, seq)
SELECT x.subscription, x.log_seq FROM (SELECT ? AS subscription, seq AS log_seq FROM %s WHERE seq > ? AND seq <= ? AND slot < 4096) x`
	sqlEnlistThese = `
INSERT IGNORE INTO postbag__discarded (subscription, seq)
SELECT x.subscription, x.log_seq FROM (SELECT ? AS subscription, seq AS log_seq FROM %s WHERE seq IN (%s)) x`

	// A range of the primary key before the first seq that is given out, ended by the limit.
	sqlBelowOne = `SELECT seq FROM %s WHERE seq < 1 AND slot < 4096 ORDER BY seq LIMIT 500`

	// By primary key, in the order in which they were written: messages that nobody has read.
	sqlSendLate = "INSERT INTO %[1]s (id, at, topic, `key`, shard_key, type, headers, payload)\n" +
		"SELECT id, at, topic, `key`, shard_key, type, headers, payload FROM %[1]s WHERE seq IN (%[2]s) ORDER BY at, seq"

	// A range of the primary key, below the beginning of the log.
	sqlKept = `SELECT seq, at, slot FROM %s WHERE seq > ? AND seq <= ? ORDER BY seq`

	// A range of the primary key for each subscription of the box: what stays.
	sqlKeptRanges = `
SELECT DISTINCT p.seq FROM postbag__subscription s JOIN postbag__parked p ON p.subscription = s.id
WHERE s.box = ? AND p.seq > ? AND p.seq <= ?`

	// A range of the primary key for each subscription of the box.
	sqlForgetDiscarded = `
DELETE FROM postbag__discarded
WHERE subscription IN (SELECT id FROM postbag__subscription WHERE box = ?) AND seq > ? AND seq <= ?`
)

// The inbox: what old marks are removed by.
const (
	// The clock.
	sqlClock = `SELECT ` + sqlMicros

	// A range of the primary key: the old marks in it that nobody has locked.
	sqlOldMarks = `
SELECT id FROM postbag__once FORCE INDEX (PRIMARY)
WHERE consumer = ? AND id > COALESCE(?, x'') AND id <= ? AND at < ? ORDER BY id FOR UPDATE SKIP LOCKED`

	// Each by primary key, rows that are locked already. Any other way to them could wait
	// for rows that consumers have locked.
	sqlForgetMarks = `
DELETE o FROM ` + sqlIDs + ` j STRAIGHT_JOIN postbag__once o FORCE INDEX (PRIMARY) ON o.consumer = x'%[2]x' AND o.id = UNHEX(j.h)`
)
