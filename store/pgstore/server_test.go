package pgstore_test

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// Behind a pooler in transaction mode each transaction may be on another session. Everything works, whether the pool was
// told or not: publishing by several at a time, turns, settlements with parked messages, and retention to the end.
func TestEverythingWorksBehindAPoolerInTransactionMode(t *testing.T) {
	t.Parallel()
	pooler := servertest.PgBouncer(t, shared.Server(t), testserver.PgBouncerOptions{PoolSize: 4})
	for name, mode := range map[string]pgx.QueryExecMode{"as pgx is by default": pgx.QueryExecModeCacheStatement, "as the manual says": pgx.QueryExecModeExec} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testBoxOn(t, shared.Database(t), func(c *pgxpool.Config, _ *pgstore.Options) {
				c.ConnConfig.Port = uint16(pooler.Port())
				c.ConnConfig.DefaultQueryExecMode = mode
			})
			const writers, each = 6, 20
			ended := make(chan error, writers)
			for range writers {
				go func() {
					var err error
					for range each {
						err = errors.Join(err, unpooled(func() error {
							return s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
								if err := s.Lock(ctx, tx, "outbox", []string{"a"}); err != nil {
									return err
								}
								return s.Append(ctx, tx, "outbox", boxtest.Messages(2, "a", "b"))
							})
						}))
					}
					ended <- err
				}()
			}
			got := 0
			for left := writers; left > 0; {
				select {
				case err := <-ended:
					left--
					s.Must(err)
				default:
					got += len(s.Deliver())
				}
			}
			if got += len(s.Deliver()); got != 2*writers*each {
				t.Errorf("%d of %d messages are read", got, 2*writers*each)
			}
			s.burn()
			s.Must(s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
				return s.Append(ctx, tx, "outbox", boxtest.Messages(10, "c"))
			}))
			r := s.Read()
			s.Settle(&s.Lease, store.Settlement{
				To: s.At, Park: []store.Park{{Seq: r[0].Seq, Slot: r[0].Slot, Hash: r[0].Hash, State: store.ParkRetrying, Blocking: true}},
				Tally: append(boxtest.Tally(store.TallyParked, r[0]), boxtest.Tally(store.TallyDelivered, r[1:]...)...),
			})
			due, err := s.Due(t.Context(), store.Due{Ref: outbox, Slots: []store.Slots{store.AllSlots}, Limit: 10, Bytes: 1 << 20})
			s.Must(err)
			if len(due) != 1 || due[0].ID != r[0].ID {
				t.Errorf("%d messages are due, not the one that was parked", len(due))
			}
			s.Until("the first partition is dropped", func() bool { return s.Total.Dropped == 1 })
			if len(s.Total.Faults) > 0 {
				t.Errorf("faults: %q", s.Total.Faults)
			}
		})
	}
}

// unpooled runs a transaction again, as long as it has failed because of the pooler.
func unpooled(run func() error) (err error) {
	for range 100 {
		if err = run(); err == nil || !strings.Contains(err.Error(), "give the DSN default_query_exec_mode=exec") {
			return err
		}
	}
	return err
}

// heard waits for a wake.
func heard(t *testing.T, s *pgstore.Store, what string) {
	t.Helper()
	select {
	case <-s.Woken():
	case <-time.After(60 * time.Second):
		t.Fatalf("nothing was heard within a minute: %s", what)
	}
}

func TestANotificationWakesAnotherProcessAndALostConnectionIsMadeAgain(t *testing.T) {
	t.Parallel()
	dsn := shared.Database(t)
	faults := make(chan error, 100)
	listener := testBoxOn(t, dsn, func(_ *pgxpool.Config, o *pgstore.Options) {
		o.Listen, o.OnFault = true, func(err error) {
			select {
			case faults <- err:
			default:
			}
		}
	})
	heard(t, listener.Store, "it listens") // what came before is found by a poll
	speaker := newFixture(t, dsn, func(_ *pgxpool.Config, o *pgstore.Options) { o.Notify = time.Millisecond })
	speak := func() []postbag.Message {
		msgs := boxtest.Messages(1, "a")
		listener.Must(speaker.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error { return speaker.Append(ctx, tx, "outbox", msgs) }))
		speaker.Wake("outbox")
		return msgs
	}
	msgs := speak()
	heard(t, listener.Store, "a notification")
	if got := listener.Read(); len(got) != 1 || got[0].ID != msgs[0].ID {
		t.Errorf("%d messages are read after a notification, not the one", len(got))
	}
	if n := listener.number("SELECT count(*) FROM (SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%') x"); n != 1 {
		t.Fatalf("%d sessions listened, not one", n)
	}
	select {
	case err := <-faults:
		if !strings.Contains(err.Error(), "found by polling") {
			t.Errorf("a lost connection is told as %q", err)
		}
	case <-time.After(60 * time.Second):
		t.Fatal("a lost connection is not told within a minute")
	}
	msgs = speak()
	if got := listener.Read(); len(got) != 1 || got[0].ID != msgs[0].ID {
		t.Errorf("%d messages are read while nobody listens, not the one", len(got))
	}
	heard(t, listener.Store, "it listens again")
	listener.Eventually("a notification is heard again", func() bool {
		speak()
		select {
		case <-listener.Woken():
			return listener.number("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'") == 1
		default:
			return false
		}
	})
}

