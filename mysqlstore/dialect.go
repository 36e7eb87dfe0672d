package mysqlstore

import "github.com/postbag/postbag/internal/sqlstore"

// dialect is what MySQL and MariaDB have of their own. Where an index is forced,
// statistics that are out of date could mislead the server.
var dialect = sqlstore.Dialect{
	Package:   "mysqlstore",
	Translate: translateError,
	Lock:      " FOR UPDATE",
	Chains:    100,
	Statements: sqlstore.Statements{
		// By the index of chains: the first of a chain within a shard.
		Head: `(SELECT chain, seq, state, due, ready FROM postbag__parked FORCE INDEX (postbag__parked_chain)
WHERE subscription = ? AND chain = ? AND slot >= ? AND slot < ? ORDER BY seq LIMIT 1)`,

		// By the index of heads: those that are no longer the first of their chain.
		Demote: `
UPDATE postbag__parked FORCE INDEX (postbag__parked_head) SET ready = NULL
WHERE subscription = ? AND chain = ? AND ready IS NOT NULL AND seq <> ? AND slot >= ? AND slot < ?`,

		// One row.
		InsertRelay: `INSERT IGNORE INTO postbag__relay (id, name, works, expires) VALUES (?, ?, ?, ?)`,

		// By primary key, and the unique (subscription, seq, kind).
		Command: `
INSERT IGNORE INTO postbag__command (subscription, seq, kind)
SELECT subscription, seq, ? FROM postbag__parked WHERE subscription = ? AND seq = ?`,
	},
}
