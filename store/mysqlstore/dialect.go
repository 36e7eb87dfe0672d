package mysqlstore

import (
	"fmt"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// dialect is what MySQL and MariaDB have of their own. Where an index is forced,
// statistics that are out of date could mislead the server.
var dialect = sqlkit.Dialect{
	Package:   "mysqlstore",
	Translate: translateError,
	Lock:      " FOR UPDATE",
	Position: func(p store.Position) (sqlkit.Passed, error) {
		at, err := decodePosition(p)
		return &at, err
	},
	Last:     lastSeq,
	Table:    tableOf,
	Messages: " AND slot < 4096",
	Shards:   4,
	Chains:   100,
	AddTallies: func(t *sqlkit.Tx, sums storekit.Tallies) error {
		_, err := t.Exec(ledgerText(sums, ""))
		return err
	},
	Blank: func(t *sqlkit.Tx, box string, seq int64, shardKey string) error {
		_, err := t.Exec(fmt.Sprintf(sqlBlank, tableOf(box)), shardKey, seq)
		return err
	},
	ForgetMarks: forgetMarks,
	WriteLetter: writeLetter,
	Refused:     refused,
	Statements: sqlkit.Statements{
		// Writes nothing: the right to is asked for all the same.
		MayWriteLetters: "INSERT INTO {box} (id, topic, `key`, shard_key, type, headers, payload)\n" +
			"SELECT x.id, x.topic, x.k, x.shard_key, x.type, x.headers, x.payload FROM (SELECT '' AS id, '' AS topic, '' AS k, '' AS shard_key, '' AS type, '' AS headers, '' AS payload) x WHERE FALSE",

		// By the index of chains: the first of a chain within a shard.
		Head: `(SELECT chain, seq, state, due, ready FROM postbag__parked FORCE INDEX (postbag__parked_chain)
WHERE subscription = ? AND chain = ? AND slot >= ? AND slot < ? ORDER BY seq LIMIT 1)`,

		// Ranges of the index of chains, in its order, ended by the limit.
		Heads: `SELECT chain, seq, state, due, ready FROM postbag__parked FORCE INDEX (postbag__parked_chain)
WHERE subscription = ? AND chain IN ({list}) AND slot >= ? AND slot < ? ORDER BY chain, seq LIMIT ?`,

		// By the index of heads: those that are no longer the first of their chains.
		Demote: `
UPDATE postbag__parked FORCE INDEX (postbag__parked_head) SET ready = NULL
WHERE subscription = ? AND chain IN ({list}) AND ready IS NOT NULL AND seq NOT IN ({list}) AND slot >= ? AND slot < ?`,

		// One row.
		InsertRelay: `INSERT IGNORE INTO postbag__relay (id, name, works, expires, conditions) VALUES (?, ?, ?, ?, ?)`,

		// By primary key, and the unique (subscription, seq, kind).
		Command: `
INSERT IGNORE INTO postbag__command (subscription, seq, kind)
SELECT subscription, seq, ? FROM postbag__parked WHERE subscription = ? AND seq = ?`,

		// By primary key.
		NoteFloor: `INSERT IGNORE INTO postbag__floor (box, seq, at) VALUES (?, ?, ?)`,
		// A range of the index of states, and the rows by primary key.
		Dead: `SELECT seq, due FROM postbag__parked FORCE INDEX (postbag__parked_state) WHERE subscription = ? AND state = 4 AND seq > ? ORDER BY seq LIMIT ?`,
		// The index (box, due), by one look.
		ScheduledBox: `SELECT MIN(box) FROM postbag__scheduled WHERE box >= ?`,

		// A range of the index of what may be tried, in its order.
		Due: `
SELECT seq, slot, ready, chain FROM postbag__parked FORCE INDEX (postbag__parked_ready)
WHERE subscription = ? AND ready IS NOT NULL AND ready <= ? AND (ready > ? OR ready = ? AND seq > ?)
ORDER BY ready, seq LIMIT ?`,

		// A range of the index of hashes, in its order.
		WaitingBelow: `
SELECT seq, attempts, history FROM postbag__parked FORCE INDEX (postbag__parked_hash)
WHERE subscription = ? AND hash = ? AND seq < ? AND state = 1 AND chain IS NULL AND hash <> 0 AND slot >= ? AND slot < ?
ORDER BY seq LIMIT ?`,

		// A range of the index of what may be tried, in its order, for slots that are
		// not all: it is read until one of them comes.
		NextReady: `
SELECT slot, ready FROM postbag__parked FORCE INDEX (postbag__parked_ready)
WHERE subscription = ? AND ready IS NOT NULL ORDER BY ready, seq`,

		// The commands of a subscription in their order, by an index, each with its
		// message's row and, by seq, the message's id and topic.
		Commands: `
SELECT c.id, c.kind, p.seq, p.slot, p.hash, p.state, p.chain IS NOT NULL, p.attempts, p.due, p.reason, p.held, l.id, l.topic
FROM postbag__command c FORCE INDEX (postbag__command_pending)
JOIN postbag__parked p ON p.subscription = c.subscription AND p.seq = c.seq
JOIN {box} l ON l.seq = c.seq
WHERE c.subscription = ? AND c.pending = 0 ORDER BY c.id`,

		// The same index and joins: the few that are about messages that were not parked.
		Pending: `
SELECT c.id, c.kind, c.seq, COALESCE(p.slot, 0), COALESCE(p.hash, 0), COALESCE(p.state, 0), p.chain IS NOT NULL,
	COALESCE(p.attempts, 0), COALESCE(p.due, 0), COALESCE(p.reason, ''), p.held,
	l.id, COALESCE(l.` + "`key`" + `, ''), COALESCE(l.shard_key, ''), COALESCE(l.topic, ''),
	COALESCE((SELECT r.slots FROM postbag__box r WHERE r.name = '{name}'), 0)
FROM postbag__command c FORCE INDEX (postbag__command_pending)
LEFT JOIN postbag__parked p ON p.subscription = c.subscription AND p.seq = c.seq
LEFT JOIN {box} l ON l.seq = c.seq
WHERE c.subscription = ? AND c.pending = 1 ORDER BY c.id`,

		// The same index, each with its parked row by primary key.
		CountPending: `
SELECT COUNT(*) FROM postbag__command c FORCE INDEX (postbag__command_pending)
LEFT JOIN postbag__parked p ON p.subscription = c.subscription AND p.seq = c.seq
WHERE c.subscription = ? AND c.pending = 1 AND p.seq IS NULL`,

		// By primary key, and the unique (subscription, seq, kind).
		CommandPending: `
INSERT IGNORE INTO postbag__command (subscription, seq, kind, pending)
SELECT x.* FROM (SELECT ? AS subscription, ? AS seq, ? AS kind, 1 AS pending) x
WHERE NOT EXISTS (SELECT 1 FROM postbag__parked WHERE subscription = ? AND seq = ?)`,

		// A range of the index of held rows, in its order.
		Held: `
SELECT seq, slot, chain FROM postbag__parked FORCE INDEX (postbag__parked_held)
WHERE subscription = ? AND held = ? AND seq > ? ORDER BY seq LIMIT ?`,

		// A range of the index of chains, in its order: who comes behind the first.
		Followers: `
SELECT seq, state FROM postbag__parked FORCE INDEX (postbag__parked_chain)
WHERE subscription = ? AND chain = ? AND seq > ? AND slot >= ? AND slot < ? ORDER BY seq LIMIT ?`,

		// Ranges of the index of states, in either order, ended by the limit.
		StateUp: `
SELECT seq FROM postbag__parked FORCE INDEX (postbag__parked_state)
WHERE subscription = ? AND state = ? AND seq >= ? ORDER BY seq LIMIT ?`,
		StateDown: `
SELECT seq FROM postbag__parked FORCE INDEX (postbag__parked_state)
WHERE subscription = ? AND state = ? AND seq <= ? ORDER BY seq DESC LIMIT ?`,

		// Ranges of the index of hashes, in either order: the parked rows of one key.
		KeyUp: `
SELECT seq FROM postbag__parked FORCE INDEX (postbag__parked_hash)
WHERE subscription = ? AND hash = ? AND state = ? AND seq >= ? ORDER BY seq LIMIT ?`,
		KeyDown: `
SELECT seq FROM postbag__parked FORCE INDEX (postbag__parked_hash)
WHERE subscription = ? AND hash = ? AND state = ? AND seq <= ? ORDER BY seq DESC LIMIT ?`,
		KeyAt: `
SELECT seq FROM postbag__parked FORCE INDEX (postbag__parked_hash)
WHERE subscription = ? AND hash = ? ORDER BY seq LIMIT 1 OFFSET ?`,

		// Ranges of the primary key of the schedule, in either order; those of other
		// boxes are skipped.
		ScheduledUp: "SELECT n, id, at, topic, `key`, shard_key, type, " + sqlkit.SQLScheduledRule + ", due\n" +
			`FROM postbag__scheduled FORCE INDEX (PRIMARY) WHERE n >= ? AND box = ? ORDER BY n LIMIT ?`,
		ScheduledDown: "SELECT n, id, at, topic, `key`, shard_key, type, " + sqlkit.SQLScheduledRule + ", due\n" +
			`FROM postbag__scheduled FORCE INDEX (PRIMARY) WHERE n <= ? AND box = ? ORDER BY n DESC LIMIT ?`,

		// A range of the primary key, in its order, ended by the limit.
		Slots: `SELECT seq, id, at, slot FROM {box} WHERE seq > ? AND seq <= ?{messages} ORDER BY seq LIMIT ?`,
	},
}
