package sqlkit

// Every statement that all databases have in the same words. They go by the same
// keys and indexes everywhere: the schemas have these in common. {box} is the table
// of a box, which is asked for by its PRIMARY KEY, seq, alone; Dialect.Lock stands
// behind those that are said to lock.

// Who owns what.
const (
	// One row: lease tokens that were never given out. Within a change.
	sqlDraw  = `UPDATE postbag__meta SET token = token + 1 WHERE one = 1`
	sqlDrawn = `SELECT token FROM postbag__meta WHERE one = 1`

	// SQLSubscription returns id, types and the rest of the filter, by the unique (box, name).
	SQLSubscription = `SELECT id, types, COALESCE(takes, '') FROM postbag__subscription WHERE box = ? AND name = ?`

	// By the unique (box, name): what a replay sends again; null: it is no replay.
	sqlReplay = `SELECT replay FROM postbag__subscription WHERE box = ? AND name = ?`

	// The same, one row.
	sqlSetReplay = `UPDATE postbag__subscription SET replay = ? WHERE box = ? AND name = ?`

	// By primary key.
	sqlDeleteSubscription = `DELETE FROM postbag__subscription WHERE id = ?`

	// The same, with who set the filter.
	sqlFilterOf = `SELECT types, COALESCE(takes, ''), types_by FROM postbag__subscription WHERE box = ? AND name = ?`

	// By primary key: whether an operator removed a subscription of that name.
	sqlIsRemoved = `SELECT 1 FROM postbag__removed WHERE box = ? AND name = ?`

	// One row.
	sqlInsertSubscription = `
INSERT INTO postbag__subscription (box, name, types, takes, wanted, started, created_at, span, upto, agreed)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

	// The rows of a new box.
	sqlEnterBox          = `INSERT INTO postbag__box (name, created_at) VALUES ('{box}', {now})`
	sqlEnterSubscription = `
INSERT INTO postbag__subscription (box, name, types, wanted, started, created_at, span, upto, agreed)
VALUES ('{box}', '{maintenance}', '[]', 1, 0, {now}, {span}, 0, 0)`
	sqlEnterShard = `
INSERT INTO postbag__shard (subscription, lo, hi, owner, token, position)
SELECT id, 0, {slots}, '', 0, x'' FROM postbag__subscription WHERE box = '{box}' AND name = '{maintenance}'`

	// One row.
	sqlInsertShard = `
INSERT INTO postbag__shard (subscription, lo, hi, owner, token, position) VALUES (?, ?, ?, ?, ?, ?)`

	// The shards of one subscription, with it: (box, name), then a range of the
	// primary key. The first brings the filter and the settings, which may be large.
	sqlShards = `
SELECT s.id, s.wanted, s.paused, CASE WHEN h.lo = 0 THEN s.types ELSE '' END, CASE WHEN h.lo = 0 THEN COALESCE(s.takes, '') ELSE '' END, s.types_by,
  CASE WHEN h.lo = 0 THEN COALESCE(s.settings, '') ELSE '' END, h.lo, h.hi, h.owner, h.token, h.version, h.position
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
	sqlRenew = `
UPDATE postbag__relay SET expires = ?, name = ?, works = ?, conditions = ? WHERE id = ? AND dead = 0 AND expires > ?`

	// By primary key, locks.
	sqlRelayWorks = `SELECT name, works, dead = 0 AND expires > ? FROM postbag__relay WHERE id = ?`

	// A scan.
	sqlMarkDead = `UPDATE postbag__relay SET dead = 1 WHERE dead = 0 AND expires <= ?`

	// A scan: those who are dead long enough.
	sqlForgetDead = `DELETE FROM postbag__relay WHERE dead = 1 AND expires <= ?`

	// By primary key: a live row.
	sqlDeleteRelay = `DELETE FROM postbag__relay WHERE id = ? AND dead = 0 AND expires > ?`

	// A scan.
	sqlRelays = `
SELECT id, name, works, expires, COALESCE(conditions, '') FROM postbag__relay WHERE dead = 0 AND expires > ? ORDER BY id`
)

