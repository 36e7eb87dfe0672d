package relay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// additions are the subscriptions that operators have added, and that a relay works beside its own.
// Each has a relay of its own over the same store, as a replay has: with its own leases, calls and
// limits. Nil: the relay has no destination for any.
type additions struct {
	relay    *Relay
	assigner store.Assigner

	mu     sync.Mutex
	ctx    context.Context //nolint:containedctx // of the run; nil: there is none
	cancel context.CancelFunc
	drain  bool
	all    map[store.Ref]*addition
	work   sync.WaitGroup
	past   Stats   // of relays that have ended; with the subscriptions of those of a drain
	errs   []error // of those, in a drain
	lost   bool    // one of them could not give its leases back
}

// addition is one of them.
type addition struct {
	want    string // the destination; empty: it is to end
	changed chan struct{}
	relay   *Relay // nil: it waits to begin
	cancel  context.CancelFunc
}

// addedRetry is the pause before an added subscription begins again that ended by itself. It doubles up to addedRetryMost
// for one that ends soon again.
const (
	addedRetry     = time.Second
	addedRetryMost = 30 * time.Second
)

// newAdditions returns nil if there is no destination for any.
func newAdditions(r *Relay) *additions {
	if len(r.options.Destinations) == 0 {
		return nil
	}
	assigner, _ := r.store.(store.Assigner) // New has looked
	return &additions{relay: r, assigner: assigner, all: make(map[store.Ref]*addition)}
}

// begin lets subscriptions begin, until end.
func (a *additions) begin(ctx context.Context, drain bool) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ctx, a.cancel = context.WithCancel(ctx)
	a.drain, a.past, a.errs, a.lost = drain, Stats{}, nil, false
}

// end waits for the end of all. Unless whole, they are stopped gracefully; those of a drain end when
// nothing is left.
func (a *additions) end(whole bool) error {
	if a == nil {
		return nil
	}
	if !whole {
		a.cancel()
	}
	a.work.Wait()
	a.cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	return errors.Join(a.errs...)
}

// set has those work that are wanted, by destination, and all others end. It returns at once.
func (a *additions) set(wanted map[store.Ref]string) (begun, ended []store.Ref) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for ref, one := range a.all {
		to := wanted[ref]
		if one.want == to {
			continue
		}
		if one.want = to; to == "" {
			ended = append(ended, ref)
		}
		one.change()
	}
	for ref, to := range wanted {
		if a.all[ref] != nil || a.ctx.Err() != nil {
			continue
		}
		one := &addition{want: to, changed: make(chan struct{}, 1)}
		a.all[ref], begun = one, append(begun, ref)
		a.work.Go(func() { a.keep(ref, one) })
	}
	return begun, ended
}

// change ends the relay that works for another destination.
func (o *addition) change() {
	if o.cancel != nil {
		o.cancel()
	}
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

// keep works one subscription for as long as it is wanted.
func (a *additions) keep(ref store.Ref, one *addition) {
	pause := addedRetry
	for {
		r, ctx := a.next(ref, one)
		if r == nil {
			return
		}
		began := time.Now()
		err := r.run(ctx, a.drain)
		if a.ended(one, r, err); a.drain {
			a.drop(ref)
			return
		}
		if err != nil {
			a.relay.options.Logger.Warn("relay: an added subscription cannot be worked; trying again", "box", ref.Box, "subscription", ref.Subscription, "error", err)
		}
		if time.Since(began) > addedRetryMost {
			pause = addedRetry
		}
		select {
		case <-a.ctx.Done():
		case <-one.changed:
			pause = addedRetry
		case <-time.After(pause):
			pause = min(2*pause, addedRetryMost)
		}
	}
}

// next makes the relay that works the subscription now; nil: it is to end.
func (a *additions) next(ref store.Ref, one *addition) (*Relay, context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one.want == "" || a.ctx.Err() != nil {
		delete(a.all, ref)
		return nil, nil
	}
	r, err := a.relay.adding(ref, one.want)
	if err != nil {
		a.errs = append(a.errs, err)
		a.relay.options.Logger.Warn("relay: an added subscription cannot be worked", "box", ref.Box, "subscription", ref.Subscription, "error", err)
		delete(a.all, ref)
		return nil, nil
	}
	ctx, cancel := context.WithCancel(a.ctx)
	one.relay, one.cancel = r, cancel
	return r, ctx
}

// ended takes what a relay has done.
func (a *additions) ended(one *addition, r *Relay, err error) {
	s := r.Stats()
	a.mu.Lock()
	defer a.mu.Unlock()
	one.cancel()
	one.relay, one.cancel = nil, nil
	a.past.add(&s)
	a.lost = a.lost || a.ctx.Err() != nil && !s.Graceful
	if a.drain { // who waits for its end looks at what was left
		a.errs = append(a.errs, err)
		for i := range s.Subscriptions {
			a.keepPast(&s.Subscriptions[i])
		}
	}
}

// keepPast keeps the latest state of a subscription.
func (a *additions) keepPast(s *SubscriptionStats) {
	past := &a.past.Subscriptions
	*past = append(slices.DeleteFunc(*past, func(p SubscriptionStats) bool { return p.Ref == s.Ref }), *s)
}

func (a *additions) drop(ref store.Ref) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, ref)
}

