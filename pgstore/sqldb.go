package pgstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// DB publishes through database/sql: it is the writing half of a store, for
// applications whose transactions are *sql.Tx, sqlx's, bun's, ent's or GORM's. It
// is made by [OpenDB] and is safe for concurrent use. A relay needs a [Store].
type DB struct {
	db      *sql.DB
	catalog *catalog
}

var _ postbag.Appender[postbag.SQLTx] = (*DB)(nil)

// OpenDB returns what publishes in transactions of db, whatever driver it has:
// every parameter is a text or bytes, so that pgx's, lib/pq and poolers in
// transaction mode will do. Schema and boxes must be there: make them with
// postbag migrate up, or with Open and its Create option. db stays the
// application's.
func OpenDB(ctx context.Context, db *sql.DB, o Options) (*DB, error) {
	switch {
	case db == nil:
		return nil, errors.New("pgstore: open: db is nil; give an open *sql.DB, or use Open with a pool")
	case o.Create || o.Unmigrated || o.Listen || o.Notify != 0 || len(o.Boxes) > 0:
		return nil, errors.New("pgstore: open: OpenDB only publishes; make schema and boxes with Open or postbag migrate up, and leave the options zero")
	}
	catalog, err := newCatalog()
	if err != nil {
		return nil, translateError("open", err)
	}
	var there bool
	// It reads one row of a catalogue by its name and locks nothing.
	err = db.QueryRowContext(ctx, `SELECT to_regclass('postbag._meta') IS NOT NULL`).Scan(&there)
	if err != nil {
		return nil, translateError("open", err)
	}
	if !there {
		return nil, fmt.Errorf("pgstore: open: %w", store.ErrSchema)
	}
	return &DB{db: db, catalog: catalog}, nil
}

// Append implements postbag.Appender.
func (d *DB) Append(ctx context.Context, tx postbag.SQLTx, box string, msgs []postbag.Message) error {
	if tx == nil {
		return postbag.ErrNoTx
	}
	commands, err := appendCommands(d.catalog, box, msgs)
	if err != nil {
		return err
	}
	for _, q := range commands {
		if _, err := tx.ExecContext(ctx, q.sql, q.args...); err != nil {
			return sqlAppendError(box, err)
		}
	}
	return nil
}

// sqlAppendError names a transaction that rewrites statements for what it is.
func sqlAppendError(box string, err error) error {
	if sqlState(err) == "42P02" { // undefined_parameter
		return fmt.Errorf("pgstore: append to %s: this transaction changes the placeholders of a statement; "+
			"pass the *sql.Tx inside it (bun: tx.Tx)", box)
	}
	return appendError(box, err)
}

// Lock implements postbag.Appender.
func (d *DB) Lock(ctx context.Context, tx postbag.SQLTx, box string, keys []string) error {
	if tx == nil {
		return postbag.ErrNoTx
	}
	q := lockCommand(d.catalog, box, keys)
	_, err := tx.ExecContext(ctx, q.sql, q.args...)
	return translateError("lock keys of "+box, err)
}

// Cancel implements postbag.Appender.
func (d *DB) Cancel(ctx context.Context, tx postbag.SQLTx, box string, id postbag.ID) (bool, error) {
	if tx == nil {
		return false, postbag.ErrNoTx
	}
	q, err := cancelCommand(d.catalog, box, id)
	if err != nil {
		return false, err
	}
	result, err := tx.ExecContext(ctx, q.sql, q.args...)
	if err != nil {
		return false, appendError(box, err)
	}
	n, err := result.RowsAffected()
	return n > 0, translateError("cancel in "+box, err)
}

// InTx implements postbag.Appender.
func (d *DB) InTx(ctx context.Context, fn func(context.Context, postbag.SQLTx) error) (err error) {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return translateError("begin", err)
	}
	ended := false
	defer func() {
		if !ended { // fn failed or panicked
			err = errors.Join(err, tx.Rollback())
		}
	}()
	if err := fn(ctx, tx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ended = true
	return sqlCommitError(tx.Commit())
}

// sqlCommitError tells a commit that the server refused from one whose answer was
// lost. Drivers give the server's refusals an SQLState method; class 08 and the
// shutdown states come with the end of the connection.
func sqlCommitError(err error) error {
	var refused interface{ SQLState() string }
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrTxCommitRollback):
		return errors.New("pgstore: commit: the transaction had failed before and was rolled back; look at the first error")
	case errors.Is(err, sql.ErrTxDone):
		return fmt.Errorf("pgstore: commit: the transaction had ended before and was rolled back: %w", err)
	case errors.As(err, &refused) && len(refused.SQLState()) == 5 && refused.SQLState()[:2] != "08" && refused.SQLState()[:3] != "57P":
		return translateError("commit", err)
	default:
		return fmt.Errorf("pgstore: commit: %w", postbag.ErrCommitUnknown)
	}
}

// Wake implements postbag.Appender. It does nothing: a relay in this process has
// a Store of its own, and polls.
func (d *DB) Wake(string) {}
