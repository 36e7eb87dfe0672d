package mysqlstore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

// retained makes a box of whose messages retention has left the last, and a parked one with seq 3.
func retained(t *testing.T, k *kind, change ...func(*mysqlstore.Options)) *testBox {
	t.Helper()
	s := newTestBox(t, k, change...)
	s.publish(boxtest.Messages(10, "a", "b")...)
	turn, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{request("", 100)}})
	s.Must(err)
	batch := turn.Batches[0]
	var rest []store.Record
	for _, r := range batch.Records {
		if r.Seq != 3 {
			rest = append(rest, r)
		}
	}
	parked := batch.Records[2]
	s.Settle(&s.Lease, store.Settlement{
		To:    batch.Next,
		Park:  []store.Park{{Seq: parked.Seq, Slot: parked.Slot, State: store.ParkDead, Reason: "no"}},
		Tally: append(boxtest.Tally(store.TallyParked, parked), boxtest.Tally(store.TallyDelivered, rest...)...),
	})
	s.At = batch.Next
	s.Eventually("all but two rows are deleted", func() bool {
		s.Housekeep()
		return s.number("SELECT COUNT(*) FROM postbag_outbox") == 2
	})
	return s
}

// insertWith inserts a message with a seq that the owner has chosen, of long ago as far as it says.
func (s *testBox) insertWith(seq int64) (id postbag.ID) {
	s.Helper()
	id = postbag.NewID()
	s.exec("INSERT INTO postbag_outbox (seq, id, at, topic, payload) VALUES (?, ?, 1, 't', 'p')", seq, id[:])
	return id
}

// A session that chooses a seq below the beginning of the log writes where no relay comes by, and housekeeping deleted
// that as it deletes what was parked once.
func TestAMessageBelowTheBeginningOfTheLogIsSentLate(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := retained(t, k)
		s.insertAt("2")
		ids := []postbag.ID{s.insertWith(1), s.insertWith(7)}
		s.Eventually("they are sent", func() bool { s.Housekeep(); return s.number("SELECT COUNT(*) FROM postbag_outbox WHERE seq < 10") == 1 })
		got := s.Deliver()
		if len(got) != 3 {
			t.Fatalf("of three messages %d come", len(got))
		}
		for _, id := range ids {
			if !strings.Contains(fmt.Sprint(got[0].ID, got[1].ID, got[2].ID), id.String()) {
				t.Errorf("%v does not come", id)
			}
		}
		if faults := strings.Join(s.Total.Faults, "\n"); !strings.Contains(faults, "are sent late under new seqs") {
			t.Errorf("housekeeping says %q", faults)
		}
		o, err := s.Overview(t.Context())
		if err != nil || len(o.Boxes[0].Notices) == 0 || !strings.Contains(o.Boxes[0].Notices[0].What, "send outbox: ") {
			t.Errorf("the overview shows %+v (error: %v)", o.Boxes, err)
		}
		s.Total.Faults = nil
		for range 5 {
			s.Housekeep()
		}
		if again := s.Deliver(); len(again) > 0 || len(s.Total.Faults) > 0 {
			t.Errorf("%d messages come again, and housekeeping says %q", len(again), s.Total.Faults)
		}
	})
}

// What was parked and kept is deleted when it is resolved, and is not sent again, by whatever version it was kept.
func TestAKeptMessageThatIsResolvedIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for _, older := range []bool{false, true} {
		t.Run(fmt.Sprint("kept by an older version: ", older), func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, k *kind) {
				t.Helper()
				s := retained(t, k)
				if older {
					s.exec("DELETE FROM postbag__discarded")
				}
				s.Settle(&s.Lease, store.Settlement{Resolve: []store.Resolved{{Seq: 3}}})
				s.Eventually("it is deleted", func() bool { s.Housekeep(); return s.number("SELECT COUNT(*) FROM postbag_outbox") == 1 })
				if got := s.Deliver(); len(got) > 0 || len(s.Total.Faults) > 0 {
					t.Errorf("%d messages come, and housekeeping says %q", len(got), s.Total.Faults)
				}
			})
		})
	}
}

// A row before the first seq was never read, and in an empty box made the relay take the log for another one at each turn.
func TestAMessageWithASeqBelowOneIsSentLate(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.insertWith(-5)
		if _, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{request(s.At, 100)}}); err != nil {
			t.Errorf("a turn ends with %v", err)
		}
		if _, err := s.Check(t.Context()); errors.Is(err, store.ErrMoved) {
			t.Errorf("the log is taken for another: %v", err)
		}
		s.Eventually("it is sent", func() bool { s.Housekeep(); return s.number("SELECT COUNT(*) FROM postbag_outbox WHERE seq < 1") == 0 })
		if got := s.Deliver(); len(got) != 1 {
			t.Errorf("%d messages come", len(got))
		}
	})
}

