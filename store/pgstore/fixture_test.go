package pgstore_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag/store/pgstore"
)

// fixture is a store on a database of its own.
type fixture struct {
	*pgstore.Store
	dsn, name string
	// pool is the store's, plain another, as an application's.
	pool, plain *pgxpool.Pool
	cut         *cutter
	tb          testing.TB
}

func newFixture(tb testing.TB, dsn string, change ...func(*pgxpool.Config, *pgstore.Options)) *fixture {
	tb.Helper()
	f := &fixture{dsn: dsn, cut: &cutter{}, tb: tb}
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	config.MaxConns = 60
	config.ConnConfig.DialFunc = f.cut.dial
	f.name = config.ConnConfig.Database
	o := pgstore.Options{Create: true, Boxes: []string{}}
	for _, c := range change {
		c(config, &o)
	}
	f.pool = newPool(tb, config)
	f.plain = newPool(tb, plainConfig(tb, dsn))
	f.Store, err = pgstore.Open(tb.Context(), f.pool, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := f.Close(); err != nil {
			tb.Error(err)
		}
	})
	return f
}

func plainConfig(tb testing.TB, dsn string) *pgxpool.Config {
	tb.Helper()
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	config.MaxConns = 60
	return config
}

func newPool(tb testing.TB, config *pgxpool.Config) *pgxpool.Pool {
	tb.Helper()
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { closePool(tb, pool) })
	return pool
}

// closePool closes a pool. A test that failed may have left a transaction open, for whose connection Close would wait
// as long as the whole run may take: the server ends it with its database.
func closePool(tb testing.TB, pool *pgxpool.Pool) {
	tb.Helper()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		pool.Close()
	}()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		tb.Error("a connection was not given back within a minute after the test")
	}
}

// stranger holds a transaction open that has written in another database.
func (f *fixture) stranger(ctx context.Context) (func(context.Context) error, error) {
	config, err := pgx.ParseConfig(f.dsn)
	if err != nil {
		return nil, err
	}
	config.Database = "postgres"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	for _, sql := range []string{"BEGIN", "CREATE TEMPORARY TABLE elsewhere (n integer)", "SELECT pg_current_xact_id()"} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return nil, err
		}
	}
	return conn.Close, nil
}

// cutter makes connections on which the answer to a COMMIT can be lost.
type cutter struct{ armed atomic.Bool }

func (c *cutter) arm() { c.armed.Store(true) }

func (c *cutter) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second}
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &cutConn{Conn: conn, cutter: c}, nil
}

type cutConn struct {
	net.Conn
	cutter  *cutter
	cutting atomic.Bool
}

func (c *cutConn) Write(b []byte) (int, error) {
	if bytes.Contains(bytes.ToLower(b), []byte("commit\x00")) && c.cutter.armed.CompareAndSwap(true, false) {
		c.cutting.Store(true)
	}
	return c.Conn.Write(b)
}

// Read waits for the answer to a COMMIT, and keeps it.
func (c *cutConn) Read(b []byte) (int, error) {
	if !c.cutting.Load() {
		return c.Conn.Read(b)
	}
	if _, err := c.Conn.Read(b); err != nil {
		return 0, err
	}
	_ = c.Close()
	return 0, io.ErrUnexpectedEOF
}
