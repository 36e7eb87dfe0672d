package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
)

// DB returns the store's connections, for tests that look at the file.
func (s *Store) DB() *sql.DB { return s.pool() }

// SetClock replaces the database's clock, before the store is used.
func (s *Store) SetClock(now func() time.Time) { s.now = now }

// WAL returns the size of the write-ahead log's file.
func (s *Store) WAL() int64 { return s.walSize() }

// Exec runs a statement as an application would.
func (s *Store) Exec(ctx context.Context, text string, args ...any) error {
	_, err := s.pool().ExecContext(ctx, text, args...)
	return err
}

// SafeLibrary says whether a version of SQLite is taken.
var SafeLibrary = safeLibrary

// RemoveKept deletes what nothing keeps of a range below the beginning of box outbox, as
// housekeeping does once it has looked there.
func (s *Store) RemoveKept(ctx context.Context, lease store.Lease, after, end int64) error {
	m := maintenance{Maintenance: sqlkit.NewMaintenance(&s.base, store.Retention{Lease: lease, Keep: time.Hour}), s: s}
	return m.removeKept(ctx, after, end)
}
