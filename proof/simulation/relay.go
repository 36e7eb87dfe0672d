package simulation

import (
	"errors"
	"strconv"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store/sqlkit/snapshots"
)

// relay is a relay's process: the shell around a flow, as package relay has it, but
// for goroutines: what a call to the store or the broker brings comes as an event.
type relay struct {
	w       *world
	number  int
	started time.Duration
	rate    int // of its clock, in thousandths
	skew    time.Duration
	dead    bool
	frozen  time.Duration // stopped until then
	flow    *engine.Flow
	view    view

	ownership
	turnState
	health

	wanted    int
	owner     engine.Owner
	seen      []engine.Seen // by the last view
	gathering bool

	told     bool // to stop
	stopping bool
	graceEnd time.Duration
	gaveUp   bool // the grace is over
	stopped  stopped
	pending  int // calls that will be answered
	hanging  int // calls to the store that will not be answered soon
	calls    []*delivery
	keys     []out // by key: what calls hold
	streams  []*delivery
	tx       transactions
	exactly  exactly
	producer producer
	tried    time.Duration // when it last found out whether the destination works again

	timer   time.Duration // when it is woken; zero: never
	worked  int           // things that it has started, or taken in
	episode int
	read    map[int64]*message // by seq, if logs are emptied
	stale   map[int64]bool     // seqs that it read of a log that was emptied, too
}

// turnState is the round of settling and reading under way, see relay's turning.
type turnState struct {
	turning    bool
	repeat     *turnCall
	nextLook   time.Duration
	generation int
	turns      int64
}

// health is what it knows of its store, see relay's storeHealth.
type health struct {
	faults   int
	retryAt  time.Duration
	movedAt  time.Duration // the store last was not what it had been
	failing  uint8
	checking bool
	checked  bool
}

const (
	askTurn uint8 = 1 << iota
	askBeat
	askMore
)

// What package relay defaults to.
const (
	storeTimeout = 30 * time.Second
	stopGrace    = 10 * time.Second
	handOverTime = time.Second
	takePause    = 2 * time.Millisecond
	expectPause  = 20 * time.Millisecond
	expectFor    = 2 * time.Second
	harvestEvery = 50 * time.Millisecond
	wakeFloor    = 200 * time.Microsecond
)

func (w *world) newRelay() {
	w.started++
	w.counts.Relays++
	r := &relay{
		w: w, number: w.started, started: w.now, rate: 1000,
		flow: w.newFlow(),
	}
	if w.plan.faults.has(RelayClocks) && !w.calm {
		r.rate = w.of(1000, 990, 1010, 700, 1500)
	}
	r.view = view{life: w.server.life, identity: w.server.identity, bounds: &snapshots.Bounds{}, graves: newGraves()}
	r.view.file = w.server.file
	r.owner.Whole = w.plan.cfg.Transactions
	r.newIdentity()
	w.relays = append(w.relays, r)
	w.tell(eventStart, r.number, 0, 0)
	w.schedule(w.lag(), r, r, relayWakes)
	if w.plan.store == Ranges {
		w.schedule(w.lag(), r, r, relayDigs)
	}
}

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
	}
}

// newIdentity gives the relay an id that no other has ever had.
func (r *relay) newIdentity() {
	r.episode++
	former := r.former
	if r.id != "" && !r.fresh {
		former = append(former, r.id)
	}
	r.ownership = ownership{former: former, id: "r" + strconv.Itoa(r.number) + "." + strconv.Itoa(r.episode), fresh: true}
}

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
		return
	}
	r.timer = w.now + r.own(r.wait())
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
	r.hurry(now)
	r.handOver()
	r.watchLane()
	r.beat(now)
	r.turn(now)
	r.harvest(now)
	r.flow.Absorb(now)
	r.flow.Slow(now)
	r.check(now)
	r.publish(now)
	r.due(now)
}