// A seq that a position has passed and retention has not deleted: the ledger shows the row, and nothing is deleted.
func TestAMessageWithASeqThatPositionsHavePassedStopsRetention(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.publish(boxtest.Messages(10, "a", "b")...)
		s.Deliver()
		s.exec("DELETE FROM postbag_outbox WHERE seq = 4")
		s.insertWith(4)
		for range 5 {
			s.Housekeep()
		}
		if n := s.number("SELECT COUNT(*) FROM postbag_outbox"); n != 10 {
			t.Errorf("of 10 rows %d are left", n)
		}
		o, err := s.Overview(t.Context())
		if err != nil || len(s.Total.Faults) == 0 || len(o.Boxes[0].Notices) != 1 {
			t.Errorf("housekeeping says %q, the overview shows %+v (error: %v)", s.Total.Faults, o.Boxes, err)
		}
	})
}

// The same in a divided box, whose partitions are dropped: the row lies in one that is not yet.
func TestAMessageBelowDroppedPartitionsIsSentLate(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, divided)
		s.fill(1500)
		s.Eventually("a partition is dropped", func() bool {
			s.TryPartitions()
			s.Deliver()
			s.Housekeep()
			return s.Total.Dropped > 0
		})
		id := s.insertWith(5)
		s.Eventually("it is sent", func() bool { s.Housekeep(); return s.number("SELECT COUNT(*) FROM postbag_outbox WHERE seq = 5") == 0 })
		got := s.Deliver()
		if len(got) != 1 || got[0].ID != id {
			t.Errorf("%d messages come", len(got))
		}
	})
}

// heldUp is a divided box whose first partition everybody has passed. What ends is a transaction that keeps it from being dropped.
func heldUp(t *testing.T, k *kind, begin func(*testBox)) (s *testBox, end func()) {
	t.Helper()
	s = newTestBox(t, k, divided, func(o *mysqlstore.Options) { o.Partition = time.Hour })
	begin(s)
	s.Keep = time.Hour
	s.fill(1500)
	s.Eventually("no partition is to be made, which the transaction would hold up too", func() bool { return s.Housekeep().Added == 0 })
	s.Keep = time.Millisecond
	open, err := s.plain.BeginTx(t.Context(), nil)
	s.Must(err)
	s.Must(s.Append(t.Context(), open, "outbox", boxtest.Messages(3, "late")))
	s.Eventually("a drop is tried", func() bool { s.Housekeep(); return s.Faulty("could not be made or dropped") })
	s.Total.Faults = nil
	return s, func() {
		s.Must(open.Rollback())
		s.TryPartitions()
	}
}

// What is left of a partition that everybody has passed is on no list of what was kept. Where that partition was no more, or was taken for
// one in which something stays, housekeeping sent all its messages again, as rows that nobody has read.
func TestMessagesOfAPartitionThatWaitsForItsDropAreNotSentAgain(t *testing.T) {
	t.Parallel()
	for name, orders := range map[string][]string{
		"the table is divided no more": {"ALTER TABLE postbag_outbox REMOVE PARTITIONING"},
		"it is merged with the next":   {"ALTER TABLE postbag_outbox REORGANIZE PARTITION p1000, p2000 INTO (PARTITION p2000 VALUES LESS THAN (2001))"},
		"a tombstone comes into it": {
			"DELETE FROM postbag_outbox WHERE seq = 5",
			"INSERT INTO postbag_outbox (seq, id, topic, type, payload) VALUES (5, REPEAT(X'00', 16), '', '@tombstone', '')",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, k *kind) {
				t.Helper()
				s, end := heldUp(t, k, func(*testBox) {})
				end()
				s.Driver = s.On(t, newFixture(t, s.dsn)) // a process that remembers nothing of the partition
				for _, order := range orders {
					s.exec(order)
				}
				s.Eventually("they are deleted", func() bool {
					s.Housekeep()
					return s.number("SELECT COUNT(*) FROM postbag_outbox WHERE seq <= 1000 AND slot < 4096") == 0
				})
				if got := s.Deliver(); len(got) > 0 || s.Faulty("sent late") {
					t.Errorf("%d messages come again, and housekeeping says %q", len(got), s.Total.Faults)
				}
			})
		})
	}
}

// A row below the log is in the lowest partition that there is, be it one that waits for its drop.
func TestAMessageInAPartitionThatWaitsForItsDropIsSentLate(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s, end := heldUp(t, k, func(s *testBox) {
			s.fill(1500)
			s.Eventually("the first partition is dropped", func() bool { s.Housekeep(); return s.Total.Dropped == 1 })
		})
		id := s.insertWith(5)
		end()
		s.Eventually("the next is dropped", func() bool { s.Housekeep(); return s.Total.Dropped == 2 })
		if got := s.Deliver(); len(got) != 1 || got[0].ID != id {
			t.Errorf("%d messages come, and housekeeping says %q", len(got), s.Total.Faults)
		}
	})
}
