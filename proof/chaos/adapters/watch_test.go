package adapters

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/proof/chaos"
)

// begin starts a database without what is for faults alone.
func begin(t *testing.T, k chaos.Store, faults ...string) chaos.Database {
	t.Helper()
	d, err := k.Start(t.Context(), chaos.Terms{Dir: t.TempDir(), Only: append(faults, "no other")})
	servertest.Need(t, err)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func open(t *testing.T, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestARelayThatBlocksAProducerIsReported(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		chaos.Store
		driver, insert string
	}{
		{Postgres{}, "pgx", `INSERT INTO placed VALUES ('a', true)`},
		{MySQL{}, "mysql", `INSERT INTO placed VALUES ('a', true)`},
		{MySQL{MariaDB: true}, "mysql", `INSERT INTO placed VALUES ('a', true)`},
	} {
		t.Run(k.Name(), func(t *testing.T) {
			t.Parallel()
			d := begin(t, k.Store)
			w, ok := d.(chaos.Watched)
			if !ok {
				t.Fatal("it cannot be watched")
			}
			watch := func() chaos.Seen { // InnoDB shows who looks again within 100 ms what it showed before
				_ = chaos.Pause(t.Context(), 150*time.Millisecond)
				seen, err := w.Watch(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return seen
			}
			if seen := watch(); seen != (chaos.Seen{}) {
				t.Errorf("at rest it shows %+v", seen)
			}
			relay, err := open(t, k.driver, d.DSN(chaos.Relays)).BeginTx(t.Context(), nil)
			if err == nil {
				_, err = relay.ExecContext(t.Context(), k.insert)
			}
			if err != nil {
				t.Fatal(err)
			}
			done, producer := make(chan error, 1), open(t, k.driver, d.DSN(chaos.Producers))
			go func() {
				_, err := producer.ExecContext(t.Context(), k.insert)
				done <- err
			}()
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			longest, waits, lock := time.Duration(0), time.Duration(0), ""
			if err := chaos.Until(ctx, func() bool {
				seen := watch()
				longest, waits, lock = max(longest, seen.Open), max(waits, seen.Waited), seen.Lock
				return longest > 10*time.Millisecond && waits > 10*time.Millisecond
			}); err != nil {
				t.Errorf("the open transaction was seen for %v, and the wait for %v", longest, waits)
			}
			if !strings.Contains(lock, " held ") {
				t.Errorf("the lock is described as %q", lock)
			}
			t.Logf("the lock: %s", lock)
			if err := relay.Rollback(); err != nil {
				t.Error(err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			over := func() bool { return watch() == (chaos.Seen{}) }
			if err := chaos.Until(ctx, over); err != nil { // a server may show for a moment what is over
				t.Error("what is over is still seen")
			}
		})
	}
}

func TestRepeatedPromotionsOfMySQLLoseNothing(t *testing.T) {
	t.Parallel()
	for _, k := range []MySQL{{}, {MariaDB: true}} {
		t.Run(k.Name(), func(t *testing.T) {
			t.Parallel()
			d := begin(t, k, promotion)
			s, ok := d.(*mysqlServer)
			if !ok {
				t.Fatal("it is something else")
			}
			db := open(t, "mysql", d.DSN(chaos.Producers))
			write := func() error {
				_, err := db.ExecContext(t.Context(), "INSERT INTO placed VALUES (UUID(), true)")
				return err
			}
			for n := range 3 {
				port := s.current().Port()
				if err := write(); err != nil {
					t.Fatal(err)
				}
				if stuck, err := s.promote(t.Context()); stuck != nil || err != nil {
					t.Fatal(stuck, err)
				}
				if s.current().Port() == port {
					t.Fatal("the primary is who it was")
				}
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				if err := patiently(ctx, write); err != nil {
					t.Fatal(err)
				}
				cancel()
				var rows int
				if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM placed WHERE stands").Scan(&rows); err != nil || rows != 2*n+2 {
					t.Errorf("after %d promotions there are %d rows of %d: %v", n+1, rows, 2*n+2, err)
				}
			}
		})
	}
}

func TestAStuckMySQLReplicaIsRebuiltWithoutLoss(t *testing.T) {
	t.Parallel()
	for _, k := range []MySQL{{}, {MariaDB: true}} {
		t.Run(k.Name(), func(t *testing.T) {
			t.Parallel()
			s, ok := begin(t, k, promotion).(*mysqlServer)
			if !ok {
				t.Fatal("it is something else")
			}
			db := open(t, "mysql", s.DSN(chaos.Producers))
			count := func() (rows int) {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				if err := patiently(ctx, func() error {
					return db.QueryRowContext(ctx, "SELECT COUNT(*) FROM placed WHERE stands").Scan(&rows)
				}); err != nil {
					t.Fatal(err)
				}
				return rows
			}
			for _, db := range []*sql.DB{s.replica.db, db} {
				text := "INSERT INTO placed VALUES (UUID(), true)"
				if db == s.replica.db {
					text = "STOP SLAVE SQL_THREAD"
					if !k.MariaDB {
						text = "STOP REPLICA SQL_THREAD"
					}
				}
				if _, err := db.ExecContext(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			}
			port := s.current().Port()
			s.applies = time.Second
			if stuck, err := s.promote(t.Context()); stuck == nil || err != nil || s.current().Port() != port {
				t.Fatalf("a replica that applies nothing was promoted: %v, %v", stuck, err)
			}
			if n := count(); n != 1 {
				t.Errorf("there are %d rows, not one", n)
			}
			s.applies = replicaPatience
			if stuck, err := s.promote(t.Context()); stuck != nil || err != nil || s.current().Port() == port {
				t.Fatalf("its successor was not promoted: %v, %v", stuck, err)
			}
			if n := count(); n != 1 {
				t.Errorf("there are %d rows, not one, after a promotion", n)
			}
		})
	}
}
