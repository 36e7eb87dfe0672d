package mysqlstore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag/internal/boxtest"
)

func TestAProducerWhoseSeqHasATombstoneRetriesItsStatement(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, grace(50*time.Millisecond))
		first := s.publish(boxtest.Messages(1, "a")...)
		hole := s.burn()
		second := s.publish(boxtest.Messages(1, "b")...)
		s.want(s.Deliver(), append(first, second...)...)
		s.Eventually("a tombstone stands in the hole", func() bool {
			s.want(s.Read())
			return s.number("SELECT COUNT(*) FROM postbag_outbox WHERE seq = ? AND slot = 65535", hole) == 1
		})
		_, err := s.plain.ExecContext(t.Context(), "INSERT INTO postbag_outbox (seq, topic, payload) VALUES (?, 't', 'p')", hole)
		const duplicate = 1062
		if refused, ok := errors.AsType[*mysql.MySQLError](err); !ok || refused.Number != duplicate {
			t.Fatalf("who comes late gets %v, not error 1062", err)
		}
		// The hole is given to a statement after all. The server's own counter never goes
		// back behind a row, so that only a session can say so.
		tx, err := s.plain.BeginTx(t.Context(), nil)
		s.Must(err)
		third := boxtest.Messages(3, "c")
		_, err = tx.ExecContext(t.Context(), fmt.Sprintf("SET INSERT_ID = %d", hole))
		s.Must(err)
		s.Must(s.Append(t.Context(), tx, "outbox", third))
		s.Must(tx.Commit())
		s.want(s.Read(), third...)
	})
}

// burn gives out a seq that nobody writes, and returns it.
func (s *testBox) burn() int64 {
	s.Helper()
	tx, err := s.plain.BeginTx(s.Context(), nil)
	s.Must(err)
	result, err := tx.ExecContext(s.Context(), "INSERT INTO postbag_outbox (topic, payload) VALUES ('t', 'p')")
	s.Must(err)
	seq, err := result.LastInsertId()
	s.Must(err)
	s.Must(tx.Rollback())
	return seq
}

func TestAProducerSlowerThanTheGracePeriodIsDelivered(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, grace(50*time.Millisecond))
		tx, err := s.plain.BeginTx(t.Context(), nil)
		s.Must(err)
		late := boxtest.Messages(2, "late")
		s.Must(s.Append(t.Context(), tx, "outbox", late))
		dead := s.burn()
		s.want(s.Deliver())
		other := s.publish(boxtest.Messages(1, "a")...)
		s.want(s.Deliver(), other...)
		began := time.Now()
		s.Eventually("twenty graces pass", func() bool { s.want(s.Read()); return time.Since(began) > time.Second })
		if n := s.tombstones(); n > 0 {
			t.Errorf("%d tombstones were written above a row that is in flight", n)
		}
		s.Must(tx.Commit())
		s.want(s.Deliver(), late...)
		s.Eventually("then the dead one is buried", func() bool {
			s.want(s.Read())
			return s.number("SELECT COUNT(*) FROM postbag_outbox WHERE seq = ?", dead) == 1
		})
	})
}
