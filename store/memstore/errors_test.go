package memstore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// TestWrongCallsAreErrors shows that bad input is refused with a word on what to
// do, and changes nothing.
func TestWrongCallsAreErrors(t *testing.T) {
	t.Parallel()
	good := postbag.Message{ID: postbag.ID{1}}
	appended := func(change func(*postbag.Message)) func(*world, *Tx) error {
		return func(w *world, tx *Tx) error {
			m := good
			change(&m)
			return w.Append(w.ctx, tx, "outbox", []postbag.Message{good, m})
		}
	}
	for name, c := range map[string]struct {
		call func(*world, *Tx) error
		says string
	}{
		"a zero id":      {appended(func(m *postbag.Message) { m.ID = postbag.ID{} }), "message 1: the id is zero"},
		"a long topic":   {appended(func(m *postbag.Message) { m.Topic = strings.Repeat("t", 256) }), "the topic has 256 bytes"},
		"a long key":     {appended(func(m *postbag.Message) { m.Key = strings.Repeat("t", 1025) }), "the key has 1025 bytes"},
		"a NUL":          {appended(func(m *postbag.Message) { m.Type = "a\x00" }), "the type has a NUL"},
		"no UTF-8":       {appended(func(m *postbag.Message) { m.ShardKey = "\xff" }), "the shard key is not UTF-8"},
		"a header's NUL": {appended(func(m *postbag.Message) { m.Headers = map[string]string{"a": "\x00"} }), "the value of a header has a NUL"},
		"a large message": {
			appended(func(m *postbag.Message) { m.Payload = make([]byte, 1001) }), "the payload has 1001 bytes, more than 1000",
		},
		"no transaction": {func(w *world, _ *Tx) error { return w.Append(w.ctx, nil, "outbox", []postbag.Message{good}) }, "nil or of another store"},
		"another store's transaction": {func(w *world, _ *Tx) error {
			return w.Append(w.ctx, newWorld(w.T, Options{}).writer(0), "outbox", []postbag.Message{good})
		}, "nil or of another store"},
		"no box to lock in":    {func(w *world, tx *Tx) error { return w.Lock(w.ctx, tx, "nowhere", []string{"k"}) }, "no such box"},
		"no savepoint":         {func(w *world, tx *Tx) error { return tx.RollbackTo(w.ctx, "s") }, "set it first"},
		"no prepared one":      {func(w *world, _ *Tx) error { return w.CommitPrepared(w.ctx, "p") }, "prepare it first"},
		"a beat without an id": {func(w *world, _ *Tx) error { _, err := w.Beat(w.ctx, store.Beat{TTL: 1}); return err }, "give an id"},
		"a beat without a TTL": {func(w *world, _ *Tx) error { _, err := w.Beat(w.ctx, store.Beat{Relay: "r"}); return err }, "positive TTL"},
		"too many shards":      {func(w *world, _ *Tx) error { return w.declareShards(5000) }, "ask for 1 to 4096"},
		"a reserved name":      {func(w *world, _ *Tx) error { w.ref.Subscription = "@x"; return w.declareShards(1) }, "kept for the store"},
		"due without a limit":  {func(w *world, _ *Tx) error { _, err := w.Due(w.ctx, store.Due{Ref: w.ref}); return err }, "use positive limits"},
		"a read without bytes": {func(w *world, _ *Tx) error { return w.readErr(store.Request{Limit: 1}) }, "use positive ones"},
		"until in a window":    {func(w *world, _ *Tx) error { return w.untilInWindow() }, "the Next of a Whole batch"},
		"an unknown command":   {func(w *world, _ *Tx) error { return w.order(store.Audit{Who: "w", Why: "y"}, 9) }, "unknown; use store.Retry"},
		"an order by nobody":   {func(w *world, _ *Tx) error { return w.order(store.Audit{Why: "y"}, store.Retry) }, "give both"},
		"a malformed cursor":   {func(w *world, _ *Tx) error { return w.list(store.Query{Ref: w.ref, Cursor: "x"}) }, "the cursor is malformed"},
		"a list of no box":     {func(w *world, _ *Tx) error { return w.list(store.Query{}) }, "no such box"},
		"blocked under no lease": {func(w *world, _ *Tx) error {
			_, err := w.Blocked(w.ctx, store.Lease{Shard: store.Shard{Ref: w.ref, Slots: store.AllSlots}, Token: 7})
			return err
		}, "the lease is lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, Options{MaxMessage: 1000})
			tx := w.writer(1)
			err := c.call(w, tx)
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "memstore: ") {
				t.Fatalf("error %v, which does not begin with the package and say %q", err, c.says)
			}
			must(t, tx.Commit(w.ctx))
			if n := len(w.rows("")); n != 1 {
				t.Errorf("%d messages are there, not the one that was appended before", n)
			}
		})
	}
}

