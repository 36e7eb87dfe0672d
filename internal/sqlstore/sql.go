package sqlstore

// Every statement that all databases have in the same words. Table by table they
// go by the same keys and indexes everywhere: the schemas have these in common.

// Parked messages.
const (
	// SQLReady sets when a row may be tried, by primary key: ready, subscription, seq.
	SQLReady = `UPDATE postbag__parked SET ready = ? WHERE subscription = ? AND seq = ?`

	// The chains of a shard, by a range of the index of chains.
	sqlChains = `
SELECT DISTINCT chain FROM postbag__parked
WHERE subscription = ? AND chain IS NOT NULL AND slot >= ? AND slot < ?`
)
