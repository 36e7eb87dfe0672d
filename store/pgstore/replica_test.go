package pgstore_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// followed is a box on a primary, and a reader of its standby.
type followed struct {
	*testBox

	primary, standby *testserver.Postgres
	pool             *pgxpool.Pool
	reader           *pgstore.Reader
}

func standbyOf(t *testing.T, change ...func(*pgxpool.Config)) *followed {
	t.Helper()
	f := &followed{primary: servertest.Postgres(t, testserver.PostgresOptions{NoSync: true, Settings: settings})}
	f.testBox = testBoxOn(t, f.primary.DSN("postgres"))
	f.standby = servertest.Standby(t, f.primary, testserver.StandbyOptions{Postgres: testserver.PostgresOptions{NoSync: true, Settings: settings}})
	config := plainConfig(t, f.standby.DSN("postgres"))
	for _, c := range change {
		c(config)
	}
	f.pool = newPool(t, config)
	var err error
	f.reader, err = pgstore.OpenReader(t.Context(), f.pool, pgstore.Options{})
	f.Must(err)
	return f
}

// caughtUp waits until the standby has what the primary has.
func (f *followed) caughtUp() {
	f.Helper()
	m, err := f.Watermark(f.Context())
	f.Must(err)
	f.Eventually("the standby has caught up", func() bool {
		at, err := f.reader.Reached(f.Context(), m)
		return err == nil && !at.Before(m.At)
	})
}

// work has messages of every kind in the box: delivered, pending, parked in each state, scheduled; and lines of the audit log.
func (f *followed) work() {
	f.Helper()
	f.publish(boxtest.Messages(20, "a", "b")...)
	r := f.Read()
	if len(r) < 10 {
		f.Fatalf("%d records are read", len(r))
	}
	s := store.Settlement{To: f.At, Tally: boxtest.Tally(store.TallyDelivered, r[4:]...)}
	for i, state := range []store.ParkState{store.ParkRetrying, store.ParkBlocked, store.ParkInFlight, store.ParkDead} {
		s.Park = append(s.Park, store.Park{Seq: r[i].Seq, Slot: r[i].Slot, Hash: r[i].Hash, State: state, Blocking: state == store.ParkRetrying, Reason: "refused: " + state.String()})
	}
	s.Tally = append(s.Tally, boxtest.Tally(store.TallyParked, r[:4]...)...)
	f.Settle(&f.Lease, s)
	later := boxtest.Messages(2, "c")
	for i := range later {
		later[i].NotBefore = time.Now().Add(time.Hour)
	}
	f.publish(later...)
	f.publish(boxtest.Messages(3, "d")...)
	f.Must(f.SetShards(f.Context(), store.Audit{Who: "somebody", Why: "a test"}, outbox, 2))
}

func TestAReaderOfAStandbySaysWhatItsPrimarySays(t *testing.T) {
	t.Parallel()
	f := standbyOf(t)
	f.work()
	f.caughtUp()
	boxtest.SameAnswers(t, f.Store, f.reader, outbox)
}

// reached is what Reached says of a watermark of now.
func (f *followed) reached() (at, marked time.Time, err error) {
	f.Helper()
	m, err := f.Watermark(f.Context())
	f.Must(err)
	at, err = f.reader.Reached(f.Context(), m)
	return at, m.At, err
}

// A standby that lags says as of when it is, and its overview is as of then: a relay that was alive is, and nothing is older.
func TestAReaderOfALaggingStandbyIsAsOfWhatItHasReached(t *testing.T) {
	t.Parallel()
	f := standbyOf(t)
	f.publish(boxtest.Messages(3, "a")...)
	f.caughtUp()
	f.Must(f.standby.Set(t.Context(), "recovery_min_apply_delay", "1h"))
	beat := store.Beat{Relay: "one", Name: "one", TTL: time.Second, New: true}
	_, err := f.Beat(t.Context(), beat)
	f.Must(err)
	f.publish(boxtest.Messages(2, "a")...)
	behind, marked, err := f.reached()
	f.Must(err)
	if !behind.Before(marked) {
		t.Fatalf("it says that it has reached what it has not: %v of %v", behind, marked)
	}
	o, err := f.reader.Overview(t.Context())
	f.Must(err)
	if b := o.Boxes[0]; b.Last != 3 || b.Rows != 3 || b.Subscriptions[0].Backlog != 3 {
		t.Errorf("it does not show the box as it was: %+v", b)
	}
	if lag := time.Since(o.Now); lag < time.Since(behind)-time.Second/2 {
		t.Errorf("the overview says that it is as of %v ago, and is as of %v ago", lag, time.Since(behind))
	}
	if n := len(o.Relays); n != 2 { // those that a test box has
		t.Errorf("%d relays live, of 2", n)
	}
	f.Must(f.standby.Set(t.Context(), "recovery_min_apply_delay", "0"))
	f.caughtUp()
	if o, err = f.reader.Overview(t.Context()); err != nil || o.Boxes[0].Last != 5 {
		t.Errorf("it has caught up, and does not show it: %v, %+v", err, o.Boxes)
	}
}

