package simulation

import (
	"errors"
	"strconv"
	"time"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit/snapshots"
)

// relay is a relay's process: it carries out what the core of a relay wants, as package
// relay does, but for goroutines: what a call to the store or the broker brings comes as an
// event.
type relay struct {
	w       *world
	number  int
	started time.Duration
	rate    int // of its clock, in thousandths
	skew    time.Duration
	dead    bool
	frozen  time.Duration // stopped until then
	core    *core.Core
	flow    *engine.Flow // the one that core has
	view    view
	cfg     engine.Config // that it was started with
	tuned   engine.Config // and what it has heard of it since

	drains   bool // it ends when nothing is left
	told     bool // to stop, or it has drained
	through  bool // it stops since its replay is through
	stopped  stopped
	pending  int // calls that will be answered
	hanging  int // calls to the store that will not be answered soon
	calls    []*delivery
	keys     []out // by key: what calls hold
	tx       transactions
	exactly  exactly
	producer producer
	sends    sends
	pauses   []store.Pause // that it was told of
	newer    bool          // it can read every filter
	blind    bool          // it was told of one that it cannot read
	ended    bool          // it was told that its subscription is gone, or its replay has ended
	blinded  bool          // at some time
	tried    time.Duration // when it last found out whether the destination works again

	timer   time.Duration // when it is woken; zero: never
	worked  int           // things that it has started, or taken in
	episode int
	meaning *meaning // if logs are emptied
}

// What package relay defaults to.
const (
	storeTimeout = 30 * time.Second
	stopGrace    = 10 * time.Second
	pollMax      = time.Second
)

func (w *world) newRelay() { w.addRelay(false) }

// addRelay starts a relay, which may drain.
func (w *world) addRelay(drains bool) {
	w.started++
	w.counts.Relays++
	r := &relay{
		w: w, number: w.started, started: w.now, rate: 1000, drains: drains,
		flow: w.newFlow(), cfg: w.plan.cfg, tuned: w.plan.cfg, newer: w.startsNewer(),
	}
	if w.plan.faults.has(RelayClocks) && !w.calm {
		r.rate = w.of(1000, 990, 1010, 700, 1500)
	}
	r.view = view{life: w.server.life, identity: w.server.identity, bounds: &snapshots.Bounds{}, graves: newGraves()}
	r.view.file = w.server.file
	r.core = w.newCore(r)
	w.relays = append(w.relays, r)
	w.tell(eventStart, r.number, 0, 0)
	w.schedule(w.lag(), r, r, relayWakes)
	if w.plan.store == Ranges {
		w.schedule(w.lag(), r, r, relayDigs)
	}
	if w.replay != nil {
		w.schedule(replayLook, r, r, relayLooks)
	}
}

// newCore returns what decides for a relay.
func (w *world) newCore(r *relay) *core.Core {
	f := &core.Flow{Ref: w.ref, Destination: destinationName, Engine: r.flow, Policy: r.policy}
	if w.plan.cfg.Transactions {
		f.Lane = &r.exactly.Lifecycle
	}
	return core.New(core.Options{
		TTL: w.plan.ttl, PollMax: pollMax, Grace: stopGrace, Drain: r.drains, Upkeep: w.plan.faults.has(Housekeeping),
		NewID: r.newID, Rand: w.sixteenth,
	}, []*core.Flow{f})
}

// sixteenth is a number in [0, 1).
func (w *world) sixteenth() float64 { return float64(w.below(16)) / 16 }

// newFlow returns a flow, in the memory of one that is over if there is one: each has
// a table of 32 KB.
func (w *world) newFlow() *engine.Flow {
	if n := len(w.flows); n > 0 {
		f := w.flows[n-1]
		w.flows = w.flows[:n-1]
		f.Renew(w.plan.cfg)
		return f
	}
	return engine.NewFlow(w.plan.cfg)
}

// digGraves is the service that writes tombstones.
func (r *relay) digGraves() {
	r.view.graves.bury(r.w.server.now(), r.w.server.log.(*rangeLog)) //nolint:forcetypeassert,errcheck // it is one: see newRelay
	r.w.schedule(500*time.Millisecond, r, r, relayDigs)
}

// now is the time by the relay's own clock, which never goes back.
func (r *relay) now() time.Duration {
	return (r.w.now-r.started)*time.Duration(r.rate)/1000 + r.skew
}

// own is how long a time by the relay's own clock takes.
func (r *relay) own(d time.Duration) time.Duration { return d*1000/time.Duration(r.rate) + 1 }

// What happens to a relay.
const (
	relayTicks what = iota
	relayWakes
	relayHears
	relayDigs
	relayStops
	relayLooks
)

func (r *relay) happen(as what) {
	switch as {
	case relayTicks:
		r.tick()
	case relayWakes:
		r.wake()
	case relayHears:
		r.woken()
	case relayDigs:
		r.digGraves()
	case relayStops:
		r.stop()
	case relayLooks:
		r.looks()
	}
}

// newID returns an id that no other has ever had.
func (r *relay) newID() string {
	r.episode++
	return "r" + strconv.Itoa(r.number) + "." + strconv.Itoa(r.episode)
}

func (r *relay) id() string { return r.core.ID() }

// woken is a hint that there may be messages.
func (r *relay) woken() {
	r.flow.Woken()
	r.worked++
	r.wake()
}