// Parked messages.
const (
	// SQLReady sets when rows may be tried, by primary key: {times} is the time of each.
	SQLReady = `UPDATE postbag__parked SET ready = CASE seq {times}END WHERE subscription = ? AND seq IN ({list})`

	// The chains of a shard, by a range of the index of chains.
	sqlChains = `
SELECT DISTINCT chain FROM postbag__parked
WHERE subscription = ? AND chain IS NOT NULL AND slot >= ? AND slot < ?`

	// SQLHeldTopics returns the topics that messages in some slots are held for, and how
	// many: a range of the index of held rows, counted.
	SQLHeldTopics = `
SELECT held, COUNT(*) FROM postbag__parked
WHERE subscription = ? AND held IS NOT NULL AND slot >= ? AND slot < ? GROUP BY held ORDER BY held`

	// SQLHeldReason returns the reason of a message that is held for a topic: the first of
	// the index of held rows that has one.
	SQLHeldReason = `
SELECT reason FROM postbag__parked WHERE subscription = ? AND held = ? AND reason <> '' LIMIT 1`

	// SQLPast keeps what failed of a parked message that is about to be removed, by
	// primary key.
	SQLPast = `
REPLACE INTO postbag__past (subscription, seq, attempts, reason, history)
SELECT subscription, seq, attempts, reason, history FROM postbag__parked
WHERE subscription = ? AND seq = ? AND (attempts > 0 OR reason <> '')`

	// SQLForgetPast deletes the rows of SQLPast of a range of a box's log: a range of the
	// primary key for each of its subscriptions.
	SQLForgetPast = `
DELETE FROM postbag__past
WHERE subscription IN (SELECT id FROM postbag__subscription WHERE box = ?) AND seq > ? AND seq <= ?`

	// The chains of a subscription that have rows in more than one slot, by the index of chains.
	sqlSpread = `
SELECT chain FROM postbag__parked
WHERE subscription = ? AND chain IS NOT NULL GROUP BY chain HAVING MIN(slot) < MAX(slot)`

	// SQLInFlight returns seq and chain of what was in flight when a shard changed
	// hands, by the index of states; it locks.
	SQLInFlight = `
SELECT seq, chain FROM postbag__parked WHERE subscription = ? AND state = 3 AND slot >= ? AND slot < ?`

	// By primary key.
	sqlLanded = `
UPDATE postbag__parked SET state = 1, due = ?, ready = CASE WHEN chain IS NULL THEN ? END WHERE subscription = ? AND seq = ?`
)

// Operators' commands.
const (
	// By primary key.
	// sqlSetPaused finds a subscription by primary key, and changes one that is otherwise.
	sqlSetPaused = `UPDATE postbag__subscription SET paused = ? WHERE id = ? AND paused <> ?`

	// All pauses, which are few, with the flags of their subscriptions. Those of a
	// subscription that is gone are left out.
	sqlPauses = `
SELECT COALESCE(s.box, ''), COALESCE(s.name, ''), COALESCE(s.paused, 0), a.scope, a.held, a.who, a.why, a.began, a.ends
FROM postbag__pause a LEFT JOIN postbag__subscription s ON s.id = a.subscription
WHERE a.subscription = 0 OR s.id IS NOT NULL`

	// By primary key.
	sqlPause    = `SELECT began, ends FROM postbag__pause WHERE subscription = ? AND scope = ? AND held = ?`
	sqlSetPause = `REPLACE INTO postbag__pause (subscription, scope, held, who, why, began, ends) VALUES (?, ?, ?, ?, ?, ?, ?)`
	sqlEndPause = `DELETE FROM postbag__pause WHERE subscription = ? AND scope = ? AND held = ?`

	// All pauses: the flags of subscriptions whose pause is over, and then those rows.
	sqlUnflag = `
UPDATE postbag__subscription SET paused = 0
WHERE id IN (SELECT a.subscription FROM postbag__pause a WHERE a.scope = 'subscription' AND a.ends > 0 AND a.ends <= ?)`
	sqlEndPauses = `DELETE FROM postbag__pause WHERE ends > 0 AND ends <= ?`

	sqlSetWanted = `UPDATE postbag__subscription SET wanted = ? WHERE id = ? AND wanted <> ?`

	// By primary key.
	sqlSetWantedBy = `UPDATE postbag__subscription SET wanted_by = ? WHERE id = ?`

	// By primary key: another filter, or one of somebody else.
	sqlSetFilter = `
UPDATE postbag__subscription SET types = ?, takes = ?, types_by = ?
WHERE id = ? AND (types <> ? OR COALESCE(takes, '') <> ? OR types_by <> ?)`

	// By primary key: what operators have set; it locks.
	sqlSettings    = `SELECT COALESCE(settings, '') FROM postbag__subscription WHERE id = ?`
	sqlSetSettings = `UPDATE postbag__subscription SET settings = ? WHERE id = ?`

	// SQLAssigned reads a small table whole, in the sequence of its unique (box, name), when the epoch has changed.
	SQLAssigned = `SELECT box, name, settings FROM postbag__subscription WHERE settings IS NOT NULL AND replay IS NULL ORDER BY box, name`

	// By the unique (box, name): who added a subscription.
	sqlAddedBy = `UPDATE postbag__subscription SET types_by = ?, wanted_by = ? WHERE box = ? AND name = ?`

	// A range of the primary key, and the heartbeats by theirs: whether a live relay holds a shard of
	// a subscription that is not paused.
	sqlWorked = `
SELECT 1 FROM postbag__subscription s JOIN postbag__shard h ON h.subscription = s.id JOIN postbag__relay r ON r.id = h.owner
WHERE s.id = ? AND s.paused = 0 AND r.dead = 0 AND r.expires > ? LIMIT 1`

	// One row, by primary key.
	sqlNoteRemoved = `REPLACE INTO postbag__removed (box, name, at, who) VALUES (?, ?, ?, ?)`

	// By primary key.
	sqlReadmit = `DELETE FROM postbag__removed WHERE box = ? AND name = ?`

	// SQLDone closes a command by primary key, if all of these agree: id,
	// subscription, kind, seq.
	SQLDone = `DELETE FROM postbag__command WHERE id = ? AND subscription = ? AND kind = ? AND seq = ?`

	// SQLAudit adds one row.
	SQLAudit = `INSERT INTO postbag__audit (at, who, why, what) VALUES (?, ?, ?, ?)`

	// The end of the primary key.
	sqlAudited = `SELECT at, who, why, what FROM postbag__audit ORDER BY id DESC LIMIT ?`

	// SQLNotices reads a range at the end of the primary key: of so many entries those that notices are made of.
	SQLNotices = `
SELECT at, who, why, what FROM postbag__audit
WHERE id > (SELECT COALESCE(MAX(id), 0) FROM postbag__audit) - ? AND (who = 'postbag' OR what LIKE 'accept ledger %') ORDER BY id DESC LIMIT ?`
)

