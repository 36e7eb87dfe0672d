package relay

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// loop is one run of a relay. Its fields belong to the goroutine that runs it;
// what other goroutines find out reaches it as functions through events.
type loop struct {
	relay   *Relay
	store   store.Store
	options *Options
	log     *journal

	started time.Time
	ctx     context.Context //nolint:containedctx // of calls to the store and to destinations; ends with the run
	cancel  context.CancelFunc
	events  chan func()
	ask     chan chan Stats
	ended   chan struct{}
	pending int // goroutines that will send an event

	flows []*flow
	byRef map[store.Ref]*flow
	keep  []*upkeep

	streams []*streaming

	ownership
	turning
	storeHealth

	commanded map[store.CommandID]commanded // messages that operators' commands are about
	draining  bool
	drained   bool
	stopping  bool
	graceEnd  time.Duration
	gaveUp    bool // the grace is over
	fatal     error
}

// flow is one subscription: the engine's part and what belongs to it here.
type flow struct {
	ref          store.Ref
	subscription *Subscription
	core         *engine.Flow
	owner        engine.Owner
	gathering    bool // all shards are here to be replaced, and that was not asked for yet
	wanted       int  // shards, by the last view
	// No change of shards is asked for before reshapeAfter, see reshaping.
	reshapePause, reshapeAfter time.Duration
	holds                      bool // messages for topics that do not work
	overfull                   bool // too many of them wait
	lastError                  string
	failed                     bool // the destination has, since the stop began
	acceptedAt                 time.Time
	condition                  condition
	calls                      map[int64]context.CancelFunc // to the destination, that are out
	exactly                    *exactly                     // nil: at least once
	holders                    []holder                     // of its other shards
	begun, waited              bool                         // and that is in the log
	shards                     int                          // how many there are, by the last view
}

func newLoop(r *Relay, drain bool) *loop {
	l := &loop{
		relay: r, store: r.store, options: &r.options, draining: drain, ctx: context.Background(),
		events: make(chan func(), 256), ask: make(chan chan Stats), ended: make(chan struct{}),
		byRef: make(map[store.Ref]*flow),
		log:   newJournal(r.options.Logger, r.options.OnError),
	}
	for i := range r.options.Subscriptions {
		s := &r.options.Subscriptions[i]
		f := &flow{
			ref: s.ref(), subscription: s,
			core:    engine.NewFlow(s.engine(&r.options)),
			exactly: newExactly(s),
			calls:   make(map[int64]context.CancelFunc),
		}
		f.owner.Whole = f.exactly != nil
		l.flows = append(l.flows, f)
		l.byRef[f.ref] = f
	}
	l.newIdentity()
	l.addUpkeep()
	return l
}

// newIdentity gives the relay an id that no other has ever had. The leases of the one
// that it had are given up with the first heartbeat of the new one.
func (l *loop) newIdentity() {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand
	former := l.former
	if l.id != "" && !l.fresh {
		former = append(former, l.id)
	}
	l.ownership = ownership{id: hex.EncodeToString(b[:]), fresh: true, beats: l.beats, former: former}
}

// now is the time since the loop began: monotonic.
func (l *loop) now() time.Duration { return time.Since(l.started) }

