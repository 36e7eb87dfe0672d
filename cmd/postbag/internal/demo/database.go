package demo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

// database is where the shop's tables and the box are.
type database struct {
	name     string
	sql      *sql.DB
	appender postbag.Appender[postbag.SQLTx]
	env      []string // what the relay's process must know
	close    func() error
}

// inTx commits what fn does, or nothing of it.
func (d *database) inTx(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := d.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func openDatabase(ctx context.Context, dir string, postgres bool) (*database, error) {
	if postgres {
		return openPostgres(ctx)
	}
	path := filepath.Join(dir, "shop.db")
	db, err := sql.Open("sqlite", sqlitestore.DSN(path))
	if err != nil {
		return nil, fmt.Errorf("demo: SQLite: %w", err)
	}
	// SQLite has one writer at a time and its locks are not fair: the tills queue
	// here, so that only the relay's process is another writer.
	db.SetMaxOpenConns(1)
	s, err := sqlitestore.OpenDB(ctx, db, sqlitestore.Options{Create: true})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &database{
		name: "SQLite", sql: db, appender: s, env: []string{EnvSQLite + "=" + path},
		close: func() error { return errors.Join(s.Close(), db.Close()) },
	}, nil
}

// setting is what the relay's process must know by a name.
func (d *database) setting(name string) string {
	for _, one := range d.env {
		if value, is := strings.CutPrefix(one, name+"="); is {
			return value
		}
	}
	return ""
}

// openStore opens the box by what the relay's process must know, such as os.Getenv.
func openStore(ctx context.Context, setting func(name string) string) (s store.Store, closeStore func() error, err error) {
	if dsn := setting(EnvPostgres); dsn != "" {
		return openPostgresStore(ctx, dsn)
	}
	path := setting(EnvSQLite)
	if path == "" {
		return nil, nil, fmt.Errorf("demo: neither %s nor %s is set; this command is for postbag-demo alone", EnvSQLite, EnvPostgres)
	}
	sqlite, err := sqlitestore.Open(ctx, path, sqlitestore.Options{})
	if err != nil {
		return nil, nil, err
	}
	return sqlite, sqlite.Close, nil
}