// The log.
const (
	// sqlRule is the rule for slots of a box by primary key, once a statement.
	sqlRule = "COALESCE((SELECT r.slots FROM postbag__box r WHERE r.name = '{name}'), 0)"

	// sqlColumns are those of a message without headers and payload, and the rule of its box.
	sqlColumns = "seq, id, at, topic, `key`, shard_key, type, " + sqlRule

	// By primary key.
	sqlByNumber = `UPDATE postbag__box SET slots = 1 WHERE name = '{box}'`

	// By primary key.
	sqlRuleOf = `SELECT slots FROM postbag__box WHERE name = ?`

	// One row: programs that do not know boxes by number have to stay away.
	sqlNewReaders = `UPDATE postbag__meta SET reader = version WHERE reader < version`

	// SQLNth returns the n-th seq of a range, or the last, and how many there are: a
	// range of the primary key, ended by the limit.
	SQLNth = `
SELECT COALESCE(MAX(seq), 0), COUNT(*) FROM (SELECT seq FROM {box} WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?) x`

	// The same, of messages.
	sqlCount = `
SELECT COALESCE(MAX(seq), 0), COUNT(*) FROM (
	SELECT seq FROM {box} WHERE seq > ? AND seq <= ?{messages} ORDER BY seq LIMIT ?) x`

	// SQLAtOrAfter returns seq and at of the first message at or after a seq: one step of a search by time.
	SQLAtOrAfter = `SELECT seq, at FROM {box} WHERE seq >= ?{messages} ORDER BY seq LIMIT 1`

	// SQLPlaces goes along a range of the primary key, in its order, ended by the
	// limit.
	SQLPlaces = "SELECT seq, id, at, `key`, shard_key, " + sqlRule + " FROM {box} WHERE seq > ? AND seq <= ?{messages} ORDER BY seq LIMIT ?"

	// By primary key: the log begins after this seq.
	sqlSwept = `SELECT swept FROM postbag__box WHERE name = ?`

	// The subscriptions of a box, by (box, name), with their shards, by a range of
	// their primary key.
	sqlReaders = `
SELECT s.id, s.name, s.started, s.span, s.upto, s.agreed, s.count, s.seq_sum, s.id_sum, h.lo, h.hi, h.position
FROM postbag__subscription s JOIN postbag__shard h ON h.subscription = s.id
WHERE s.box = ? AND s.name <> '@maintenance' ORDER BY s.id, h.lo`

	// SQLHasBox finds a box by primary key, and locks it if it is about to change.
	SQLHasBox = `SELECT 1 FROM postbag__box WHERE name = ?`

	// SQLHolds finds out by primary key whether a lease is still the shard's.
	SQLHolds = `
SELECT 1 FROM postbag__shard h JOIN postbag__subscription s ON s.id = h.subscription
WHERE s.box = ? AND s.name = ? AND h.lo = ? AND h.hi = ? AND h.token = ?`
)

