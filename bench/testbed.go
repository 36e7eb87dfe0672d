package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/store/pgstore"
)

// testbed is the servers of a run.
type testbed struct {
	settings *settings
	pg       *testserver.Postgres
	nats     *testserver.NATS
	pool     *pgxpool.Pool
	boxes    int
	groups   int // of consumers of Kafka
	profile  *profile
	alone    map[string]float64 // what writers committed a second with no relay, by server

	// What only some scenarios need is started by the first of them.
	redis   *testserver.Redis
	rabbit  *testserver.RabbitMQ
	kafka   *testserver.Kafka
	mariadb *testserver.MySQL
	mysql   *testserver.MySQL
	effects *pgstore.Store // whose transactions have what handlers do
	closers []func() error
	postbag string // the postbag command, once it is built
}

func newTestbed(ctx context.Context, o *settings) (*testbed, error) {
	pg, err := testserver.StartPostgres(ctx, testserver.PostgresOptions{Settings: map[string]string{
		"shared_buffers": "1GB", "max_wal_size": "8GB", "checkpoint_timeout": "30min",
	}})
	if err != nil {
		return nil, err
	}
	l := &testbed{settings: o, pg: pg, profile: &profile{folder: o.profiles}}
	l.nats, err = testserver.StartNATS(ctx, testserver.NATSOptions{})
	if err != nil {
		l.close()
		return nil, err
	}
	c, err := pgxpool.ParseConfig(pg.DSN("postgres"))
	if err == nil {
		c.MaxConns = 64
		l.pool, err = pgxpool.NewWithConfig(ctx, c)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// once starts a server for the first that asks, and ends it with the testbed.
func once[S interface {
	comparable
	Close() error
}](l *testbed, server *S, start func() (S, error),
) (S, error) {
	var none S
	if *server != none {
		return *server, nil
	}
	s, err := start()
	if err != nil {
		return none, err
	}
	*server = s
	l.closers = append(l.closers, s.Close)
	return s, nil
}

func (l *testbed) close() {
	for _, end := range l.closers {
		_ = end()
	}
	if l.pool != nil {
		l.pool.Close()
	}
	if l.nats != nil {
		_ = l.nats.Close()
	}
	_ = l.pg.Close()
}

// durable are the settings that a figure must be read with.
var durable = []string{"fsync", "synchronous_commit", "full_page_writes", "wal_level", "shared_buffers"}

func (l *testbed) printHead() {
	fmt.Printf("%s; ", l.pg.Version())
	for _, name := range durable {
		var v string
		if err := l.pool.QueryRow(context.Background(), "show "+name).Scan(&v); err == nil {
			fmt.Printf("%s=%s ", name, v)
		}
	}
	fmt.Printf("\n%d rounds, medians; payload 512 bytes, a key, a topic, two headers\n", l.settings.rounds)
}

// box makes an empty box and returns its name and a store over it.
func (l *testbed) box(ctx context.Context) (string, *pgstore.Store, error) {
	return l.boxWith(ctx, pgstore.Options{})
}

func (l *testbed) boxWith(ctx context.Context, o pgstore.Options) (string, *pgstore.Store, error) {
	l.boxes++
	name := fmt.Sprintf("bench%d", l.boxes)
	o.Create, o.Boxes = true, []string{name}
	s, err := pgstore.Open(ctx, l.pool, o)
	return name, s, err
}

// payload is what every message carries.
var payload = []byte(`{"data":"` + strings.Repeat("x", 501) + `"}`)

// fill commits n messages over so many keys.
func (l *testbed) fill(ctx context.Context, s *pgstore.Store, box string, n, keys int) error {
	b, err := l.prepare(ctx, s, box, n, keys)
	if err != nil {
		return err
	}
	return b.commit(ctx)
}

// backlog is messages whose transaction is still open: what waits for them can be
// made ready before they are there, all at once.
type backlog struct {
	tx pgx.Tx
}

// prepare writes n messages over so many keys, and has the disk quiet.
func (l *testbed) prepare(ctx context.Context, s *pgstore.Store, box string, n, keys int) (*backlog, error) {
	p, err := postbag.NewPublisher(s, postbag.PublisherOptions{Box: box})
	if err != nil {
		return nil, err
	}
	tx, err := l.pool.Begin(ctx)
	if err != nil {
		return nil, err
	}
	for done := 0; done < n; {
		msgs := make([]postbag.Message, min(5000, n-done))
		for i := range msgs {
			msgs[i] = newMessage((done + i) % keys)
		}
		if err := p.Publish(ctx, tx, msgs...); err != nil {
			return nil, errors.Join(err, tx.Rollback(ctx))
		}
		done += len(msgs)
	}
	if _, err := l.pool.Exec(ctx, "checkpoint"); err != nil {
		return nil, errors.Join(err, tx.Rollback(ctx))
	}
	return &backlog{tx}, nil
}

func (b *backlog) commit(ctx context.Context) error { return b.tx.Commit(ctx) }

func newMessage(key int) postbag.Message {
	return postbag.Message{
		Topic: "bench.a", Key: "key-" + strconv.Itoa(key), Type: "bench",
		Headers: map[string]string{"trace": "0af7651916cd43dd8448eb211c80319c", "tenant": "7"}, Payload: payload,
	}
}

// drop removes a box's rows, so that the next scenario has the disk and the cache.
func (l *testbed) drop(ctx context.Context, box string) error {
	_, err := l.pool.Exec(ctx, "truncate postbag."+pgx.Identifier{box}.Sanitize())
	return err
}

// calm has what an earlier way wrote reach the disk, so that this one does not
// wait for it.
func (l *testbed) calm(ctx context.Context) error {
	_, err := l.pool.Exec(ctx, "checkpoint")
	syscall.Sync()
	return err
}

// serverCPU is the CPU time of the database's processes, ended ones too.
func (l *testbed) serverCPU() time.Duration { return postgresCPU(l.pg) }

func postgresCPU(server *testserver.Postgres) time.Duration {
	pid, err := os.ReadFile(filepath.Join(server.DataDir(), "postmaster.pid"))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(pid), "\n")
	var ticks int64
	entries, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range entries {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		own := strings.HasPrefix(path, "/proc/"+first+"/")
		if len(fields) < 15 || fields[1] != first && !own {
			continue
		}
		last := 13 // utime and stime
		if own {
			last = 15 // and those of children that ended
		}
		for _, f := range fields[11:last] {
			n, _ := strconv.ParseInt(f, 10, 64)
			ticks += n
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// processCPU is the CPU time of the process of a /proc/N/stat: zero if it is gone.
func processCPU(path string) time.Duration {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	var ticks int64
	if fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])); len(fields) > 12 {
		for _, f := range fields[11:13] { // utime and stime
			n, _ := strconv.ParseInt(f, 10, 64)
			ticks += n
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// clientCPU is this process's CPU time.
func clientCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

var quiet = slog.New(slog.DiscardHandler)