func TestAStandbyIsRefusedAndAPromotedOneIsNot(t *testing.T) {
	t.Parallel()
	primary := servertest.Postgres(t, testserver.PostgresOptions{NoSync: true, Settings: settings})
	s := testBoxOn(t, primary.DSN("postgres"))
	msgs := s.publish(boxtest.Messages(3, "a")...)
	standby := servertest.Standby(t, primary, testserver.StandbyOptions{Synchronous: true, Postgres: testserver.PostgresOptions{NoSync: true, Settings: settings}})
	msgs = append(msgs, s.publish(boxtest.Messages(3, "a")...)...)
	config := plainConfig(t, standby.DSN("postgres"))
	pool := newPool(t, config)
	if _, err := pgstore.Open(t.Context(), pool, pgstore.Options{}); !errors.Is(err, store.ErrStandby) {
		t.Errorf("a standby was opened: %v", err)
	}
	// A pool whose connections come to be those of a standby, as behind a name that moves.
	var moved atomic.Bool
	both := plainConfig(t, primary.DSN("postgres"))
	both.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if moved.Load() {
			address = net.JoinHostPort(config.ConnConfig.Host, strconv.Itoa(int(config.ConnConfig.Port)))
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	pool = newPool(t, both)
	wandering, err := pgstore.Open(t.Context(), pool, pgstore.Options{})
	s.Must(err)
	t.Cleanup(func() { _ = wandering.Close() })
	read := store.Turn{Read: []store.Request{{Ref: outbox, Slots: []store.Slots{store.AllSlots}, Limit: 100, Bytes: 1 << 20}}}
	before, err := wandering.Turn(t.Context(), read)
	if err != nil || len(before.Batches[0].Records) != len(msgs) {
		t.Fatalf("the primary was not read: %v", err)
	}
	moved.Store(true)
	pool.Reset()
	if _, err := wandering.Turn(t.Context(), read); !errors.Is(err, store.ErrStandby) {
		t.Errorf("a standby was read: %v", err)
	}
	if _, err := wandering.Check(t.Context()); !errors.Is(err, store.ErrStandby) {
		t.Errorf("a standby was accepted: %v", err)
	}
	err = wandering.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
		return wandering.Append(ctx, tx, "outbox", boxtest.Messages(1, "a"))
	})
	if !errors.Is(err, store.ErrStandby) {
		t.Errorf("a message was published on a standby: %v", err)
	}
	s.Must(primary.Kill(t.Context()))
	s.Must(standby.Promote(t.Context()))
	_, err = wandering.Check(t.Context())
	s.Must(err)
	res, err := wandering.Turn(t.Context(), read)
	if err != nil || len(res.Batches[0].Records) != len(msgs) {
		t.Errorf("after it was promoted not all %d messages are read: %v", len(msgs), err)
	}
	if before.Life < 1 || res.Life <= before.Life {
		t.Errorf("the database's life is %d, and was %d before a standby was promoted", res.Life, before.Life)
	}
}

func TestAppendingWithoutAPartitionSaysHowToAddOne(t *testing.T) {
	t.Parallel()
	s := newSQLSite(t, pgx.QueryExecModeCacheStatement)
	s.publish(boxtest.Messages(1, "a")...)
	s.Deliver()
	s.exec(`SELECT setval('postbag.outbox__seq', max((regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''(\d+)'))[1]::bigint) - 1)
		FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'postbag.outbox'::regclass`)
	put := func(m []postbag.Message) map[string]error {
		return map[string]error{
			"pgx": s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error { return s.Append(ctx, tx, "outbox", m[:1]) }),
			"database/sql": s.to.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
				return s.to.Append(ctx, tx, "outbox", m[1:])
			}),
		}
	}
	for name, err := range put(boxtest.Messages(2, "a")) {
		if err == nil || !strings.Contains(err.Error(), "the log is full: run postbag migrate up --box") {
			t.Errorf("%s: a message for which there is no partition: %v", name, err)
		}
	}
	s.Until("there is room", func() bool { return s.Total.Added > 0 })
	for name, err := range put(boxtest.Messages(2, "a")) {
		if err != nil {
			t.Errorf("%s: after room was made: %v", name, err)
		}
	}
	m := boxtest.Messages(1, "a")
	m[0].ID = postbag.ID{}
	if err := s.to.Append(t.Context(), s.begin(), "outbox", m); err == nil || strings.Contains(err.Error(), "full") {
		t.Errorf("a message that a constraint refuses: %v", err)
	}
	if got := s.Read(); len(got) != 2 {
		t.Errorf("%d of 2 messages are read after room was made", len(got))
	}
}