// Listings.
const (
	// All boxes, by name.
	sqlBoxNames = `SELECT name FROM postbag__box ORDER BY name`

	// All boxes, each with, by the index (box, due), a count of what is scheduled.
	sqlBoxes = `
SELECT b.name, (SELECT COUNT(*) FROM postbag__scheduled c WHERE c.box = b.name)
FROM postbag__box b ORDER BY b.name`

	// By primary key, and ranges of those of the ledger and of commands: a few
	// lines a million messages.
	sqlCounts = `
SELECT s.created_at, s.replay,
	CASE WHEN s.replay IS NULL THEN 0 ELSE
		(SELECT COALESCE(SUM(l.count), 0) FROM postbag__ledger l WHERE l.subscription = s.id AND l.fate = 2) END,
	s.started, s.wanted_by,
	(SELECT COALESCE(SUM(l.count), 0) FROM postbag__ledger l WHERE l.subscription = s.id AND l.fate = 1),
	(SELECT COALESCE(SUM(l.count), 0) FROM postbag__ledger l WHERE l.subscription = s.id AND l.fate = 4),
	(SELECT COALESCE(SUM(l.count), 0) FROM postbag__ledger l WHERE l.subscription = s.id AND l.fate = 7),
	(SELECT COUNT(*) FROM postbag__command c WHERE c.subscription = s.id)
FROM postbag__subscription s WHERE s.id = ?`

	// A range of the primary key.
	sqlRemoved = `SELECT name, at, who FROM postbag__removed WHERE box = ? ORDER BY name`

	// SQLParkedCount counts a range of the index of states, up to a limit.
	SQLParkedCount = `
SELECT COUNT(*) FROM (SELECT seq FROM postbag__parked WHERE subscription = ? AND state = ? LIMIT ?) x`

	// SQLListUp and SQLListDown go along ranges of the primary key, in either order,
	// ended by the limit.
	SQLListUp   = "SELECT " + sqlColumns + " FROM {box} WHERE seq >= ? AND seq <= ?{messages} ORDER BY seq LIMIT ?"
	SQLListDown = "SELECT " + sqlColumns + " FROM {box} WHERE seq <= ? AND seq >= ?{messages} ORDER BY seq DESC LIMIT ?"

	// A range of the primary key: headers, for filters that ask for them.
	sqlHeadersIn = `SELECT seq, headers FROM {box} WHERE seq >= ? AND seq <= ? AND headers IS NOT NULL`

	// SQLRecord returns a message by primary key.
	SQLRecord = "SELECT " + sqlColumns + ", headers, payload FROM {box} WHERE seq = ?"

	// The same without its payload.
	sqlLetter = "SELECT " + sqlColumns + ", headers FROM {box} WHERE seq = ?"

	// SQLParked returns a parked message by the primary keys of both tables.
	SQLParked = `
SELECT l.seq, l.id, l.at, l.topic, l.` + "`key`" + `, l.shard_key, l.type, ` + sqlRule + `, l.headers, l.payload,
	p.slot, p.hash, p.state, p.chain IS NOT NULL, p.attempts, p.due, p.reason, p.held, p.first
FROM postbag__parked p JOIN {box} l ON l.seq = p.seq
WHERE p.subscription = ? AND p.seq = ?`

	// SQLParkedRange returns parked rows by a range of the primary key.
	SQLParkedRange = `
SELECT p.seq, p.slot, p.hash, p.state, p.chain IS NOT NULL, p.attempts, p.due, p.reason, p.held, p.history
FROM postbag__parked p WHERE p.subscription = ? AND p.seq >= ? AND p.seq <= ?`

	// A range of the unique (subscription, seq, kind): the commands that wait.
	sqlQueuedRange = `SELECT seq, kind FROM postbag__command WHERE subscription = ? AND seq >= ? AND seq <= ?`

	// A range of the primary key.
	sqlPastRange = `
SELECT seq, attempts, reason, history FROM postbag__past WHERE subscription = ? AND seq >= ? AND seq <= ?`

	// A range of the primary key.
	sqlDiscardedRange = `SELECT seq FROM postbag__discarded WHERE subscription = ? AND seq >= ? AND seq <= ?`

	// SQLScheduledRule is the rule for slots of a scheduled message's box, by primary key.
	SQLScheduledRule = "COALESCE((SELECT r.slots FROM postbag__box r WHERE r.name = postbag__scheduled.box), 0)"

	// By the index (box, id): all of a scheduled message, and when it is due.
	sqlScheduledID = "SELECT n, id, at, topic, `key`, shard_key, type, " + SQLScheduledRule + ", headers, payload, due\n" +
		"FROM postbag__scheduled WHERE box = ? AND id = ? ORDER BY n"

	// By primary key: the same of one.
	sqlScheduledN = "SELECT n, id, at, topic, `key`, shard_key, type, " + SQLScheduledRule + ", headers, payload, due FROM postbag__scheduled WHERE n = ?"

	// By the index (box, id): has it be due now.
	sqlScheduledNow = `UPDATE postbag__scheduled SET due = ? WHERE box = ? AND id = ? AND due > ?`

	// By the index (box, id).
	sqlScheduledDrop = `DELETE FROM postbag__scheduled WHERE box = ? AND id = ?`

	// SQLIsParked finds a parked row by primary key.
	SQLIsParked = `SELECT 1 FROM postbag__parked WHERE subscription = ? AND seq = ?`

	// A range of the primary key, ended by the limit: the id is looked at in each
	// row, and nothing else.
	sqlFindID = `
SELECT seq FROM (SELECT seq, id FROM {box} WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?) x WHERE id = ?`

	// The same of some ids, by seq.
	sqlFindIDs = `
SELECT seq, id FROM (SELECT seq, id FROM {box} WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?) x WHERE id IN ({list}) ORDER BY seq`
)

