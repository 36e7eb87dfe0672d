package chaos

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/proof/history"
)

// consumer reads what lies in the broker, all the time: what is wiped later was seen before.
type consumer struct {
	run    *run
	events *events
	seen   atomic.Int64
	others atomic.Int64 // of the first topic
	cancel context.CancelFunc
	ended  sync.WaitGroup

	mu        sync.Mutex // held while something is read
	positions map[string]uint64
	upTo      time.Time // what was stored before has been read
	quiet     time.Time // since when nothing new came
	came      arrivals
	trunk     arrivals // of the first topic
	branch    arrivals // of the second
}

func startConsumer(ctx context.Context, r *run) (*consumer, error) {
	events, err := newEvents(filepath.Join(r.dir, "consumer.events"), r.origin)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &consumer{run: r, events: events, cancel: cancel, positions: map[string]uint64{}}
	c.ended.Go(func() { c.read(ctx) })
	return c, nil
}

func (c *consumer) count() int64 { return c.seen.Load() }

func (c *consumer) read(ctx context.Context) {
	for ctx.Err() == nil {
		c.once(ctx)
	}
}

// once reads what there is.
func (c *consumer) once(ctx context.Context) {
	c.mu.Lock()
	asked := time.Now()
	all, err := c.run.place.More(ctx)
	for i := range all {
		c.take(&all[i])
	}
	switch n := len(all); {
	case n > 0 && c.inOrder(all):
		c.upTo = all[n-1].From
	case n == 0 && err == nil:
		c.upTo = asked
	}
	if len(all) > 0 || err != nil {
		c.quiet = time.Time{}
	} else if c.quiet.IsZero() {
		c.quiet = time.Now()
	}
	c.mu.Unlock()
	if err != nil {
		_ = Pause(ctx, 100*time.Millisecond) // the broker is away; ctx ends it
	}
}

// inOrder says whether arrivals came in the order of their times, as those of one place do.
func (*consumer) inOrder(all []Arrival) bool {
	return slices.IsSortedFunc(all, func(a, b Arrival) int { return a.From.Compare(b.From) })
}

// take records an arrival.
func (c *consumer) take(a *Arrival) {
	id, b, err := identify(a)
	if err != nil {
		c.run.failf("a message arrived that nobody can have sent, of %d bytes", len(a.Payload))
		return
	}
	position := c.positions[a.Place]
	c.positions[a.Place] = position + 1
	d := history.Delivery{
		ID: id, Subscription: ref.Subscription, Key: b.Key, Payload: sumOf(a.Key, a.Headers, a.Payload), Place: a.Place, Position: position,
		From: c.events.clock.At(a.From), To: c.events.clock.At(a.To),
	}
	if replay := a.Headers[broker.HeaderReplay]; replay != "" {
		d.Subscription = replay
		c.events.Deliver(d)
		return
	}
	c.seen.Add(1)
	c.came.note(a.From)
	if b.Topic == c.run.branch() {
		c.branch.note(a.From)
	} else {
		c.trunk.note(a.From)
		c.others.Add(1)
	}
	c.run.damage.arrived(id)
	c.events.Deliver(d)
}

// isReplay says whether a replay sent it.
func isReplay(d *history.Delivery) bool {
	return d.Subscription != "" && d.Subscription != ref.Subscription
}

// identify says which message it is.
func identify(a *Arrival) (history.ID, *body, error) {
	var b body
	if err := json.Unmarshal(a.Payload, &b); err != nil {
		return history.ID{}, nil, err
	}
	id, err := postbag.ParseID(b.ID)
	return history.ID(id), &b, err
}

// awaitQuiet waits until for a time nothing new has come, and the broker answered.
func (c *consumer) awaitQuiet(ctx context.Context, d time.Duration) error {
	return Until(ctx, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return !c.quiet.IsZero() && time.Since(c.quiet) > d
	})
}

// stop ends the reading. It may be called twice.
func (c *consumer) stop() error {
	c.cancel()
	c.ended.Wait()
	return c.events.Close()
}
