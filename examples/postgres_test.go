package examples_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/examples/buntx"
	"github.com/postbag/postbag/examples/enttx"
	"github.com/postbag/postbag/examples/enttx/ent"
	"github.com/postbag/postbag/examples/gormtx"
	"github.com/postbag/postbag/examples/internal/shop"
	"github.com/postbag/postbag/examples/sqltx"
	"github.com/postbag/postbag/examples/sqlxtx"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// site is a database with the shop's tables and a box.
type site struct {
	t    *testing.T
	pg   *testserver.Postgres
	dsn  string
	pool *pgxpool.Pool
	db   *sql.DB
	pub  *postbag.Publisher[postbag.SQLTx]

	woken atomic.Int64 // how many times a relay was
}

func newSite(t *testing.T) *site {
	t.Helper()
	pg := servertest.Postgres(t, testserver.PostgresOptions{NoSync: true})
	s := &site{t: t, pg: pg, dsn: pg.DSN("postgres")}
	var err error
	if s.pool, err = pgxpool.New(t.Context(), s.dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.pool.Close)
	if s.db, err = sql.Open("pgx", s.dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.db.Close() })
	store, err := pgstore.Open(t.Context(), s.pool, pgstore.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	wake := func(box string) {
		s.woken.Add(1)
		store.Wake(box)
	}
	appender, err := pgstore.OpenAppender(t.Context(), s.db, pgstore.AppenderOptions{Wake: wake})
	if err != nil {
		t.Fatal(err)
	}
	if s.pub, err = postbag.NewPublisher(appender, postbag.PublisherOptions{}); err != nil {
		t.Fatal(err)
	}
	s.exec(shop.Schema)
	s.exec(`create table customers (name text primary key, orders bigint not null default 0); insert into customers values ('customer-7')`)
	return s
}

func (s *site) exec(q string) {
	s.t.Helper()
	if _, err := s.db.ExecContext(s.t.Context(), q); err != nil {
		s.t.Fatal(err)
	}
}

