package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	// The driver, registered as "sqlite".
	_ "modernc.org/sqlite"
)

// DSN returns the data source name for your own *sql.DB on the file at path, through
// modernc.org/sqlite: write-ahead log, full durability, a busy_timeout of five seconds,
// and transactions that take the writer lock when they begin.
//
//	db, err := sql.Open("sqlite", sqlitestore.DSN("shop.db"))
func DSN(path string) string { return dsn(path, defaultBusyTimeout) }

func dsn(path string, busy time.Duration) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	settings := url.Values{
		"_busy_timeout": {strconv.FormatInt(busy.Milliseconds(), 10)},
		"_journal_mode": {"WAL"},
		"_synchronous":  {"FULL"},
		"_txlock":       {"immediate"},
		"_foreign_keys": {"on"},
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: settings.Encode()}
	return u.String()
}

// Open opens the database file at path with connections of the store's own, which Close
// ends. The file must be on a local file system. Several processes may open it, each any
// number of times, but each process through one copy of SQLite only. Errors name all bad
// options at once.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if err := errors.Join(o.Validate(), validPath(path, o.Create)); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	db, err := sql.Open("sqlite", dsn(path, shortBusy))
	if err != nil {
		return nil, translateError("open "+path, err)
	}
	connections := max(8, 2*runtime.GOMAXPROCS(0))
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	s := newStore(db, o, true)
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// OpenDB opens a store over your own db, so that Append takes your transactions. db must
// be of modernc.org/sqlite, on a file in write-ahead-log mode, with synchronous=FULL or
// EXTRA and a busy_timeout on every connection. OpenDB checks that; DSN returns a name
// with these settings. The store keeps no connection between calls. Close leaves db open.
//
// Begin your own transactions with the writer lock (_txlock=immediate, as in DSN).
// Otherwise SQLite fails a transaction that reads before it writes, if another has
// written meanwhile.
func OpenDB(ctx context.Context, db *sql.DB, o Options) (*Store, error) {
	if db == nil {
		return nil, errors.New("sqlitestore: open: db is nil; give an open *sql.DB, or use Open with a path")
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := newStore(db, o.withDefaults(), false)
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// start makes what Create asks for and looks at the rest.
func (s *Store) start(ctx context.Context) error {
	settings, err := s.settings(ctx)
	if err != nil {
		return err
	}
	s.file, s.busy = settings.file, settings.busyTimeout
	s.noteFile()
	if err := settings.refuse(); err != nil {
		return err
	}
	switch {
	case s.opts.Unmigrated:
		return nil
	case !s.opts.Create:
		return s.checkSchema(ctx)
	}
	if _, err := s.Migrate(ctx); err != nil {
		return err
	}
	for _, box := range s.opts.Boxes {
		if err := s.CreateBox(ctx, box); err != nil {
			return err
		}
	}
	return nil
}

func validPath(path string, create bool) error {
	switch {
	case path == "":
		return errors.New("sqlitestore: open: the path is empty; give a file's path")
	case strings.HasPrefix(path, ":memory:"), strings.HasPrefix(path, "file:"):
		return fmt.Errorf("sqlitestore: open %q: is no path; give a file's plain path, or use OpenDB with your own DSN", path)
	case strings.IndexByte(path, 0) >= 0:
		return errors.New("sqlitestore: open: the path holds a NUL byte; give a file's path")
	case create:
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("sqlitestore: open %s: no such file; correct the path, or set Options.Create", path)
	} else if err != nil {
		return fmt.Errorf("sqlitestore: open: %w; give a path that can be read", err)
	}
	return nil
}
