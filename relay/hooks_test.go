package relay_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// told is all that hooks were told.
type told struct {
	mu       sync.Mutex
	sequence []string // kinds, as they came
	pages    []relay.PageEvent
	calls    []relay.CallEvent
	messages []relay.MessageEvent
	progress []relay.ProgressEvent
	parked   []relay.ParkEvent
	deaths   []relay.DeathEvent
	circuits []relay.CircuitEvent
	leases   []relay.LeaseEvent
	rounds   []relay.MaintenanceEvent
}

// keep returns a hook that keeps what it is told.
func keep[E any](h *told, kind string, in *[]E) func(E) {
	return func(e E) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.sequence = append(h.sequence, kind)
		*in = append(*in, e)
	}
}

func (h *told) hooks() relay.Hooks {
	return relay.Hooks{
		PageRead: keep(h, "page", &h.pages), Call: keep(h, "call", &h.calls), Message: keep(h, "message", &h.messages),
		Settled: keep(h, "settled", &h.progress), Parked: keep(h, "parked", &h.parked), Died: keep(h, "died", &h.deaths),
		Circuit: keep(h, "circuit", &h.circuits), Lease: keep(h, "lease", &h.leases),
		Maintained: keep(h, "maintained", &h.rounds),
	}
}

func (h *told) with(look func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	look()
}

func TestHooksHearOfPagesCallsMessagesAndWhatBecameOfThem(t *testing.T) {
	t.Parallel()
	for name, once := range map[string]bool{"at least once": false, "exactly once": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, memstore.Options{}, membroker.Options{Ordered: true, Transactions: true, Decide: func(m broker.Delivery, _ int) membroker.Act {
				if string(m.Payload) == "key-1/2" {
					return membroker.Fail(broker.Rejected, "bad")
				}
				return membroker.Act{}
			}})
			w.publish(40, 4)
			var h, other told
			r := w.relay(relay.Options{
				Subscriptions: []relay.Subscription{{Retry: relay.Retry{MaxAttempts: 1}, OnReject: relay.Skip, ExactlyOnce: once}},
				Hooks:         []relay.Hooks{h.hooks(), {}, {Call: keep(&other, "call", &other.calls)}},
			})
			if err := r.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.holds(t, r.Stats().Subscriptions[0])
			if len(other.calls) != len(h.calls) {
				t.Errorf("one hook heard of %d calls, another of %d", len(h.calls), len(other.calls))
			}
		})
	}
}

// holds checks what hooks heard of forty messages of which one is dead.
func (h *told) holds(t *testing.T, s relay.SubscriptionStats) {
	t.Helper()
	var read, sent, accepted, ages, delivered, parked int64
	for _, e := range h.pages {
		read += int64(e.Messages)
	}
	for i := range h.calls {
		sent, accepted, ages = sent+int64(h.calls[i].Messages), accepted+int64(h.calls[i].Accepted), ages+int64(len(h.calls[i].Acceptances))
	}
	for _, e := range h.progress {
		delivered, parked = delivered+e.Delivered, parked+e.Parked
	}
	if read != s.Read || sent != s.Sent || accepted != s.Accepted || ages != accepted || delivered != 39 || int(parked) != len(h.parked) {
		t.Errorf("hooks heard of %d read, %d sent, %d accepted with %d ages, %d delivered, %d parked with %d rows; the relay counts %+v",
			read, sent, accepted, ages, delivered, parked, len(h.parked), s)
	}
	rejected := func(e relay.MessageEvent) bool { return e.Outcome == broker.Rejected }
	if int64(len(h.messages)) != sent {
		t.Errorf("hooks heard of %d messages in calls, want %d", len(h.messages), sent)
	}
	if i := slices.IndexFunc(h.messages, rejected); i < 0 || !strings.Contains(h.messages[i].Reason, "bad") || h.messages[i].Key != "key-1" || h.messages[i].Attempt != 1 {
		t.Errorf("the rejected message is not told of: %+v", h.messages)
	}
	if len(h.deaths) != 1 || h.deaths[0].Key != "key-1" || h.deaths[0].ID.IsZero() || h.deaths[0].Attempts != 1 {
		t.Errorf("deaths are %+v", h.deaths)
	}
	if !slices.ContainsFunc(h.parked, func(e relay.ParkEvent) bool { return e.State == store.ParkDead && e.Seq == h.deaths[0].Seq }) {
		t.Errorf("the dead row is not among %+v", h.parked)
	}
	if first := slices.Index(h.sequence, "message"); slices.Index(h.sequence, "page") > first || slices.Index(h.sequence, "call") > first {
		t.Errorf("the sequence is %v", h.sequence)
	}
	gained, lost := 0, 0
	for _, e := range h.leases {
		gained, lost = gained+len(e.Gained), lost+len(e.Lost)
	}
	if gained == 0 || gained != lost || h.leases[len(h.leases)-1].Held != 0 {
		t.Errorf("leases are %+v", h.leases)
	}
}

