package sqlitestore

import (
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Options are the settings of a store. The zero Options opens what is there.
type Options struct {
	// Create makes what is missing: the file, the schema and Boxes. Without it
	// a missing file or schema is an error.
	Create bool
	// Boxes are made with Create; an empty list makes none. Defaults to "outbox".
	Boxes []string
	// Slots are the rules for the slots of those boxes that Create or CreateBox makes and that
	// are not by hash, by name: see store.SlotsByNumber. A box keeps its rule, so that another
	// one is an error (store.ErrSlotRule). Once there is a box by number, programs older than
	// these rules cannot open the file. Defaults to none: new boxes are by hash.
	Slots map[string]store.SlotRule
	// Unmigrated opens a file whose schema is missing or older than this program's, for
	// Migrate, Pending and Close only. With Create it makes the file and nothing in it.
	Unmigrated bool
	// BusyTimeout is how long a write waits for other writers, of this process
	// or another, before it gives up. Defaults to 5 s.
	BusyTimeout time.Duration
	// Watch is the least time between two hints on Woken that another process has
	// committed. On Linux the kernel tells of commits (inotify); elsewhere the store
	// looks that often, once something listens. Negative: no hints. Defaults to 5 ms.
	Watch time.Duration
	// SQLComments adds a comment to each statement that says whose it is, for what traces
	// or logs the statements of your *sql.DB. Only migrations, and statements that begin,
	// end or set up a transaction or a connection, have none. Defaults to no comments.
	SQLComments store.SQLComments
	// LargeWAL is the size in bytes from which Maintain empties the write-ahead
	// log into the database and truncates its file. Defaults to 64 MiB.
	LargeWAL int64
}

const (
	defaultBusyTimeout = 5 * time.Second
	defaultWatch       = 5 * time.Millisecond
	defaultLargeWAL    = 64 << 20
	// shortBusy is how long SQLite itself waits for a lock, but for writes of the
	// store, for which it does not wait at all. It does not look at
	// a context meanwhile, so the longer waiting is done here.
	shortBusy = 20 * time.Millisecond
)

// Validate returns every fault of the options, joined, or nil. It connects to nothing; Open
// does the same first.
func (o Options) Validate() error {
	errs := append(storekit.BadBoxes("sqlitestore", o.Create, o.Boxes), storekit.BadSlots("sqlitestore", o.Slots)...)
	if o.BusyTimeout < 0 {
		errs = append(errs, fmt.Errorf("sqlitestore: Options.BusyTimeout is %s; give a positive duration, or zero for %s",
			o.BusyTimeout, defaultBusyTimeout))
	}
	if o.LargeWAL < 0 {
		errs = append(errs, fmt.Errorf("sqlitestore: Options.LargeWAL is %d; give a number of bytes, or zero for %d",
			o.LargeWAL, defaultLargeWAL))
	}
	if err := o.SQLComments.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("sqlitestore: Options.%w", err))
	}
	return errors.Join(errs...)
}

func (o Options) withDefaults() Options {
	o.Boxes = storekit.Boxes(o.Create, o.Boxes)
	if o.BusyTimeout == 0 {
		o.BusyTimeout = defaultBusyTimeout
	}
	if o.Watch == 0 {
		o.Watch = defaultWatch
	}
	if o.LargeWAL == 0 {
		o.LargeWAL = defaultLargeWAL
	}
	return o
}