// wait is how long nothing needs to be done unless something happens.
func (r *relay) wait() time.Duration {
	now := r.now()
	at := now + time.Minute
	sooner := func(t time.Duration) { at = min(at, t) }
	if r.canBeat() {
		sooner(max(r.nextBeat, r.retryAt))
	}
	free := r.canTurn(now)
	if !free && !r.turning && !r.checking {
		sooner(r.retryAt)
	}
	if free {
		sooner(r.nextLook)
	}
	sooner(r.flow.Wake(now, free, r.canAskLot()))
	for _, d := range r.streams {
		sooner(d.next)
	}
	if r.stopping {
		end := r.graceEnd
		if r.gaveUp {
			end += handOverTime
		}
		sooner(max(end, now+10*time.Millisecond))
	}
	return max(at-now, wakeFloor)
}

// exit ends the process: it was told to, or killed.
func (r *relay) exit() {
	w := r.w
	r.dead = true
	w.spent = append(w.spent, r.flow)
	for i, o := range w.relays {
		if o == r {
			w.relays = append(w.relays[:i:i], w.relays[i+1:]...)
			break
		}
	}
}

// restart drops all leases and begins with a new identity: what was read is
// worthless.
func (r *relay) restart() {
	r.read, r.stale = nil, nil
	w := r.w
	r.flow.Reset()
	r.flow.Landed(r.now(), nil, nil)
	r.flow.Quiesce(false)
	r.owner.Forget()
	r.gathering = false
	for _, d := range r.calls {
		w.schedule(0, r, d, callGivenUp)
	}
	r.repeat = nil
	if r.w.plan.cfg.Transactions {
		r.forgetLane()
	}
	r.generation++
	r.let(0, 4096)
	r.newIdentity()
	w.excuse("anew", "relay "+r.id, w.plan.cfg.InFlight)
	w.tell(eventAnew, r.number, int64(r.episode), 0)
}

// storeFailed notes a failure of the store and when to ask again.
func (r *relay) storeFailed(what uint8, err error) {
	r.failing |= what
	r.checked = false
	r.faults++
	r.retryAt = r.now() + r.backoff(r.faults)
	r.w.tell(eventStoreError, r.number, int64(what), int64(r.faults))
	r.w.tellf("    %v", err)
}

// storeMoved notes that the store answers, and that what was read of it is worthless.
func (r *relay) storeMoved(what uint8) {
	r.failing |= what
	r.checked = false
	r.faults++
	r.retryAt = r.now()
	if r.movedAt > 0 && r.now() < r.movedAt+time.Second {
		r.retryAt += r.backoff(r.faults)
	}
	r.movedAt = r.now()
}

func (r *relay) storeWorks(what uint8) {
	r.failing &^= what
	if r.faults > 0 && r.failing&^askMore == 0 {
		r.failing, r.faults, r.retryAt = 0, 0, 0
	}
}

func (r *relay) doubted() bool { return r.faults > 0 && !r.checked }

// recheck verifies the store after a failure, before anything else is asked.
func (r *relay) recheck() {
	if r.checking {
		return
	}
	r.checking = true
	r.worked++
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
	r := c.r
	r.checking = false
	switch {
	case err != nil:
		r.storeFailed(0, err)
		return
	case c.moved:
		r.restart()
	}
	r.checked = true
	r.nextBeat, r.nextLook = 0, 0
}

func (c *checkCall) over() { c.r.w.rooms.checks.give(c) }

// adopt takes the server for what it is now. An error says that it is another
// database.
func (r *relay) adopt() error {
	s := r.w.server
	moved := r.view.identity != s.identity
	if r.view.life != s.life && s.otherFile() {
		return errMoved // as pgstore, which looks for such boxes whenever it looks at the server anew
	}
	if r.view.life != s.life || moved {
		r.view.life, r.view.identity = s.life, s.identity
		r.view.bounds = &snapshots.Bounds{}
	}
	if moved {
		return errMoved
	}
	return nil
}
