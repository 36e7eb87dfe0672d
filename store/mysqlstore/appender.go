package mysqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Appender publishes in transactions of your own *sql.DB: *sql.Tx, sqlx's, bun's, ent's
// or GORM's, and marks there what a consumer has applied ([store.Inbox]). It is the
// writing half of a store. [OpenAppender] makes one. It is safe for concurrent use. A
// relay needs a [Store].
type Appender struct {
	db       *sql.DB
	opts     AppenderOptions
	producer producer
}

var _ postbag.Appender[postbag.SQLTx] = (*Appender)(nil)

// AppenderOptions are the settings of an Appender. The zero AppenderOptions wakes
// nobody: relays find new messages by polling.
type AppenderOptions struct {
	// Wake is called with the box after each commit of the publisher's InTx and each
	// Committed. Set it to Store.Wake, if a relay of this process has a Store of its own.
	// It must not block. Defaults to nothing.
	Wake func(box string)
	// SQLComments adds a comment to each statement that says whose it is. Defaults to no
	// comments.
	SQLComments store.SQLComments
}

// OpenAppender returns an appender that publishes in transactions of db, whatever its
// driver's settings: its statements have no placeholders. Schema and boxes must exist:
// make them with postbag migrate up, or with Open and its Create option. db stays yours.
func OpenAppender(ctx context.Context, db *sql.DB, o AppenderOptions) (*Appender, error) {
	if db == nil {
		return nil, errors.New("mysqlstore: open: db is nil; give an open *sql.DB, or use Open with a DSN")
	}
	if err := o.SQLComments.Validate(); err != nil {
		return nil, fmt.Errorf("mysqlstore: AppenderOptions.%w", err)
	}
	comments := storekit.NewComments(o.SQLComments)
	d := &Appender{db: db, opts: o, producer: producer{comments: comments}}
	s := Store{db: db, comment: comments.Publisher}
	if err := s.recogniseServer(ctx); err != nil {
		return nil, err
	}
	if err := s.checkSchema(ctx); err != nil {
		return nil, err
	}
	var v serverState
	if _, err := s.row(ctx, s.serverStateText(), nil, v.dest()...); err != nil {
		return nil, translateError("open", err)
	}
	d.producer.packet.Store(s.producer.packet.Load())
	d.producer.clock(v.now, v.at)
	return d, nil
}

// Append implements postbag.Appender.
func (d *Appender) Append(ctx context.Context, tx postbag.SQLTx, box string, msgs []postbag.Message) error {
	return d.producer.append(ctx, tx, box, msgs)
}

// Lock implements postbag.Appender. It locks rows of a table with 4,096 of them.
func (d *Appender) Lock(ctx context.Context, tx postbag.SQLTx, box string, keys []string) error {
	return d.producer.lock(ctx, tx, box, keys)
}

// Cancel implements postbag.Appender.
func (d *Appender) Cancel(ctx context.Context, tx postbag.SQLTx, box string, id postbag.ID) (bool, error) {
	return d.producer.cancel(ctx, tx, box, id)
}

// InTx implements postbag.Appender.
func (d *Appender) InTx(ctx context.Context, fn func(context.Context, postbag.SQLTx) error) error {
	return inTx(ctx, d.db, fn)
}

// Wake implements postbag.Appender: it calls AppenderOptions.Wake.
func (d *Appender) Wake(box string) {
	if d.opts.Wake != nil {
		d.opts.Wake(box)
	}
}

// Append writes msgs to box in tx; see [postbag.Appender].
func (s *Store) Append(ctx context.Context, tx postbag.SQLTx, box string, msgs []postbag.Message) error {
	return s.producer.append(ctx, tx, box, msgs)
}

// Lock locks keys of box until tx ends; see [postbag.Appender].
func (s *Store) Lock(ctx context.Context, tx postbag.SQLTx, box string, keys []string) error {
	return s.producer.lock(ctx, tx, box, keys)
}

// Cancel removes a scheduled message that is not yet due; see [postbag.Appender].
func (s *Store) Cancel(ctx context.Context, tx postbag.SQLTx, box string, id postbag.ID) (bool, error) {
	return s.producer.cancel(ctx, tx, box, id)
}

// InTx runs fn in a new transaction on one of the store's sessions, which is READ
// COMMITTED, and commits it; see [postbag.Appender].
func (s *Store) InTx(ctx context.Context, fn func(context.Context, postbag.SQLTx) error) error {
	return inTx(ctx, s.db, fn)
}

func inTx(ctx context.Context, db *sql.DB, fn func(context.Context, postbag.SQLTx) error) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return translateError("begin", err)
	}
	ended := false
	defer func() {
		if !ended { // fn failed or panicked
			if end := tx.Rollback(); end != nil && !errors.Is(end, sql.ErrTxDone) && ctx.Err() == nil {
				err = errors.Join(err, translateError("roll back", end))
			}
		}
	}()
	if err := fn(ctx, tx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ended = true
	return commitError(tx.Commit())
}

// codeRolledBack is MySQL's for a COMMIT that a plug-in, such as that of groups,
// has refused.
const codeRolledBack = 3101

// commitError tells a commit that the server refused from one whose answer was
// lost.
func commitError(err error) error {
	switch code := codeOf(err); {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrTxDone):
		return fmt.Errorf("mysqlstore: commit: the transaction had ended before and was rolled back: %w", err)
	case code == codeDeadlock, code == codeLockWait, code == codeRolledBack, code == codeReadOnly, code == codeReadOnlyTx:
		return translateError("commit", err)
	case fails(err):
		return fmt.Errorf("mysqlstore: commit: %w: %w", &plain{text: serverMessage(err), err: err}, postbag.ErrCommitUnknown)
	default:
		return fmt.Errorf("mysqlstore: commit: %w", postbag.ErrCommitUnknown)
	}
}
