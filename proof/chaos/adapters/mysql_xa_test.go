package adapters

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"

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
			as := s.DSN(chaos.Producers) // with no more rights than a producer has
			first, second := open(t, "mysql", as), open(t, "mysql", as)
			const workers, rounds = 8, 10
			var all sync.WaitGroup
			for w := range workers {
				all.Go(func() {
					for n := range rounds {
						name := fmt.Sprint("prepared-", w, "-", n)
						if err := preparedAndDropped(t, first, name); err != nil {
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

// preparedAndDropped prepares a transaction that marks its name, and ends its session.
func preparedAndDropped(t *testing.T, db *sql.DB, name string) error {
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
	return dropped(conn)
}