func (w *world) declareShards(n int) error {
	w.ref.Subscription = strings.Replace(w.ref.Subscription, "default", "other", 1)
	err := w.Declare(w.ctx, []store.Spec{{Ref: w.ref, Shards: n}})
	w.ref.Subscription = "default"
	return err
}

func (w *world) readErr(q store.Request) error {
	q.Ref, q.Slots = w.ref, []store.Slots{store.AllSlots}
	res, err := w.Turn(w.ctx, store.Turn{Read: []store.Request{q}})
	must(w, err)
	return res.Batches[0].Err
}

func (w *world) untilInWindow() error {
	must(w, w.writer(5).Commit(w.ctx))
	res, err := w.Turn(w.ctx, store.Turn{Read: []store.Request{{Ref: w.ref, Slots: []store.Slots{store.AllSlots}, Limit: 2, Bytes: 1}}})
	must(w, err)
	defer func() { must(w, w.drop(w.ref.Box, 6)) }()
	return w.readErr(store.Request{Until: res.Batches[0].At(0), Limit: 1, Bytes: 1})
}

// drop forgets the rows up to seq, but for the first.
func (w *world) drop(box string, seq int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := int64(2); i <= seq; i++ {
		w.boxes[box].log.remove(i)
	}
	return nil
}

func (w *world) order(a store.Audit, kind store.CommandKind) error {
	_, err := w.Command(w.ctx, a, w.ref, kind, []int64{1})
	return err
}

func (w *world) list(q store.Query) error {
	_, _, err := w.List(w.ctx, q)
	return err
}

func TestAnEndedTransactionDoesNothing(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*world, *Tx) error{
		"committed":   func(w *world, tx *Tx) error { return tx.Commit(w.ctx) },
		"rolled back": func(w *world, tx *Tx) error { return tx.Rollback(w.ctx) },
		"prepared":    func(w *world, tx *Tx) error { return tx.Prepare(w.ctx, "p") },
		"crashed":     func(w *world, _ *Tx) error { w.Crash(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, Options{})
			tx := w.writer(2)
			must(t, end(w, tx))
			for what, err := range map[string]error{
				"append":    w.Append(w.ctx, tx, "outbox", []postbag.Message{{ID: postbag.ID{1}}}),
				"lock":      w.Lock(w.ctx, tx, "outbox", []string{"k"}),
				"write":     tx.Write(w.ctx),
				"savepoint": tx.Savepoint(w.ctx, "s"),
				"roll back": tx.RollbackTo(w.ctx, "s"),
				"prepare":   tx.Prepare(w.ctx, "q"),
				"commit":    tx.Commit(w.ctx),
			} {
				if !errors.Is(err, errTxEnded) {
					t.Errorf("%s: %v", what, err)
				}
			}
			must(t, tx.Rollback(w.ctx))
			if n, want := len(w.rows("")), map[string]int{"committed": 2}[name]; n != want {
				t.Errorf("%d messages are there, not %d", n, want)
			}
		})
	}
}

func TestARepeatUnderAnotherTokenIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	take := func(relay string) store.Lease {
		v, err := w.Beat(w.ctx, store.Beat{
			Relay: relay, New: true, TTL: time.Hour, Works: []store.Ref{w.ref}, Take: []store.Shard{{Ref: w.ref, Slots: store.AllSlots}},
		})
		must(t, err)
		return v.Subscriptions[0].Shards[0].Lease
	}
	settle := func(l store.Lease) bool {
		res, err := w.Turn(w.ctx, store.Turn{Settle: []store.Settlement{{Lease: l}}})
		must(t, err)
		return res.Verdicts[0].Applied
	}
	first := take("first")
	if applied, again := settle(first), settle(first); !applied || !again {
		t.Fatal("a settlement or its repeat is lost")
	}
	_, err := w.Beat(w.ctx, store.Beat{Relay: "first", Leave: true})
	must(t, err)
	l := take("second")
	l.Version--
	if settle(l) {
		t.Error("a settlement that was applied under another token is taken for a repeat")
	}
}

func TestASingleWriterHasNoPreparedTransactionsAndSurvivesACrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{SingleWriter: true})
	tx, err := w.Begin(w.ctx)
	must(t, err)
	if err := tx.Prepare(w.ctx, "p"); err == nil {
		t.Error("a store with a single writer prepared a transaction")
	}
	ctx, cancel := context.WithTimeout(w.ctx, 10*time.Millisecond)
	defer cancel()
	if _, err := w.Begin(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second transaction: %v", err)
	}
	w.Crash()
	tx, err = w.Begin(w.ctx)
	must(t, err)
	must(t, tx.Commit(w.ctx))
}

func TestAPreparedNameIsTakenUntilItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	first, second := w.writer(1), w.writer(1)
	must(t, first.Prepare(w.ctx, "p"))
	if err := second.Prepare(w.ctx, "p"); err == nil {
		t.Error("two transactions are prepared under one name")
	}
	must(t, w.CommitPrepared(w.ctx, "p"))
	must(t, second.Prepare(w.ctx, "p"))
	must(t, w.RollbackPrepared(w.ctx, "p"))
	if n := len(w.rows("")); n != 1 {
		t.Errorf("%d messages are there, not that of the first", n)
	}
}

func TestListingsOfSeveralSubscriptionsHoldEachMessageOnceASubscription(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	other := store.Ref{Box: "outbox", Subscription: "other"}
	must(t, w.Declare(w.ctx, []store.Spec{{Ref: other}}))
	must(t, w.writer(7).Commit(w.ctx))
	seen := map[string]map[int64]bool{"default": {}, "other": {}}
	q := store.Query{Ref: store.Ref{Box: "outbox"}, Limit: 3}
	for {
		items, next, err := w.List(w.ctx, q)
		must(t, err)
		for _, it := range items {
			if seen[it.Subscription][it.Seq] {
				t.Errorf("message %d of %s is listed twice", it.Seq, it.Subscription)
			}
			seen[it.Subscription][it.Seq] = true
		}
		if next == "" {
			break
		}
		q.Cursor = next
	}
	if len(seen["default"]) != 7 || len(seen["other"]) != 7 {
		t.Errorf("of seven messages %d and %d are listed", len(seen["default"]), len(seen["other"]))
	}
}

func TestRememberedAgesOfSeqsAreBounded(t *testing.T) {
	t.Parallel()
	b := newBox("outbox")
	const keep = 5000 * time.Second
	now := time.Unix(1_000_000, 0)
	for seq := range int64(20_000) {
		now = now.Add(time.Second)
		b.mark(seq+1, now, keep)
		floor := b.forgetMarks(now.Add(-keep))
		if most := max(seq+1-5000, 0); floor > most || floor < most-5000/floorMarks-2 {
			t.Fatalf("of seqs passed one a second up to %d, those up to %d are said to be %s old", seq+1, floor, keep)
		}
		if len(b.floors) > floorMarks+2 {
			t.Fatalf("%d marks are kept", len(b.floors))
		}
	}
}
