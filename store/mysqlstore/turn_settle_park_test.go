package mysqlstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// parkedAtOnce is about how many messages a stop parks.
const parkedAtOnce = 600

// parked has records be parked as in flight, and let go of.
func parked(records []store.Record) (parks []store.Park, resolved []store.Resolved) {
	for i := range records {
		r := &records[i]
		parks = append(parks, store.Park{Seq: r.Seq, Slot: r.Slot, Hash: r.Hash, State: store.ParkInFlight, Blocking: true, Reason: "it was in flight"})
		resolved = append(resolved, store.Resolved{Seq: r.Seq, Hash: r.Hash})
	}
	return parks, resolved
}

// manyKeys are as many messages, each of a key of its own.
func manyKeys() []postbag.Message {
	msgs := boxtest.Messages(parkedAtOnce, "")
	for i := range msgs {
		msgs[i].Key = fmt.Sprintf("key-%d", i)
	}
	return msgs
}

// Each statement costs its time: a stop that parks what is in flight has a second.
func TestManyRowsAreParkedAndResolvedInFewStatements(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.publish(manyKeys()...)
		parks, resolved := parked(s.Read())
		for i := range parks { // each waits for a time of its own
			parks[i].State, parks[i].Delay = store.ParkRetrying, time.Hour+time.Duration(i)*time.Second
		}
		few := func(doing string, st store.Settlement) {
			t.Helper()
			before := s.cut.statements.Load()
			s.Settle(&s.Lease, st)
			if n := s.cut.statements.Load() - before; n > 60 {
				t.Errorf("%s %d rows takes %d statements", doing, parkedAtOnce, n)
			}
		}
		few("parking", store.Settlement{Park: parks})
		if n := s.number("SELECT COUNT(DISTINCT ready) FROM postbag__parked WHERE ready = due"); n != parkedAtOnce {
			t.Errorf("%d rows may be tried at times of their own, want %d", n, parkedAtOnce)
		}
		few("parking again", store.Settlement{Park: parks})
		a := store.Audit{Who: "test", Why: "test"}
		seqs := make([]int64, len(resolved))
		for i, r := range resolved {
			seqs[i] = r.Seq
		}
		_, err := s.Command(t.Context(), a, outbox, store.Discard, seqs)
		s.Must(err)
		r, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{request(s.At, 1)}})
		s.Must(err)
		done := make([]store.Done, len(r.Commands))
		for i, c := range r.Commands {
			done[i] = c.Done()
		}
		few("discarding", store.Settlement{Resolve: resolved, Done: done})
		for of, want := range map[string]int64{"parked": 0, "command": 0, "discarded": parkedAtOnce, "past": parkedAtOnce} {
			if n := s.number("SELECT COUNT(*) FROM postbag__" + of); n != want {
				t.Errorf("there are %d rows of postbag__%s, want %d", n, of, want)
			}
		}
	})
}

// A settlement is never larger than what the server takes.
func TestManyRowsWithLongReasonsFitASmallPacket(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.publish(boxtest.Messages(parkedAtOnce, "many")...)
		parks, _ := parked(s.Read())
		long := make([]byte, 1024)
		for i := range long {
			long[i] = '\\'
		}
		for i := range parks {
			parks[i].Reason = string(long)
		}
		s.cut.largest.Store(0)
		s.Settle(&s.Lease, store.Settlement{Park: parks})
		if n := s.cut.largest.Load(); n > 1<<20 {
			t.Errorf("parking %d rows sends %d bytes in one statement", parkedAtOnce, n)
		}
	})
}

// Chains that are long are not read whole, and the first message of each alone may be tried.
func TestOfManyLongBlockedKeysTheFirstMessagesAreDue(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		keys := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
		s.publish(boxtest.Messages(1000, keys...)...)
		parks, resolved := parked(s.Read())
		for i := range parks {
			parks[i].State = store.ParkBlocked
		}
		for first := 0; first < 30; first += 10 {
			if first == 0 {
				s.Settle(&s.Lease, store.Settlement{Park: parks})
			} else {
				s.Settle(&s.Lease, store.Settlement{Resolve: resolved[first-10 : first]})
			}
			if n := s.number("SELECT COUNT(*) FROM postbag__parked WHERE ready IS NOT NULL AND seq < ?", parks[first+10].Seq); n != 10 {
				t.Errorf("of 10 chains %d have a first message that may be tried", n)
			}
			if n := s.number("SELECT COUNT(*) FROM postbag__parked WHERE ready IS NOT NULL"); n != 10 {
				t.Errorf("%d messages of 10 chains may be tried", n)
			}
		}
	})
}
