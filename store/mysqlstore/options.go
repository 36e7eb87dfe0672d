package mysqlstore

import (
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Options are the settings of a store. The zero Options opens what is there.
type Options struct {
	// Create makes what is missing: the schema and Boxes. Without it a missing
	// schema is an error. It needs the rights for CREATE.
	Create bool
	// Boxes are made with Create; an empty list makes none. Defaults to "outbox".
	Boxes []string
	// Slots are the rules for the slots of those boxes that Create or CreateBox makes and that
	// are not by hash, by name: see store.SlotsByNumber. A box keeps its rule, so that another
	// one is an error (store.ErrSlotRule). Once there is a box by number, programs older than
	// these rules cannot open the store. Defaults to none: new boxes are by hash.
	Slots map[string]store.SlotRule
	// Unmigrated opens a database whose schema is missing or older than this program's,
	// for Migrate, Pending and Close only.
	Unmigrated bool
	// Connections is the most sessions that the store holds. Defaults to 10.
	Connections int
	// Grace is how old a seq that nobody has written must be before the store writes a
	// tombstone under it. If an INSERT takes longer than that between getting a seq and
	// writing the row, it fails with error 1062. Publish then repeats the statement; a
	// producer in SQL has to do so itself. Grace should be longer than the server's
	// innodb_lock_wait_timeout. When very many seqs are open, it becomes shorter by
	// itself, down to two seconds, so that a position does not grow too large. Defaults
	// to 60 s.
	Grace time.Duration
	// DDLWait is how long a statement that changes a table waits for its lock, while
	// producers wait behind it, in whole seconds. If it does not get the lock, it is
	// tried again some times. Defaults to 1 s.
	DDLWait time.Duration
	// Partition, if not zero, divides the table of each box that this store makes into
	// partitions, each for about this much time. Maintain then drops whole partitions
	// that every subscription has passed, instead of deleting row by row. It is optional
	// because such a change waits for every open transaction that has touched the box,
	// while producers wait behind it: for at most a second at a time, and not more than
	// once a minute if it fails. Existing boxes are not divided. For boxes that are
	// divided it becomes the new length. In whole seconds; an hour or a day is sensible.
	Partition time.Duration
	// SQLComments adds a comment to each statement that says whose it is. Only migrations,
	// and statements that begin, end or set up a transaction or a session, have none.
	// Defaults to no comments.
	SQLComments store.SQLComments
	// OnFault is called with what an operator should know and no call can report: faults of
	// the store's own goroutine. It must not block. Defaults to nothing.
	OnFault func(error)
}

const (
	defaultConnections = 10
	defaultGrace       = 60 * time.Second
	shortestGrace      = 2 * time.Second
	defaultDDLWait     = time.Second
)

// Validate returns every fault of the options, joined, or nil. It connects to nothing; Open
// does the same first.
func (o Options) Validate() error {
	errs := append(storekit.BadBoxes("mysqlstore", o.Create, o.Boxes), storekit.BadSlots("mysqlstore", o.Slots)...)
	if o.Connections < 0 || o.Connections > 0 && o.Connections < 4 {
		errs = append(errs, fmt.Errorf("mysqlstore: Options.Connections is %d; give 4 or more, or zero for %d", o.Connections, defaultConnections))
	}
	if o.Grace < 0 {
		errs = append(errs, fmt.Errorf("mysqlstore: Options.Grace is %s; give a positive duration, or zero for %s", o.Grace, defaultGrace))
	}
	if o.DDLWait < 0 || o.DDLWait%time.Second != 0 {
		errs = append(errs, fmt.Errorf("mysqlstore: Options.DDLWait is %s; give whole seconds, or zero for %s", o.DDLWait, defaultDDLWait))
	}
	if o.Partition < 0 || o.Partition%time.Second != 0 {
		errs = append(errs, fmt.Errorf("mysqlstore: Options.Partition is %s; give whole seconds, or zero for tables that are not divided", o.Partition))
	}
	if err := o.SQLComments.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("mysqlstore: Options.%w", err))
	}
	return errors.Join(errs...)
}

func (o Options) withDefaults() Options {
	o.Boxes = storekit.Boxes(o.Create, o.Boxes)
	if o.Connections == 0 {
		o.Connections = defaultConnections
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	if o.DDLWait == 0 {
		o.DDLWait = defaultDDLWait
	}
	return o
}
