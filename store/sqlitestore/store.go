package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// Store is a store of boxes in one SQLite database. It implements [store.Store],
// [store.Waker], [store.Inspector], [store.Operator], [store.Migrator],
// [store.Forgetter], and [postbag.Appender] and [store.Inbox] of [postbag.SQLTx]. It is
// made by [Open] or [OpenDB], and is safe for concurrent use until Close.
type Store struct {
	base sqlkit.Base

	db   atomic.Pointer[sql.DB] // another one after the file was replaced
	opts Options
	// comments follow its statements.
	comments storekit.Comments
	// opened is the file that the connections have open.
	opened atomic.Pointer[openedFile]
	// owned: the connections are the store's, set up by its own DSN.
	owned bool
	// file is the path of the database's file, as SQLite has it.
	file string
	// busy is the busy_timeout of the application's connections, in milliseconds.
	busy int64
	// writer is held from the begin to the end of a write transaction.
	writer *queue
	pinned pinned
	// running is the application's transaction that InTx runs now.
	running atomic.Pointer[sql.Tx]
	// now is the database's clock: SQLite runs in this process, and on the host
	// of every other process that may have the file open.
	now func() time.Time

	statements statements
	accepted   identity
	poll       poll
	concurrent concurrentReads
	kept       sqlkit.Marks
	dead       sqlkit.Marks // how far dead messages were looked at
	woken      chan struct{}
	watch      watcher
	closing    sync.Once
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

func newStore(db *sql.DB, o Options, owned bool) *Store {
	s := &Store{
		opts:     o,
		comments: storekit.NewComments(o.SQLComments),
		owned:    owned,
		writer:   newQueue(),
		now:      time.Now,
		woken:    make(chan struct{}, 1),
	}
	s.db.Store(db)
	write := func(ctx context.Context, doing string, fn func(*sqlkit.Tx) error) error {
		return s.write(ctx, doing, func(t *transaction) error { return fn(&t.Tx) })
	}
	s.base = sqlkit.New(&dialect, sqlkit.Hooks{
		Change:   write,
		Write:    write,
		Snapshot: s.snapshot,
		Query:    s.querier,
		Subscription: func(ctx context.Context, r store.Ref) (id int64, err error) {
			_, err = s.row(ctx, sqlkit.SQLSubscription, []any{r.Box, r.Subscription}, &id, new(string), new(string))
			return id, err
		},
		Now:   func(context.Context) (int64, error) { return s.micros(), nil },
		Start: startOf,
		Wake:  s.Wake,
	})
	return s
}

// Close ends what the store began: its watcher, its statements and, if it was
// opened by path, its connections. It waits for a write transaction that is
// under way, for as long as a write may wait. A second Close does nothing.
func (s *Store) Close() error {
	var err error
	s.closing.Do(func() {
		s.watch.stop()
		s.poll.close()
		if s.writer.enter(context.Background(), s.deadline()) == nil {
			defer s.writer.leave()
			err = s.pinned.close()
		}
		err = errors.Join(err, s.statements.close())
		if s.owned {
			err = errors.Join(err, s.pool().Close())
		}
	})
	return translateError("close", err)
}

// micros returns the database's clock in microseconds since 1970.
func (s *Store) micros() int64 { return s.now().UnixMicro() }

// begun refuses a context that has ended, before anything is done.
func begun(ctx context.Context, doing string) error {
	return translateError(doing, context.Cause(ctx))
}
