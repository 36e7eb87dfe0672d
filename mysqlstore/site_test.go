package mysqlstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/mysqlstore"
	"github.com/postbag/postbag/store"
)

var (
	outbox = store.Ref{Box: "outbox", Subscription: "default"}
	upkeep = store.Ref{Box: "outbox", Subscription: store.Maintenance}
)

// site is a store with box outbox and its default subscription of one shard, in
// the hands of a test that is application, relay and housekeeper.
type site struct {
	testing.TB
	*fixture

	lease store.Lease    // of the default subscription
	at    store.Position // how far that has read
	house store.Lease    // of the box's maintenance
	keep  time.Duration
	total store.Report
}

// newSite makes a site. Its messages are kept for a millisecond.
func newSite(tb testing.TB, k *kind, change ...func(*mysqlstore.Options)) *site {
	tb.Helper()
	return siteOn(tb, k.database(tb), change...)
}

func siteOn(tb testing.TB, dsn string, change ...func(*mysqlstore.Options)) *site {
	tb.Helper()
	s := &site{TB: tb, fixture: newFixture(tb, dsn, change...), keep: time.Millisecond}
	s.must(s.CreateBox(tb.Context(), "outbox"))
	s.declare(store.Spec{Ref: outbox, Shards: 1})
	s.lease = s.take("relay", outbox)
	s.house = s.take("housekeeper", upkeep)
	return s
}

// grace sets how old an open seq must be for a tombstone.
func grace(d time.Duration) func(*mysqlstore.Options) {
	return func(o *mysqlstore.Options) { o.Grace = d }
}

func (s *site) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *site) declare(specs ...store.Spec) {
	s.Helper()
	s.must(s.Declare(s.Context(), specs))
}

// take makes a new relay the owner of the one shard of a subscription.
func (s *site) take(relay string, r store.Ref) store.Lease {
	s.Helper()
	b := store.Beat{Relay: relay, New: true, TTL: time.Hour, Works: []store.Ref{r}}
	b.Take = []store.Shard{{Ref: r, Slots: store.AllSlots}}
	v, err := s.Beat(s.Context(), b)
	s.must(err)
	if len(v.Subscriptions) != 1 || len(v.Subscriptions[0].Shards) != 1 || v.Subscriptions[0].Shards[0].Owner != relay {
		s.Fatalf("%s did not get the shard of %s", relay, r)
	}
	return v.Subscriptions[0].Shards[0].Lease
}

// position returns how far the one shard of a subscription is settled.
func (s *site) position(r store.Ref) store.Position {
	s.Helper()
	o, err := s.Overview(s.Context())
	s.must(err)
	for _, b := range o.Boxes {
		for _, sub := range b.Subscriptions {
			if sub.Ref == r {
				return sub.Shards[0].Position
			}
		}
	}
	s.Fatalf("there is no %s", r)
	return ""
}

// messages makes n messages whose keys take turns.
func messages(n int, keys ...string) []postbag.Message {
	out := make([]postbag.Message, n)
	for i := range out {
		out[i] = postbag.Message{
			ID: postbag.NewID(), Topic: "orders", Key: keys[i%len(keys)], Type: "order.created",
			Headers: map[string]string{"n": fmt.Sprint(i)}, Payload: fmt.Appendf(nil, "message %d", i),
		}
	}
	return out
}

// publish commits msgs in one transaction.
func (s *site) publish(msgs ...postbag.Message) []postbag.Message {
	s.Helper()
	s.must(s.InTx(s.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
		return s.Append(ctx, tx, "outbox", msgs)
	}))
	return msgs
}

func (s *site) exec(text string, args ...any) {
	s.Helper()
	if _, err := s.plain.ExecContext(s.Context(), text, args...); err != nil {
		s.Fatalf("%v: %s", err, text)
	}
}

// number reads one number.
func (s *site) number(text string, args ...any) (n int64) {
	s.Helper()
	if err := s.plain.QueryRowContext(s.Context(), text, args...).Scan(&n); err != nil {
		s.Fatalf("%v: %s", err, text)
	}
	return n
}

// request reads a page of the default subscription.
func request(from store.Position, limit int) store.Request {
	return store.Request{Ref: outbox, Slots: []store.Slots{store.AllSlots}, From: from, Limit: limit, Bytes: 64 << 20}
}

// read reads what the default subscription has not read yet.
func (s *site) read() []store.Record {
	s.Helper()
	var out []store.Record
	for {
		t, err := s.Turn(s.Context(), store.Turn{Read: []store.Request{request(s.at, 1000)}})
		s.must(err)
		b := t.Batches[0]
		s.must(b.Err)
		out = append(out, b.Records...)
		if s.at = b.Next; !b.More {
			return out
		}
	}
}

// settle settles under a lease, and moves it on.
func (s *site) settle(l *store.Lease, st store.Settlement) {
	s.Helper()
	st.Lease = *l
	t, err := s.Turn(s.Context(), store.Turn{Settle: []store.Settlement{st}})
	s.must(err)
	if !t.Verdicts[0].Applied {
		s.Fatalf("the settlement at version %d is lost", l.Version)
	}
	l.Version++
}

// deliver reads all that is new and settles it as delivered.
func (s *site) deliver() []store.Record {
	s.Helper()
	records := s.read()
	s.settle(&s.lease, store.Settlement{To: s.at, Tally: tally(store.TallyDelivered, records...)})
	return records
}

// tally counts records as of one fate.
func tally(fate store.Fate, records ...store.Record) []store.Tally {
	var out []store.Tally
	for i := range records {
		t := store.Tally{Span: (records[i].Seq - 1) / store.TallySpan, Fate: fate, Count: 1, SeqSum: uint64(records[i].Seq)}
		for _, b := range records[i].ID[8:] {
			t.IDSum = t.IDSum<<8 | uint64(b)
		}
		if n := len(out); n > 0 && out[n-1].Span == t.Span {
			out[n-1].Count++
			out[n-1].SeqSum += t.SeqSum
			out[n-1].IDSum += t.IDSum
			continue
		}
		out = append(out, t)
	}
	return out
}

// maintain is one round of housekeeping.
func (s *site) maintain() store.Report {
	s.Helper()
	r, err := s.Maintain(s.Context(), store.Retention{Lease: s.house, Keep: s.keep})
	s.must(err)
	s.total.Deleted += r.Deleted
	s.total.Copied += r.Copied
	s.total.Added += r.Added
	s.total.Dropped += r.Dropped
	s.total.Faults = append(s.total.Faults, r.Faults...)
	return r
}

// eventually waits until cond holds.
func (s *site) eventually(what string, cond func() bool) {
	s.Helper()
	end := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-end:
			s.Fatalf("not within %s: %s; reports: %+v", patience, what, s.total)
		}
	}
}

// want fails the test unless records are these messages, in any order, each once.
func (s *site) want(records []store.Record, msgs ...postbag.Message) {
	s.Helper()
	got := make(map[postbag.ID]int, len(records))
	for i := range records {
		got[records[i].ID]++
	}
	for i := range msgs {
		if got[msgs[i].ID] != 1 {
			s.Errorf("message %v came %d times", msgs[i].ID, got[msgs[i].ID])
		}
	}
	if len(records) != len(msgs) {
		s.Fatalf("%d messages came, and not %d", len(records), len(msgs))
	}
}

// tombstones counts the rows that are no messages.
func (s *site) tombstones() int64 {
	s.Helper()
	return s.number("SELECT COUNT(*) FROM postbag_outbox WHERE slot = 65535")
}
