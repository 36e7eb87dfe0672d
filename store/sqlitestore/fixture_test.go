package sqlitestore_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

// fixture is a store at work in a test.
type fixture struct {
	testing.TB
	*sqlitestore.Store

	path string
}

// open makes a store in a new file, with box outbox and its default subscription.
func open(tb testing.TB) *fixture {
	tb.Helper()
	f := openAt(tb, filepath.Join(tb.TempDir(), "test.db"), sqlitestore.Options{Create: true})
	f.declare(store.Spec{Ref: outbox})
	return f
}

// openAt opens a store and closes it with the test.
func openAt(tb testing.TB, path string, o sqlitestore.Options) *fixture {
	tb.Helper()
	s, err := sqlitestore.Open(tb.Context(), path, o)
	if err != nil {
		tb.Fatal(err)
	}
	f := &fixture{TB: tb, Store: s, path: path}
	tb.Cleanup(func() { f.check(s.Close()) })
	return f
}

// openOver opens a store over an application's db and closes it with the test.
func openOver(tb testing.TB, db *sql.DB, o sqlitestore.Options) (*fixture, error) {
	tb.Helper()
	s, err := sqlitestore.OpenDB(tb.Context(), db, o)
	if err != nil {
		return nil, err
	}
	f := &fixture{TB: tb, Store: s}
	tb.Cleanup(func() { f.check(s.Close()) })
	return f, nil
}

// openDSN opens a database as an application does.
func openDSN(tb testing.TB, dsn string) *sql.DB {
	tb.Helper()
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

var outbox = store.Ref{Box: "outbox", Subscription: "default"}

func message(key string, n int) postbag.Message {
	return postbag.Message{
		ID: postbag.NewID(), Topic: "orders", Key: key, Type: "order.created",
		Headers: map[string]string{"n": strconv.Itoa(n)}, Payload: fmt.Appendf(nil, "message %d", n),
	}
}

// messages makes n messages whose keys take turns.
func messages(n int, keys ...string) []postbag.Message {
	out := make([]postbag.Message, n)
	for i := range out {
		out[i] = message(keys[i%len(keys)], i)
	}
	return out
}

func (f *fixture) check(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) declare(specs ...store.Spec) {
	f.Helper()
	f.check(f.Declare(f.Context(), specs))
}

func (f *fixture) publish(msgs ...postbag.Message) {
	f.Helper()
	f.check(f.InTx(f.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
		return f.Append(ctx, tx, "outbox", msgs)
	}))
}

// take makes a relay the owner of all shards of a subscription.
func (f *fixture) take(relay string, r store.Ref) []store.ShardState {
	f.Helper()
	view, err := f.Beat(f.Context(), store.Beat{Relay: relay, New: true, TTL: time.Minute, Works: []store.Ref{r}})
	f.check(err)
	var want []store.Shard
	for _, h := range view.Subscriptions[0].Shards {
		want = append(want, h.Shard)
	}
	view, err = f.Beat(f.Context(), store.Beat{Relay: relay, TTL: time.Minute, Works: []store.Ref{r}, Take: want})
	f.check(err)
	for _, h := range view.Subscriptions[0].Shards {
		if h.Owner != relay {
			f.Fatalf("shard %s belongs to %q", h.Slots, h.Owner)
		}
	}
	return view.Subscriptions[0].Shards
}

// lease takes the one shard of a subscription.
func (f *fixture) lease(r store.Ref) store.Lease {
	f.Helper()
	return f.take("relay of "+r.Subscription, r)[0].Lease
}

func (f *fixture) turn(n store.Turn) store.TurnResult {
	f.Helper()
	result, err := f.Turn(f.Context(), n)
	f.check(err)
	return result
}

// read reads a page of the default subscription.
func (f *fixture) read(from store.Position, limit int) store.Batch {
	f.Helper()
	batch := f.turn(store.Turn{Read: []store.Request{request(from, limit)}}).Batches[0]
	f.check(batch.Err)
	return batch
}

// readAll reads everything beyond a position.
func (f *fixture) readAll(from store.Position) []store.Record {
	f.Helper()
	var out []store.Record
	for {
		batch := f.read(from, 1000)
		out = append(out, batch.Records...)
		if from = batch.Next; !batch.More {
			return out
		}
	}
}

func request(from store.Position, limit int) store.Request {
	return store.Request{Ref: outbox, Slots: []store.Slots{store.AllSlots}, From: from, Limit: limit, Bytes: 64 << 20}
}

// settle settles one shard and moves the lease on.
func (f *fixture) settle(l *store.Lease, s store.Settlement) store.Verdict {
	f.Helper()
	s.Lease = *l
	v := f.turn(store.Turn{Settle: []store.Settlement{s}}).Verdicts[0]
	if !v.Applied {
		f.Fatalf("the settlement at version %d is lost", l.Version)
	}
	l.Version++
	return v
}

// eventually waits until cond holds.
func (f *fixture) eventually(what string, cond func() bool) {
	f.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			f.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// commits returns a function that returns a number which changes with each
// commit to the file, no matter who makes it.
func (f *fixture) commits() func() int64 {
	f.Helper()
	conn, err := f.DB().Conn(f.Context())
	f.check(err)
	f.Cleanup(func() { f.check(conn.Close()) })
	return func() (n int64) {
		f.Helper()
		f.check(conn.QueryRowContext(f.Context(), `PRAGMA data_version`).Scan(&n))
		return n
	}
}
