package pgstore

import (
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Store is a store of boxes in a PostgreSQL database. It implements
// [store.Store], [store.Waker], [store.Migrator], [store.Inspector],
// [store.Operator], [store.Forgetter], and [postbag.Appender] and [store.Inbox] of [pgx.Tx]. It is made by [Open], and is safe for
// concurrent use until Close.
type Store struct {
	pool *pgxpool.Pool
	opts Options

	statements *statementSet
	// unprepared: the pool's sessions do not keep prepared statements.
	unprepared atomic.Bool
	// server is the one that calls are meant for, nil before the first call.
	server   atomic.Pointer[server]
	adopting sync.Mutex
	// catalog is what is known of boxes and subscriptions, nil when it is to be
	// read again.
	catalog atomic.Pointer[catalog]
	hints   hints
	// reading knows how far the standby is that this is a reader of. Nil: it is a store.
	reading *storekit.Reached
	// doubts are the boxes whose numbering a turn or housekeeping found to be begun again or another one, each with its *doubt, until
	// Check has seen to it.
	doubts sync.Map
	faults faults
	// What housekeeping has found, by box.
	maintained maintenanceStates

	wake   waker
	closed sync.Once
}

var (
	_ store.Store              = (*Store)(nil)
	_ store.SlotMigrator       = (*Store)(nil)
	_ store.Waker              = (*Store)(nil)
	_ postbag.Appender[pgx.Tx] = (*Store)(nil)
)

// Close ends what the store began: its listening connection and the sending of
// notifications. It leaves the pool open. A second Close does nothing.
func (s *Store) Close() error {
	s.closed.Do(s.wake.stop)
	return nil
}
