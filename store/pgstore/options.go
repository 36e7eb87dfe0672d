package pgstore

import (
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Options are the settings of a store. The zero Options opens what is there.
type Options struct {
	// Create makes what is missing: the schema and Boxes. The role needs the right to
	// create a schema, or must own Postbag's. Without Create a missing schema is an
	// error.
	Create bool
	// Boxes are made with Create; an empty list makes none. Defaults to "outbox".
	Boxes []string
	// Slots are the rules for the slots of those boxes that Create or CreateBox makes and that
	// are not by hash, by name: see store.SlotsByNumber. A box keeps its rule, so that another
	// one is an error (store.ErrSlotRule). Defaults to none: new boxes are by hash.
	Slots map[string]store.SlotRule
	// Unmigrated opens a database whose schema is missing or older than this program's,
	// for Migrate, Pending, CreateBox and Close only. It cannot be combined with Create.
	Unmigrated bool
	// Listen waits for notifications of other processes, on a connection of its own, so
	// that Woken hears of their messages at once. Defaults to false: Woken hears of this
	// process only.
	Listen bool
	// ListenConfig says how to make that connection, if you reach the database through a
	// pooler: LISTEN needs a session. Defaults to the pool's own.
	ListenConfig *pgx.ConnConfig
	// Notify is the least time between two notifications that Wake sends to other
	// processes. It sends each outside of your transactions: inside one, all committing
	// transactions would queue for a lock. Zero: none is sent.
	Notify time.Duration
	// SQLComments adds a comment to each statement that says whose it is. Only migrations,
	// the reconciliation of a restored database, and statements that begin, end or set up a
	// transaction have none. Defaults to no comments.
	SQLComments store.SQLComments
	// OnFault is called with what an operator should know and no call can report, such as
	// a lost listening connection, or a row with a wrong slot. It must not block. It is
	// called at most once a second for each kind of fault. Defaults to nothing.
	OnFault func(error)
}

const schemaName = "postbag"

// Validate returns every fault of the options, joined, or nil. It connects to nothing; Open
// does the same first.
func (o Options) Validate() error {
	errs := storekit.BadBoxes("pgstore", o.Create, o.Boxes)
	errs = append(errs, storekit.BadSlots("pgstore", o.Slots)...)
	if o.Unmigrated && (o.Create || o.Listen) {
		errs = append(errs, errors.New("pgstore: Options.Unmigrated is for migrations alone; leave Create and Listen out"))
	}
	if o.Notify < 0 {
		errs = append(errs, fmt.Errorf("pgstore: Options.Notify is %s; give the least time between two notifications, or zero for none", o.Notify))
	}
	if o.ListenConfig != nil && !o.Listen {
		errs = append(errs, errors.New("pgstore: Options.ListenConfig is only used with Options.Listen; set it, or leave it out"))
	}
	if err := o.SQLComments.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("pgstore: Options.%w", err))
	}
	return errors.Join(errs...)
}

func (o Options) withDefaults() Options {
	o.Boxes = storekit.Boxes(o.Create, o.Boxes)
	return o
}
