package mysqlstore

// The statements about partitions of a box's table; see sql.go.
const (
	// By primary key: how long a partition of a divided box is about.
	sqlPartitionEvery  = `SELECT every FROM postbag__partition WHERE box = ?`
	sqlInsertPartition = `INSERT INTO postbag__partition (box, every) VALUES (?, ?) ON DUPLICATE KEY UPDATE every = VALUES(every)`
	sqlEnterPartition  = `INSERT INTO postbag__partition (box, every) VALUES ('%s', %d)`
	sqlSetPartition    = `UPDATE postbag__partition SET every = ? WHERE box = ?`

	// All boxes.
	sqlUndivided = `
SELECT name FROM postbag__box WHERE name NOT IN (SELECT box FROM postbag__partition) ORDER BY name`

	// The catalogue, by the table's name.
	sqlPartitions = `
SELECT partition_name, partition_description FROM information_schema.partitions
WHERE table_schema = DATABASE() AND table_name = ? AND partition_name IS NOT NULL ORDER BY partition_ordinal_position`

	// These wait for every open transaction that has touched the table, and everybody
	// behind them.
	sqlDropPartition = `ALTER TABLE %s DROP PARTITION %s`
	sqlLockTable     = `LOCK TABLES %s WRITE`
	sqlUnlockTables  = `UNLOCK TABLES`
	sqlReorganize    = `ALTER TABLE %s REORGANIZE PARTITION %s INTO (%s)`

	// A range of the primary key, in its order, ended by the limit: how many rows,
	// where they end, how many are messages, and when the last tombstone was written.
	sqlCountPart = `
SELECT COUNT(*), COALESCE(MAX(seq), 0), COALESCE(SUM(slot < 4096), 0), COALESCE(MAX(IF(slot = 65535, at, 0)), 0)
FROM (SELECT seq, slot, at FROM %s WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?) x`
)
