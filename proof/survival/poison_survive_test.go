package survival

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/internal/record"
	"github.com/postbag/postbag/store"
)

// theSubscription is what the relays of these tests work.
var theSubscription = store.Ref{Box: "outbox", Subscription: "default"}

// Item 6: two poison messages among 1,000 keys, both larger than the stream
// allows. Their keys wait behind them and all others go on, through a relay that
// is killed and one that takes over. One is discarded, and one is retried when the
// stream allows more; the relay is killed after each command.
func TestAPoisonMessageBlocksOnlyItsKey(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	w.dropStream()
	w.addStream(jetstream.StreamConfig{MaxMsgSize: 4096})
	retry := relayConfig{more: "    retry: {min: 1s, max: 1s, max_attempts: 2}"}
	r := w.start("a", retry)
	const keys, first, second = 1000, "k7", "k8"
	want := map[string][]int{}
	publish := func(n int) {
		w.publishAll(keys, n, "")
		for k := range keys {
			want[key(k)] = append(want[key(k)], n)
		}
	}
	publish(0)
	w.publishAll(9, 1, strings.Repeat("x", 8192), 7, 8)
	held := map[string][]int{first: {0}, second: {0}}
	publish(2)
	w.awaitDead(2)
	w.wantKeys("behind the poison", keys+(keys-2), want, held)

	r.Kill()
	b := w.start("b", retry)
	publish(3)
	w.wantKeys("after a restart", keys+2*(keys-2), want, held)
	c := w.start("c", retry)
	c.Ready()
	b.Kill()
	publish(4)
	w.wantKeys("after a takeover", keys+3*(keys-2), want, held)

	w.order(store.Discard, first)
	c.Kill()
	d := w.start("d", retry)
	delete(held, first) // 0, 2, 3, 4: all but the poison
	w.wantKeys("after the discard", keys+3*(keys-1), want, held)

	w.updateStream(func(s *jetstream.StreamConfig) { s.MaxMsgSize = -1 })
	w.order(store.Retry, second)
	d.Kill()
	e := w.start("e", retry)
	delete(held, second)
	want[second] = []int{0, 1, 2, 3, 4}
	w.wantKeys("after the retry", keys+3*keys+1, want, held)
	publish(5)
	w.wantKeys("at the end", keys+4*keys+1, want, held)
	w.eventually(30*time.Second, "nothing is parked any more", func() bool { rows, _ := w.parked(); return rows == 0 })
	e.Stop()
}

func key(k int) string { return fmt.Sprintf("k%d", k) }

// publishAll publishes the n-th message of so many keys, or of those in only.
func (w *world) publishAll(keys, n int, pad string, only ...int) {
	w.t.Helper()
	ws := &writers{w: w}
	var msgs []postbag.Message
	for k := range keys {
		if len(only) == 0 || slices.Contains(only, k) {
			e := record.Event{Key: key(k), N: n}
			w.pads[e] = pad
			e.Note = pad
			msgs = append(msgs, ws.message(e))
		}
	}
	err := w.pub.InTx(w.t.Context(), func(ctx context.Context, tx pgx.Tx) error { return w.pub.Publish(ctx, tx, msgs...) })
	if err != nil {
		w.t.Fatal(err)
	}
}

// awaitDead waits until n messages have run out of attempts.
func (w *world) awaitDead(n int) {
	w.t.Helper()
	w.eventually(time.Minute, "the poison is dead", func() bool {
		dead, _, err := w.store.List(w.t.Context(), store.Query{Ref: theSubscription, State: store.StateDead})
		return err == nil && len(dead) == n
	})
}

// order commands what to do with the dead message of a key.
func (w *world) order(kind store.CommandKind, key string) {
	w.t.Helper()
	dead, _, err := w.store.List(w.t.Context(), store.Query{Ref: theSubscription, State: store.StateDead, Key: key})
	if err != nil || len(dead) != 1 {
		w.t.Fatalf("%d messages of %s are dead, %v", len(dead), key, err)
	}
	n, err := w.store.Command(w.t.Context(), store.Audit{Who: "test", Why: "fixed"}, theSubscription, kind, []int64{dead[0].Seq})
	if err != nil || n != 1 {
		w.t.Fatalf("the command was queued for %d messages, %v", n, err)
	}
}

// wantKeys waits for n distinct messages and compares, key by key, the order of
// their first arrivals: it is want, but for the keys in held.
func (w *world) wantKeys(when string, n int, want, held map[string][]int) {
	w.t.Helper()
	got := map[string][]int{}
	messages := w.messages(n, time.Minute)
	for _, m := range messages {
		if !slices.Contains(got[m.Key], m.N) {
			got[m.Key] = append(got[m.Key], m.N)
		}
	}
	distinct, wrong := 0, 0
	for k, ns := range want {
		if h, ok := held[k]; ok {
			ns = h
		}
		distinct += len(got[k])
		if !slices.Equal(got[k], ns) {
			wrong++
			w.t.Errorf("%s: of %s arrived %v, want %v", when, k, got[k], ns)
		}
		if wrong == 5 {
			w.t.FailNow()
		}
	}
	w.t.Logf("%s: distinct %d, keys in disorder %d, duplicates %d", when, distinct, wrong, len(messages)-distinct)
}

// updateStream changes the stream's configuration.
func (w *world) updateStream(change func(*jetstream.StreamConfig)) {
	w.t.Helper()
	w.jetstream(func(ctx context.Context, js jetstream.JetStream) error {
		s, err := js.Stream(ctx, stream)
		if err != nil {
			return err
		}
		c := s.CachedInfo().Config
		change(&c)
		_, err = js.UpdateStream(ctx, c)
		return err
	})
}
