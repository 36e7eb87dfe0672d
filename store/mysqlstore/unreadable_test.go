package mysqlstore_test

import (
	"context"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// A row that cannot be read comes as a record that says so, and hides no other. Boxes of an
// older version take some, and any session of MariaDB can switch constraints off.
func TestAnUnreadableRowIsReportedAndHidesNoOther(t *testing.T) {
	t.Parallel()
	rows := map[string]struct {
		ignore bool
		insert string
	}{
		"an invalid escape":        {true, "INSERT INTO postbag_outbox (topic, `key`, headers, payload) VALUES ('t', 'k', '{\"path\":\"C:\\\\queue\"}', 'p')"},
		"a number without its end": {true, "INSERT INTO postbag_outbox (topic, `key`, headers, payload) VALUES ('t', 'k', '{\"a\":1.}', 'p')"},
		"a key that is no text":    {false, "INSERT INTO postbag_outbox (topic, `key`, payload) VALUES ('t', x'ff01', 'p')"},
		"a topic with a zero":      {true, "INSERT INTO postbag_outbox (topic, `key`, payload) VALUES (x'740075', 'k', 'p')"},
		"headers with a zero":      {true, "INSERT INTO postbag_outbox (topic, `key`, headers, payload) VALUES ('t', 'k', CONCAT('{}', CHAR(0)), 'p')"},
		"headers nested deeply":    {true, "INSERT INTO postbag_outbox (topic, `key`, headers, payload) VALUES ('t', 'k', CONCAT('{\"a\":', REPEAT('[', 20000), '}'), 'p')"},
		"headers that are a list":  {true, "INSERT INTO postbag_outbox (topic, `key`, headers, payload) VALUES ('t', 'k', '[]', 'p')"},
		"a time before all":        {true, "INSERT INTO postbag_outbox (at, topic, `key`, headers, payload) VALUES (-9223372036854775808, 't', 'k', '{', 'p')"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTestBox(t, mariadb)
			before := s.publish(boxtest.Messages(1, "before")...)
			conn, err := s.plain.Conn(t.Context())
			s.Must(err)
			if row.ignore {
				_, err = conn.ExecContext(t.Context(), "SET check_constraint_checks = 0")
				s.Must(err)
			}
			_, err = conn.ExecContext(context.WithoutCancel(t.Context()), row.insert)
			s.Must(err)
			s.Must(conn.Close())
			behind := s.publish(boxtest.Messages(1, "behind")...)

			lease := s.Lease
			batch := s.batch("", 10)
			if len(batch.Records) != 3 || batch.Records[0].ID != before[0].ID || batch.Records[2].ID != behind[0].ID ||
				batch.Records[0].Err != nil || batch.Records[2].Err != nil {
				t.Fatalf("it comes as %v", batch.Records)
			}
			odd := batch.Records[1]
			if odd.Err == nil || strings.Contains(odd.Err.Error(), "C:") || odd.Hash != store.KeyHash(odd.Key) || odd.Slot != store.SlotOf(&odd.Message) {
				t.Errorf("it says %v", odd.Err)
			}
			s.Settle(&lease, store.Settlement{To: batch.Next, Park: []store.Park{{
				Seq: odd.Seq, Slot: odd.Slot, Hash: odd.Hash, State: store.ParkRetrying, Blocking: true, Reason: odd.Err.Error(),
			}}})
			due, err := s.Due(t.Context(), store.Due{Ref: outbox, Slots: []store.Slots{store.AllSlots}, Limit: 10, Bytes: 1 << 20, Followers: 1})
			if err != nil || len(due) != 1 || due[0].Err == nil || due[0].ID != odd.ID || due[0].Record.Hash != odd.Hash {
				t.Errorf("when it is due it comes as %v (error: %v)", due, err)
			}
			items, _, err := s.List(t.Context(), store.Query{Ref: outbox})
			if err != nil || len(items) != 3 || items[1].Err == nil {
				t.Errorf("the list shows %v (error: %v)", items, err)
			}
			if _, err := s.Show(t.Context(), "outbox", odd.ID); err != nil {
				t.Errorf("it is not shown: %v", err)
			}
		})
	}
}

// A page is bounded by all that is in a row.
func TestAPageIsBoundedByAllBytesOfARow(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		for range 20 {
			s.exec("INSERT INTO postbag_outbox (topic, `key`, headers, payload) VALUES ('t', 'k', CONCAT('{\"a\":\"', REPEAT('x', 10000), '\"}'), 'p')")
		}
		r := request("", 100)
		r.Bytes = 50_000
		turn, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{r}})
		s.Must(err)
		if n := len(turn.Batches[0].Records); n < 4 || n > 6 || !turn.Batches[0].More {
			t.Errorf("a page of 50,000 bytes has %d rows of 10,000 in their headers", n)
		}
	})
}

// batch reads one page.
func (s *testBox) batch(from store.Position, limit int) store.Batch {
	s.Helper()
	turn, err := s.Turn(s.Context(), store.Turn{Read: []store.Request{request(from, limit)}})
	s.Must(err)
	s.Must(turn.Batches[0].Err)
	return turn.Batches[0]
}

func TestAFilterOfALaterVersionStopsItsOwnSubscriptionAlone(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		s := newTestBox(t, k)
		boxtest.UnreadableFilter(t, s.Store, func() {
			_, err := s.plain.ExecContext(t.Context(), "UPDATE postbag__subscription SET takes = ? WHERE name = 'default'", boxtest.LaterFilter)
			s.Must(err)
		}, func() { s.publish(boxtest.Messages(1, "a")...) })
	})
}