// rings says that its timer is due.
func (r *relay) rings(now time.Duration) bool {
	return r.timer > 0 && r.timer <= now && r.frozen <= now
}

// tick is the timer's event.
func (r *relay) tick() {
	before := r.worked
	r.timer = 0
	r.wake()
	if r.worked == before {
		r.w.idle++
	}
}

// wake makes a pass of the loop, and sets the timer.
func (r *relay) wake() {
	if r.dead {
		return
	}
	w := r.w
	r.step()
	if w.steps%8 == 0 {
		r.audit()
	}
	if r.over() {
		r.exit()
		r.worksNoMore()
		return
	}
	r.timer = w.now + r.own(r.core.Wait(r.now()))
}

func (r *relay) audit() {
	w := r.w
	if err := r.flow.Audit(); err != nil {
		w.failf("engine", "relay %d: %v", r.number, err)
	}
	if out := r.flow.Stats().Unsettled; out > w.plan.cfg.InFlight {
		w.failf("P4", "relay %d: %d messages are out, %d may be", r.number, out, w.plan.cfg.InFlight)
	}
	// Each lane's read may bring one message that crosses what it asked for.
	if most := w.plan.cfg.Normal().Buffer + 8*largest; r.flow.Stats().Bytes > most {
		w.failf("engine", "relay %d: %d bytes are in hand, %d may be", r.number, r.flow.Stats().Bytes, most)
	}
}

// step starts everything that can be started now, see relay's loop.
func (r *relay) step() {
	now := r.now()
	r.collect(now)
	r.core.Step(now)
	if r.tuned.Rate.Shared {
		r.noteShare()
	}
	r.carryOut()
}

// carryOut starts and ends what the core wants started and ended.
func (r *relay) carryOut() {
	all := r.core.Operations()
	for i := range all {
		r.worked++
		switch o := &all[i]; o.Kind {
		case core.Beat:
			r.beat(o.Beat)
		case core.Turn:
			r.turn(o.Round)
		case core.Check:
			r.recheck()
		case core.Load:
			r.load(o.Loading)
		case core.Enter:
			r.enter(o.Loading)
		case core.Send:
			r.send(o.Call)
		case core.Try:
			r.triesAgain()
			r.send(o.Call)
		case core.Probe:
			r.triesAgain()
			r.probe()
		case core.Due:
			r.due(o.Due)
		case core.EndCall:
			r.endCalls(func(d *delivery) bool { return d.call.ID == o.ID })
		case core.EndCalls:
			r.endCalls(func(*delivery) bool { return true })
		case core.DropLane:
			r.dropLane()
		case core.NewIdentity:
			r.restarted()
		case core.Vanished:
			r.vanished()
		case core.Maintain:
			r.maintain(o.Upkeep)
		case core.Stopping:
			r.stops()
		case core.EndMaintain, core.Expired, core.Reshaped, core.Returned, core.Back:
		}
	}
}

// exit ends the process: it was told to, or killed.
func (r *relay) exit() {
	w := r.w
	r.dead = true
	r.hangUp()
	w.spent = append(w.spent, r.flow)
	for i, o := range w.relays {
		if o == r {
			w.relays = append(w.relays[:i:i], w.relays[i+1:]...)
			break
		}
	}
	w.forgetReplay()
}

// restarted notes that the relay has dropped all it had, and has a new identity.
func (r *relay) restarted() {
	r.meaning = nil
	r.let(0, 4096)
	r.w.excuse("again", "relay "+r.id(), r.w.plan.cfg.InFlight)
	r.w.tell(eventAnew, r.number, int64(r.episode), 0)
}

// fault returns what an error of the store means, and tells of one that failed.
func (r *relay) fault(err error) core.Fault {
	f := core.FaultOf(err)
	if f == core.Failed {
		r.w.tell(eventStoreError, r.number, 0, 0)
		r.w.tellf("    %v", err)
	}
	return f
}

// recheck verifies the store.
func (r *relay) recheck() {
	c := r.w.rooms.checks.take()
	r.ask(&c.asking, c, storeTimeout)
}

// checkCall verifies the store.
type checkCall struct {
	asking

	moved bool
}

func (c *checkCall) act() error {
	s := c.r.w.server
	before := c.r.adopt()
	s.beginAgain()
	c.moved = errors.Join(before, c.r.adopt()) != nil
	c.r.view.file = s.file
	return nil
}

func (c *checkCall) answered(err error) {
	if err == nil && c.moved {
		err = store.ErrMoved
	}
	c.r.core.Checked(c.r.now(), c.r.fault(err))
	c.r.carryOut()
}

func (c *checkCall) over() { c.r.w.rooms.checks.give(c) }

// adopt takes the server for what it is now. An error says that it is another
// database.
func (r *relay) adopt() error {
	s := r.w.server
	moved := r.view.identity != s.identity
	if r.view.life != s.life && s.otherFile() {
		return store.ErrMoved // as pgstore, which looks for such boxes whenever it looks at the server again
	}
	if r.view.life != s.life || moved {
		r.view.life, r.view.identity = s.life, s.identity
		r.view.bounds = &snapshots.Bounds{}
	}
	if moved {
		return store.ErrMoved
	}
	return nil
}