// A hook in the loop would keep heartbeats from being made: the other relay would take over, and send again.
func TestAHookThatIsSlowerThanTheLeaseHoldsUpNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		var slept atomic.Int64
		slow := func(relay.CallEvent) {
			<-time.After(3 * time.Second)
			slept.Add(1)
		}
		w.publish(100, 7)
		log, r, stop := w.logged(w.store, relay.Options{Name: "slow", TTL: time.Second, Grace: time.Second, Hooks: []relay.Hooks{{Call: slow}}})
		other, _, stopOther := w.logged(w.store, relay.Options{Name: "other", TTL: time.Second, Grace: time.Second})
		for range 60 {
			<-time.After(250 * time.Millisecond)
			w.publish(50, 7)
		}
		<-time.After(time.Second)
		if n := w.to.Len(); n != w.total() {
			t.Errorf("%d of %d messages are delivered", n, w.total())
		}
		if slept.Load() == 0 || r.Stats().Subscriptions[0].Sent < 100 {
			t.Errorf("the hook slept %d times while its relay sent %d messages: this shows nothing", slept.Load(), r.Stats().Subscriptions[0].Sent)
		}
		stop()
		stopOther()
		<-time.After(3 * time.Second) // the hook that hung
		w.inOrder()
		if n := w.to.Repeats(); n != 0 {
			t.Errorf("%d messages were sent twice", n)
		}
		if n := log.count("expired") + other.count("died"); n > 0 {
			t.Errorf("the slow hook cost leases:\n%s%s", log, other)
		}
		if log.count("hooks did not end in time") != 1 || r.Stats().HooksDropped == 0 || !r.Stats().Graceful {
			t.Errorf("what the hook was not told is not said: %+v\n%s", r.Stats(), log)
		}
	})
}

func TestAHookThatPanicsIsSaidOnceAndCountedAndBreaksNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(m broker.Delivery, _ int) membroker.Act {
		if string(m.Payload) == "key-1/2" {
			return membroker.Fail(broker.Rejected, "bad")
		}
		return membroker.Act{}
	}})
	var h told
	panicking := relay.Hooks{
		PageRead: func(relay.PageEvent) { panic("secret") }, Call: func(relay.CallEvent) { panic(errors.New("secret")) },
		Message: func(relay.MessageEvent) { panic("secret") }, Settled: func(relay.ProgressEvent) { panic("secret") },
		Parked: func(relay.ParkEvent) { panic("secret") }, Died: func(relay.DeathEvent) { panic("secret") },
		Circuit: func(relay.CircuitEvent) { panic("secret") }, Lease: func(relay.LeaseEvent) { panic("secret") },
	}
	log, r, stop := w.logged(w.store, relay.Options{
		Subscriptions: []relay.Subscription{{To: w.to, Retry: relay.Retry{MaxAttempts: 1}, OnReject: relay.Skip}},
		Hooks:         []relay.Hooks{panicking, h.hooks()},
	})
	w.publish(60, 3)
	w.delivered(59)
	stop()
	h.with(func() {
		if len(h.messages) != 60 {
			t.Errorf("a hook behind one that panics heard of %d messages, want 60", len(h.messages))
		}
	})
	for _, kind := range []string{"PageRead", "Call", "Message", "Settled", "Parked", "Died", "Lease"} {
		if n := log.count("hook=" + kind + " "); n != 1 {
			t.Errorf("%d lines say that %s panicked, want one", n, kind)
		}
	}
	if n := r.Stats().HookPanics; n < 60 || log.count("secret") > 0 {
		t.Errorf("%d panics are counted; the log is\n%s", n, log)
	}
}

