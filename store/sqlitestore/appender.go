package sqlitestore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// Appender publishes in transactions of your own *sql.DB: *sql.Tx, sqlx's, bun's, ent's
// or GORM's, and marks there what a consumer has applied ([store.Inbox]). It is the
// writing half of a store. [OpenAppender] makes one. It is safe for concurrent use. A
// relay needs a [Store].
type Appender struct {
	store *Store
	opts  AppenderOptions
}

var _ postbag.Appender[postbag.SQLTx] = (*Appender)(nil)

// AppenderOptions are the settings of an Appender. The zero AppenderOptions wakes
// nobody: relays notice commits as those of another process.
type AppenderOptions struct {
	// Wake is called with the box after each commit of the publisher's InTx and each
	// Committed. Set it to Store.Wake, if a relay of this process has a Store of its own.
	// It must not block. Defaults to nothing.
	Wake func(box string)
	// SQLComments adds a comment to each statement that says whose it is. Defaults to no
	// comments.
	SQLComments store.SQLComments
}

// OpenAppender returns an appender that publishes in transactions of db. db needs the
// same settings as for [OpenDB]. Schema and boxes must exist: make them with postbag
// migrate up, or with Open and its Create option. OpenAppender writes nothing, and db
// stays yours.
func OpenAppender(ctx context.Context, db *sql.DB, o AppenderOptions) (*Appender, error) {
	if db == nil {
		return nil, errors.New("sqlitestore: open: db is nil; give an open *sql.DB, or use Open with a path")
	}
	s, err := OpenDB(ctx, db, Options{SQLComments: o.SQLComments})
	if err != nil {
		return nil, err
	}
	return &Appender{store: s, opts: o}, nil
}

// Append implements postbag.Appender.
func (d *Appender) Append(ctx context.Context, tx postbag.SQLTx, box string, msgs []postbag.Message) error {
	return d.store.Append(ctx, tx, box, msgs)
}

// Lock implements postbag.Appender. A writer is alone here.
func (d *Appender) Lock(ctx context.Context, tx postbag.SQLTx, box string, keys []string) error {
	return d.store.Lock(ctx, tx, box, keys)
}

// Cancel implements postbag.Appender.
func (d *Appender) Cancel(ctx context.Context, tx postbag.SQLTx, box string, id postbag.ID) (bool, error) {
	return d.store.Cancel(ctx, tx, box, id)
}

// InTx implements postbag.Appender.
func (d *Appender) InTx(ctx context.Context, fn func(context.Context, postbag.SQLTx) error) error {
	return d.store.InTx(ctx, fn)
}

// Wake implements postbag.Appender: it calls AppenderOptions.Wake.
func (d *Appender) Wake(box string) {
	if d.opts.Wake != nil {
		d.opts.Wake(box)
	}
}
