package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
	"github.com/postbag/postbag/store/pgstore"
)

// The environment of a relay in a process of its own: this program again.
const (
	envDSN  = "POSTBAG_BENCH_DSN"
	envBox  = "POSTBAG_BENCH_BOX"
	envKind = "POSTBAG_BENCH_KIND"
)

var errNotRelay = errors.New("this process is no relay")

// asRelay is the relay's process: it delivers a box into nothing until it is told
// to stop.
func asRelay() error {
	dsn, box := os.Getenv(envDSN), os.Getenv(envBox)
	if dsn == "" || box == "" {
		return errNotRelay
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s, err := openKind(ctx, os.Getenv(envKind), dsn)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	r, err := relay.New(s, relay.Options{
		Subscriptions: []relay.Subscription{{To: membroker.Null(), Box: box}}, Logger: quiet,
	})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return r.Run(ctx)
}

// The kinds of store of a relay's process.
const (
	kindPostgres = "postgres"
	kindMySQL    = "mysql"
)

// closing is a store that is closed at the end.
type closing interface {
	store.Store
	io.Closer
}

// pooled closes its pool too.
type pooled struct {
	*pgstore.Store

	pool *pgxpool.Pool
}

func (p *pooled) Close() error {
	defer p.pool.Close()
	return p.Store.Close()
}

func openKind(ctx context.Context, kind, dsn string) (closing, error) {
	if kind == kindMySQL {
		return mysqlstore.Open(ctx, dsn, mysqlstore.Options{})
	}
	c, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	c.MaxConns = 4
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, err
	}
	s, err := pgstore.Open(ctx, pool, pgstore.Options{})
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &pooled{Store: s, pool: pool}, nil
}

// relayProcess starts a relay over a box in a process of its own; stop ends it.
func relayProcess(ctx context.Context, kind, dsn, box string) (stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), envKind+"="+kind, envDSN+"="+dsn, envBox+"="+box)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if !bufio.NewScanner(out).Scan() {
		return nil, errors.Join(errors.New("the relay's process did not start"), cmd.Wait())
	}
	return func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		return cmd.Wait()
	}, nil
}