func TestHooksHearOfAnOutageAndItsEnd(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(broker.Delivery, int) membroker.Act {
		if away.Load() {
			return membroker.Fail(broker.Unavailable, "away")
		}
		return membroker.Act{}
	}})
	away.Store(true)
	var h told
	stop := w.run(w.relay(relay.Options{Hooks: []relay.Hooks{h.hooks()}}))
	w.publish(5, 1)
	var states []string
	reached := func(last string) func() bool {
		return func() bool {
			states = nil
			h.with(func() {
				for _, e := range h.circuits {
					states = append(states, fmt.Sprintf("%s %s", e.To, e.Reason))
				}
				if len(states) > 0 && h.circuits[0].From != "closed" {
					t.Errorf("the first state comes from %q", h.circuits[0].From)
				}
			})
			return len(states) > 0 && strings.HasPrefix(states[len(states)-1], last)
		}
	}
	w.eventually("the circuit opens", reached("open"))
	if !strings.Contains(states[0], "away") {
		t.Errorf("the states are %q", states)
	}
	away.Store(false)
	w.delivered(5)
	w.eventually("the circuit is closed", reached("closed"))
	stop()
	if last := states[len(states)-1]; last != "closed " {
		t.Errorf("the last state is %q", last)
	}
}

// The answers of a slow call are collected while it goes on, and the age of each message is that of its own answer.
func TestTheAgeOfAMessageIsThatOfItsOwnAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(m broker.Delivery, _ int) membroker.Act {
			if m.Key == "key-1" {
				return membroker.Act{Delay: 700 * time.Millisecond}
			}
			return membroker.Act{}
		}})
		var h told
		w.publish(2, 2)
		stop := w.run(w.relay(relay.Options{Hooks: []relay.Hooks{h.hooks()}}))
		w.delivered(2)
		stop()
		ages := map[string]time.Duration{}
		for i := range h.messages {
			ages[h.messages[i].Key] = h.messages[i].Age
		}
		if len(ages) != 2 || ages["key-0"] > 300*time.Millisecond || ages["key-1"] < 700*time.Millisecond || ages["key-1"] > time.Second {
			t.Errorf("ages are %v", ages)
		}
	})
}

func TestHooksHearOfHousekeeping(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	var h told
	stop := w.run(w.relay(relay.Options{Hooks: []relay.Hooks{h.hooks()}}))
	err := w.pub.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
		return w.pub.Publish(ctx, tx, message("later", time.Now().Add(100*time.Millisecond)))
	})
	if err != nil {
		t.Fatal(err)
	}
	w.delivered(1)
	w.eventually("a hook hears of the message that was moved into the log", func() bool {
		moved := int64(0)
		h.with(func() {
			for i := range h.rounds {
				if moved += h.rounds[i].Promoted; h.rounds[i].Box != "outbox" {
					t.Errorf("a round is of the box %q", h.rounds[i].Box)
				}
			}
		})
		return moved == 1
	})
	stop()
}

func TestEachRunOfARelayTellsItsHooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	var h told
	r := w.relay(relay.Options{Hooks: []relay.Hooks{{Message: keep(&h, "message", &h.messages)}}})
	for n := 1; n <= 3; n++ {
		w.publish(10, 2)
		if err := r.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(h.messages) != 10*n {
			t.Errorf("after %d runs hooks heard of %d messages", n, len(h.messages))
		}
	}
}
