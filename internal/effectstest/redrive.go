package effectstest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/store"
)

// Redriven is a store whose boxes take what a consumer parks, and whose relays take commands.
type Redriven[Tx any] interface {
	Store[Tx]
	store.Store
	store.Operator
}

// RunRedrive has a consumer park messages in a box of the store, and a relay of that box give them to the same handler: they die
// there, are retried, and are applied. Meanwhile the broker delivers all of them again. Each is to be applied once, and what is
// not whole never reaches the handler.
func RunRedrive[Tx any](t *testing.T, open func(t *testing.T) Redriven[Tx]) {
	t.Helper()
	n := shelves.Add(1)
	w := &redrive[Tx]{
		tb: t, store: open(t), name: fmt.Sprint("billing", n), aside: fmt.Sprint("aside", n), effects: fmt.Sprint("effects", n),
		from: memsource.New(memsource.Options{Order: source.OrderStream, NoPlaces: true}),
	}
	for _, r := range []store.Ref{{Box: w.aside, Subscription: "default"}, {Box: w.effects, Subscription: "reader"}} {
		w.must(w.store.CreateBox(t.Context(), r.Box))
		w.must(w.store.Declare(t.Context(), []store.Spec{{Ref: r, Shards: 1}}))
	}
	w.must(w.from.Publish(
		source.Message{Key: "a", MessageID: "1", Payload: []byte("bad")}, source.Message{Key: "a", MessageID: "2", Payload: []byte("good")},
		source.Message{Key: "b", MessageID: "3", Payload: []byte("refused")}, source.Message{Key: "c", Payload: []byte("nobody")},
	))
	w.parks()
	w.dies()
	w.works.Store(true)
	w.comesAgain(true)
	w.isRetried()
	w.comesAgain(false)
}

// redrive is one test of RunRedrive at work.
type redrive[Tx any] struct {
	tb                   testing.TB
	store                Redriven[Tx]
	name, aside, effects string
	from                 *memsource.Broker
	works                atomic.Bool // the handler
}

func (w *redrive[Tx]) must(err error) {
	w.tb.Helper()
	if err != nil {
		w.tb.Fatal(err)
	}
}

// handle is the handler. Until it works, it fails for one message, and rejects another.
func (w *redrive[Tx]) handle(ctx context.Context, tx Tx, m *inbox.Message) error {
	if !w.works.Load() {
		switch string(m.Payload) {
		case "bad":
			return errors.New("no such account")
		case "refused":
			return fmt.Errorf("%w: the amount is negative", inbox.ErrRejected)
		}
	}
	return w.store.Append(ctx, tx, w.effects, []postbag.Message{{ID: postbag.NewID(), Topic: "effects", Key: m.Key, Payload: m.Payload}})
}

// await returns when a condition holds.
func (w *redrive[Tx]) await(what string, holds func() bool) {
	w.tb.Helper()
	deadline, tick := time.After(time.Minute), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			w.tb.Fatalf("not in a minute: %s; applied are %v, and dead %v", what, w.applied(), said(w.dead()))
		}
	}
}

// list returns messages of a box: those of a state, or all.
func (w *redrive[Tx]) list(box string, state store.State) []store.Item {
	w.tb.Helper()
	items, _, err := w.store.List(context.Background(), store.Query{Ref: store.Ref{Box: box}, State: state, Oldest: true, Limit: 100})
	w.must(err)
	return items
}

func (w *redrive[Tx]) dead() []store.Item { return w.list(w.aside, store.StateDead) }

// applied are the payloads whose effects are committed, sorted.
func (w *redrive[Tx]) applied() (all []string) {
	w.tb.Helper()
	for _, it := range w.list(w.effects, "") {
		all = append(all, string(it.Payload))
	}
	slices.Sort(all)
	return all
}

func (w *redrive[Tx]) wantApplied(want ...string) {
	w.tb.Helper()
	if got := w.applied(); !slices.Equal(got, want) {
		w.tb.Errorf("%v are applied, want %v", got, want)
	}
}

// said are messages with why they are where they are.
func said(items []store.Item) (all []string) {
	for i := range items {
		all = append(all, string(items[i].Payload)+": "+items[i].Reason)
	}
	return all
}

