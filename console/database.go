package console

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

const (
	// fresh is how long an overview serves all who ask.
	fresh = 2 * time.Second
	// rateOver is the longest time between two overviews that a rate is made of.
	rateOver = time.Minute
)

// errBusy says that a question got no place in time.
var errBusy = errors.New("the console asks this database as much as it may already; try again in a moment")

// database is one that the console shows.
type database struct {
	name    string
	named   bool             // commands to copy name it
	ops     operations.Store // once it is reached
	timeout time.Duration
	// opening has the place of the one who opens it; tried says when that was, and away what came of it.
	opening chan struct{}
	open    func(context.Context) (store.Store, error) // nil: it is open
	tried   time.Time
	away    error
	// looks has the place of the one who reads the overview, longs that of the one who counts or writes down the messages of an
	// operation, searches that of the one who looks for messages by what is in them, and places that of the one who asks anything
	// else, so that no search keeps another page waiting.
	looks, longs, searches, places chan struct{}
	// asked has the places of all of these but longs: what people look at is two questions at a time.
	asked chan struct{}
	// tails has the place of the one stream that asks for a list of messages.
	tails  chan struct{}
	worker *worker
	// replica is read from where the moment does not matter, and primary says how far it must be. Nil: there is none.
	replica *replica
	primary store.Primary

	mu sync.Mutex
	// seen is the latest overview, read at; before is the one before it, for rates. Nobody changes them.
	seen, before *store.Overview
	read         time.Time
	// seenIn is where the latest overview was read.
	seenIn *reading
	// forgotten counts how often something was changed, so that what was asked for before is not taken for the state after it.
	forgotten int
	// found is what the reader found last.
	found latest
	// history is the last hour.
	history history
	// records are the latest operations, read at. changes counts what this console changed of them.
	records  []operations.Operation
	recorded time.Time
	changes  int
}

func newDatabase(d *Database, timeout time.Duration) (*database, error) {
	made := &database{
		name: d.Name, named: d.Named, open: d.Open, timeout: timeout,
		opening: make(chan struct{}, 1), looks: make(chan struct{}, 1), longs: make(chan struct{}, 1), searches: make(chan struct{}, 1), places: make(chan struct{}, 1), tails: make(chan struct{}, 1),
		asked: make(chan struct{}, 2), worker: newWorker(), replica: newReplica(d),
	}
	if d.Open != nil {
		return made, nil
	}
	return made, made.use(d.Store)
}

// use has the database be that of a store.
func (d *database) use(s store.Store) (err error) {
	d.ops, err = operations.Of(s)
	d.primary, _ = s.(store.Primary)
	return err
}

// reach opens the database if it is not open yet. One that was away a moment ago is not tried again.
func (d *database) reach(ctx context.Context) error {
	select {
	case d.opening <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-d.opening }()
	if d.open == nil || d.away != nil && time.Since(d.tried) < fresh {
		return d.away
	}
	s, err := d.open(ctx)
	if err == nil {
		d.open = nil
		err = d.use(s)
	}
	d.away = err
	if d.tried = time.Now(); errors.Is(ctx.Err(), context.Canceled) { // the one who asked has gone, which says nothing of the database
		d.tried = time.Time{}
	}
	return err
}

// ask puts one question when there is a place.
func (d *database) ask(ctx context.Context, question func(context.Context) error) error {
	return d.askAt(ctx, d.places, question)
}

// askAt puts one question, within the time-out, when there is a place at a gate.
func (d *database) askAt(ctx context.Context, gate chan struct{}, question func(context.Context) error) error {
	return d.askFor(ctx, gate, d.timeout, question)
}

// askFor puts one question within a time, when there is a place at a gate. A question that outlives its time keeps its place until the
// driver has let go of it.
func (d *database) askFor(ctx context.Context, gate chan struct{}, timeout time.Duration, question func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := enter(ctx, gate); err != nil {
		return err
	}
	defer func() { <-gate }()
	if gate != d.longs {
		if err := enter(ctx, d.asked); err != nil {
			return err
		}
		defer func() { <-d.asked }()
	}
	err := d.reach(ctx)
	if err == nil {
		err = question(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // drivers say it in words of their own
	}
	return err
}

// enter waits for a place at a gate.
func enter(ctx context.Context, gate chan struct{}) error {
	select {
	case gate <- struct{}{}:
		return nil
	case <-ctx.Done():
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errBusy
	}
	return ctx.Err()
}

// overview returns the state of the database, at most two seconds old, and the one before that; before may be nil.
func (d *database) overview(ctx context.Context) (now, before *store.Overview, err error) {
	defer func() { d.noteSeen(ctx) }()
	if now, before = d.cached(ctx); now != nil {
		return now, before, nil
	}
	if found, is := d.reading(); is && forStreams(ctx) {
		if now, before = d.last(); now != nil && found.now != nil && now.Now.After(found.now.Now) { // somebody's page has had this
			return now, before, nil
		}
		return found.now, found.before, found.err
	}
	err = d.asksAt(withReading(ctx), d.looks, func(ctx context.Context, ops operations.Store) error {
		if now, before = d.cached(ctx); now != nil { // somebody asked while this waited
			return nil
		}
		forgotten := d.changedSoFar()
		o, err := ops.Overview(ctx)
		if err != nil {
			return err
		}
		now, before = d.keep(&o, placeOf(ctx), forgotten)
		return nil
	})
	return now, before, err
}

// cached returns the overview that somebody read a moment ago; nil if nobody did. It may be that of a replica.
func (d *database) cached(ctx context.Context) (now, before *store.Overview) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen == nil || time.Since(d.read) >= fresh || d.replica != nil && wantsPrimary(ctx) {
		return nil, nil
	}
	return d.seen, d.before
}

// changedSoFar is how often something was changed here.
func (d *database) changedSoFar() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.forgotten
}

// keep keeps an overview. One from long before it makes no rate, and neither does one whose clock is not behind. The next look reads
// the database again if something was changed since it was asked for.
func (d *database) keep(o *store.Overview, in *reading, forgotten int) (now, before *store.Overview) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before, d.seen, d.seenIn, d.read = rated(d.seen, o), o, in, time.Now()
	if forgotten != d.forgotten {
		d.read = time.Time{}
	}
	return d.seen, d.before
}

// rated returns the overview before another one if the two make a rate, and else nil.
func rated(before, o *store.Overview) *store.Overview {
	if before == nil || !o.Now.After(before.Now) || o.Now.Sub(before.Now) >= rateOver {
		return nil
	}
	return before
}

// forget has the next look read the database again: something was changed.
func (d *database) forget() {
	d.commanded()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forgotten++
	d.read = time.Time{}
}

// last returns the latest overview, however old; nil if there was none.
func (d *database) last() (now, before *store.Overview) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen, d.before
}

// status is the overview as people and programs see it.
func (d *database) status(ctx context.Context) (*operations.Status, error) {
	now, before, err := d.overview(ctx)
	if err != nil {
		return nil, err
	}
	return operations.StatusOf(now, before), nil
}