// relays are those that work now, by subscription.
func (a *additions) relays() []*Relay {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.working()
}

// working is relays under the lock.
func (a *additions) working() []*Relay {
	var out []*Relay
	refs := slices.SortedFunc(maps.Keys(a.all), storekit.CompareRefs)
	for _, ref := range refs {
		if r := a.all[ref].relay; r != nil {
			out = append(out, r)
		}
	}
	return out
}

// wake has them look for messages of a box, of all boxes if it is empty.
func (a *additions) wake(box string) (reads bool) {
	for _, r := range a.relays() {
		reads = r.Wake(box) || reads
	}
	return reads
}

// stats adds what they have done, and the subscriptions that are worked now, or were in a drain. A relay that waits for its
// store has done nothing, and answers nobody.
func (a *additions) stats(s *Stats) {
	if a == nil {
		return
	}
	a.mu.Lock()
	relays, past := a.working(), a.past
	past.Subscriptions = slices.Clone(past.Subscriptions)
	s.Graceful = s.Graceful && !a.lost
	a.mu.Unlock()
	s.add(&past)
	for _, r := range relays {
		if !r.isOpen() {
			continue
		}
		one := r.Stats()
		s.add(&one)
		for i := range one.Subscriptions {
			past.Subscriptions = slices.DeleteFunc(past.Subscriptions, func(p SubscriptionStats) bool { return p.Ref == one.Subscriptions[i].Ref })
		}
		s.Subscriptions = append(s.Subscriptions, one.Subscriptions...)
	}
	s.Subscriptions = append(s.Subscriptions, past.Subscriptions...)
}

// add adds the counts of o.
func (s *Stats) add(o *Stats) {
	s.Turns, s.Beats, s.Faults = s.Turns+o.Turns, s.Beats+o.Beats, s.Faults+o.Faults
	s.HooksDropped, s.HookPanics = s.HooksDropped+o.HooksDropped, s.HookPanics+o.HookPanics
}

// adding returns the relay of an added subscription: with the defaults of a subscription, and this
// relay's own options. The relay keeps house for a box that this one does not read.
func (r *Relay) adding(ref store.Ref, destination string) (*Relay, error) {
	o := r.options
	to := o.Destinations[destination]
	box := o.Boxes[ref.Box]
	reads := slices.ContainsFunc(o.Subscriptions, func(s Subscription) bool { return s.ref().Box == ref.Box })
	o.Keep = 0 // it says nothing about boxes that this relay does not read
	if reads {
		o.NoMaintenance, box.Retention = true, store.Lifetimes{}
	}
	o.Boxes, o.Destinations = map[string]Box{ref.Box: box}, nil
	o.Name += "/" + ref.Subscription
	o.Subscriptions = []Subscription{{To: to, ToName: destination, Box: ref.Box, Name: ref.Subscription, assigned: true}}
	one, err := New(r.store, o)
	if err == nil {
		one.added = true
	}
	return one, err
}

// nameOfDestination is what operators can call a destination.
var nameOfDestination = regexp.MustCompile(`^[A-Za-z0-9_-]{1,63}$`)

// destinations reports what is wrong with Destinations, and has hooks called by one goroutine at a time, and OnError, too. A
// hook that hangs holds no loop up: loops call OnError.
func (o *Options) destinations(s store.Store) error {
	if len(o.Destinations) == 0 {
		return nil
	}
	var errs []error
	if _, ok := s.(store.Assigner); !ok && s != nil {
		errs = append(errs, errors.New("relay: Destinations is set, and the store tells of no added subscriptions; use one of Postbag's stores, or leave it out"))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Destinations)) {
		if !nameOfDestination.MatchString(name) {
			errs = append(errs, fmt.Errorf("relay: Destinations has the name %.80q; write 1 to 63 letters, digits, - or _", name))
		}
		if o.Destinations[name] == nil {
			errs = append(errs, fmt.Errorf("relay: Destinations[%.80q] is nil; give it a destination, or leave it out", name))
		}
	}
	o.Destinations = maps.Clone(o.Destinations)
	var onError, hooks sync.Mutex
	o.OnError = alone(&onError, o.OnError)
	o.Hooks = slices.Clone(o.Hooks)
	for i := range o.Hooks {
		o.Hooks[i] = o.Hooks[i].alone(&hooks)
	}
	return errors.Join(errs...)
}

// alone returns hooks of which one is called at a time.
func (h Hooks) alone(mu *sync.Mutex) Hooks {
	return Hooks{
		PageRead: alone(mu, h.PageRead), Call: alone(mu, h.Call), Message: alone(mu, h.Message), Settled: alone(mu, h.Settled), Parked: alone(mu, h.Parked),
		Died: alone(mu, h.Died), Circuit: alone(mu, h.Circuit), Lease: alone(mu, h.Lease), Maintained: alone(mu, h.Maintained),
	}
}

func alone[E any](mu *sync.Mutex, do func(E)) func(E) {
	if do == nil {
		return nil
	}
	return func(e E) {
		mu.Lock()
		defer mu.Unlock()
		do(e)
	}
}

// unfit says why an added subscription cannot go to a destination.
func unfit(to broker.Destination) string {
	if to.Features().Transactions {
		return "it has transactions, which exactly_once alone uses: put the subscription into the configuration"
	}
	return ""
}
