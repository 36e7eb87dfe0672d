package relay

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/postbag/postbag/store"
)

// Relay delivers the messages of its subscriptions. Make one with New.
type Relay struct {
	store   store.Store
	options Options
	hints   *hints

	replayer  store.Replayer // nil: no subscription is a replay
	additions *additions     // nil: none can be added
	added     bool           // it works one that was added, for another relay of this process

	mu      sync.Mutex
	running *loop
	last    Stats
}

// New checks o and returns a relay over s. It does no I/O. The error names
// everything that is wrong.
func New(s store.Store, o Options) (*Relay, error) {
	o.Subscriptions = append([]Subscription(nil), o.Subscriptions...)
	err := o.validate()
	if s == nil {
		err = errors.Join(err, errors.New("relay: the store is nil; open one first"))
	}
	replayer, replays := o.replayer(s)
	if err = errors.Join(err, o.retains(s), replays, o.destinations(s)); err != nil {
		return nil, err
	}
	r := &Relay{store: s, options: o, hints: newHints(), replayer: replayer}
	r.additions = newAdditions(r)
	return r, nil
}

// ErrRunning is returned by Run and Drain while the relay runs already.
var ErrRunning = errors.New("relay: it runs already; use a second relay for more, or wait for this one to end")

// Run works until ctx ends, and then shuts down gracefully. It sends nothing new, waits
// at most Grace for the answers to calls that are out, settles what was accepted, and
// gives its leases back. Then it returns nil. Outages of the store or of a destination do
// not end it. An error that waiting cannot cure does: a schema that does not fit, a box
// that does not exist, another filter.
func (r *Relay) Run(ctx context.Context) error { return r.run(ctx, false) }

// Drain works like Run until nothing is left that can be delivered now. What is parked
// for later stays, and so does what is pending behind an outage of a destination. It is
// for tests and cron jobs. It returns the context's error if ctx ends first. It returns
// ErrHeld if messages wait in shards that other relays hold: it does not wait for those.
func (r *Relay) Drain(ctx context.Context) error { return r.run(ctx, true) }

func (r *Relay) run(ctx context.Context, drain bool) error {
	l := newLoop(r, drain)
	r.mu.Lock()
	if r.running != nil {
		r.mu.Unlock()
		return ErrRunning
	}
	r.running = l
	r.mu.Unlock()
	l.hooks.start()
	r.additions.begin(ctx, drain)
	err := l.run(ctx)
	r.mu.Lock()
	r.last = l.stats() // added subscriptions may go on
	r.mu.Unlock()
	more := r.additions.end(drain && err == nil)
	r.mu.Lock()
	r.last = l.stats()
	r.mu.Unlock()
	l.hooks.end(r.options.Grace)
	r.mu.Lock()
	r.running, r.last = nil, l.stats()
	r.mu.Unlock()
	if err == nil && drain && !l.core.Drained() {
		return ctx.Err()
	}
	if err == nil && drain {
		return errors.Join(l.undrained(ctx), l.added.failed, more)
	}
	return err
}

// Stats returns what the relay has done and is doing.
func (r *Relay) Stats() Stats {
	s := r.own()
	r.additions.stats(&s)
	return s
}

// isOpen says whether the store was opened in this run. One that does not run is not waited for.
func (r *Relay) isOpen() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running == nil || r.running.opens.Load()
}

// own are the stats without those of added subscriptions.
func (r *Relay) own() Stats {
	r.mu.Lock()
	l, last := r.running, r.last
	r.mu.Unlock()
	if l == nil {
		return last
	}
	answer := make(chan Stats, 1)
	select {
	case l.ask <- answer:
		return <-answer
	case <-l.ended:
		return last
	case <-time.After(5 * time.Second):
		return last
	}
}
