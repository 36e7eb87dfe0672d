package pgstore_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// noted is the ledger's line of what was deleted.
func (s *testBox) noted() int64 {
	s.Helper()
	return s.number("SELECT coalesce(sum(n), 0) FROM postbag._ledger WHERE fate = 6")
}

func TestOldRowsOfAPartiallyFilledPartitionAreDeleted(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(12_000, "a", "b", "")...)
	records := s.Deliver()
	s.Until("all is deleted", func() bool { return s.Total.Deleted == int64(len(records)) })
	if s.rows(partSize) != 0 || s.noted() != int64(len(records)) || s.Total.Dropped > 0 || len(s.Total.Faults) > 0 {
		t.Fatalf("%d rows are left, %d are noted as deleted, %d partitions dropped; faults: %q",
			s.rows(partSize), s.noted(), s.Total.Dropped, s.Total.Faults)
	}
	// What comes later in the partition is deleted with what was, and it agrees.
	s.publish(boxtest.Messages(30, "a")...)
	s.burn()
	s.publish(boxtest.Messages(1, "a")...)
	s.Deliver()
	s.Until("the partition is dropped", func() bool { return s.Total.Dropped == 1 })
	if len(s.Total.Faults) > 0 {
		t.Errorf("faults: %q", s.Total.Faults)
	}
}

func TestRetentionDeletesOnlyRowsThatAreOldEnough(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(50, "a")...)
	s.Deliver()
	s.Until("the first are deleted", func() bool { return s.Total.Deleted == 50 })
	s.publish(boxtest.Messages(60, "a")...)
	s.Deliver()
	s.Keep = time.Hour
	s.rounds()
	if n := s.rows(partSize); n != 60 {
		t.Errorf("of 60 messages that are to be kept for an hour %d are left", n)
	}
}

func TestRetentionComparesTheLedgerWithinASpan(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(50, "a")...)
	records := s.Read()
	s.Settle(&s.Lease, store.Settlement{To: s.At, Tally: boxtest.Tally(store.TallyDelivered, records[:49]...)})
	s.publish(boxtest.Messages(10, "a")...) // not settled: the span goes on
	s.Until("a fault is told", func() bool { return s.Faulty("50 messages passed, 49 accounted for") })
	s.rounds()
	if s.rows(partSize) != 60 {
		t.Fatal("messages were deleted although the ledger lacks one")
	}
	s.Total.Faults = nil
	s.Settle(&s.Lease, store.Settlement{Tally: boxtest.Tally(store.TallyDelivered, records[49])})
	s.Until("the messages are deleted", func() bool { return s.Total.Deleted == 50 })
	if s.rows(partSize) != 10 || len(s.Total.Faults) > 0 {
		t.Errorf("%d of 10 messages are left that nobody has passed; faults: %q", s.rows(partSize), s.Total.Faults)
	}
}

func TestRetentionCopiesParkedMessagesBeforeDeleting(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(20, "a", "b")...)
	records := s.Read()
	s.Settle(&s.Lease, store.Settlement{
		To:    s.At,
		Park:  []store.Park{{Seq: records[3].Seq, Slot: records[3].Slot, Hash: records[3].Hash, State: store.ParkDead, Blocking: true}},
		Tally: append(boxtest.Tally(store.TallyParked, records[3]), boxtest.Tally(store.TallyDelivered, append(records[:3:3], records[4:]...)...)...),
	})
	s.Until("the messages are deleted", func() bool { return s.Total.Deleted == 20 })
	items, _, err := s.List(t.Context(), store.Query{Ref: outbox, State: store.StateDead})
	s.Must(err)
	if s.Total.Copied != 1 || len(items) != 1 || string(items[0].Payload) != string(records[3].Payload) {
		t.Errorf("%d messages were copied, %d are listed as dead", s.Total.Copied, len(items))
	}
}

func TestMissingRowsAreReportedAndNothingIsDeleted(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(30, "a")...)
	records := s.Deliver()
	s.exec("DELETE FROM postbag.outbox WHERE seq = $1", records[4].Seq)
	s.Until("a fault is told", func() bool { return s.Faulty("29 messages passed, 30 accounted for") })
	s.rounds()
	if n := s.rows(partSize); n != 29 {
		t.Errorf("of 29 messages %d are left", n)
	}
}

func TestASubscriptionAccountsOnlyForMessagesAfterItsStart(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(40, "a")...)
	s.Deliver()
	s.Until("the first are deleted", func() bool { return s.Total.Deleted == 40 })
	s.publish(boxtest.Messages(7, "a")...)
	s.Deliver()
	now, first := store.Ref{Box: "outbox", Subscription: "now"}, store.Ref{Box: "outbox", Subscription: "first"}
	s.Declare(store.Spec{Ref: now, Shards: 1, From: store.Start{Now: true}}, store.Spec{Ref: first, Shards: 1})
	s.publish(boxtest.Messages(5, "a")...)
	s.Deliver()
	for ref, want := range map[store.Ref]int{now: 5, first: 12} {
		lease := s.Take("relay of "+ref.Subscription, ref)
		got, at := s.ReadFrom(ref, lease2position(s, ref))
		if len(got) > want || len(got) < 5 {
			t.Errorf("%s reads %d messages, not %d or those of them that are kept", ref, len(got), want)
		}
		s.Settle(&lease, store.Settlement{To: at, Tally: boxtest.Tally(store.TallyDelivered, got...)})
	}
	s.Until("all is deleted", func() bool { return s.rows(partSize) == 0 })
	s.burn()
	s.publish(boxtest.Messages(1, "a")...)
	s.Deliver()
	if len(s.Total.Faults) > 0 {
		t.Errorf("faults: %q", s.Total.Faults)
	}
}

func TestTwoHousekeepersDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	other := testBoxAgain(s) // a process that was frozen, with the same lease
	for range 4 {
		s.publish(boxtest.Messages(300, "a", "b")...)
		s.Deliver()
		s.Housekeep()
		other.Housekeep()
	}
	s.Until("all is deleted", func() bool {
		other.Housekeep()
		return s.Total.Deleted+other.Total.Deleted == 1200
	})
	if s.noted() != 1200 || len(s.Total.Faults)+len(other.Total.Faults) > 0 {
		t.Errorf("%d of 1200 are noted as deleted; faults: %q %q", s.noted(), s.Total.Faults, other.Total.Faults)
	}
}

// What was written into a log that was emptied and numbered again after the ledgers were compared is not deleted,
// however many rows there were and are.
func TestHousekeepingLeavesALogThatWasJustEmptied(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string][]string{
		"truncated":                        {"TRUNCATE postbag.outbox RESTART IDENTITY"},
		"rows deleted, numbering set back": {"DELETE FROM postbag.outbox", "SELECT setval('postbag.outbox__seq', 1, false)"},
	} {
		s := newTestBox(t)
		s.publish(boxtest.Messages(50, "a")...)
		s.Until("all have passed them, by bounds of their positions that no stranger's transaction holds back", func() bool {
			s.Deliver()
			safe, err := s.Passed(t.Context(), s.House)
			s.Must(err)
			return safe == 50
		})
		faults, err := s.DeletePassed(t.Context(), s.House, func() {
			for _, statement := range statements {
				s.exec(statement)
			}
			s.publish(boxtest.Messages(50, "a")...)
		})
		if err != nil {
			t.Fatal(err)
		}
		if n := s.rows(partSize); n != 50 || len(faults) != 1 {
			t.Errorf("%s: of 50 messages %d are left; faults: %q", name, n, faults)
		}
	}
}