func (l *loop) run(ctx context.Context) error {
	l.started = time.Now()
	l.ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer l.cancel()
	defer close(l.ended)
	defer l.closeLanes()
	if err := l.open(ctx); err != nil {
		return err
	}
	var woken <-chan struct{}
	if w, ok := l.store.(store.Waker); ok {
		woken = w.Woken()
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	stop := ctx.Done()
	for {
		l.step()
		if l.over() {
			break
		}
		timer.Reset(l.wait())
		select {
		case fn := <-l.events:
			l.pending--
			fn()
			l.more()
		case <-woken:
			for _, f := range l.flows {
				f.core.Woken()
			}
		case <-l.relay.hints.bell:
			l.hinted()
		case answer := <-l.ask:
			answer <- l.stats()
		case <-stop:
			stop = nil
			l.stop()
		case <-timer.C:
		}
	}
	return l.fatal
}

// more takes the events that are there already, so that a step sees them all.
func (l *loop) more() {
	for {
		select {
		case fn := <-l.events:
			l.pending--
			fn()
		default:
			return
		}
	}
}

// start runs work in a goroutine; the function that it returns runs in the loop.
func (l *loop) start(work func() func()) {
	l.pending++
	go func() {
		done := func() {}
		defer func() { l.events <- done }()
		done = work()
	}()
}

// step starts everything that can be started now.
func (l *loop) step() {
	now := l.now()
	l.hurry(now)
	l.handOver()
	l.watchLanes()
	l.beat(now)
	l.turn(now)
	l.harvest(now)
	for _, f := range l.flows {
		f.core.Absorb(now)
		f.core.Slow(now)
		l.check(f, now)
		l.publish(f, now)
		l.due(f, now)
		l.noteCondition(f, now)
		l.noteTopics(f, now)
	}
	for _, u := range l.keep {
		l.maintain(u, now)
	}
	if l.draining && !l.stopping && l.nothingLeft(now) {
		l.drained = true
		l.stop()
	}
}

// wait is how long nothing needs to be done unless something happens.
func (l *loop) wait() time.Duration {
	now := l.now()
	at := now + time.Minute
	sooner := func(t time.Duration) { at = min(at, t) }
	if l.canBeat() {
		sooner(max(l.nextBeat, l.storeRetry))
	}
	free := l.canTurn(now)
	if !free && !l.turning.out && !l.checking {
		sooner(l.storeRetry)
	}
	if free {
		sooner(l.nextLook)
	}
	for _, f := range l.flows {
		sooner(f.core.Wake(now, free, l.canAskLot()))
	}
	for _, u := range l.keep {
		if l.canMaintain(u) {
			sooner(u.next)
		}
	}
	for _, s := range l.streams {
		sooner(s.next)
	}
	if l.stopping {
		end := l.graceEnd
		if l.gaveUp {
			end += handOverTime
		}
		sooner(max(end, now+10*time.Millisecond))
	}
	// A floor keeps a mistake from becoming a spin.
	return max(at-now, 200*time.Microsecond)
}

// stop begins the hand-over.
func (l *loop) stop() {
	if l.stopping {
		return
	}
	l.stopping = true
	l.graceEnd = l.now() + l.options.Grace
	for _, f := range l.flows {
		f.failed = false
		f.core.Stop()
		if f.owner.Loading() {
			l.leaveLane(f)
		}
	}
	for _, u := range l.keep {
		if u.busy {
			u.cancel()
		}
	}
	l.nextBeat = 0
}

// hurry ends calls that hang while the relay stops, and gives up all of them when the
// time for it is out: what was accepted is settled and the leases are given back
// nevertheless.
func (l *loop) hurry(now time.Duration) {
	if !l.stopping {
		return
	}
	for _, f := range l.flows {
		for _, id := range f.core.Hung(now) {
			f.cancel(id)
		}
	}
	if now < l.graceEnd || l.gaveUp {
		return
	}
	l.gaveUp = true
	for _, f := range l.flows {
		if n := f.core.GiveUp(); n > 0 {
			l.log.unanswered(f, n)
		}
		for id := range f.calls {
			f.cancel(id)
		}
		l.leaveLane(f)
	}
}

// leaveLane lets go of an exactly-once subscription's lane, whatever is under way: the
// next owner finds it out.
func (l *loop) leaveLane(f *flow) {
	if f.exactly != nil {
		l.forgetLane(f)
		f.owner.Forget()
	}
}

// cancel ends a call to the destination.
func (f *flow) cancel(id int64) {
	if end := f.calls[id]; end != nil {
		end()
	}
}

// handOverTime is how long a stop that waited for answers as long as it may takes to
// give back what it has.
const handOverTime = time.Second

// fail ends the run with an error that waiting does not cure.
func (l *loop) fail(err error) {
	if l.fatal == nil {
		l.fatal = err
	}
	l.stop()
}

// over says that everything is handed over, or that the time for it is out.
func (l *loop) over() bool {
	if !l.stopping {
		return false
	}
	if l.left { // nothing that goes on is waited for
		l.cancel()
		return l.pending == 0
	}
	if l.now() >= l.graceEnd+handOverTime {
		l.cancel()
		for _, f := range l.flows {
			f.core.Reset()
		}
		return l.pending == 0
	}
	return false
}

// open checks the store and declares the subscriptions. It waits for a store
// that is not there, until ctx ends.
func (l *loop) open(ctx context.Context) error {
	specs := make([]store.Spec, 0, len(l.flows))
	for _, f := range l.flows {
		specs = append(specs, f.subscription.spec())
	}
	for attempt := 1; ; attempt++ {
		err := l.opened(ctx, specs)
		if err == nil || permanent(err) {
			return err
		}
		if ctx.Err() != nil {
			l.left = true // there is nothing to hand over
			return nil    //nolint:nilerr // the caller's wish to end is no failure of ours
		}
		l.storeFailed(0, fmt.Errorf("relay: the store cannot be opened: %w", err))
		select {
		case <-ctx.Done():
		case <-time.After(storeBackoff(attempt)):
		}
	}
}

func (l *loop) opened(ctx context.Context, specs []store.Spec) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	info, err := l.store.Check(ctx)
	if isMoved(err) {
		l.log.moved(err)
		info, err = l.store.Check(ctx)
	}
	if err != nil {
		return err
	}
	for _, f := range l.flows {
		f.holds = info.Features.HeldTopics
		f.core.HoldTopics(f.holds)
	}
	if err := l.store.Declare(ctx, specs); err != nil {
		return fmt.Errorf("declare the subscriptions: %w", err)
	}
	l.log.opened(info)
	l.storeWorks(askTurn | askBeat)
	return nil
}

// nothingLeft says that a drain is done.
func (l *loop) nothingLeft(now time.Duration) bool {
	if !l.viewed || l.beating || l.turning.out || l.wanting {
		return false
	}
	for _, f := range l.flows {
		if f.owner.Loading() || !f.core.Drained(now) {
			return false
		}
		if x := f.exactly; x != nil && x.Waiting && x.Failures < 2 {
			return false
		}
	}
	return true
}
