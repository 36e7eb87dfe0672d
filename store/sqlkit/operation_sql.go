package sqlkit

// operationColumns are all columns of an operation but its id; the last are those that change.
const operationColumns = `version, kind, box, name, subscription, messages, chosen, as_of, rate, who, why, matched, made,
	at, given, changed, passed, state, error, by_who, by_why, worker, token, lease_ends, begun, touched, ended`

// Long operations.
const (
	// SQLOperation reads an operation by primary key.
	SQLOperation = `SELECT id, ` + operationColumns + ` FROM postbag__operation WHERE id = ?`

	// SQLOperations reads the end of the primary key.
	SQLOperations = `SELECT id, ` + operationColumns + ` FROM postbag__operation ORDER BY id DESC LIMIT ?`

	// One row.
	sqlPlanOperation = `
INSERT INTO postbag__operation (` + operationColumns + `)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

	// By primary key.
	sqlSetOperation = `
UPDATE postbag__operation SET at = ?, given = ?, changed = ?, passed = ?, state = ?, error = ?, by_who = ?, by_why = ?,
	worker = ?, token = ?, lease_ends = ?, begun = ?, touched = ?, ended = ? WHERE id = ?`

	// SQLOpenOperations counts ranges of the index of states: at most so many as can be open.
	SQLOpenOperations = `SELECT COUNT(*) FROM postbag__operation WHERE state IN ('planned', 'running', 'paused')`

	// One row.
	sqlAddPart = `REPLACE INTO postbag__operation_part (operation, part, messages) VALUES (?, ?, ?)`

	// SQLParts, SQLLastOfParts and SQLDeleteParts go by ranges of the primary key.
	SQLParts       = `SELECT messages FROM postbag__operation_part WHERE operation = ? AND part >= ? AND part <= ? ORDER BY part`
	sqlCountParts  = `SELECT COUNT(*) FROM postbag__operation_part WHERE operation = ?`
	SQLLastOfParts = `SELECT part FROM postbag__operation_part WHERE operation = ? ORDER BY part LIMIT 1 OFFSET ?`
	SQLDeleteParts = `DELETE FROM postbag__operation_part WHERE operation = ? AND part <= ?`

	// By primary key.
	sqlDeleteOperation = `DELETE FROM postbag__operation WHERE id = ?`

	// SQLOldOperation finds what nobody changed for long by a range of the index of (box, touched).
	SQLOldOperation = `SELECT id FROM postbag__operation WHERE box = ? AND touched <= ? ORDER BY touched LIMIT 1`

	// SQLPlannedOperations reads those of all boxes that did not begin by the index of states: at most so many as can be open.
	SQLPlannedOperations = `SELECT id, box, touched FROM postbag__operation WHERE state = 'planned'`

	// A range of the unique (subscription, seq, kind).
	sqlHasCommand = `SELECT 1 FROM postbag__command WHERE subscription = ? AND seq = ? AND kind = ?`
)
