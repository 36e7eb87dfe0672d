package mysqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

// granted makes a user with what a function of grants prints, and returns a DSN for it.
func (s *testBox) granted(k *kind, grants func(account string, boxes ...string) (string, error)) (dsn string) {
	s.Helper()
	dsn = s.account(k)
	text, err := grants("some_"+s.name+"@%", "outbox")
	s.Must(err)
	for _, one := range strings.SplitAfter(strings.TrimSpace(text), ";\n") {
		s.exec(one)
	}
	return dsn
}

// withoutCreate opens what is there.
func withoutCreate(o *mysqlstore.Options) { o.Create, o.Boxes = false, nil }

func TestAProducerWithTheRightsPrintedDoesWhateverProducersDo(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		d, err := mysqlstore.OpenAppender(t.Context(), openSQL(t, s.granted(k, mysqlstore.GrantProducer)), mysqlstore.AppenderOptions{})
		s.Must(err)
		later := postbag.Message{ID: postbag.NewID(), Topic: "t", Key: "a", NotBefore: time.Now().Add(time.Hour)}
		now := postbag.Message{ID: postbag.NewID(), Topic: "t", Key: "a"}
		s.Must(d.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			if err := d.Lock(ctx, tx, "outbox", []string{"a"}); err != nil {
				return err
			}
			return d.Append(ctx, tx, "outbox", []postbag.Message{now, later})
		}))
		s.Must(d.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			gone, err := d.Cancel(ctx, tx, "outbox", later.ID)
			if err == nil && !gone {
				t.Error("what was scheduled is not cancelled")
			}
			return err
		}))
		s.want(s.Deliver(), now)
	})
}

// denied has every statement be refused.
func (s *testBox) denied(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, text := range statements {
		if _, err := db.ExecContext(t.Context(), text); err == nil {
			t.Errorf("one may %s", text)
		}
	}
}

func TestARelayWithTheRightsPrintedDoesAllThatRelaysDo(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		f := newFixture(t, s.granted(k, mysqlstore.GrantRelay), withoutCreate)
		r := &testBox{TB: t, Driver: boxtest.New(t, f), fixture: f}
		later := boxtest.Messages(1, "b")
		later[0].NotBefore = time.Now().Add(50 * time.Millisecond)
		s.publish(later...)
		want := append(s.publish(boxtest.Messages(20, "a")...), later...)
		var came []store.Record
		r.Until("all comes, what was scheduled too", func() bool {
			r.Housekeep()
			came = append(came, r.Deliver()...)
			return len(came) >= len(want)
		})
		s.want(came, want...)
		r.Until("what was delivered is removed", func() bool {
			r.Housekeep()
			return s.number("SELECT COUNT(*) FROM postbag_outbox") < 5
		})
		a := store.Audit{Who: "test", Why: "test"}
		s.Must(r.SetShards(t.Context(), a, outbox, 4))
		v, err := r.Beat(t.Context(), store.Beat{
			Relay: "relay", TTL: time.Hour, Works: []store.Ref{outbox},
			Reshape: []store.Reshape{{Ref: outbox, Shards: 4, Leases: []store.Lease{r.Lease}}},
		})
		s.Must(err)
		if n := len(v.Subscriptions[0].Shards); n != 4 {
			t.Errorf("there are %d shards, want 4", n)
		}
		_, err = r.Audited(t.Context(), 10)
		s.Must(err)
		if len(r.Total.Faults) > 0 {
			t.Errorf("housekeeping says %q", r.Total.Faults)
		}
	})
}

func TestDeadLettersNeedTheRightToWriteToTheirBox(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.Must(s.CreateBox(t.Context(), "dead"))
		f := newFixture(t, s.granted(k, mysqlstore.GrantRelay), withoutCreate)
		letters := []store.Spec{{Ref: outbox, DeadTo: "dead"}}
		if err := f.Declare(t.Context(), letters); !errors.Is(err, store.ErrDenied) || !strings.Contains(err.Error(), "dead") {
			t.Errorf("a relay without the rights for the box of dead letters: %v", err)
		}
		more, err := mysqlstore.GrantRelay("some_"+s.name+"@%", "dead")
		s.Must(err)
		for _, one := range strings.SplitAfter(strings.TrimSpace(more), ";\n") {
			s.exec(one)
		}
		if err := f.Declare(t.Context(), letters); err != nil {
			t.Errorf("a relay with the rights for both boxes: %v", err)
		}
	})
}

// A relay with the rights that are printed for divided boxes makes partitions and drops them.
func TestARelayWithTheRightsPrintedMaintainsAPartitionedBox(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, divided)
		dsn := s.granted(k, func(account string, boxes ...string) (string, error) {
			relay, err := mysqlstore.GrantRelay(account, boxes...)
			s.Must(err)
			more, err := mysqlstore.GrantPartitions(account, boxes...)
			return relay + more, err
		})
		f := newFixture(t, dsn, divided, withoutCreate)
		r := &testBox{TB: t, Driver: boxtest.New(t, f), fixture: f}
		for range 15 {
			s.publish(boxtest.Messages(100, "a", "b", "c")...)
		}
		r.Deliver()
		r.Eventually("a partition is made and one is dropped", func() bool {
			r.Housekeep()
			return r.Total.Added > 0 && r.Total.Dropped > 0
		})
		if len(r.Total.Faults) > 0 {
			t.Errorf("housekeeping says %q", r.Total.Faults)
		}
		s.denied(t, openSQL(t, dsn), "CREATE TABLE postbag__shadow (n INT)", "ALTER TABLE postbag__shard ADD COLUMN n INT", "DROP TABLE postbag__shard")
	})
}

func TestAConsoleWithTheRightsPrintedReadsAndWritesNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		msgs := s.publish(boxtest.Messages(3, "a")...)
		s.Deliver()
		dsn := s.granted(k, mysqlstore.GrantConsole)
		c := newFixture(t, dsn, withoutCreate)
		o, err := c.Overview(t.Context())
		if err != nil || len(o.Boxes) != 1 {
			t.Errorf("it sees %d boxes: %v", len(o.Boxes), err)
		}
		items, _, err := c.List(t.Context(), store.Query{Ref: outbox, Limit: 10})
		if err != nil || len(items) != 3 {
			t.Errorf("it lists %d messages: %v", len(items), err)
		}
		shown, err := c.Show(t.Context(), "outbox", msgs[0].ID)
		if err != nil || len(shown) != 1 {
			t.Errorf("it shows %d copies: %v", len(shown), err)
		}
		_, err = c.Audited(t.Context(), 10)
		s.Must(err)
		if _, err := c.Command(t.Context(), store.Audit{Who: "test", Why: "test"}, outbox, store.Discard, []int64{1}); err == nil {
			t.Error("a console discards")
		}
		s.denied(t, openSQL(t, dsn), "DELETE FROM postbag_outbox", "INSERT INTO postbag_outbox (topic, payload) VALUES ('t', '')",
			"UPDATE postbag__shard SET position = ''", "DELETE FROM postbag__audit", "INSERT INTO postbag__command (id) VALUES (1)",
			"UPDATE postbag__life SET life = 0", "CALL postbag__cancel('outbox', x'00000000000000000000000000000000')")
	})
}
