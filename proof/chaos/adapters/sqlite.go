package adapters

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver of strangers

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

// SQLite is a file with sqlitestore.
type SQLite struct{}

// Name implements chaos.Store.
func (SQLite) Name() string { return "sqlite" }

// Open implements chaos.Store.
func (SQLite) Open(ctx context.Context, dsn string) (store.Store, func() error, error) {
	s, err := sqlitestore.Open(ctx, dsn, sqlitestore.Options{})
	return opened(s, err)
}

// Write implements chaos.Store.
func (SQLite) Write(ctx context.Context, dsn string) (chaos.Writer, error) {
	s, err := sqlitestore.Open(ctx, dsn, sqlitestore.Options{})
	if err != nil {
		return nil, err
	}
	pub, err := postbag.NewPublisher(s.SQL(), postbag.PublisherOptions{})
	if err != nil {
		return nil, err
	}
	return brief{&writer[*sql.Tx]{
		pub: pub,
		mark: func(ctx context.Context, tx *sql.Tx, name string) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO placed VALUES (?, 1)`, name)
			return err
		},
		plain: sqlitePlain,
		undone: func(ctx context.Context, tx *sql.Tx, publish func(*sql.Tx) error) error {
			if _, err := tx.ExecContext(ctx, `SAVEPOINT undone`); err != nil {
				return err
			}
			err := publish(tx)
			_, back := tx.ExecContext(ctx, `ROLLBACK TO undone`)
			return errors.Join(err, back)
		},
		stands: func(ctx context.Context, name string) (stands bool, err error) {
			err = pub.InTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
				if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO placed VALUES (?, 0)`, name); err != nil {
					return err
				}
				return tx.QueryRowContext(ctx, `SELECT stands FROM placed WHERE name = ?`, name).Scan(&stands)
			})
			return stands, err
		},
		close: s.Close,
	}}, nil
}

// brief is a writer that holds up others while it waits, as SQLite's only one does: it waits less.
type brief struct{ chaos.Writer }

// Write implements chaos.Writer.
func (b brief) Write(ctx context.Context, t *chaos.Transaction) error {
	short := *t
	short.Delay = min(t.Delay/10, 100*time.Millisecond)
	return b.Writer.Write(ctx, &short)
}

func sqlitePlain(ctx context.Context, tx *sql.Tx, msgs []postbag.Message) error {
	return insert(ctx, tx, `INSERT INTO postbag_outbox (id, topic, type, "key", headers, payload) VALUES `, msgs)
}

// sqlite is a file, on a small file system of its own where that may be.
type sqlite struct {
	path, version string
	watch         *sql.DB
	writing       writing // at the last look
	disk          *testserver.Tmpfs
}

// Start implements chaos.Store.
func (SQLite) Start(ctx context.Context, t chaos.Terms) (_ chaos.Database, err error) {
	f := &sqlite{path: filepath.Join(t.Dir, "shop.db")}
	if t.Wants(fullDisk) {
		if f.disk, err = diskOf(ctx, 4<<30); err != nil {
			return nil, err
		}
		if f.disk != nil {
			f.path = filepath.Join(f.disk.Dir(), "shop.db")
		}
	}
	s, err := sqlitestore.Open(ctx, f.path, sqlitestore.Options{Create: true})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	err = s.SQL().InTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, text := range []string{`CREATE TABLE placed (name TEXT PRIMARY KEY, stands INTEGER NOT NULL)`, sqliteEffects} {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return tx.QueryRowContext(ctx, `SELECT 'SQLite ' || sqlite_version()`).Scan(&f.version)
	})
	if err = errors.Join(err, s.Close()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Version implements chaos.Database.
func (f *sqlite) Version() string { return f.version }

// DSN implements chaos.Database.
func (f *sqlite) DSN(chaos.Role) string { return f.path }

// Close implements chaos.Database.
func (f *sqlite) Close() (err error) {
	if f.watch != nil {
		err = f.watch.Close()
	}
	return errors.Join(err, closed(f.disk))
}

// open opens the file as somebody else does.
func (f *sqlite) open() (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+f.path+"?_pragma=busy_timeout(10000)&_pragma=synchronous(full)")
}