// Its relays are judged by the clock less what the standby is behind: none dies because a standby hears late of its heartbeats.
func TestARelayLivesOnAStandbyThatHearsLateOfItsHeartbeats(t *testing.T) {
	t.Parallel()
	f := standbyOf(t)
	f.caughtUp()
	_, err := f.Beat(t.Context(), store.Beat{Relay: "short", Name: "short", TTL: 2 * time.Second, New: true})
	f.Must(err)
	f.caughtUp()
	f.Must(f.standby.Set(t.Context(), "recovery_min_apply_delay", "1h"))
	lives := func() bool {
		o, err := f.reader.Overview(t.Context())
		f.Must(err)
		for _, r := range o.Relays {
			if r.ID == "short" {
				return r.Expires > 0
			}
		}
		return false
	}
	beat := time.NewTicker(200 * time.Millisecond)
	defer beat.Stop()
	for range 15 {
		<-beat.C
		if _, err := f.Beat(t.Context(), store.Beat{Relay: "short", Name: "short", TTL: 2 * time.Second}); err != nil {
			t.Fatal(err)
		}
		if !lives() {
			t.Fatal("it is shown as dead")
		}
	}
}

func TestAReaderRefusesWhatIsNoReplicaOfTheDatabase(t *testing.T) {
	t.Parallel()
	f := standbyOf(t)
	f.caughtUp()
	pool := newPool(t, plainConfig(t, f.primary.DSN("postgres")))
	if _, err := pgstore.OpenReader(t.Context(), pool, pgstore.Options{}); !errors.Is(err, store.ErrNoReplica) {
		t.Errorf("a reader of a primary was opened: %v", err)
	}
	// Another database of the same cluster, made as a copy: its tables have the same ids.
	f.Must(f.primary.CreateDatabase(t.Context(), "other"))
	other := testBoxOn(t, f.primary.DSN("other"))
	m, err := other.Watermark(t.Context())
	f.Must(err)
	if _, err := f.reader.Reached(t.Context(), m); !errors.Is(err, store.ErrOtherDatabase) {
		t.Errorf("a replica of another database was accepted: %v", err)
	}
	elsewhere := testBoxOn(t, shared.Database(t))
	m, err = elsewhere.Watermark(t.Context())
	f.Must(err)
	if _, err := f.reader.Reached(t.Context(), m); !errors.Is(err, store.ErrOtherDatabase) {
		t.Errorf("a replica of another server was accepted: %v", err)
	}
	for name, o := range map[string]pgstore.Options{"create": {Create: true}, "boxes": {Boxes: []string{"a"}}, "listen": {Listen: true}, "notify": {Notify: time.Second}} {
		if _, err := pgstore.OpenReader(t.Context(), f.pool, o); err == nil || !strings.Contains(err.Error(), "leave out") {
			t.Errorf("%s was taken: %v", name, err)
		}
	}
	// An older schema, as where the migration has not come yet.
	f.exec("DELETE FROM postbag._migrations WHERE version = (SELECT max(version) FROM postbag._migrations)")
	f.Eventually("its schema is an older one", func() bool {
		_, _, err := f.reached()
		return errors.Is(err, store.ErrSchema)
	})
	if _, err := pgstore.OpenReader(t.Context(), f.pool, pgstore.Options{}); !errors.Is(err, store.ErrSchema) {
		t.Errorf("a reader of an old schema was opened: %v", err)
	}
}

func TestAReaderRefusesAReplicaThatWasPromotedOrFollowsAnotherPrimary(t *testing.T) {
	t.Parallel()
	f := standbyOf(t)
	f.publish(boxtest.Messages(3, "a")...)
	second := servertest.Standby(t, f.primary, testserver.StandbyOptions{Name: "second", Postgres: testserver.PostgresOptions{NoSync: true, Settings: settings}})
	f.caughtUp()
	f.Must(f.standby.Promote(t.Context()))
	if _, _, err := f.reached(); !errors.Is(err, store.ErrNoReplica) {
		t.Errorf("a promoted standby is read as if it were one: %v", err)
	}
	f.Eventually("the session notices", func() bool {
		_, err := f.reader.Overview(t.Context())
		return errors.Is(err, store.ErrNoReplica)
	})
	// The other one still follows the old primary, and the store is on the new one.
	reader, err := pgstore.OpenReader(t.Context(), newPool(t, plainConfig(t, second.DSN("postgres"))), pgstore.Options{})
	f.Must(err)
	promoted, err := pgstore.Open(t.Context(), newPool(t, plainConfig(t, f.standby.DSN("postgres"))), pgstore.Options{})
	f.Must(err)
	defer func() { _ = promoted.Close() }()
	m, err := promoted.Watermark(t.Context())
	f.Must(err)
	if _, err := reader.Reached(t.Context(), m); !errors.Is(err, store.ErrOtherDatabase) || !strings.Contains(err.Error(), "timelines") {
		t.Errorf("a standby of another primary was accepted: %v", err)
	}
}

