package sqlitestore

import "github.com/postbag/postbag/internal/sqlstore"

// dialect is what SQLite has of its own.
var dialect = sqlstore.Dialect{
	Package:   "sqlitestore",
	Translate: translateError,
	Chains:    1,
	Statements: sqlstore.Statements{
		// By the index of chains: the first of a chain within a shard.
		Head: `
SELECT chain, seq, state, due, ready FROM postbag__parked
WHERE subscription = ? AND chain = ? AND slot >= ? AND slot < ? ORDER BY seq LIMIT 1`,

		// By the index of heads: those that are no longer the first of their chain.
		Demote: `
UPDATE postbag__parked SET ready = NULL
WHERE subscription = ? AND chain = ? AND ready IS NOT NULL AND seq <> ? AND slot >= ? AND slot < ?`,

		// One row.
		InsertRelay: `
INSERT INTO postbag__relay (id, name, works, expires) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,

		// By primary key, and the unique (subscription, seq, kind).
		Command: `
INSERT INTO postbag__command (subscription, seq, kind)
SELECT subscription, seq, ? FROM postbag__parked WHERE subscription = ? AND seq = ? ON CONFLICT DO NOTHING`,
	},
}