// role makes a role that has what the SQL gives it.
func (s *testBox) role(name, grants string) *fixture {
	s.Helper()
	s.exec("CREATE ROLE " + name + " LOGIN PASSWORD 'x'")
	s.Cleanup(func() {
		for _, sql := range []string{"DROP OWNED BY ", "DROP ROLE "} {
			if _, err := s.plain.Exec(context.Background(), sql+name); err != nil {
				s.Error(err)
			}
		}
	})
	s.exec(grants)
	return newFixture(s.TB, asRole(s.TB, s.dsn, name, "x"), withoutCreate)
}

// Some take from PUBLIC what PostgreSQL gives it by default.
func TestThePrintedRightsAreEnoughWherePublicMayCallNoFunction(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.Must(s.CreateBoxBy(t.Context(), "numbers", store.SlotsByNumber))
	s.Declare(store.Spec{Ref: store.Ref{Box: "numbers", Subscription: "default"}})
	s.exec("REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA postbag FROM PUBLIC")
	grants, err := pgstore.GrantProducer(s.name+"_app", "outbox", "numbers")
	s.Must(err)
	app := s.role(s.name+"_app", grants)
	msgs := []postbag.Message{{ID: postbag.NewID(), Key: "7"}, {ID: postbag.NewID()}, {ID: postbag.NewID(), Key: "-1", NotBefore: time.Now().Add(time.Hour)}}
	s.Must(app.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
		err := errors.Join(app.Append(ctx, tx, "numbers", msgs), app.Append(ctx, tx, "outbox", msgs))
		_, cancelled := app.Cancel(ctx, tx, "numbers", msgs[2].ID)
		return errors.Join(err, cancelled)
	}))
	for _, sql := range []string{"INSERT INTO postbag.numbers (key) VALUES ('7')", "INSERT INTO postbag.outbox (key) VALUES ('7')"} {
		if _, err := app.plain.Exec(t.Context(), sql); err != nil {
			t.Errorf("a producer may not %s: %v", sql, err)
		}
	}
	console := s.role(s.name+"_console", pgstore.GrantConsole(s.name+"_console"))
	if items, _, err := console.List(t.Context(), store.Query{Ref: store.Ref{Box: "numbers"}, Oldest: true, Limit: 10}); err != nil || len(items) != 3 {
		t.Errorf("a console sees %d of 3 messages (error: %v)", len(items), err)
	}
	relay := s.on(s.role(s.name+"_relay", pgstore.GrantRelay(s.name+"_relay")))
	_, err = relay.Check(t.Context())
	s.Must(err)
}

func TestThePrintedRightsAreThoseNeeded(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	grants, err := pgstore.GrantProducer(s.name+"_app", "outbox")
	s.Must(err)
	app := s.role(s.name+"_app", grants)
	later := boxtest.Messages(2, "k")
	later[0].NotBefore = time.Now().Add(time.Hour)
	s.Must(app.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
		err := errors.Join(app.Lock(ctx, tx, "outbox", []string{"k"}), app.Append(ctx, tx, "outbox", later), app.Append(ctx, tx, "outbox", later[1:]))
		there, fault := app.Cancel(ctx, tx, "outbox", later[0].ID)
		if !there {
			t.Error("a scheduled message was not there to be cancelled")
		}
		return errors.Join(err, fault)
	}))
	for _, sql := range []string{
		"SELECT payload FROM postbag.outbox", "INSERT INTO postbag.outbox (seq) VALUES (7)", "INSERT INTO postbag.outbox (xid) VALUES ('1')",
		"UPDATE postbag.outbox SET key = ''", "DELETE FROM postbag.outbox", "SELECT setval('postbag.outbox__seq', 1)",
		"SELECT payload FROM postbag.outbox__scheduled", "SELECT FROM postbag._shards", "UPDATE postbag._meta SET reader = 9",
	} {
		if _, err := app.plain.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("a producer may %s: %v", sql, err)
		}
	}
	relay := s.role(s.name+"_relay", pgstore.GrantRelay(s.name+"_relay"))
	s.Must(s.CreateBox(t.Context(), "second"))
	r := s.on(relay)
	_, err = r.Check(t.Context())
	s.Must(err)
	second := store.Ref{Box: "second", Subscription: "default"}
	r.Declare(store.Spec{Ref: second, Shards: 1})
	r.Take("another", second)
	if got := r.Deliver(); len(got) != 2 {
		t.Errorf("a relay delivers %d of 2 messages", len(got))
	}
	r.Until("it is thinned", func() bool { return r.Total.Deleted == 2 })
	letters := []store.Spec{{Ref: second, DeadTo: "outbox"}}
	s.Must(r.Store.Declare(t.Context(), letters))
	s.exec("REVOKE INSERT ON postbag.outbox FROM " + s.name + "_relay")
	if err := r.Store.Declare(t.Context(), letters); !errors.Is(err, store.ErrDenied) || !strings.Contains(err.Error(), "GrantRelay") {
		t.Errorf("dead letters to a box that the role may not write to: %v", err)
	}
	if _, err := pgstore.GrantProducer("app", `x"; --`); err == nil {
		t.Error("rights were printed for a box of a name that is none")
	}
}
