package mysqlstore_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

// A reader of a replica with super_read_only answers as its primary does, with the rights of a console. It says as of when it is
// while the replica lags, and refuses one that was promoted, or that has another database.
func TestAReaderOfAReplicaSaysWhatItsPrimarySays(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		p := newPair(t, k)
		s := testBoxOn(t, p.dsn)
		s.publish(boxtest.Messages(20, "a", "b")...)
		r := s.Read()
		if len(r) < 10 {
			t.Fatalf("%d records are read", len(r))
		}
		done := store.Settlement{To: s.At, Tally: boxtest.Tally(store.TallyDelivered, r[3:]...)}
		for i, state := range []store.ParkState{store.ParkRetrying, store.ParkBlocked, store.ParkDead} {
			done.Park = append(done.Park, store.Park{Seq: r[i].Seq, Slot: r[i].Slot, Hash: r[i].Hash, State: state, Blocking: state == store.ParkRetrying, Reason: "refused"})
		}
		done.Tally = append(done.Tally, boxtest.Tally(store.TallyParked, r[:3]...)...)
		s.Settle(&s.Lease, done)
		s.publish(boxtest.Messages(3, "d")...)
		grants, err := mysqlstore.GrantConsole("watcher@127.0.0.1", "outbox")
		s.Must(err)
		s.exec("CREATE USER 'watcher'@'127.0.0.1' IDENTIFIED BY 'watcher'")
		for grant := range strings.SplitSeq(strings.TrimSpace(grants), ";\n") {
			s.exec(strings.TrimSuffix(grant, ";"))
		}
		caughtUp := func(reader *mysqlstore.Reader) {
			t.Helper()
			m, err := s.Watermark(t.Context())
			s.Must(err)
			s.Eventually("the replica has caught up", func() bool {
				at, err := reader.Reached(t.Context(), m)
				return err == nil && !at.Before(m.At)
			})
		}
		if k.oracle {
			if _, err := p.admin.ExecContext(t.Context(), "SET GLOBAL super_read_only = 1"); err != nil {
				t.Fatal(err)
			}
		}
		_, server, _ := strings.Cut(p.replica.DSN("shop"), "@")
		dsn := "watcher:watcher@" + server
		var reader *mysqlstore.Reader
		s.Eventually("the replica has the account", func() bool {
			var err error
			reader, err = mysqlstore.OpenReader(t.Context(), dsn, mysqlstore.Options{})
			return err == nil
		})
		defer func() { s.Must(reader.Close()) }()
		caughtUp(reader)
		boxtest.SameAnswers(t, s.Store, reader, boxtest.Outbox)

		stop, start := "STOP SLAVE SQL_THREAD", "START SLAVE SQL_THREAD"
		if k.oracle {
			stop, start = "STOP REPLICA SQL_THREAD", "START REPLICA SQL_THREAD"
		}
		replica := func(text string) {
			t.Helper()
			if _, err := p.admin.ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		replica(stop)
		s.publish(boxtest.Messages(2, "a")...)
		m, err := s.Watermark(t.Context())
		s.Must(err)
		at, err := reader.Reached(t.Context(), m)
		if err != nil || !at.Before(m.At) {
			t.Errorf("it lags, and says that it has reached %v of %v: %v", at, m.At, err)
		}
		o, err := reader.Overview(t.Context())
		if err != nil || o.Boxes[0].Last != 23 || time.Since(o.Now) < time.Since(at)-time.Second/2 {
			t.Errorf("the overview is not as of then: %v, %+v", err, o)
		}
		replica(start)
		caughtUp(reader)
		if o, err = reader.Overview(t.Context()); err != nil || o.Boxes[0].Last != 25 {
			t.Errorf("it has caught up, and does not show it: %v", err)
		}

		if _, err := mysqlstore.OpenReader(t.Context(), p.dsn, mysqlstore.Options{}); !errors.Is(err, store.ErrNoReplica) {
			t.Errorf("a reader of a primary was opened: %v", err)
		}
		other := testBoxOn(t, databaseOn(t, p.primary, "other"))
		m, err = other.Watermark(t.Context())
		s.Must(err)
		if _, err := reader.Reached(t.Context(), m); !errors.Is(err, store.ErrOtherDatabase) {
			t.Errorf("a replica of another database was accepted: %v", err)
		}
		if _, err := mysqlstore.OpenReader(t.Context(), dsn, mysqlstore.Options{Create: true}); err == nil {
			t.Error("a reader that makes a schema was opened")
		}
		m, err = s.Watermark(t.Context())
		s.Must(err)
		s.Must(p.replica.Promote(t.Context(), p.admin))
		if _, err := reader.Reached(t.Context(), m); !errors.Is(err, store.ErrNoReplica) {
			t.Errorf("a promoted replica is read as if it were one: %v", err)
		}
		if _, err := reader.Overview(t.Context()); !errors.Is(err, store.ErrNoReplica) {
			t.Errorf("a promoted replica is read: %v", err)
		}
	})
}
