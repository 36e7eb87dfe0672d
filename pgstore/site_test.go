package pgstore_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/pgstore"
	"github.com/postbag/postbag/store"
)

var (
	outbox = store.Ref{Box: "outbox", Subscription: "default"}
	upkeep = store.Ref{Box: "outbox", Subscription: store.Maintenance}
)

// partSize is how many seqs a partition has.
const partSize = 32 * store.TallySpan

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
func newSite(tb testing.TB, change ...func(*pgxpool.Config, *pgstore.Options)) *site {
	tb.Helper()
	return siteOn(tb, shared.Database(tb), change...)
}

func siteOn(tb testing.TB, dsn string, change ...func(*pgxpool.Config, *pgstore.Options)) *site {
	tb.Helper()
	s := &site{TB: tb, fixture: newFixture(tb, dsn, change...), keep: time.Millisecond}
	s.must(s.CreateBox(tb.Context(), "outbox"))
	s.declare(store.Spec{Ref: outbox, Shards: 1})
	s.lease = s.take("relay", outbox)
	s.house = s.take("housekeeper", upkeep)
	return s
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
	s.must(s.InTx(s.Context(), func(ctx context.Context, tx pgx.Tx) error {
		return s.Append(ctx, tx, "outbox", msgs)
	}))
	return msgs
}

// burn has the next seq be the first of the next partition.
func (s *site) burn() {
	s.Helper()
	s.exec("SELECT setval('postbag.outbox__seq', (((last_value - 1) / $1) + 1) * $1) FROM postbag.outbox__seq", partSize)
}

func (s *site) exec(sql string, args ...any) {
	s.Helper()
	if _, err := s.plain.Exec(s.Context(), sql, args...); err != nil {
		s.Fatalf("%v: %s", err, sql)
	}
}

// number reads one number.
func (s *site) number(sql string, args ...any) (n int64) {
	s.Helper()
	if err := s.plain.QueryRow(s.Context(), sql, args...).Scan(&n); err != nil {
		s.Fatalf("%v: %s", err, sql)
	}
	return n
}

// readFrom reads all that a subscription has beyond a position.
func (s *site) readFrom(r store.Ref, from store.Position) ([]store.Record, store.Position) {
	s.Helper()
	var out []store.Record
	for {
		t, err := s.Turn(s.Context(), store.Turn{Read: []store.Request{{
			Ref: r, Slots: []store.Slots{store.AllSlots}, From: from, Limit: 1000, Bytes: 64 << 20,
		}}})
		s.must(err)
		b := t.Batches[0]
		s.must(b.Err)
		out = append(out, b.Records...)
		if from = b.Next; !b.More {
			return out, from
		}
	}
}

// read reads what the default subscription has not read yet.
func (s *site) read() []store.Record {
	s.Helper()
	var out []store.Record
	out, s.at = s.readFrom(outbox, s.at)
	return out
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
		out = append(out, t)
	}
	return out
}

// less returns tallies to be subtracted.
func less(all []store.Tally) []store.Tally {
	for i := range all {
		all[i].Count, all[i].SeqSum, all[i].IDSum = -all[i].Count, -all[i].SeqSum, -all[i].IDSum
	}
	return all
}

// maintain is one round of housekeeping.
func (s *site) maintain() store.Report {
	s.Helper()
	r, err := s.Maintain(s.Context(), store.Retention{Lease: s.house, Keep: s.keep})
	s.must(err)
	s.total.Promoted += r.Promoted
	s.total.Added += r.Added
	s.total.Dropped += r.Dropped
	s.total.Copied += r.Copied
	s.total.Deleted += r.Deleted
	s.total.Faults = append(s.total.Faults, r.Faults...)
	return r
}

// until maintains until cond holds.
func (s *site) until(what string, cond func() bool) {
	s.Helper()
	s.eventually(what, func() bool {
		s.maintain()
		return cond()
	})
}

// eventually waits until cond holds.
func (s *site) eventually(what string, cond func() bool) {
	s.Helper()
	end := time.After(60 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-end:
			s.Fatalf("not within a minute: %s; reports: %+v", what, s.total)
		}
	}
}

// rounds maintains several times, long enough for anything to be dropped that
// may.
func (s *site) rounds() {
	s.Helper()
	for range 5 {
		s.maintain()
		now := s.number("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
		s.eventually("the clock moves on", func() bool {
			return s.number("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint") > now+2000
		})
	}
}

// rows counts what the log holds up to a seq.
func (s *site) rows(to int64) int64 {
	s.Helper()
	return s.number("SELECT count(*) FROM postbag.outbox WHERE seq <= $1", to)
}

// table says whether a table is there.
func (s *site) table(name string) bool {
	s.Helper()
	return s.number("SELECT count(*) FROM pg_class WHERE relname = $1 AND relnamespace = 'postbag'::regnamespace", name) > 0
}

// faulty says whether a fault with some words was told.
func (s *site) faulty(words string) bool {
	for _, f := range s.total.Faults {
		if strings.Contains(f, words) {
			return true
		}
	}
	return false
}

// asRole returns a DSN with another role.
func asRole(tb testing.TB, dsn, role, password string) string {
	tb.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	u.User = url.UserPassword(role, password)
	return u.String()
}

// withoutCreate opens what is there.
func withoutCreate(_ *pgxpool.Config, o *pgstore.Options) { *o = pgstore.Options{} }