// delivered drains the box and returns what arrived.
func (s *site) delivered() []membroker.Record {
	s.t.Helper()
	store, err := pgstore.Open(s.t.Context(), s.pool, pgstore.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	return drain(s.t, store)
}

// drain delivers all that is in a store's box, and returns it.
func drain(t *testing.T, from store.Store) []membroker.Record {
	t.Helper()
	to := membroker.New(membroker.Options{})
	r, err := relay.New(from, relay.Options{Subscriptions: []relay.Subscription{{To: to}}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := r.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	return to.Taken()
}

func TestEachLibrarysTransactionCommitsRowAndMessageTogether(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	bunDB := bun.NewDB(s.db, pgdialect.New())
	gormDB, err := gorm.Open(postgres.New(postgres.Config{Conn: s.db}), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	client := ent.NewClient(ent.Driver(entsql.OpenDB(dialect.Postgres, s.db)))
	places := map[string]func(context.Context, shop.Order) error{
		"database/sql": func(ctx context.Context, o shop.Order) error { return sqltx.Place(ctx, s.db, s.pub, o) },
		"sqlx": func(ctx context.Context, o shop.Order) error {
			return sqlxtx.Place(ctx, sqlx.NewDb(s.db, "pgx"), s.pub, o)
		},
		"bun":  func(ctx context.Context, o shop.Order) error { return buntx.Place(ctx, bunDB, s.pub, o) },
		"gorm": func(ctx context.Context, o shop.Order) error { return gormtx.Place(ctx, gormDB, s.pub, o) },
		"ent":  func(ctx context.Context, o shop.Order) error { return enttx.Place(ctx, client, s.pub, o) },
		"bun, with events of an aggregate": func(ctx context.Context, o shop.Order) error {
			return buntx.PlaceBasket(ctx, bunDB, s.pub, o)
		},
		"ent, with events of an aggregate": func(ctx context.Context, o shop.Order) error {
			return enttx.PlaceBasket(ctx, client, s.pub, o)
		},
	}
	commitBothOrNeither(t, places, s.db, s.delivered)
	if n := s.woken.Load(); n < 10 { // by database/sql: ten orders
		t.Errorf("relays were woken %d times for ten orders", n)
	}
}

// commitBothOrNeither places orders of each kind, and some that are refused, and
// compares what is in the table with what is delivered.
func commitBothOrNeither(t *testing.T, places map[string]func(context.Context, shop.Order) error, db *sql.DB, delivered func() []membroker.Record) {
	t.Helper()
	tooLong := strings.Repeat("k", postbag.MaxKey+1)
	for name, place := range places {
		for n := range 10 {
			if err := place(t.Context(), shop.Order{Customer: name, Cents: n}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		// A message that is refused takes the order with it.
		if err := place(t.Context(), shop.Order{Customer: tooLong, Cents: 1}); err == nil {
			t.Errorf("%s: a key of %d bytes was accepted", name, len(tooLong))
		}
	}
	var n int
	if err := db.QueryRowContext(t.Context(), `select count(*) from orders`).Scan(&n); err != nil || n != 10*len(places) {
		t.Errorf("%d orders were saved, not %d: %v", n, 10*len(places), err)
	}
	next := map[string]int{}
	for _, r := range delivered() {
		o, err := shop.Placed.Decode(r.Message)
		if err != nil {
			t.Fatal(err)
		}
		if o.Cents != next[o.Customer] {
			t.Errorf("%s: order %d came where %d was due", o.Customer, o.Cents, next[o.Customer])
		}
		next[o.Customer]++
	}
	for name := range places {
		if next[name] != 10 {
			t.Errorf("%s: %d of 10 messages were delivered", name, next[name])
		}
	}
}

// producer makes a role that may do what a producer must, and no more.
func (s *site) producer() (dsn string) {
	s.t.Helper()
	s.exec(`create role producer login password 'producer'`)
	s.exec(`grant usage on schema postbag to producer`)
	s.exec(`grant insert (id, topic, key, shard_key, type, headers, payload) on postbag.outbox to producer`)
	s.exec(`grant usage on sequence postbag.outbox__seq to producer`)
	s.exec(`grant select, insert, update on orders, customers to producer`)
	s.exec(`grant usage on sequence orders_id_seq to producer`)
	return s.pg.DSNAs("producer", "producer", "postgres")
}

func TestAPlainSQLProducerNeedsOnlyAProducersRights(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	script, err := os.ReadFile("sql/produce.sql")
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgx", s.producer())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for range 3 {
		if _, err := db.ExecContext(t.Context(), string(script)); err != nil {
			t.Fatal(err)
		}
	}
	for _, forbidden := range []string{
		`select * from postbag.outbox`, `delete from postbag.outbox`, `update postbag.outbox set topic = 'x'`,
		`insert into postbag.outbox (seq, topic) values (7, 'x')`, `select setval('postbag.outbox__seq', 1)`,
	} {
		if _, err := db.ExecContext(t.Context(), forbidden); err == nil {
			t.Errorf("a producer may do: %s", forbidden)
		}
	}
	got := s.delivered()
	if len(got) != 3 {
		t.Fatalf("%d of 3 messages were delivered", len(got))
	}
	m := got[0]
	if m.Key != "customer-7" || m.Type != "order.placed" || m.Headers["source"] != "plain sql" || m.ID.IsZero() ||
		string(m.Payload) != `{"customer": "customer-7", "cents": 4200}` {
		t.Errorf("the message came as %+v", m.Message)
	}
}

func TestAPythonProducerPublishesWithPlainSQL(t *testing.T) {
	t.Parallel()
	if out, err := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", "import psycopg2").CombinedOutput(); err != nil {
		servertest.Need(t, fmt.Errorf("psycopg2 is missing (%w: %s): %w", err, out, testserver.ErrMissing))
	}
	s := newSite(t)
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "python/produce.py", "25")
	cmd.Env = append(os.Environ(), "DATABASE_URL="+s.producer())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := s.delivered()
	if len(got) != 25 {
		t.Fatalf("%d of 25 messages were delivered", len(got))
	}
	for n, m := range got {
		if want := fmt.Sprintf(`{"customer": "customer-7", "cents": %d}`, n); string(m.Payload) != want || m.Headers["source"] != "python" {
			t.Errorf("message %d is %s with %v", n, m.Payload, m.Headers)
		}
	}
}
