package pgstore_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/store"
)

// thinned is the ledger's line of what was deleted.
func (s *site) thinned() int64 {
	s.Helper()
	return s.number("SELECT coalesce(sum(n), 0) FROM postbag._ledger WHERE fate = 6")
}

func TestAPartitionThatDoesNotFillInTimeIsThinned(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(messages(12_000, "a", "b", "")...)
	records := s.deliver()
	s.until("all is deleted", func() bool { return s.total.Deleted == int64(len(records)) })
	if s.rows(partSize) != 0 || s.thinned() != int64(len(records)) || s.total.Dropped > 0 || len(s.total.Faults) > 0 {
		t.Fatalf("%d rows are left, %d are noted as deleted, %d partitions dropped; faults: %q",
			s.rows(partSize), s.thinned(), s.total.Dropped, s.total.Faults)
	}
	// What comes later in the partition is deleted with what was, and it agrees.
	s.publish(messages(30, "a")...)
	s.burn()
	s.publish(messages(1, "a")...)
	s.deliver()
	s.until("the partition is dropped", func() bool { return s.total.Dropped == 1 })
	if len(s.total.Faults) > 0 {
		t.Errorf("faults: %q", s.total.Faults)
	}
}

func TestThinningGoesNoFurtherThanThatWhichIsOldEnough(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(messages(50, "a")...)
	s.deliver()
	s.until("the first are deleted", func() bool { return s.total.Deleted == 50 })
	s.publish(messages(60, "a")...)
	s.deliver()
	s.keep = time.Hour
	s.rounds()
	if n := s.rows(partSize); n != 60 {
		t.Errorf("of 60 messages that are to be kept for an hour %d are left", n)
	}
}

func TestThinningComparesTheLedgerInTheMiddleOfASpan(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(messages(50, "a")...)
	records := s.read()
	s.settle(&s.lease, store.Settlement{To: s.at, Tally: tally(store.TallyDelivered, records[:49]...)})
	s.publish(messages(10, "a")...) // not settled: the span goes on
	s.until("a fault is told", func() bool { return s.faulty("50 messages passed, 49 accounted for") })
	s.rounds()
	if s.rows(partSize) != 60 {
		t.Fatal("messages were deleted although the ledger lacks one")
	}
	s.total.Faults = nil
	s.settle(&s.lease, store.Settlement{Tally: tally(store.TallyDelivered, records[49])})
	s.until("the messages are deleted", func() bool { return s.total.Deleted == 50 })
	if s.rows(partSize) != 10 || len(s.total.Faults) > 0 {
		t.Errorf("%d of 10 messages are left that nobody has passed; faults: %q", s.rows(partSize), s.total.Faults)
	}
}

func TestThinningCopiesParkedMessages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(messages(20, "a", "b")...)
	records := s.read()
	s.settle(&s.lease, store.Settlement{
		To:    s.at,
		Park:  []store.Park{{Seq: records[3].Seq, Slot: records[3].Slot, Hash: records[3].Hash, State: store.Dead, Blocking: true}},
		Tally: append(tally(store.TallyParked, records[3]), tally(store.TallyDelivered, append(records[:3:3], records[4:]...)...)...),
	})
	s.until("the messages are deleted", func() bool { return s.total.Deleted == 20 })
	items, _, err := s.List(t.Context(), store.Query{Ref: outbox, State: store.Died})
	s.must(err)
	if s.total.Copied != 1 || len(items) != 1 || string(items[0].Payload) != string(records[3].Payload) {
		t.Errorf("%d messages were copied, %d are listed as dead", s.total.Copied, len(items))
	}
}

func TestRowsThatVanishAreToldAndNothingIsDeleted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(messages(30, "a")...)
	records := s.deliver()
	s.exec("DELETE FROM postbag.outbox WHERE seq = $1", records[4].Seq)
	s.until("a fault is told", func() bool { return s.faulty("29 messages passed, 30 accounted for") })
	s.rounds()
	if n := s.rows(partSize); n != 29 {
		t.Errorf("of 29 messages %d are left", n)
	}
}

func TestASubscriptionThatBeganInTheMiddleAccountsForItsOwn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(messages(40, "a")...)
	s.deliver()
	s.until("the first are deleted", func() bool { return s.total.Deleted == 40 })
	s.publish(messages(7, "a")...)
	s.deliver()
	now, first := store.Ref{Box: "outbox", Subscription: "now"}, store.Ref{Box: "outbox", Subscription: "first"}
	s.declare(store.Spec{Ref: now, Shards: 1, From: store.Start{Now: true}}, store.Spec{Ref: first, Shards: 1})
	s.publish(messages(5, "a")...)
	s.deliver()
	for ref, want := range map[store.Ref]int{now: 5, first: 12} {
		lease := s.take("relay of "+ref.Subscription, ref)
		got, at := s.readFrom(ref, lease2position(s, ref))
		if len(got) > want || len(got) < 5 {
			t.Errorf("%s reads %d messages, not %d or those of them that are kept", ref, len(got), want)
		}
		s.settle(&lease, store.Settlement{To: at, Tally: tally(store.TallyDelivered, got...)})
	}
	s.until("all is deleted", func() bool { return s.rows(partSize) == 0 })
	s.burn()
	s.publish(messages(1, "a")...)
	s.deliver()
	if len(s.total.Faults) > 0 {
		t.Errorf("faults: %q", s.total.Faults)
	}
}

func TestTwoHousekeepersDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	other := siteAgain(s) // a process that was frozen, with the same lease
	for range 4 {
		s.publish(messages(300, "a", "b")...)
		s.deliver()
		s.maintain()
		other.maintain()
	}
	s.until("all is deleted", func() bool {
		other.maintain()
		return s.total.Deleted+other.total.Deleted == 1200
	})
	if s.thinned() != 1200 || len(s.total.Faults)+len(other.total.Faults) > 0 {
		t.Errorf("%d of 1200 are noted as deleted; faults: %q %q", s.thinned(), s.total.Faults, other.total.Faults)
	}
}