// What leads to the standbys, such as a proxy, can send new sessions to another one. That one lags.
func TestAReaderForgetsHowFarAnotherStandbyWas(t *testing.T) {
	t.Parallel()
	var target atomic.Pointer[pgconn.Config]
	f := standbyOf(t, func(c *pgxpool.Config) {
		c.BeforeConnect = func(_ context.Context, to *pgx.ConnConfig) error {
			if other := target.Load(); other != nil {
				to.Host, to.Port = other.Host, other.Port
			}
			return nil
		}
	})
	second := servertest.Standby(t, f.primary, testserver.StandbyOptions{Name: "second", Postgres: testserver.PostgresOptions{NoSync: true, Settings: settings}})
	f.publish(boxtest.Messages(3, "a")...)
	f.Must(second.Set(t.Context(), "recovery_min_apply_delay", "1h"))
	f.publish(boxtest.Messages(2, "a")...)
	f.caughtUp()
	_, before, err := f.reached()
	f.Must(err)
	target.Store(&plainConfig(t, second.DSN("postgres")).ConnConfig.Config)
	f.pool.Reset()
	o, err := f.reader.Overview(t.Context())
	f.Must(err)
	if o.Boxes[0].Last == 5 {
		t.Fatal("the second standby does not lag")
	}
	if at, _, err := f.reached(); !errors.Is(err, store.ErrBehind) {
		t.Errorf("of another standby it is said that it has reached %v, where the one before had reached %v: %v", at, before, err)
	}
	f.Must(second.Set(t.Context(), "recovery_min_apply_delay", "0"))
	f.caughtUp()
}

// What the standby ends because it has to go on is an error at once. The primary has the answer, too.
func TestAQuestionThatRecoveryEndsIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	f := standbyOf(t)
	f.work()
	f.caughtUp()
	if _, _, err := f.reader.List(t.Context(), store.Query{Ref: outbox, State: store.StateDead}); err != nil { // it has prepared its statements
		t.Fatal(err)
	}
	f.Must(f.standby.Set(t.Context(), "max_standby_streaming_delay", "100ms"))
	lock := func(table string) (end func()) {
		tx, err := f.plain.Begin(t.Context())
		f.Must(err)
		_, err = tx.Exec(t.Context(), "LOCK TABLE "+table+" IN ACCESS EXCLUSIVE MODE")
		f.Must(err)
		f.exec("UPDATE postbag._epoch SET n = n + 1") // a commit, which flushes what tells of the lock
		return func() { f.Must(tx.Rollback(context.WithoutCancel(t.Context()))) }
	}
	free := lock("postbag.outbox")
	ended := make(chan error, 1)
	go func() { // it holds _parked, and waits for the box
		_, _, err := f.reader.List(t.Context(), store.Query{Ref: outbox, State: store.StateDead})
		ended <- err
	}()
	f.Eventually("the question waits", func() bool {
		n, err := f.standby.Exec(t.Context(), "postgres", "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%list_parked%'")
		return err == nil && n != "0"
	})
	freeParked := lock("postbag._parked") // replay has to take it away
	err := <-ended
	if err == nil || !strings.Contains(err.Error(), "conflict with recovery") || !errors.Is(err, store.ErrAgain) {
		t.Errorf("the question did not end with what recovery did: %v", err)
	}
	freeParked()
	free()
	f.caughtUp()
	if _, _, err := f.reader.List(t.Context(), store.Query{Ref: outbox, State: store.StateDead}); err != nil {
		t.Errorf("it does not answer any more: %v", err)
	}
}

func TestTheRightsOfAConsoleSufficeOnAStandby(t *testing.T) {
	t.Parallel()
	f := standbyOf(t)
	f.work()
	f.exec("CREATE ROLE watcher LOGIN PASSWORD 'watcher'")
	f.exec(pgstore.GrantConsole("watcher"))
	f.caughtUp()
	as := func(dsn string) *pgxpool.Pool {
		c := plainConfig(t, dsn)
		c.ConnConfig.User, c.ConnConfig.Password = "watcher", "watcher"
		return newPool(t, c)
	}
	primary, err := pgstore.Open(t.Context(), as(f.primary.DSN("postgres")), pgstore.Options{})
	f.Must(err)
	defer func() { _ = primary.Close() }()
	reader, err := pgstore.OpenReader(t.Context(), as(f.standby.DSN("postgres")), pgstore.Options{})
	f.Must(err)
	m, err := primary.Watermark(t.Context())
	f.Must(err)
	f.Eventually("it is reached", func() bool {
		at, err := reader.Reached(t.Context(), m)
		return err == nil && !at.Before(m.At)
	})
	boxtest.SameAnswers(t, f.Store, reader, outbox)
}
