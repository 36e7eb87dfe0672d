package sqlstore

// Dialect is what a database has of its own. It does not change once it is made.
type Dialect struct {
	Statements

	// Package is the name of the store's package, with which errors begin.
	Package string
	// Translate wraps an error, once, with what failed and what to do about it.
	Translate func(doing string, err error) error
	// Lock stands behind a SELECT whose rows must not change until the transaction
	// ends; empty where nobody else writes meanwhile.
	Lock string
	// Chains is how many times Head may stand in one statement, with UNION ALL
	// between.
	Chains int
}

// Statements are those in which databases differ. Of each is said what it asks
// with which arguments, in this order, and what columns it returns; a %s is the
// table of a box, as Table names it.
type Statements struct {
	// Head returns chain, seq, state, due and ready of the first row of a chain:
	// subscription, chain, lo, hi.
	Head string
	// Demote takes the time from rows that are not the first of their chain:
	// subscription, chain, seq of the first, lo, hi.
	Demote string
	// InsertRelay adds a heartbeat row, unless there is one: id, name, works,
	// expires.
	InsertRelay string
	// Command queues an order for a parked message, unless it is queued: kind,
	// subscription, seq.
	Command string
}
