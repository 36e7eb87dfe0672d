package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// settings are what connections to the database are set to.
type settings struct {
	file        string
	library     string
	encoding    string
	journal     string
	synchronous int
	busyTimeout int64
}

// settings reads two connections, if there may be two, since a PRAGMA that was
// run by hand set only one of them; the checkConnection value counts.
func (s *Store) settings(ctx context.Context) (settings, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.BusyTimeout+time.Second)
	defer cancel()
	first, err := s.connect(ctx)
	if err != nil {
		return settings{}, translateError("connect", err)
	}
	got, err := readSettings(ctx, first)
	if err == nil && s.pool().Stats().MaxOpenConnections != 1 {
		err = s.checkConnection(ctx, &got)
	}
	return got, translateError("read the settings", errors.Join(err, first.Close()))
}

// checkConnection looks at one more connection.
func (s *Store) checkConnection(ctx context.Context, got *settings) error {
	conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	other, err := readSettings(ctx, conn)
	got.synchronous = min(got.synchronous, other.synchronous)
	got.busyTimeout = min(got.busyTimeout, other.busyTimeout)
	return errors.Join(err, conn.Close())
}

func readSettings(ctx context.Context, conn *sql.Conn) (settings, error) {
	var s settings
	scan := func(query string, dest any) error {
		return conn.QueryRowContext(ctx, query).Scan(dest)
	}
	deadline := time.Now().Add(defaultBusyTimeout)
	err := retryBusy(ctx, deadline, func() error {
		return errors.Join(
			scan(sqlFile, &s.file),
			scan(sqlLibrary, &s.library),
			scan(sqlEncoding, &s.encoding),
			scan(sqlJournalMode, &s.journal),
			scan(sqlSynchronous, &s.synchronous),
			scan(sqlBusyTimeout, &s.busyTimeout),
		)
	})
	return s, err
}

const synchronousFull = 2

// refuse returns everything that keeps the store from working at all.
func (s settings) refuse() error {
	var errs []error
	add := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("sqlitestore: open: "+format, args...))
	}
	if s.file == "" {
		add("the database is in memory, where no other connection could see it; give it a file")
	}
	if !safeLibrary(s.library) {
		add("SQLite %s can damage a write-ahead log that is reset while it is written; use 3.51.3, 3.53.0 or newer", s.library)
	}
	if s.encoding != "UTF-8" {
		add("the database's encoding is %s; make a new file, with PRAGMA encoding = 'UTF-8'", s.encoding)
	}
	if s.file != "" && !strings.EqualFold(s.journal, "wal") {
		add("journal_mode is %s, in which readers and writers block each other; run PRAGMA journal_mode = WAL once", s.journal)
	}
	if s.synchronous < synchronousFull {
		add("synchronous is %d on a connection, so that a power cut can undo commits that were published; "+
			"set it to FULL for every connection in the DSN (see DSN)", s.synchronous)
	}
	if s.busyTimeout <= 0 {
		add("busy_timeout is not set on every connection, so that writers fail instead of waiting; set it in the DSN (see DSN)")
	}
	return errors.Join(errs...)
}

// safeLibrary says whether a version of SQLite has the fix of the write-ahead
// log's reset race (sqlite.org/changes.html: 3.53.0, and 3.51.3 of its branch).
func safeLibrary(version string) bool {
	var major, minor, patch int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch); err != nil {
		return false
	}
	switch {
	case major != 3:
		return major > 3
	case minor == 51:
		return patch >= 3
	}
	return minor >= 53
}
