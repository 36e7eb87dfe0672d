package mysqlstore

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// Store is a store of boxes in one database of a MySQL or MariaDB server. It
// implements [store.Store], [store.Waker], [store.Inspector], [store.Operator],
// [store.Migrator], [store.Forgetter], and [postbag.Appender] and [store.Inbox] of
// [postbag.SQLTx]. It is made by [Open], and is safe for concurrent use until Close.
// Several processes may have a store on one database.
type Store struct {
	base sqlkit.Base

	db   *sql.DB
	opts Options
	// comment follows each statement of the store's own; see Options.SQLComments.
	comment string
	// bury is the session that writes tombstones, dirty the one that looks whether
	// a seq is in flight; each is a pool of one.
	bury, dirty *sql.DB

	server atomic.Pointer[server]
	life   atomic.Pointer[serverState] // of the server, as it was seen last
	seen   seenEpoch
	known  subscriptions
	// reading knows how far the replica is that this is a reader of. Nil: it is a store.
	reading *storekit.Reached
	// replica is which one it was that a session of the reader was on last, with its life.
	replica  atomic.Pointer[string]
	unknowns unresolved
	recent   statusCache
	producer producer
	busy     sqlkit.Marks // whether the last read of a subscription found rows
	kept     sqlkit.Marks
	dead     sqlkit.Marks // how far dead messages were looked at
	parts    partNotes
	// tombstoneKeep is the constant of that name, but in tests.
	tombstoneKeep time.Duration
	average       sqlkit.Marks // of a box's messages, in bytes
	woken         chan struct{}
	stop          context.CancelFunc
	running       sync.WaitGroup
	closing       sync.Once
}

var (
	_ store.Store                     = (*Store)(nil)
	_ store.Inspector                 = (*Store)(nil)
	_ store.Operator                  = (*Store)(nil)
	_ store.Pauser                    = (*Store)(nil)
	_ store.Bookkeeper                = (*Store)(nil)
	_ store.Editor                    = (*Store)(nil)
	_ store.Steward                   = (*Store)(nil)
	_ store.Reviser                   = (*Store)(nil)
	_ store.SlotMigrator              = (*Store)(nil)
	_ store.Replayer                  = (*Store)(nil)
	_ store.Waker                     = (*Store)(nil)
	_ postbag.Appender[postbag.SQLTx] = (*Store)(nil)
)

// Close ends what the store began: its goroutine and its sessions. A second Close
// does nothing. The error is always nil.
func (s *Store) Close() error {
	s.closing.Do(func() {
		if s.stop != nil {
			s.stop()
		}
		s.running.Wait()
		for _, pool := range []*sql.DB{s.db, s.bury, s.dirty} {
			_ = pool.Close() // a session that is broken does not take its farewell, and is closed all the same
		}
	})
	return nil
}

// Features returns what a MySQL store declares.
func Features() store.Features {
	return store.Features{ConcurrentWriters: true, Prepared: true, Savepoints: true, Conditions: true, Editing: true, HeldTopics: true, DeadLetters: true, SlotRules: true}
}

// begun refuses a context that has ended, before anything is done.
func begun(ctx context.Context, doing string) error {
	return translateError(doing, context.Cause(ctx))
}
