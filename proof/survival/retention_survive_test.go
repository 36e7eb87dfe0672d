package survival

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/proof/internal/record"
	"github.com/postbag/postbag/store"
)

// Item 9: messages are kept for a second only, and partitions end one after
// another under load. One is held by a subscription that lags, and one by a
// transaction that has been open for longer than that; a dead message outlives its
// own. Nothing is dropped before its time, and no writer waits for the DDL.
func TestRetentionDropsNothingUndelivered(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	// The server notes each wait for a lock that is longer than writers may wait.
	w := newWorldOn(t, testserver.PostgresOptions{Settings: map[string]string{"deadlock_timeout": "210ms", "log_lock_waits": "on"}},
		testserver.NATSOptions{})
	w.dsn += "&application_name=writers"
	w.open()
	w.dropStream()
	w.addStream(jetstream.StreamConfig{MaxMsgSize: 4096})
	w.addStream(jetstream.StreamConfig{Name: "LATE", Subjects: []string{"late.>"}})
	late := relayConfig{
		dsn: w.pg.DSN("postgres"), to: "late", sub: "late", more: "    from: first",
		top: "  late: {nats: {url: \"" + w.nats.URL() + "\", stream: LATE, prefix: late.}}\nmaintenance: false",
	}
	l := w.start("late", late)
	w.eventually(30*time.Second, "the subscription is declared", func() bool { return w.count(`select count(*) from postbag._subscriptions where name = 'late'`) == 1 })
	l.Stop()
	r := w.start("a", relayConfig{dsn: w.pg.DSN("postgres"), top: "keep: 1s", more: "    retry: {min: 1s, max: 1s, max_attempts: 2}"})

	waits := &latencies{}
	// Some 600 messages a second, which a subscription that lags catches up with on a busy machine, too.
	ws := &writers{w: w, count: 8, keys: 30, waited: waits.add, delay: func() time.Duration { return 80 * time.Millisecond }}
	finish := ws.meanwhile(t.Context())
	w.publishAll(8, 0, strings.Repeat("x", 8192), 7)
	w.awaitDead(1)
	w.endPartition()
	w.kept("beside a subscription that lags", "outbox__p0")
	l = w.start("late", late)
	w.eventually(2*time.Minute, "the first partition is dropped when the subscription has passed it", func() bool { return !w.table("outbox__p0") })

	old, err := w.pool.Begin(t.Context())
	if err == nil {
		err = w.pub.Publish(t.Context(), old, ws.message(record.Event{Key: "old"}))
	}
	if err != nil {
		t.Fatal(err)
	}
	w.endPartition()
	w.kept("beside an open transaction", "outbox__p32")
	if err := old.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.eventually(2*time.Minute, "the second partition is dropped when the transaction is over", func() bool { return !w.table("outbox__p32") })
	finish()
	w.updateStream(func(c *jetstream.StreamConfig) { c.MaxMsgSize = -1 })
	w.order(store.Retry, "k7")

	ws.committed["old"], ws.committed["k7"] = 1, 1
	w.expect(ws, time.Minute)
	lagged := w.judge(w.messagesIn("LATE", ws.total(), time.Minute), ws.committed, nil)
	t.Logf("the subscription that lagged: %s", record.Line(lagged))
	w.wantNoWaits(waits)
	r.Stop()
	l.Stop()
}

// wantNoWaits fails the test for a writer that waited for a lock, or for anything,
// longer than it may.
func (w *world) wantNoWaits(waits *latencies) {
	w.t.Helper()
	for line := range strings.Lines(w.pg.Log()) {
		if strings.Contains(line, "writers") && strings.Contains(line, "still waiting for") {
			w.t.Errorf("a writer waited for a lock: %s", line)
		}
	}
	all := waits.sorted()
	longest, most := all[len(all)-1], 5*time.Second // a busy machine
	if full() {
		most = 200 * time.Millisecond
	}
	w.t.Logf("%d inserts took %v in the median and %v at most", len(all), all[len(all)/2], longest)
	if longest > most {
		w.t.Errorf("an insert took %v", longest)
	}
}

// endPartition moves the box's sequence to the end of its partition, so that the
// next message begins another one.
func (w *world) endPartition() {
	w.t.Helper()
	const size = 32 * store.TallySpan
	if _, err := w.pool.Exec(w.t.Context(),
		`select setval('postbag.outbox__seq', ((last_value - 1) / $1::bigint + 1) * $1::bigint) from postbag.outbox__seq`, size); err != nil {
		w.t.Fatal(err)
	}
}

// kept lets the housekeeping do several rounds and sees that a table is there.
func (w *world) kept(when, table string) {
	w.t.Helper()
	pause(5 * time.Second)
	if !w.table(table) {
		w.t.Fatalf("%s %s is dropped", when, table)
	}
}

// table says whether a table of Postbag's is there.
func (w *world) table(name string) bool {
	w.t.Helper()
	return w.count(`select count(*) from pg_class where oid = to_regclass('postbag.`+name+`')`) == 1
}

// count reads one number.
func (w *world) count(sql string) (n int) {
	w.t.Helper()
	if err := w.pool.QueryRow(w.t.Context(), sql).Scan(&n); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// latencies are how long writers' statements took.
type latencies struct {
	mu  sync.Mutex
	all []time.Duration
}

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, d)
}

func (l *latencies) sorted() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(slices.Values(l.all))
}
