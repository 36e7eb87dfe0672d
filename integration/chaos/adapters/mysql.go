package adapters

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/integration/chaos"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/mysqlstore"
	"github.com/postbag/postbag/store"
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
	if err != nil {
		return nil, nil, err
	}
	return s, s.Close, nil
}

// Write implements chaos.Store.
func (MySQL) Write(ctx context.Context, dsn string) (chaos.Writer, error) {
	_ = mysql.SetLogger(&mysql.NopLogger{}) // of lost connections there are many here; it fails without a logger only
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return nil, errors.New("adapters: the DSN of MySQL is not one") // what the driver says may hold the password
	}
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	out, err := mysqlstore.OpenDB(ctx, db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	pub, err := postbag.NewPublisher[postbag.SQLTx](out, postbag.PublisherOptions{})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &writer[postbag.SQLTx]{
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
		stands: func(ctx context.Context, name string) (stands bool, err error) {
			// It waits for a commit that is still on its way, and keeps one from coming later.
			if _, err := db.ExecContext(ctx, "INSERT IGNORE INTO placed VALUES (?, FALSE)", name); err != nil {
				return false, err
			}
			err = db.QueryRowContext(ctx, "SELECT stands FROM placed WHERE name = ?", name).Scan(&stands)
			return stands, err
		},
		close: db.Close,
	}, nil
}

func mysqlPlain(ctx context.Context, tx postbag.SQLTx, msgs []postbag.Message) error {
	rows, args := make([]string, len(msgs)), []any{}
	for i := range msgs {
		m := &msgs[i]
		headers, err := json.Marshal(m.Headers)
		if err != nil {
			return err
		}
		rows[i] = "(?, ?, ?, ?, ?)"
		args = append(args, m.ID[:], m.Topic, m.Key, string(headers), m.Payload)
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO postbag_outbox (id, topic, `key`, headers, payload) VALUES "+strings.Join(rows, ", "), args...)
	return err
}

// mysqlServer is a started MySQL or MariaDB.
type mysqlServer struct {
	server            *testserver.MySQL
	relays, producers *chaos.Wire
}

const mysqlDatabase = "shop"

// Start implements chaos.Store.
func (m MySQL) Start(ctx context.Context, _ chaos.Terms) (_ chaos.Database, err error) {
	s := &mysqlServer{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.server, err = testserver.StartMySQL(ctx, testserver.MySQLOptions{Oracle: !m.MariaDB}); err != nil {
		return nil, err
	}
	if s.relays, err = chaos.NewWire(s.address()); err != nil {
		return nil, err
	}
	if s.producers, err = chaos.NewWire(s.address()); err != nil {
		return nil, err
	}
	for _, text := range []string{
		"CREATE DATABASE " + mysqlDatabase,
		// A transaction's row stands there if the transaction does.
		"CREATE TABLE " + mysqlDatabase + ".placed (name VARCHAR(100) PRIMARY KEY, stands BOOLEAN NOT NULL)",
	} {
		if err := s.exec(ctx, "", text); err != nil {
			return nil, err
		}
	}
	st, err := mysqlstore.Open(ctx, s.server.DSN(mysqlDatabase), mysqlstore.Options{Create: true})
	if err != nil {
		return nil, err
	}
	return s, st.Close()
}

func (s *mysqlServer) address() string { return fmt.Sprintf("127.0.0.1:%d", s.server.Port()) }

func (s *mysqlServer) exec(ctx context.Context, database, text string) (err error) {
	db, err := sql.Open("mysql", s.server.DSN(database))
	if err != nil {
		return errors.New("adapters: the DSN of MySQL is not one")
	}
	_, err = db.ExecContext(ctx, text)
	return errors.Join(err, db.Close())
}

// Version implements chaos.Database.
func (s *mysqlServer) Version() string { return s.server.Version() }

// DSN implements chaos.Database.
func (s *mysqlServer) DSN(role chaos.Role) string {
	dsn := s.server.DSN(mysqlDatabase)
	switch role {
	case chaos.Relays:
		return strings.Replace(dsn, s.address(), s.relays.Addr(), 1)
	case chaos.Producers:
		return strings.Replace(dsn, s.address(), s.producers.Addr(), 1)
	default:
		return dsn
	}
}

// Close implements chaos.Database.
func (s *mysqlServer) Close() (err error) {
	for _, w := range []*chaos.Wire{s.relays, s.producers} {
		if w != nil {
			err = errors.Join(err, w.Close())
		}
	}
	if s.server != nil {
		err = errors.Join(err, s.server.Close())
	}
	return err
}

// Faults implements chaos.Database.
func (s *mysqlServer) Faults() []chaos.Fault {
	return slices.Concat(s.relays.Faults(chaos.DatabaseWire), []chaos.Fault{
		s.producers.Doubtful("cut after COMMIT was sent", chaos.DatabaseWire, chaos.NoRelay, "COMMIT"),
		atOnce("restart of the database", chaos.Databases, s.server.Restart),
		gone("SIGKILL of the database", chaos.Databases, s.server),
		frozen("SIGSTOP of the database", chaos.Databases, s.server),
		s.stranger("stranger's write transaction", "INSERT INTO placed VALUES (UUID(), FALSE)", true),
		s.stranger("snapshot held for the whole run", "SELECT COUNT(*) FROM placed", true),
		s.statement("OPTIMIZE of the log", "OPTIMIZE TABLE postbag_outbox"),
	})
}

// stranger is a transaction that stays open for the whole run, and is begun again where it is broken.
func (s *mysqlServer) stranger(name, statement string, throughout bool) chaos.Fault {
	return held(name, throughout, func(ctx context.Context) error {
		db, err := sql.Open("mysql", s.server.DSN(mysqlDatabase))
		if err != nil {
			return errors.New("adapters: the DSN of MySQL is not one")
		}
		defer func() { _ = db.Close() }() // it may be broken
		tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
		for ctx.Err() == nil {
			if _, err := tx.ExecContext(ctx, "DO 1"); err != nil {
				return err
			}
			_ = chaos.Pause(ctx, heldLook)
		}
		return tx.Rollback()
	})
}

func (s *mysqlServer) statement(name, text string) chaos.Fault {
	return chaos.Fault{
		Name: name, Room: chaos.Databases, Repeats: chaos.EveryRelay,
		Begin: func(ctx context.Context, _ *chaos.Strike) (func(context.Context) error, error) {
			return nil, patiently(ctx, func() error { return s.exec(ctx, mysqlDatabase, text) })
		},
	}
}
