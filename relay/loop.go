package relay

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	chance "math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// loop is one run of a relay: it carries out what its core wants, and tells it what came
// of that. Its fields belong to the goroutine that runs it; what other goroutines find out
// reaches it as functions through events.
type loop struct {
	relay   *Relay
	store   store.Store
	options *Options
	log     *journal
	hooks   *hookQueue // nil: there is none
	clock   storeClock
	core    *core.Core

	started time.Time
	ctx     context.Context //nolint:containedctx // of calls to the store and to destinations; ends with the run
	cancel  context.CancelFunc
	events  chan func()
	ask     chan chan Stats
	ended   chan struct{}
	pending int // goroutines that will send an event

	flows   []*flow
	byRef   map[store.Ref]*flow
	keeping map[*core.Upkeep]context.CancelFunc // rounds of housekeeping under way

	deployed []*deployment // what this relay says of the boxes' retention
	ending   bool          // the shutdown has begun

	peers     map[string]peer
	commanded map[store.CommandID]commanded // messages that operators' commands are about
	fatal     error
	added     addedLook
	through   bool        // with the one subscription, which an operator had added
	opens     atomic.Bool // the store was opened; others ask
}

// flow is one subscription: what is decided about it, and what belongs to it here.
type flow struct {
	*core.Flow

	subscription  *Subscription
	rules         *retryRules
	holds         bool          // messages for topics that do not work
	overfull      bool          // too many of them wait
	paused        bool          // by an older version, which does not say by whom
	pauses        []store.Pause // those that the log told of
	lastError     string
	failed        bool // the destination has, since the stop began
	acceptedAt    time.Time
	condition     condition
	calls         map[int64]*streaming // to the destination, that are out
	exactly       *exactly             // nil: at least once
	holders       []holder             // of its other shards
	begun, waited bool                 // and that is in the log
	shards        int                  // how many there are, by the last view
	toldState     string               // of the destination, to hooks
	toldLeases    []store.Lease        // and the shards
	filter        string               // the operator's, as the log said last
	settings      string               // those of operators, as the log said last
	timeout       time.Duration        // of a call
}

func newLoop(r *Relay, drain bool) *loop {
	o := &r.options
	l := &loop{
		relay: r, store: r.store, options: o, ctx: context.Background(),
		events: make(chan func(), 256), ask: make(chan chan Stats), ended: make(chan struct{}),
		byRef: make(map[store.Ref]*flow), keeping: make(map[*core.Upkeep]context.CancelFunc),
		log: newJournal(o.Logger, o.OnError), deployed: deployments(o), hooks: newHookQueue(o.Hooks, o.Logger),
	}
	var flows []*core.Flow
	for i := range o.Subscriptions {
		f := newFlow(&o.Subscriptions[i], o, l.relay.replayer)
		l.flows, flows = append(l.flows, f), append(flows, f.Flow)
		l.byRef[f.Ref] = f
	}
	l.core = core.New(core.Options{
		Name: o.Name, TTL: o.TTL, PollMax: o.PollMax, Grace: o.Grace, Drain: drain, Upkeep: !o.NoMaintenance,
		NewID: newID, Rand: chance.Float64,
	}, flows)
	return l
}

func newFlow(s *Subscription, o *Options, replayer store.Replayer) *flow {
	rules := s.rules()
	config := s.engine(o, rules)
	if r := s.Replay; r != nil {
		config.Ends = func(p store.Position) bool { return core.ReplayEnds(r, p, replayer.Floor) }
	}
	f := &flow{
		Flow:         &core.Flow{Ref: s.ref(), Destination: s.ToName, Engine: engine.NewFlow(config), PollMax: paces[s.Cadence].pollMax, Policy: s.policy(o, rules)},
		subscription: s, timeout: s.Timeout, rules: rules, exactly: newExactly(s), calls: make(map[int64]*streaming), toldState: circuitName(engine.Closed),
	}
	if f.exactly != nil {
		f.Lane = &f.exactly.Lifecycle
	}
	return f
}