// Maintenance.
const (
	// By primary key.
	sqlSetLedgerScan = `
UPDATE postbag__subscription SET span = ?, upto = ?, agreed = ?, count = ?, seq_sum = ?, id_sum = ? WHERE id = ?`

	// A range of the primary key: the lines of a span.
	sqlLedger = `
SELECT count, seq_hi, seq_lo, id_hi, id_lo FROM postbag__ledger WHERE subscription = ? AND span = ?`

	// The same lines, but those of what was accepted alone.
	sqlAccepted = `
SELECT count, seq_hi, seq_lo, id_hi, id_lo FROM postbag__ledger WHERE subscription = ? AND span = ? AND fate = 5`

	// The end of a range of the primary key.
	sqlLastFloor = `SELECT seq, at FROM postbag__floor WHERE box = ? ORDER BY seq DESC LIMIT 1`

	// A range of the primary key: some hundred notes.
	sqlFloorAt = `SELECT MAX(seq) FROM postbag__floor WHERE box = ? AND at <= ?`
)

// Retention.
const (
	retentionColumns = `b.keep_delivered, b.keep_discarded, b.keep_dead, b.deployed_delivered, b.deployed_discarded, b.deployed_dead, b.deployed_at, b.deployed_by`

	// By primary key; locks, where it is about to change.
	sqlRetention = `SELECT ` + retentionColumns + ` FROM postbag__box b WHERE b.name = ?`

	// By primary key.
	sqlSetRetention = `
UPDATE postbag__box SET keep_delivered = ?, keep_discarded = ?, keep_dead = ?,
	deployed_delivered = ?, deployed_discarded = ?, deployed_dead = ?, deployed_at = ?, deployed_by = ? WHERE name = ?`

	// The same as SQLHolds, with what the box holds, and the first of what is left of subscriptions that are gone: two more
	// rows by primary key, and the ends of the indexes on (box, touched) and (box, checked).
	sqlHoldsUpkeep = `
SELECT ` + retentionColumns + `, (SELECT MIN(l.subscription) FROM postbag__leftover l),
	(SELECT MIN(o.touched) FROM postbag__operation o WHERE o.box = b.name),
	(SELECT MIN(e.checked) FROM postbag__error_note e WHERE e.box = b.name)
FROM postbag__shard h JOIN postbag__subscription s ON s.id = h.subscription JOIN postbag__box b ON b.name = s.box
WHERE s.box = ? AND s.name = ? AND h.lo = ? AND h.hi = ? AND h.token = ?`

	// The first discarded message behind a seq: one look into the primary key for each
	// subscription of the box.
	sqlFirstDiscarded = `
SELECT MIN(x.seq) FROM (
	SELECT (SELECT MIN(d.seq) FROM postbag__discarded d WHERE d.subscription = s.id AND d.seq > ?) AS seq
	FROM postbag__subscription s WHERE s.box = ?) x`

	// A range of the notes, and the box by primary key.
	sqlExpired = `
SELECT COALESCE((SELECT MAX(f.seq) FROM postbag__floor f WHERE f.box = ? AND f.at <= ?), 0), b.swept
FROM postbag__box b WHERE b.name = ?`

	// By (box, name).
	sqlFollowing = `SELECT id, name FROM postbag__subscription WHERE box = ? AND name <> '@maintenance'`

	// SQLExpire queues a command for a message that is dead since a time and has none: by
	// primary key, and a range of the unique (subscription, seq, kind).
	SQLExpire = `
INSERT INTO postbag__command (subscription, seq, kind)
SELECT p.subscription, p.seq, ? FROM postbag__parked p
WHERE p.subscription = ? AND p.seq = ? AND p.state = ? AND p.due <= ?
	AND NOT EXISTS (SELECT 1 FROM postbag__command c WHERE c.subscription = p.subscription AND c.seq = p.seq)`

	// A range of the index of commands, ended by the limit.
	sqlCountCommands = `SELECT COUNT(*) FROM (SELECT id FROM postbag__command WHERE subscription = ? LIMIT ?) x`
)