// consume runs a consumer until all four messages are over, and fails the test unless it has counted what is right.
func (w *redrive[Tx]) consume(loseAcks bool, right func(inbox.ConsumerStats) bool) {
	w.tb.Helper()
	w.from.LoseAcks(loseAcks)
	c, err := inbox.NewConsumer(inbox.ConsumerOptions[Tx]{
		Store: w.store, Source: w.from.Join("billing"), Consumer: w.name, Box: w.aside, Handle: w.handle, Concurrency: 1,
		Retry: inbox.Retry{Min: time.Millisecond, Max: time.Millisecond, MaxAttempts: 2}, Logger: slog.New(slog.DiscardHandler),
	})
	w.must(err)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	w.await("four messages are over", func() bool { s := c.Stats(); return s.Applied+s.Parked+s.Repeated == 4 })
	stop()
	if err := <-ended; err != nil && !loseAcks { // a source whose acks got lost says so
		w.tb.Errorf("the consumer ended with %v", err)
	}
	if s := c.Stats(); !right(s) {
		w.tb.Errorf("it counted %+v", s)
	}
}

// parks has a consumer apply one of the messages, and park the others: two as they are, and one that has no id.
func (w *redrive[Tx]) parks() {
	w.tb.Helper()
	w.consume(true, func(s inbox.ConsumerStats) bool { return s.Applied == 1 && s.Parked == 3 && s.Failed == 3 })
	w.wantApplied("good")
	for payload, why := range map[string]string{"bad": "it failed in 2 attempts, at last: no such account", "refused": "the amount is negative", "nobody": ""} {
		i := slices.IndexFunc(w.list(w.aside, ""), func(it store.Item) bool { return string(it.Payload) == payload })
		if i < 0 {
			w.tb.Errorf("%s is not in the box", payload)
			continue
		}
		it := w.list(w.aside, "")[i]
		if whole := it.Err == nil; whole != (why != "") || !strings.Contains(it.Headers[inbox.FailedHeader], why) {
			w.tb.Errorf("%s is parked with the headers %v, and the fault %v", payload, it.Headers, it.Err)
		}
	}
}

// relays runs some relays of the box with the same handler, until f returns.
func (w *redrive[Tx]) relays(n int, f func()) {
	w.tb.Helper()
	if n == 0 {
		f()
		return
	}
	to, err := inbox.NewDestination(inbox.DestinationOptions[Tx]{Store: w.store, Consumer: w.name, Handle: w.handle})
	w.must(err)
	r, err := relay.New(w.store, relay.Options{
		Subscriptions: []relay.Subscription{{
			Box: w.aside, To: to, Concurrency: 1, Retry: relay.Retry{Min: time.Millisecond, Max: 5 * time.Millisecond, MaxAttempts: 2},
		}},
		Logger: slog.New(slog.DiscardHandler),
	})
	w.must(err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	defer func() {
		stop()
		if err := errors.Join(<-ended, to.Close(context.Background())); err != nil {
			w.tb.Errorf("the relay ended with %v", err)
		}
	}()
	w.relays(n-1, f)
}

// dies has a relay try what was parked, and fail: it is dead, each with its own reason.
func (w *redrive[Tx]) dies() {
	w.tb.Helper()
	w.relays(1, func() { w.await("three are dead", func() bool { return len(w.dead()) == 3 }) })
	text := strings.Join(said(w.dead()), "\n")
	for _, part := range []string{"no such account", "the amount is negative", "nobody: "} {
		if !strings.Contains(text, part) {
			w.tb.Errorf("the dead messages do not say %q:\n%s", part, text)
		}
	}
	w.wantApplied("good")
}

// isRetried gives the command for all three, to two relays: the two that are whole are applied, and the other one is dead again.
func (w *redrive[Tx]) isRetried() {
	w.tb.Helper()
	var seqs []int64
	for _, it := range w.dead() {
		seqs = append(seqs, it.Seq)
	}
	n, err := w.store.Command(context.Background(), store.Audit{Who: "test", Why: "the handler works"},
		store.Ref{Box: w.aside, Subscription: "default"}, store.Retry, seqs)
	w.must(err)
	if n != 3 {
		w.tb.Errorf("%d commands are given, want 3", n)
	}
	w.relays(2, func() {
		w.await("two are applied, and one is dead again", func() bool {
			dead := w.dead()
			return len(dead) == 1 && string(dead[0].Payload) == "nobody" && dead[0].Queued == 0 && len(w.applied()) >= 3
		})
	})
	w.wantApplied("bad", "good", "refused")
}

// comesAgain has the broker deliver all again, to a handler that works: none is applied or parked a second time.
func (w *redrive[Tx]) comesAgain(loseAcks bool) {
	w.tb.Helper()
	before := w.applied()
	w.consume(loseAcks, func(s inbox.ConsumerStats) bool { return s.Repeated == 4 })
	w.wantApplied(before...)
	if n := len(w.list(w.aside, "")); n != 3 {
		w.tb.Errorf("the box holds %d messages, want 3", n)
	}
}
