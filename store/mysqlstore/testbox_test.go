package mysqlstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

var outbox = boxtest.Outbox

// testBox is a store with a box, in the hands of a test that is application, relay and housekeeper.
type testBox struct {
	testing.TB
	*boxtest.Driver
	*fixture
}

// newTestBox makes a box. Its messages are kept for a millisecond.
func newTestBox(tb testing.TB, k *kind, change ...func(*mysqlstore.Options)) *testBox {
	tb.Helper()
	return testBoxOn(tb, k.pooled(tb), change...)
}

func testBoxOn(tb testing.TB, dsn string, change ...func(*mysqlstore.Options)) *testBox {
	tb.Helper()
	f := newFixture(tb, dsn, change...)
	if err := f.CreateBox(tb.Context(), "outbox"); err != nil {
		tb.Fatal(err)
	}
	return &testBox{TB: tb, Driver: boxtest.New(tb, f), fixture: f}
}

// grace sets how old an open seq must be for a tombstone.
func grace(d time.Duration) func(*mysqlstore.Options) {
	return func(o *mysqlstore.Options) { o.Grace = d }
}

// position returns how far the one shard of a subscription is settled.
func (s *testBox) position(r store.Ref) store.Position {
	s.Helper()
	o, err := s.Overview(s.Context())
	s.Must(err)
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

// publish commits msgs in one transaction.
func (s *testBox) publish(msgs ...postbag.Message) []postbag.Message {
	s.Helper()
	s.Must(s.InTx(s.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
		return s.Append(ctx, tx, "outbox", msgs)
	}))
	return msgs
}

func (s *testBox) exec(text string, args ...any) {
	s.Helper()
	if _, err := s.plain.ExecContext(s.Context(), text, args...); err != nil {
		s.Fatalf("%v: %s", err, text)
	}
}

// number reads one number.
func (s *testBox) number(text string, args ...any) (n int64) {
	s.Helper()
	if err := s.plain.QueryRowContext(s.Context(), text, args...).Scan(&n); err != nil {
		s.Fatalf("%v: %s", err, text)
	}
	return n
}

// request reads a page of the default subscription.
func request(from store.Position, limit int) store.Request {
	return boxtest.Request(outbox, from, limit)
}

// want fails the test unless records are these messages, in any order, each once.
func (s *testBox) want(records []store.Record, msgs ...postbag.Message) {
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
func (s *testBox) tombstones() int64 {
	s.Helper()
	return s.number("SELECT COUNT(*) FROM postbag_outbox WHERE slot = 65535")
}
