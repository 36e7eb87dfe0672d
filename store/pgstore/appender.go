package pgstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Appender publishes through database/sql, and marks what a consumer has applied: it is
// the applications' half of a store, for transactions that are *sql.Tx, sqlx's, bun's,
// ent's or GORM's. It is made by [OpenAppender] and is safe for concurrent use. A relay
// needs a [Store].
type Appender struct {
	db      *sql.DB
	opts    AppenderOptions
	catalog *statementSet

	due    chan string // holds one request to notify
	cancel context.CancelFunc
	done   sync.WaitGroup
}

var _ postbag.Appender[postbag.SQLTx] = (*Appender)(nil)

// AppenderOptions are the settings of an Appender. The zero AppenderOptions wakes
// nobody: relays find new messages by polling.
type AppenderOptions struct {
	// Wake is called with the box after each commit of the publisher's InTx and each
	// Committed. Set it to Store.Wake, if a relay of this process has a Store of its own.
	// It must not block. Defaults to nothing.
	Wake func(box string)
	// Notify is the least time between two notifications to other processes, each outside
	// of your transactions. Relays there listen with Options.Listen. Zero: none is sent.
	Notify time.Duration
	// SQLComments adds a comment to each statement that says whose it is. Defaults to no
	// comments.
	SQLComments store.SQLComments
	// OnFault is called with the error when a notification could not be sent. It must not
	// block, and is called at most once a second. Defaults to nothing.
	OnFault func(error)
}

// OpenAppender returns an appender that publishes in transactions of db, with any driver.
// Every parameter is text or bytes, so pgx's driver, lib/pq and poolers in transaction
// mode all work. Schema and boxes must exist: make them with postbag migrate up, or with
// Open and its Create option. db stays yours.
func OpenAppender(ctx context.Context, db *sql.DB, o AppenderOptions) (*Appender, error) {
	switch {
	case db == nil:
		return nil, errors.New("pgstore: open: db is nil; give an open *sql.DB, or use Open with a pool")
	case o.Notify < 0:
		return nil, fmt.Errorf("pgstore: AppenderOptions.Notify is %s; give the least time between two notifications, or zero for none", o.Notify)
	}
	if err := o.SQLComments.Validate(); err != nil {
		return nil, fmt.Errorf("pgstore: AppenderOptions.%w", err)
	}
	catalog, err := newStatementSet(storekit.NewComments(o.SQLComments))
	if err != nil {
		return nil, translateError("open", err)
	}
	var there bool
	var database string
	// It reads one row of a catalogue by its name and locks nothing.
	err = db.QueryRowContext(ctx, `SELECT to_regclass('postbag._meta') IS NOT NULL, current_database()::text`).Scan(&there, &database)
	if err != nil {
		return nil, translateError("open", err)
	}
	if !there {
		return nil, fmt.Errorf("pgstore: open: %w", noTables(database))
	}
	a := &Appender{db: db, opts: o, catalog: catalog, due: make(chan string, 1), cancel: func() {}}
	if o.Notify > 0 {
		faults := &faults{report: o.OnFault}
		run, cancel := context.WithCancel(context.Background())
		a.cancel = cancel
		a.done.Go(func() {
			notify(run, a.due, o.Notify, func(ctx context.Context, box string) { a.sendNotification(ctx, faults, box) })
		})
	}
	return a, nil
}

// Close ends the sending of notifications. It leaves db open. A second Close does
// nothing.
func (d *Appender) Close() error {
	d.cancel()
	d.done.Wait()
	return nil
}

// Wake implements postbag.Appender: it calls AppenderOptions.Wake, and has other
// processes notified, soon.
func (d *Appender) Wake(box string) {
	if d.opts.Wake != nil {
		d.opts.Wake(box)
	}
	if d.opts.Notify <= 0 {
		return
	}
	select {
	case d.due <- box:
	default:
	}
}

func (d *Appender) sendNotification(ctx context.Context, faults *faults, box string) {
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	if _, err := d.db.ExecContext(ctx, d.catalog.get("notify", "").sql, box); err != nil && ctx.Err() == nil {
		faults.tell("notify", translateError("notify other processes", err))
	}
}

// Append implements postbag.Appender.
func (d *Appender) Append(ctx context.Context, tx postbag.SQLTx, box string, msgs []postbag.Message) error {
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
	if sqlState(err) == codeNoParameter {
		return rewritten("append to " + box)
	}
	return appendError(box, err)
}

func rewritten(doing string) error {
	return &fault{
		doing: doing, said: "this transaction changes the placeholders of a statement", fix: "pass the *sql.Tx inside it (bun: tx.Tx)",
	}
}

// Lock implements postbag.Appender.
func (d *Appender) Lock(ctx context.Context, tx postbag.SQLTx, box string, keys []string) error {
	if tx == nil {
		return postbag.ErrNoTx
	}
	q := lockCommand(d.catalog, box, keys)
	_, err := tx.ExecContext(ctx, q.sql, q.args...)
	return translateError("lock keys of "+box, err)
}

// Cancel implements postbag.Appender.
func (d *Appender) Cancel(ctx context.Context, tx postbag.SQLTx, box string, id postbag.ID) (bool, error) {
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
func (d *Appender) InTx(ctx context.Context, fn func(context.Context, postbag.SQLTx) error) (err error) {
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
