package matrix

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

// deliverer is a relay of this process whose destination is in memory.
type deliverer struct {
	t     *testing.T
	box   *box
	to    *membroker.Destination
	relay *relay.Relay
	stop  func() time.Duration // and how long that took
}

// beyond is longer than any test waits: who waits for a lease to run out, or for the end
// of the time that a stop has, fails.
const beyond = 10 * time.Minute

// deliverTo starts a relay of a box.
func deliverTo(t *testing.T, b *box, to *membroker.Destination) *deliverer {
	t.Helper()
	r, err := relay.New(b.store, relay.Options{
		TTL: beyond, Grace: beyond, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), Subscriptions: []relay.Subscription{{To: to}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	stopped := false
	d := &deliverer{t: t, box: b, to: to, relay: r, stop: func() time.Duration {
		if stopped {
			return 0
		}
		stopped = true
		from := time.Now()
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the relay ended with %v", err)
			}
		case <-time.After(patience):
			t.Error("the relay does not end")
		}
		return time.Since(from)
	}}
	t.Cleanup(func() { d.stop() })
	return d
}

// write commits messages of so many keys, numbered from a number on.
func (d *deliverer) write(from, n, keys int) {
	d.t.Helper()
	msgs := make([]postbag.Message, n)
	for i := range msgs {
		msgs[i] = postbag.Message{Topic: "t", Key: fmt.Sprintf("k%d", (from+i)%keys), Payload: fmt.Appendf(nil, "%d", from+i)}
	}
	if err := d.box.write(d.t.Context(), true, msgs); err != nil {
		d.t.Fatal(err)
	}
}

func (d *deliverer) delivered(n int) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	if err := d.to.WaitFor(ctx, n); err != nil {
		d.t.Fatalf("%v: %d of %d delivered", err, d.to.Len(), n)
	}
}

// TestAStopDuringABadMessageHandsTheShardsOver stops a relay that has two messages in hand with
// which something is wrong, while others are accepted behind them.
func TestAStopDuringABadMessageHandsTheShardsOver(t *testing.T) {
	t.Parallel()
	for _, s := range stores() {
		for name, act := range map[string]func() membroker.Act{
			"never answered":       func() membroker.Act { return membroker.Act{Hold: make(chan struct{})} },
			"no place for a topic": func() membroker.Act { return membroker.Fail(broker.Misconfigured, "no stream stores it") },
			"rejected":             func() membroker.Act { return membroker.Fail(broker.Rejected, "too large") },
			"a topic that is full": func() membroker.Act {
				return membroker.Act{Err: &broker.Error{Outcome: broker.Unavailable, Scope: broker.ScopeTopic, Err: errors.New("the stream is full")}}
			},
			"answers that get lost": func() membroker.Act {
				return membroker.Act{Err: errors.New("the connection was cut")}
			},
		} {
			t.Run(s.name+", "+name, func(t *testing.T) {
				t.Parallel()
				stopWith(t, s.open(t), act)
			})
		}
	}
}

// What a stop may ask of the store: to settle, what is sent in the last quarter of a
// second too, and to give back the leases.
const (
	mostBeats = 6
	mostTurns = 30
)

func stopWith(t *testing.T, b *box, act func() membroker.Act) {
	t.Helper()
	bad := map[string]bool{"30": true, "77": true}
	cured := make(chan struct{})
	to := membroker.New(membroker.Options{Decide: func(m broker.Delivery, _ int) membroker.Act {
		select {
		case <-cured:
		default:
			if bad[string(m.Payload)] {
				return act()
			}
		}
		return membroker.Act{Delay: time.Millisecond}
	}})
	d := deliverTo(t, b, to)
	d.write(0, 165, 11)
	d.delivered(20)
	before := d.relay.Stats()
	took := d.stop()
	after := d.relay.Stats()
	beats, turns := after.Beats-before.Beats, after.Turns-before.Turns
	t.Logf("the stop took %v, %d heartbeats and %d turns, with %d of 165 accepted", took, beats, turns, to.Len())
	if beats > mostBeats || turns > mostTurns {
		t.Errorf("the stop took %d heartbeats and %d turns, of %d and %d", beats, turns, mostBeats, mostTurns)
	}
	if !after.Graceful {
		t.Error("the relay has not given its shards back")
	}
	o, err := b.store.(store.Inspector).Overview(t.Context()) //nolint:errcheck // every store is one
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Relays) > 0 {
		t.Errorf("%d relays live", len(o.Relays))
	}
	for _, sub := range o.Boxes[0].Subscriptions {
		for _, sh := range sub.Shards {
			if sh.Owner != "" {
				t.Errorf("%s is still owned", sh.Shard)
			}
		}
	}
	close(cured)
	next := deliverTo(t, b, to)
	next.delivered(165)
	next.stop()
	if n := to.Repeats(); n != 0 {
		t.Errorf("%d duplicates", n)
	}
	last := map[string]int{}
	for _, r := range to.First() {
		var n int
		if _, err := fmt.Sscan(string(r.Payload), &n); err != nil {
			t.Fatal(err)
		}
		if before, there := last[r.Key]; there && n <= before {
			t.Errorf("message %d of key %s came after %d", n, r.Key, before)
		}
		last[r.Key] = n
	}
}
