package adapters

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

// MySQL is MySQL 9, or MariaDB, with mysqlstore.
type MySQL struct{ MariaDB bool }

// Name implements chaos.Store.
func (m MySQL) Name() string {
	if m.MariaDB {
		return "mariadb"
	}
	return "mysql"
}

// Open implements chaos.Store.
func (MySQL) Open(ctx context.Context, dsn string) (store.Store, func() error, error) {
	s, err := mysqlstore.Open(ctx, dsn, mysqlstore.Options{})
	return opened(s, err)
}

// Write implements chaos.Store.
func (m MySQL) Write(ctx context.Context, dsn string) (chaos.Writer, error) {
	db, err := mysqlOpen(dsn, 16)
	if err != nil {
		return nil, err
	}
	out, err := mysqlstore.OpenAppender(ctx, db, mysqlstore.AppenderOptions{})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	pub, err := postbag.NewPublisher[postbag.SQLTx](out, postbag.PublisherOptions{})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &mysqlWriter{db: db, writer: &writer[postbag.SQLTx]{
		pub: pub,
		mark: func(ctx context.Context, tx postbag.SQLTx, name string) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO placed VALUES (?, TRUE)", name)
			return err
		},
		plain: mysqlPlain,
		undone: func(ctx context.Context, tx postbag.SQLTx, publish func(postbag.SQLTx) error) error {
			if _, err := tx.ExecContext(ctx, "SAVEPOINT undone"); err != nil {
				return err
			}
			if err := publish(tx); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT undone")
			return err
		},
		stands: func(ctx context.Context, name string) (bool, error) { return mysqlStands(ctx, db, name) },
		close:  db.Close,
	}}, nil
}

// mysqlOpen opens a pool of so many sessions.
func mysqlOpen(dsn string, most int) (*sql.DB, error) {
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, errors.New("adapters: the DSN of MySQL is not one") // what the driver says may hold the password
	}
	c.Logger = &mysql.NopLogger{} // of lost connections there are many here
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, errors.New("adapters: the DSN of MySQL cannot be used")
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	return db, nil
}

// mysqlStands finishes the second phase of a transaction that has two.
func mysqlStands(ctx context.Context, db *sql.DB, name string) (stands bool, err error) {
	if err := xaCommitElsewhere(ctx, db, name); err != nil && !errors.Is(err, errNotPrepared) {
		return false, err
	}
	// It waits for a commit that is still on its way, and keeps one from coming later.
	if _, err := db.ExecContext(ctx, "INSERT IGNORE INTO placed VALUES (?, FALSE)", name); err != nil {
		return false, err
	}
	err = db.QueryRowContext(ctx, "SELECT stands FROM placed WHERE name = ?", name).Scan(&stands)
	return stands, err
}

// mysqlWriter has transactions in two phases too.
type mysqlWriter struct {
	*writer[postbag.SQLTx]

	db *sql.DB
}

// Write implements chaos.Writer.
func (w *mysqlWriter) Write(ctx context.Context, t *chaos.Transaction) error {
	if !t.Prepared {
		return w.writer.Write(ctx, t)
	}
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return err
	}
	err = w.inTwoPhases(ctx, xaTx{conn}, t)
	if err != nil { // the session goes, and with it a transaction that is not prepared
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	_ = conn.Close() // it may be broken, which nobody needs to know
	return err
}

func (w *mysqlWriter) inTwoPhases(ctx context.Context, tx xaTx, t *chaos.Transaction) error {
	xid, err := xaStart(ctx, tx.Conn, t.Name)
	if err != nil {
		return err
	}
	if err := errors.Join(w.mark(ctx, tx, t.Name), w.publish(ctx, tx, t)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "XA END "+xid); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "XA PREPARE "+xid); err != nil {
		return fmt.Errorf("prepare: %w", postbag.ErrCommitUnknown)
	}
	if err := chaos.Pause(ctx, t.Delay); err != nil {
		return fmt.Errorf("prepared: %w", postbag.ErrCommitUnknown)
	}
	if _, err := tx.ExecContext(ctx, "XA COMMIT "+xid); err != nil {
		return fmt.Errorf("commit prepared: %w", postbag.ErrCommitUnknown)
	}
	return nil
}

// xaTx is a session with a transaction that is ended in SQL.
type xaTx struct{ *sql.Conn }

var errXA = errors.New("adapters: a transaction in two phases is ended in SQL")

func (xaTx) Commit() error   { return errXA }
func (xaTx) Rollback() error { return errXA }

func mysqlPlain(ctx context.Context, tx postbag.SQLTx, msgs []postbag.Message) error {
	return insert(ctx, tx, "INSERT INTO postbag_outbox (id, topic, type, `key`, headers, payload) VALUES ", msgs)
}
