package sqlstore

// Dialect is what a database has of its own. It does not change once it is made.
type Dialect struct {
	Statements

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
}
