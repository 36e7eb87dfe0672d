package faketime_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/memstore"
)

const (
	inFlight = 20
	ttl      = 3 * time.Second
	grace    = 5 * time.Second
)

var topics = []string{"orders", "bills", "mails"}

// world is one run.
type world struct {
	t         *testing.T
	chance    *chance
	store     *memstore.Store
	broker    *membroker.Destination
	publisher *postbag.Publisher[*memstore.Tx]
	relays    []*runner

	mu      sync.Mutex
	begun   time.Time
	tick    time.Duration
	history history.History
	rough   bool // calls to the store and the broker may fail
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	w := &world{t: t, chance: &chance{rand: rand.New(rand.NewPCG(seed, 12))}, begun: time.Now()}
	w.store = memstore.New(memstore.Options{Fault: w.storeFault})
	w.broker = membroker.New(membroker.Options{Ordered: seed%2 == 0, Decide: w.decide})
	if err := w.store.CreateBox(t.Context(), "outbox"); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.publisher, err = postbag.NewPublisher(w.store, postbag.PublisherOptions{}); err != nil {
		t.Fatal(err)
	}
	return w
}

// instant is the time since the beginning, no two the same.
func (w *world) instant() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tick++
	return time.Since(w.begun) + w.tick
}

func (w *world) record(do func(*history.History)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do(&w.history)
}

// excuse records a fault that may have so many messages sent again.
func (w *world) excuse(kind, target string, window int) {
	w.excuseSince(w.instant(), kind, target, window)
}

// excuseSince is excuse of a fault that lasted until now.
func (w *world) excuseSince(begin time.Duration, kind, target string, window int) {
	end := w.instant()
	w.record(func(h *history.History) {
		h.Break(history.Fault{Kind: kind, Target: target, Begin: begin, End: end, Window: window})
	})
}

// runner is a relay at work.
type runner struct {
	process *process
	stop    context.CancelFunc
	done    chan error
}

func (w *world) start() *runner {
	w.t.Helper()
	p := newProcess(w)
	r, err := relay.New(p, relay.Options{
		TTL: ttl, Grace: grace, Logger: slog.New(slog.DiscardHandler),
		Subscriptions: []relay.Subscription{{
			To: p, InFlight: inFlight, Timeout: 2 * time.Second, Batch: 10,
			Retry: relay.Retry{Min: time.Second, Max: 5 * time.Second},
		}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	run := &runner{process: p, stop: cancel, done: make(chan error, 1)}
	go func() { run.done <- r.Run(ctx) }()
	return run
}

// end stops a relay gracefully.
func (w *world) end(r *runner) {
	r.stop()
	select {
	case err := <-r.done:
		if err != nil && !w.isRough() {
			w.t.Errorf("Run after a stop without faults: %v", err)
		}
	case <-time.After(5 * time.Minute):
		w.t.Error("a relay that was stopped does not end in 5 minutes")
		r.process.kill()
		w.t.Logf("a killed relay ends: %v", <-r.done)
	}
}

// die kills a relay.
func (w *world) die(r *runner) {
	w.excuse("kill", "relay", inFlight)
	r.process.kill()
	r.stop()
	w.t.Logf("a killed relay ends: %v", <-r.done)
}

// undelivered counts what the store has beyond its positions and in the parking lot.
func (w *world) undelivered() (waiting int64) {
	w.t.Helper()
	o, err := w.store.Overview(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range o.Boxes[0].Subscriptions {
		waiting += s.Backlog
		for _, n := range s.Parked {
			waiting += n
		}
	}
	return waiting
}

// judge hands the history of the run to its checker.
func (w *world) judge() {
	w.t.Helper()
	for i, r := range w.broker.Taken() {
		at := r.Taken.Sub(w.begun)
		w.record(func(h *history.History) {
			h.Deliver(history.Delivery{
				ID: history.ID(r.ID), Key: r.Key, Payload: history.Sum(r.Payload), Position: uint64(i),
				From: at, To: at + time.Millisecond,
			})
		})
	}
	w.record(func(h *history.History) {
		report := h.Check(history.Options{InFlight: inFlight, Slack: time.Minute})
		if err := report.Err(); err != nil {
			w.t.Error(err)
		}
		if report.Of(history.Lost).Seen == 0 {
			w.t.Error("nothing was published: the run shows nothing")
		}
	})
}

// chance draws, for many goroutines.
type chance struct {
	mu   sync.Mutex
	rand *rand.Rand
}

func (c *chance) n(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rand.IntN(n)
}

func (c *chance) one(in int) bool { return c.n(in) == 0 }

func (c *chance) upTo(d time.Duration) time.Duration { return time.Duration(c.n(int(d))) }

func pause(d time.Duration) { <-time.After(d) }

var _ broker.Prober = (*process)(nil)
