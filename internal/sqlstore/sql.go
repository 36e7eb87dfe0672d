package sqlstore

// Every statement that all databases have in the same words. They go by the same
// keys and indexes everywhere: the schemas have these in common. Dialect.Lock
// stands behind those that are said to lock.

// Who owns what.
const (
	// One row: lease tokens that were never given out. Within a change.
	sqlDraw  = `UPDATE postbag__meta SET token = token + 1 WHERE one = 1`
	sqlDrawn = `SELECT token FROM postbag__meta WHERE one = 1`

	// SQLSubscription returns id and types, by the unique (box, name).
	SQLSubscription = `SELECT id, types FROM postbag__subscription WHERE box = ? AND name = ?`

	// SQLInsertShard adds one row.
	SQLInsertShard = `
INSERT INTO postbag__shard (subscription, lo, hi, owner, token, position) VALUES (?, ?, ?, ?, ?, ?)`

	// The shards of one subscription, with it: (box, name), then a range of the
	// primary key.
	sqlShards = `
SELECT s.id, s.wanted, s.paused, h.lo, h.hi, h.owner, h.token, h.version, h.position
FROM postbag__subscription s JOIN postbag__shard h ON h.subscription = s.id
WHERE s.box = ? AND s.name = ? ORDER BY h.lo`

	// A range of the primary key: locks all shards of a subscription.
	sqlLockShards = `SELECT lo FROM postbag__shard WHERE subscription = ? ORDER BY lo`

	// A range of the primary key: all shards of a subscription.
	sqlDeleteShards = `DELETE FROM postbag__shard WHERE subscription = ?`

	// By primary key.
	sqlGive = `UPDATE postbag__shard SET owner = '' WHERE subscription = ? AND lo = ? AND hi = ? AND token = ? AND owner = ?`

	// By primary key, locks: only what nobody has is taken.
	sqlFree = `SELECT 1 FROM postbag__shard WHERE subscription = ? AND lo = ? AND hi = ? AND owner = ''`

	// By primary key.
	sqlTake = `UPDATE postbag__shard SET owner = ?, token = ? WHERE subscription = ? AND lo = ? AND hi = ?`

	// All shards, which are few: those of one relay.
	sqlGiveAll = `UPDATE postbag__shard SET owner = '' WHERE owner = ?`

	// All shards: those of dead relays.
	sqlGiveDead = `
UPDATE postbag__shard SET owner = ''
WHERE owner IN (SELECT r.id FROM postbag__relay r WHERE r.dead = 1)`
)

// Heartbeats. The table has a row a relay, and is read whole.
const (
	// By primary key: only a live row is renewed.
	sqlRenew = `UPDATE postbag__relay SET expires = ?, name = ?, works = ? WHERE id = ? AND dead = 0 AND expires > ?`

	// By primary key, locks.
	sqlRelayWorks = `SELECT name, works, dead = 0 AND expires > ? FROM postbag__relay WHERE id = ?`

	// A scan.
	sqlMarkDead = `UPDATE postbag__relay SET dead = 1 WHERE dead = 0 AND expires <= ?`

	// A scan: those who are dead long enough.
	sqlForgetDead = `DELETE FROM postbag__relay WHERE dead = 1 AND expires <= ?`

	// By primary key: a live row.
	sqlDeleteRelay = `DELETE FROM postbag__relay WHERE id = ? AND dead = 0 AND expires > ?`

	// A scan.
	sqlRelays = `SELECT id, name, works, expires FROM postbag__relay WHERE dead = 0 AND expires > ? ORDER BY id`
)

// Parked messages.
const (
	// SQLReady sets when a row may be tried, by primary key.
	SQLReady = `UPDATE postbag__parked SET ready = ? WHERE subscription = ? AND seq = ?`

	// The chains of a shard, by a range of the index of chains.
	sqlChains = `
SELECT DISTINCT chain FROM postbag__parked
WHERE subscription = ? AND chain IS NOT NULL AND slot >= ? AND slot < ?`

	// SQLInFlight returns seq and chain of what was in flight when a shard changed
	// hands, by the index of states; it locks.
	SQLInFlight = `
SELECT seq, chain FROM postbag__parked WHERE subscription = ? AND state = 3 AND slot >= ? AND slot < ?`

	// By primary key.
	sqlLanded = `
UPDATE postbag__parked SET state = 1, due = ?, ready = CASE WHEN chain IS NULL THEN ? END WHERE subscription = ? AND seq = ?`
)

// Operators' orders.
const (
	// By primary key.
	sqlSetWanted = `UPDATE postbag__subscription SET wanted = ? WHERE id = ? AND wanted <> ?`

	// SQLAudit adds one row.
	SQLAudit = `INSERT INTO postbag__audit (at, who, why, what) VALUES (?, ?, ?, ?)`

	// The end of the primary key.
	sqlAudited = `SELECT at, who, why, what FROM postbag__audit ORDER BY id DESC LIMIT ?`
)
