package faketime

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

// runner is a relay at work.
type runner struct {
	process *process
	relay   *relay.Relay
	stop    context.CancelFunc
	log     logbook
	done    chan struct{}
	err     error // of Run or Drain, once done is closed
}

// newRunner makes a relay of all lines, or of some. change may say something else of its options.
func (w *world) newRunner(some bool, change func(*relay.Options)) *runner {
	var number uint64
	w.set(func() { w.started++; number = w.started })
	w.count(func(c *Counts) { c.Starts++ })
	p := newProcess(w, number)
	c := p.chance
	r := &runner{process: p, done: make(chan struct{})}
	o := relay.Options{
		TTL: ttl, Grace: grace, Keep: w.keep, Logger: slog.New(slog.NewTextHandler(&r.log, nil)),
		PollMax: time.Duration(c.of(100, 1000, 5000)) * time.Millisecond, SettleEvery: time.Duration(c.of(5, 50, 500)) * time.Millisecond,
	}
	if c.coin() {
		o.OnError = func(error) {}
	}
	left := -1
	if some && len(w.lines) > 1 {
		left = c.n(len(w.lines))
	}
	for i, l := range w.lines {
		if i != left {
			s := l.of(c)
			s.To = p.wireTo(l)
			o.Subscriptions = append(o.Subscriptions, s)
		}
	}
	if change != nil {
		change(&o)
	}
	var err error
	if r.relay, err = relay.New(p, o); err != nil {
		w.failf("a relay cannot be made: %v", err)
	}
	return r
}

// begin has a relay run, or drain.
func (w *world) begin(r *runner, run func(context.Context) error) *runner {
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	w.ends.Go(func() {
		defer close(r.done)
		defer cancel()
		r.err = run(ctx)
		w.left(r)
	})
	return r
}

// left judges what a relay that has just ended leaves behind.
func (w *world) left(r *runner) {
	p := r.process
	if n := p.calls.Load(); n != 0 {
		w.failf("Run has returned while %d of its calls are out", n)
	}
	if n := p.lanes.Load(); n != 0 {
		w.failf("Run has returned and left %d lanes open", n)
	}
	p.over.Store(true)
}

// start has a relay run.
func (w *world) start(some bool) *runner {
	r := w.newRunner(some, nil)
	return w.begin(r, r.relay.Run)
}

// end stops a relay gracefully.
func (w *world) end(r *runner) {
	r.stop()
	stopped := time.Now()
	select {
	case <-r.done:
		if r.err != nil {
			w.failf("Run after a stop: %v", r.err)
		}
		if w.isCalm() && !r.relay.Stats().Graceful {
			w.failf("a relay that was stopped %v ago, while nothing failed, has not given its shards back: %+v\n%s", time.Since(stopped), r.relay.Stats(), &r.log)
		}
	case <-time.After(5 * time.Minute):
		w.failf("a relay that was stopped does not end in 5 minutes")
		r.process.kill()
		<-r.done
	}
}

// die kills a relay.
func (w *world) die(r *runner) {
	w.excuse("kill", "relay")
	w.count(func(c *Counts) { c.Kills++ })
	r.process.kill()
	r.stop() // what is left of it ends by itself
}

// pick returns one of the relays, with its place.
func (w *world) pick(c *chance) (int, *runner) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := c.n(len(w.relays))
	return i, w.relays[i]
}

// replace has another relay begin in the place of one that is gone.
func (w *world) replace(i int, r *runner) { w.set(func() { w.relays[i] = r }) }

// sicken has a relay find that its store is not one that it can work with. It must end with that error.
func (w *world) sicken(r *runner, why error) {
	w.count(func(c *Counts) { c.Incurable++ })
	w.excuse("incurable", "relay")
	r.process.sicken(why)
	select {
	case <-r.done:
		if !errors.Is(r.err, why) {
			w.failf("a relay that must end with %q ended with: %v", why, r.err)
		}
	case <-time.After(5 * time.Minute):
		w.failf("a relay that must end with %q does not end in 5 minutes", why)
		w.die(r)
	}
}

// refused has a relay come with another filter than its subscription has. It must end with that error.
func (w *world) refused() {
	r := w.newRunner(false, func(o *relay.Options) { o.Subscriptions[0].Types = []string{"nothing.of.this"} })
	w.begin(r, r.relay.Run)
	select {
	case <-r.done:
		if !errors.Is(r.err, store.ErrFilterDiffers) {
			w.failf("a relay with another filter ended with: %v", r.err)
		}
	case <-time.After(10 * time.Minute):
		w.failf("a relay with another filter does not end in 10 minutes")
		w.die(r)
	}
}

// drainer has a relay drain beside the others, until the context ends.
func (w *world) drainer(ctx context.Context) {
	r := w.newRunner(true, nil)
	w.begin(r, r.relay.Drain)
	var once sync.Once
	stop := context.AfterFunc(ctx, func() { once.Do(r.stop) })
	w.ends.Go(func() {
		defer stop()
		<-r.done
		switch {
		case r.err == nil || errors.Is(r.err, relay.ErrHeld):
			w.count(func(c *Counts) { c.Drains++ })
		case !errors.Is(r.err, context.Canceled):
			w.failf("a drain ended with: %v", r.err)
		}
	})
}