// A subscription that is set back.
const (
	// By primary key.
	sqlSetBack = `
UPDATE postbag__subscription
SET started = 0, span = 0, upto = 0, agreed = 0, count = 0, seq_sum = 0, id_sum = 0 WHERE id = ?`

	// A range of the primary key: no lease of before fits any more.
	sqlVoidLeases = `
UPDATE postbag__shard SET position = x'', owner = '', token = 0, version = version + 1 WHERE subscription = ?`

	// Ranges of the primary keys, and of the unique (subscription, seq, kind).
	sqlForgetLedger   = `DELETE FROM postbag__ledger WHERE subscription = ?`
	sqlForgetParked   = `DELETE FROM postbag__parked WHERE subscription = ?`
	sqlForgetCommands = `DELETE FROM postbag__command WHERE subscription = ?`
	sqlForgetPast     = `DELETE FROM postbag__past WHERE subscription = ?`
	sqlForgetPauses   = `DELETE FROM postbag__pause WHERE subscription = ?`
	sqlForgetFates    = `DELETE FROM postbag__discarded WHERE subscription = ?`

	// A range of the primary key.
	sqlForgetAllFloors = `DELETE FROM postbag__floor WHERE box = ?`

	// All boxes, which are few.
	sqlSettingBack = `SELECT name FROM postbag__box WHERE swept < 0`

	// SQLSetSwept says by primary key where the log of a box begins.
	SQLSetSwept = `UPDATE postbag__box SET swept = ? WHERE name = ?`
)

// The inbox. Consumers and ids are bytes; where a walk begins they are null.
const (
	// One row, new or in place of the old one.
	sqlDeclareConsumer = `REPLACE INTO postbag__consumer (name, keep) VALUES (?, ?)`

	// A scan: a row for each consumer that was declared.
	sqlConsumers = `SELECT name, keep FROM postbag__consumer ORDER BY name`

	// By primary key.
	sqlKeep = `SELECT keep FROM postbag__consumer WHERE name = ?`

	// One row.
	sqlForgetting      = `SELECT consumer, id, token, expires FROM postbag__forgetting WHERE one = 1`
	sqlForgettingLease = `SELECT token FROM postbag__forgetting WHERE one = 1`

	// One row: how far a call of Forget has come, if its token is still that.
	sqlSetForgetting = `
UPDATE postbag__forgetting SET consumer = COALESCE(?, x''), id = COALESCE(?, x''), token = ?, expires = ? WHERE one = 1 AND token = ?`

	// SQLMarksPage returns the last id of the next marks of a consumer, how many they are
	// and how many of these are old: a range of the primary key, in its order, ended by the
	// limit.
	SQLMarksPage = `
SELECT MAX(id), COUNT(*), COALESCE(SUM(at < ?), 0) FROM (
	SELECT id, at FROM postbag__once WHERE consumer = COALESCE(?, x'') AND id > COALESCE(?, x'') ORDER BY id LIMIT ?) x`

	// SQLNextConsumer returns the first of a range of the primary key.
	SQLNextConsumer = `SELECT consumer FROM postbag__once WHERE consumer > COALESCE(?, x'') ORDER BY consumer LIMIT 1`
)
