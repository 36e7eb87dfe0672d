package boxtest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/store"
)

// Whose leases a Driver has.
var (
	Outbox = store.Ref{Box: "outbox", Subscription: "default"}
	Upkeep = store.Ref{Box: "outbox", Subscription: store.Maintenance}
)

// patience is how long Eventually waits: for as long as a slow machine may need.
const patience = 2 * time.Minute

// within is how long one call of the store may take. One that waits for ever fails its test, and is not left to the end of all.
const within = time.Minute

// Driver is a box and its default subscription of one shard, in the hands of a test. It is for one goroutine.
type Driver struct {
	testing.TB

	// Lease is that of Outbox, At how far that has read.
	Lease store.Lease
	At    store.Position
	// House is the lease of Upkeep, Keep how long messages are kept, Total what all maintenance reported.
	House store.Lease
	Keep  time.Duration
	Total store.Report

	of store.Store
}

// Of is a driver without leases. Its messages are kept for a millisecond.
func Of(tb testing.TB, s store.Store) *Driver {
	tb.Helper()
	return &Driver{TB: tb, of: s, Keep: time.Millisecond}
}

// New is Of, and declares Outbox in a store that has the box, and takes its leases.
func New(tb testing.TB, st store.Store) *Driver {
	tb.Helper()
	s := Of(tb, st)
	s.Declare(store.Spec{Ref: Outbox, Shards: 1})
	s.Lease = s.Take("relay", Outbox)
	s.House = s.Take("housekeeper", Upkeep)
	return s
}

// On is the same box, with the same leases, over another store of the same database.
func (s *Driver) On(tb testing.TB, other store.Store) *Driver {
	tb.Helper()
	return &Driver{TB: tb, of: other, Lease: s.Lease, At: s.At, House: s.House, Keep: s.Keep}
}

// bounded ends with the test, or when a call has taken too long.
func (s *Driver) bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.Context(), within)
}

// Must fails the test on an error.
func (s *Driver) Must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// Declare declares subscriptions.
func (s *Driver) Declare(specs ...store.Spec) {
	s.Helper()
	ctx, cancel := s.bounded()
	defer cancel()
	s.Must(s.of.Declare(ctx, specs))
}

// Take makes a new relay the owner of the one shard of a subscription.
func (s *Driver) Take(relay string, r store.Ref) store.Lease {
	s.Helper()
	b := store.Beat{Relay: relay, New: true, TTL: time.Hour, Works: []store.Ref{r}}
	b.Take = []store.Shard{{Ref: r, Slots: store.AllSlots}}
	ctx, cancel := s.bounded()
	defer cancel()
	v, err := s.of.Beat(ctx, b)
	s.Must(err)
	if len(v.Subscriptions) != 1 || len(v.Subscriptions[0].Shards) != 1 || v.Subscriptions[0].Shards[0].Owner != relay {
		s.Fatalf("%s did not get the shard of %s", relay, r)
	}
	return v.Subscriptions[0].Shards[0].Lease
}

// Request is a page of all keys of a subscription.
func Request(r store.Ref, from store.Position, limit int) store.Request {
	return store.Request{Ref: r, Slots: []store.Slots{store.AllSlots}, From: from, Limit: limit, Bytes: 64 << 20}
}

// turn is a turn that must succeed.
func (s *Driver) turn(t store.Turn) store.TurnResult {
	s.Helper()
	ctx, cancel := s.bounded()
	defer cancel()
	r, err := s.of.Turn(ctx, t)
	s.Must(err)
	return r
}

// ReadFrom reads all that a subscription has beyond a position.
func (s *Driver) ReadFrom(r store.Ref, from store.Position) ([]store.Record, store.Position) {
	s.Helper()
	var out []store.Record
	for {
		b := s.turn(store.Turn{Read: []store.Request{Request(r, from, 1000)}}).Batches[0]
		s.Must(b.Err)
		out = append(out, b.Records...)
		if from = b.Next; !b.More {
			return out, from
		}
	}
}

// Read reads what Outbox has not read yet.
func (s *Driver) Read() []store.Record {
	s.Helper()
	var out []store.Record
	out, s.At = s.ReadFrom(Outbox, s.At)
	return out
}

// Settle settles under a lease, and moves it on.
func (s *Driver) Settle(l *store.Lease, st store.Settlement) {
	s.Helper()
	st.Lease = *l
	if !s.turn(store.Turn{Settle: []store.Settlement{st}}).Verdicts[0].Applied {
		s.Fatalf("the settlement at version %d is lost", l.Version)
	}
	l.Version++
}

// Deliver reads all that is new and settles it as delivered.
func (s *Driver) Deliver() []store.Record {
	s.Helper()
	records := s.Read()
	s.Settle(&s.Lease, store.Settlement{To: s.At, Tally: Tally(store.TallyDelivered, records...)})
	return records
}

// Housekeep is one round of housekeeping.
func (s *Driver) Housekeep() store.Report {
	s.Helper()
	ctx, cancel := s.bounded()
	defer cancel()
	r, err := s.of.Maintain(ctx, store.Retention{Lease: s.House, Keep: s.Keep})
	s.Must(err)
	s.Total.Promoted += r.Promoted
	s.Total.Added += r.Added
	s.Total.Dropped += r.Dropped
	s.Total.Copied += r.Copied
	s.Total.Deleted += r.Deleted
	s.Total.Faults = append(s.Total.Faults, r.Faults...)
	return r
}

// Faulty says whether a fault with some words was reported.
func (s *Driver) Faulty(words string) bool {
	return slices.ContainsFunc(s.Total.Faults, func(f string) bool { return strings.Contains(f, words) })
}

// Until maintains until cond holds.
func (s *Driver) Until(what string, cond func() bool) {
	s.Helper()
	s.Eventually(what, func() bool {
		s.Housekeep()
		return cond()
	})
}

// Eventually waits until cond holds.
func (s *Driver) Eventually(what string, cond func() bool) {
	s.Helper()
	end := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-end:
			s.Fatalf("not within %v: %s; reports: %+v", patience, what, s.Total)
		}
	}
}
