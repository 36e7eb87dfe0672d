package sqlitestore

import (
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
)

// dialect is what SQLite has of its own.
var dialect = sqlkit.Dialect{
	Package:   "sqlitestore",
	Translate: translateError,
	Position: func(p store.Position) (sqlkit.Passed, error) {
		at, err := placeOf(p)
		return at, err
	},
	Last:        lastSeq,
	ClockStep:   time.Millisecond,
	Table:       quoted,
	Shards:      1,
	Chains:      1,
	AddTallies:  tally,
	Blank:       blank,
	ForgetMarks: forgetMarks,
	WriteLetter: writeLetter,
	Refused:     refused,
	Statements: sqlkit.Statements{
		// By the index of chains: the first of a chain within a shard.
		Head: `
SELECT chain, seq, state, due, ready FROM postbag__parked
WHERE subscription = ? AND chain = ? AND slot >= ? AND slot < ? ORDER BY seq LIMIT 1`,

		// By the index of heads: those that are no longer the first of their chains.
		Demote: `
UPDATE postbag__parked SET ready = NULL
WHERE subscription = ? AND chain IN ({list}) AND ready IS NOT NULL AND seq NOT IN ({list}) AND slot >= ? AND slot < ?`,

		// One row.
		InsertRelay: `
INSERT INTO postbag__relay (id, name, works, expires, conditions) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,

		// By primary key, and the unique (subscription, seq, kind).
		Command: `
INSERT INTO postbag__command (subscription, seq, kind)
SELECT subscription, seq, ? FROM postbag__parked WHERE subscription = ? AND seq = ? ON CONFLICT DO NOTHING`,

		// By primary key.
		NoteFloor: `INSERT INTO postbag__floor (box, seq, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
		// A range of the index of states, and the rows by primary key.
		Dead: `SELECT seq, due FROM postbag__parked WHERE subscription = ? AND state = 4 AND seq > ? ORDER BY seq LIMIT ?`,
		// The index (box, due), by one look.
		ScheduledBox: `SELECT MIN(box) FROM postbag__scheduled WHERE box >= CAST(? AS TEXT)`,

		// A range of the index of what may be tried, in its order. ?4 is ?3 once more.
		Due: `
SELECT seq, slot, ready, chain FROM postbag__parked
WHERE subscription = ?1 AND ready IS NOT NULL AND ready <= ?2 AND (ready, seq) > (?3, ?5)
ORDER BY ready, seq LIMIT ?6`,

		// A range of the index of hashes, in its order.
		WaitingBelow: `
SELECT seq, attempts, history FROM postbag__parked
WHERE subscription = ? AND hash = ? AND seq < ? AND state = 1 AND chain IS NULL AND hash <> 0 AND slot >= ? AND slot < ?
ORDER BY seq LIMIT ?`,

		// A range of the index of what may be tried, in its order, for slots that are
		// not all: it is read until one of them comes.
		NextReady: `
SELECT slot, ready FROM postbag__parked WHERE subscription = ? AND ready IS NOT NULL ORDER BY ready`,

		// The commands of a subscription in their order, by an index, each with its
		// message's row and, by seq, the message's id and topic.
		Commands: `
SELECT c.id, c.kind, p.seq, p.slot, p.hash, p.state, p.chain IS NOT NULL, p.attempts, p.due, p.reason, p.held, l.id, l.topic
FROM postbag__command c INDEXED BY postbag__command_order
JOIN postbag__parked p ON p.subscription = c.subscription AND p.seq = c.seq
JOIN {box} l ON l.seq = c.seq
WHERE c.subscription = ? AND c.pending = 0 ORDER BY c.id`,

		// The same index and joins: the few that are about messages that were not parked.
		Pending: `
SELECT c.id, c.kind, c.seq, coalesce(p.slot, 0), coalesce(p.hash, 0), coalesce(p.state, 0), p.chain IS NOT NULL,
	coalesce(p.attempts, 0), coalesce(p.due, 0), coalesce(p.reason, ''), p.held, l.id, coalesce(l.key, ''),
	coalesce(l.shard_key, ''), coalesce(l.topic, ''),
	coalesce((SELECT r.slots FROM postbag__box r WHERE r.name = '{name}'), 0)
FROM postbag__command c INDEXED BY postbag__command_order
LEFT JOIN postbag__parked p ON p.subscription = c.subscription AND p.seq = c.seq
LEFT JOIN {box} l ON l.seq = c.seq
WHERE c.subscription = ? AND c.pending = 1 ORDER BY c.id`,

		// The same index, each with its parked row by primary key.
		CountPending: `
SELECT count(*) FROM postbag__command c INDEXED BY postbag__command_order
LEFT JOIN postbag__parked p ON p.subscription = c.subscription AND p.seq = c.seq
WHERE c.subscription = ? AND c.pending = 1 AND p.seq IS NULL`,

		// By primary key, and the unique (subscription, seq, kind).
		CommandPending: `
INSERT INTO postbag__command (subscription, seq, kind, pending)
SELECT ?1, ?2, ?3, 1 WHERE NOT EXISTS (SELECT 1 FROM postbag__parked WHERE subscription = ?4 AND seq = ?5) ON CONFLICT DO NOTHING`,

		// A range of the index of held rows, in its order.
		Held: `
SELECT seq, slot, chain FROM postbag__parked WHERE subscription = ? AND held = ? AND seq > ? ORDER BY seq LIMIT ?`,

		// A range of the index of chains, in its order: who comes behind the first.
		Followers: `
SELECT seq, state FROM postbag__parked
WHERE subscription = ? AND chain = ? AND seq > ? AND slot >= ? AND slot < ? ORDER BY seq LIMIT ?`,

		// Ranges of the index of states, in either order, ended by the limit.
		StateUp:   `SELECT seq FROM postbag__parked WHERE subscription = ? AND state = ? AND seq >= ? ORDER BY seq LIMIT ?`,
		StateDown: `SELECT seq FROM postbag__parked WHERE subscription = ? AND state = ? AND seq <= ? ORDER BY seq DESC LIMIT ?`,

		// Ranges of the index of hashes, in either order: the parked rows of one key.
		KeyUp:   `SELECT seq FROM postbag__parked WHERE subscription = ? AND hash = ? AND state = ? AND seq >= ? ORDER BY seq LIMIT ?`,
		KeyDown: `SELECT seq FROM postbag__parked WHERE subscription = ? AND hash = ? AND state = ? AND seq <= ? ORDER BY seq DESC LIMIT ?`,
		KeyAt:   `SELECT seq FROM postbag__parked INDEXED BY postbag__parked_hash WHERE subscription = ? AND hash = ? LIMIT 1 OFFSET ?`,

		// Ranges of the primary key of the schedule, in either order; those of other
		// boxes are skipped. The + keeps the index of due times out.
		ScheduledUp: `
SELECT n, id, at, topic, key, shard_key, type, ` + sqlkit.SQLScheduledRule + `, due
FROM postbag__scheduled WHERE n >= ? AND +box = ? ORDER BY n LIMIT ?`,
		ScheduledDown: `
SELECT n, id, at, topic, key, shard_key, type, ` + sqlkit.SQLScheduledRule + `, due
FROM postbag__scheduled WHERE n <= ? AND +box = ? ORDER BY n DESC LIMIT ?`,
	},
}

// A place has passed all seqs up to one.
var _ sqlkit.Passed = place{}

// Has implements [sqlkit.Passed].
func (p place) Has(seq int64) bool { return seq <= p.seq }

// LowWatermark implements [sqlkit.Passed].
func (p place) LowWatermark() int64 { return p.seq }

// High implements [sqlkit.Passed].
func (p place) High() int64 { return p.seq }
