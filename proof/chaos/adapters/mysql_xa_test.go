package adapters

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/proof/chaos"
)

// MariaDB says OK to the commit of another session that comes while the first one ends, and commits nothing.
func TestATransactionWhoseSessionEndedAfterItPreparedItStandsWhenSomebodyElseHasCommittedIt(t *testing.T) {
	t.Parallel()
	for _, k := range []MySQL{{}, {MariaDB: true}} {
		t.Run(k.Name(), func(t *testing.T) {
			t.Parallel()
			l := damageable(t, k)
			s, _ := l.of.(*mysqlServer)
			as := s.DSN(chaos.Producers) // with the rights of a producer, and to see which transactions are open
			first, second := open(t, "mysql", as), open(t, "mysql", as)
			const workers, rounds = 8, 3
			var all sync.WaitGroup
			for w := range workers {
				all.Go(func() {
					for n := range rounds {
						name := fmt.Sprint("prepared-", w, "-", n)
						if err := preparedAndDropped(t, k, first, second, name); err != nil {
							t.Errorf("prepare %s: %v", name, err)
							return
						}
						var stands bool
						if err := patiently(t.Context(), func() (err error) { stands, err = mysqlStands(t.Context(), second, name); return err }); err != nil || !stands {
							t.Errorf("%s stands: %v, %v", name, stands, err)
							return
						}
					}
				})
			}
			all.Wait()
			if stands, err := mysqlStands(t.Context(), second, "never begun"); err != nil || stands {
				t.Errorf("a transaction that was never begun stands: %v, %v", stands, err)
			}
		})
	}
}

func TestALookForATransactionIsNotItsOwnAndLeavesNoneOpen(t *testing.T) {
	t.Parallel()
	for _, k := range []MySQL{{}, {MariaDB: true}} {
		t.Run(k.Name(), func(t *testing.T) {
			t.Parallel()
			l := damageable(t, k)
			s, _ := l.of.(*mysqlServer)
			as := s.DSN(chaos.Producers)
			looks, others := open(t, "mysql", as), open(t, "mysql", as)
			looks.SetMaxOpenConns(1)
			var session int64
			if err := looks.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&session); err != nil {
				t.Fatal(err)
			}
			if held, err := xaHeld(t.Context(), looks, session); err != nil || held {
				t.Errorf("a session that looks takes its own transaction for that of another one: %v, %v", held, err)
			}
			ctx, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer end()
			if held, err := xaHeld(ctx, looks, session); !errors.Is(err, context.DeadlineExceeded) || held {
				t.Errorf("a look whose context ends says %v, %v", held, err)
			}
			if held, err := xaHeld(t.Context(), others, session); err != nil || held {
				t.Errorf("after a look whose context ended, its transaction is open: %v, %v", held, err)
			}
		})
	}
}

// preparedAndDropped prepares a transaction that marks its name, and ends its session. While that is there, nobody else tries to
// commit it on MariaDB. On MySQL a session lets go of what it prepares at once.
func preparedAndDropped(t *testing.T, k MySQL, db, others *sql.DB, name string) error {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		return err
	}
	xid, err := xaStart(t.Context(), conn, name)
	if err != nil {
		return errors.Join(err, dropped(conn))
	}
	for _, text := range []string{"INSERT INTO placed VALUES ('" + name + "', TRUE)", "XA END " + xid, "XA PREPARE " + xid} {
		if _, err := conn.ExecContext(t.Context(), text); err != nil {
			return errors.Join(err, dropped(conn))
		}
	}
	if err := xaCommitElsewhere(t.Context(), others, name); k.MariaDB != errors.Is(err, errStillHeld) {
		t.Errorf("while its session is there, a commit from another one says %v", err)
	}
	return dropped(conn)
}