// stranger opens a connection of somebody else.
func (f *sqlite) stranger(ctx context.Context, do func(context.Context, *sql.Conn) error) (err error) {
	db, err := f.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, conn), conn.Close())
}

// Faults implements chaos.Database.
func (f *sqlite) Faults() []chaos.Fault {
	statement := func(name, text string) chaos.Fault {
		return chaos.Fault{
			Name: name, Room: chaos.Databases,
			Begin: func(ctx context.Context, s *chaos.Strike) (func(context.Context) error, error) {
				err := f.stranger(ctx, func(ctx context.Context, c *sql.Conn) error {
					_, err := c.ExecContext(ctx, text)
					return err
				})
				if isBusy(err) {
					s.Idle("others had the lock all the time")
					return nil, nil
				}
				return nil, err
			},
		}
	}
	all := []chaos.Fault{
		statement("VACUUM", "VACUUM"),
		statement("checkpoint that empties the log", "PRAGMA wal_checkpoint(TRUNCATE)"),
		statement("REINDEX", "REINDEX"),
		f.backup(),
		f.holding("stranger's write transaction", "BEGIN IMMEDIATE", false),
		f.holding("snapshot held for the whole run", "BEGIN; SELECT count(*) FROM placed", true),
	}
	return append(all, full(fullDisk, chaos.Databases, f.disk, nil))
}

// backup is a copy of the whole database, which is read for as long as that takes.
func (f *sqlite) backup() chaos.Fault {
	return chaos.Fault{
		Name: "backup with VACUUM INTO", Room: chaos.Databases,
		Begin: func(ctx context.Context, _ *chaos.Strike) (func(context.Context) error, error) {
			to := f.path + ".backup"
			return nil, errors.Join(f.stranger(ctx, func(ctx context.Context, c *sql.Conn) error {
				_, err := c.ExecContext(ctx, "VACUUM INTO ?", to)
				return err
			}), os.Remove(to))
		},
	}
}

func isBusy(err error) bool { return err != nil && strings.Contains(err.Error(), "SQLITE_BUSY") }

// holdMost is how long a transaction is held at a time: meanwhile the file's log cannot be emptied, and grows.
const holdMost = 30 * time.Second

// hold holds a transaction until its time is over, or enough is closed, which it says.
func hold(ctx context.Context, c *sql.Conn, begin string, begun chan<- struct{}, enough <-chan struct{}) (over bool, err error) {
	_, err = c.ExecContext(ctx, begin)
	select {
	case begun <- struct{}{}:
	default:
	}
	t := time.NewTimer(holdMost)
	defer t.Stop()
	select {
	case <-enough:
		over = true
	case <-t.C:
	}
	_, back := c.ExecContext(ctx, "ROLLBACK")
	return over, cmp.Or(err, back)
}

// holding is a transaction that stays open. What lasts throughout is begun again from time to time.
func (f *sqlite) holding(name, begin string, throughout bool) chaos.Fault {
	return chaos.Fault{
		Name: name, Room: chaos.Databases, Throughout: throughout, Least: 500 * time.Millisecond, Most: 3 * time.Second,
		Begin: func(ctx context.Context, _ *chaos.Strike) (func(context.Context) error, error) {
			ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
			begun, enough, ended := make(chan struct{}, 1), make(chan struct{}), make(chan error, 1)
			go func() {
				ended <- f.stranger(ctx, func(ctx context.Context, c *sql.Conn) error {
					for {
						over, err := hold(ctx, c, begin, begun, enough)
						switch {
						case !throughout && !isBusy(err): // busy: others had the lock all the time, such as a producer that stands still
							return err
						case over:
							return nil // a full disk may have ended it meanwhile
						}
					}
				})
			}()
			<-begun
			return func(context.Context) error {
				defer cancel()
				close(enough)
				return <-ended
			}, nil
		},
	}
}