// newID returns an id that no relay has ever had.
func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand
	return hex.EncodeToString(b[:])
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
	if w, ok := l.store.(store.Waker); ok && !l.relay.added { // the relay that it works for hears, and hands on
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
		timer.Reset(l.core.Wait(l.now()))
		select {
		case fn := <-l.events:
			l.pending--
			fn()
			l.more()
		case <-woken:
			for _, f := range l.flows {
				f.Engine.Woken()
			}
			l.relay.additions.wake("")
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
	if l.through && !l.ending {
		l.stop()
	}
	now := l.now()
	l.collect(now)
	l.watchLanes()
	l.deployAgain(now)
	l.core.Step(now)
	l.carryOut(now)
	for _, f := range l.flows {
		l.noteCondition(f, now)
		l.noteTopics(f, now)
		l.noteDeaths(f)
		l.tellState(f)
	}
}

// carryOut starts and ends what the core wants started and ended.
func (l *loop) carryOut(now time.Duration) {
	all := l.core.Operations()
	for i := range all {
		o := &all[i]
		switch o.Kind {
		case core.Beat:
			l.beat(now, o.Beat)
		case core.Turn:
			l.turn(o.Round)
		case core.Check:
			l.recheck()
		case core.Load:
			l.load(o.Loading)
		case core.Enter:
			l.enter(o.Loading)
		case core.Send, core.Try:
			l.call(l.flowOf(o.Flow), o.Call)
		case core.Probe:
			l.probe(l.flowOf(o.Flow))
		case core.Due:
			l.due(o.Due)
		case core.Maintain:
			l.maintain(o.Upkeep)
		case core.EndMaintain:
			l.keeping[o.Upkeep]()
		case core.EndCall:
			l.flowOf(o.Flow).cancel(o.ID)
		case core.EndCalls:
			l.endCalls(l.flowOf(o.Flow), o.Unanswered)
		case core.DropLane:
			l.dropLane(l.flowOf(o.Flow))
		case core.Stopping:
			l.stopping()
		case core.Expired:
			l.log.expired()
		case core.Reshaped:
			l.log.reshaped(o.Flow.Ref, o.Flow.Wanted())
		case core.Vanished:
			f := l.flowOf(o.Flow)
			l.vanished(f, o.Unanswered)
			l.through = l.through || f.subscription.assigned && f.Unreadable() == nil // one that cannot be read waits, as any does
		case core.Returned:
			l.log.returned(l.flowOf(o.Flow))
		case core.Back:
			l.log.storeBack()
		case core.NewIdentity:
		}
	}
}

// flowOf is the flow that the core has as f.
func (l *loop) flowOf(f *core.Flow) *flow { return l.byRef[f.Ref] }

// stop begins the shutdown.
func (l *loop) stop() {
	l.ending = true
	now := l.now()
	l.core.Stop(now)
	l.carryOut(now)
}

// stopping: what destinations do from now on is looked at again.
func (l *loop) stopping() {
	for _, f := range l.flows {
		f.failed = false
	}
}

// endCalls ends all calls to a flow's destination.
func (l *loop) endCalls(f *flow, unanswered int) {
	if unanswered > 0 {
		l.log.unanswered(f, unanswered)
	}
	for id := range f.calls {
		f.cancel(id)
	}
}

// cancel ends a call to the destination.
func (f *flow) cancel(id int64) {
	if s := f.calls[id]; s != nil {
		s.cancel()
	}
}

// fail ends the run with an error that waiting does not cure.
func (l *loop) fail(err error) {
	if l.fatal == nil {
		l.fatal = err
	}
	l.stop()
}

// over says that everything is given back, or that the time for it is out. Nothing that
// goes on is waited for.
func (l *loop) over() bool {
	if !l.core.Over(l.now()) {
		return false
	}
	l.cancel()
	return l.pending == 0
}

// open checks the store and declares the subscriptions. It waits for a store
// that is not there, until ctx ends.
func (l *loop) open(ctx context.Context) error {
	specs := make([]store.Spec, 0, len(l.flows))
	for _, f := range l.flows {
		if f.subscription.Replay == nil && !f.subscription.assigned {
			specs = append(specs, f.subscription.spec())
		}
	}
	for attempt := 1; ; attempt++ {
		err := l.opened(ctx, specs)
		if err == nil || permanent(err) {
			l.heard(err)
			return err
		}
		if ctx.Err() != nil {
			l.core.Abandon() // there is nothing to give back
			return nil       //nolint:nilerr // the caller's wish to end is no failure of ours
		}
		l.core.OpenFailed()
		l.storeFailed(fmt.Errorf("relay: the store cannot be opened: %w", err))
		select {
		case <-ctx.Done():
		case <-time.After(core.Backoff(attempt, chance.Float64())):
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
		f.Engine.HoldTopics(f.holds)
		if f.subscription.DeadTo != "" && !info.Features.DeadLetters {
			return fmt.Errorf("relay: %s: %w", f.Ref, errNoLetters)
		}
	}
	if err := l.store.Declare(ctx, specs); err != nil {
		return fmt.Errorf("declare the subscriptions: %w", err)
	}
	if err := l.deployAll(ctx); err != nil {
		return err
	}
	l.log.opened(info)
	l.opens.Store(true)
	l.core.Opened(l.now())
	l.carryOut(l.now())
	return nil
}
