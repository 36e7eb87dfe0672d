package main

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/store/mysqlstore"
	"github.com/postbag/postbag/store/pgstore"
	"github.com/postbag/postbag/store/sqlitestore"
)

// shown is a store whose data is kept from run to run, and which a console shows.
type shown struct {
	store closing
	// kind and dsn are what the postbag command opens it by.
	kind, dsn string
	append    func(ctx context.Context, msgs []postbag.Message) error // in a transaction of its own
	exec      func(ctx context.Context, text string, args ...any) error
	bulk      bulk
	serverCPU func() time.Duration
	note      string // the file that says what it is filled with
	end       func(context.Context) error
}

// openShown opens a store in a folder, and makes it if there is none.
type openShown func(ctx context.Context, folder string) (*shown, error)

// shownBox is the box that the console shows.
const shownBox = "outbox"

// keptFor is how long such a store keeps what was delivered: the rows are what is measured.
const keptFor = 10 * 365 * 24 * time.Hour

func (s *shown) close(ctx context.Context) error {
	var err error
	if s.store != nil {
		err = s.store.Close()
	}
	return errors.Join(err, s.end(ctx))
}

// publisherOf has a store append messages in transactions of its own.
func publisherOf[Tx any](a postbag.Appender[Tx]) (func(context.Context, []postbag.Message) error, error) {
	p, err := postbag.NewPublisher(a, postbag.PublisherOptions{Box: shownBox})
	if err != nil {
		return nil, err
	}
	return inTx(p), nil
}

func shownPostgres(ctx context.Context, folder string) (_ *shown, err error) {
	server, err := testserver.StartPostgres(ctx, testserver.PostgresOptions{
		DataDir: filepath.Join(folder, "data"), Kept: true, StartTimeout: 10 * time.Minute,
		Settings: map[string]string{"shared_buffers": "2GB", "max_wal_size": "512MB", "checkpoint_timeout": "5min"},
	})
	if err != nil {
		return nil, err
	}
	s := &shown{kind: "postgresql", dsn: server.DSN("postgres"), bulk: bulkPostgres, note: filepath.Join(folder, "filled.json")}
	s.serverCPU = func() time.Duration { return postgresCPU(server) }
	var pool *pgxpool.Pool
	s.end = func(ctx context.Context) error {
		if pool != nil {
			pool.Close()
		}
		return errors.Join(server.Stop(ctx, testserver.StopFast), server.Close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(ctx))
		}
	}()
	if pool, err = pgxpool.New(ctx, server.DSN("postgres")+"&pool_max_conns=16"); err != nil {
		return nil, err
	}
	opened, err := pgstore.Open(ctx, pool, pgstore.Options{Create: true, Boxes: []string{shownBox}})
	if err != nil {
		return nil, err
	}
	s.store = opened
	s.exec = func(ctx context.Context, text string, args ...any) error {
		_, err := pool.Exec(ctx, text, args...)
		return err
	}
	s.append, err = publisherOf[pgx.Tx](opened)
	return s, err
}

func shownMariaDB(ctx context.Context, folder string) (_ *shown, err error) {
	server, err := testserver.StartMySQL(ctx, testserver.MySQLOptions{
		DataDir: filepath.Join(folder, "data"), Kept: true, StartTimeout: 10 * time.Minute,
		Settings: map[string]string{"innodb-buffer-pool-size": "2G", "innodb-log-file-size": "256M", "expire-logs-days": "1", "max-binlog-size": "64M"},
	})
	if err != nil {
		return nil, err
	}
	s := &shown{kind: "mysql", dsn: server.DSN("shown"), bulk: bulkMariaDB, note: filepath.Join(folder, "filled.json")}
	var db *sql.DB
	s.end = func(ctx context.Context) error {
		if db != nil {
			_ = db.Close()
		}
		return errors.Join(server.Stop(ctx), server.Close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(ctx))
		}
	}()
	if db, err = sql.Open("mysql", server.DSN("")); err != nil {
		return nil, err
	}
	for _, text := range []string{"CREATE DATABASE IF NOT EXISTS shown", "RESET MASTER"} { // the binary log of earlier runs takes room
		if _, err = db.ExecContext(ctx, text); err != nil {
			return nil, err
		}
	}
	_ = db.Close()
	if db, err = sql.Open("mysql", s.dsn); err != nil {
		return nil, err
	}
	if s.serverCPU, err = processOf(ctx, db); err != nil {
		return nil, err
	}
	opened, err := mysqlstore.Open(ctx, s.dsn, mysqlstore.Options{Create: true, Connections: 16})
	if err != nil {
		return nil, err
	}
	s.store = opened
	s.exec = execOf(db)
	s.append, err = publisherOf[postbag.SQLTx](opened)
	return s, err
}

func shownSQLite(ctx context.Context, folder string) (_ *shown, err error) {
	path := filepath.Join(folder, "outbox.db")
	s := &shown{kind: "sqlite", dsn: path, bulk: bulkSQLite, note: filepath.Join(folder, "filled.json"), serverCPU: func() time.Duration { return 0 }}
	opened, err := sqlitestore.Open(ctx, path, sqlitestore.Options{Create: true})
	if err != nil {
		return nil, err
	}
	s.store = opened
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(60000)")
	s.end = func(context.Context) error { return db.Close() }
	if err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	s.exec = execOf(db)
	s.append, err = publisherOf[postbag.SQLTx](opened)
	return s, err
}

func execOf(db *sql.DB) func(ctx context.Context, text string, args ...any) error {
	return func(ctx context.Context, text string, args ...any) error {
		_, err := db.ExecContext(ctx, text, args...)
		return err
	}
}

// shownFolder is where the data of a kind of store is kept; a temporary folder if nobody says one, which remove deletes.
func (l *testbed) shownFolder(kind string) (folder string, remove func() error, err error) {
	if l.settings.data != "" {
		folder = filepath.Join(l.settings.data, kind)
		return folder, func() error { return nil }, os.MkdirAll(folder, 0o755) //nolint:gosec // the servers run as other users
	}
	folder, err = os.MkdirTemp("", "postbag-bench-")
	return folder, func() error { return os.RemoveAll(folder) }, errors.Join(err, os.Chmod(folder, 0o755)) //nolint:gosec // the same
}
