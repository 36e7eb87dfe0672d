package sqlitestore

import (
	"context"
	"database/sql"
	"time"
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
