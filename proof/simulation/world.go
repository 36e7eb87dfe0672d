package simulation

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// stage is what all subscriptions of a run have in common: one clock, one source of chance, what comes next.
type stage struct {
	chance
	agenda

	options Options
	now     time.Duration
	tick    time.Duration // grows, so that no two instants are the same
	steps   int
	failed  *Violation
	trace   trace

	replays []*world       // those that are worked, or that a relay still has to hear the end of
	begun   int            // replays so far
	ringers []*relay       // all relays, if there are replays
	started int            // relays so far
	flows   []*engine.Flow // of relays of earlier runs, to be used again
	spent   []*engine.Flow // of relays that have ended in this one
	calm    bool
	pardon  bool // the brokers reject nothing any more
	rooms   rooms
	counts  Counts
}

// world is one run as a subscription sees it: everything, under one clock and one source of chance.
type world struct {
	*stage

	ref       store.Ref
	works     []store.Ref // what each of its relays can work
	replay    *replay     // nil: it is a subscription that does not end
	plan      plan
	server    *server
	broker    *destination
	producers producers
	relays    []*relay

	recorders   recorders
	sends       sends                  // of all relays
	deaths      []death                // of relays whose shards nobody has taken over
	shapes      []int                  // numbers of shards that an operator asked for
	heldKey     int                    // a key that is held while others are to be delivered
	everPaused  map[string]store.Pause // all pauses that there were, by what rows are held for
	mixed       bool                   // the order of the subscription was changed
	moments     int                    // what calls and the broker did so far, see moment
	rewoundOnce bool                   // the store was set back, or is another one
	excused     bool                   // some fault may have caused duplicates
	idle        int                    // wakes of relays that found nothing to do
	beats       int                    // heartbeats so far
	coming      int                    // heartbeats that have not got to the store
	rounds      int                    // of housekeeping so far
	alone       bool                   // a relay that drains is
	unshaped    bool                   // no change of shards is done in time
	behind      int                    // messages, from the first, that settled need not look at again
	slots       []store.Slots
	// leastAttempts is the least that an operator set. Zero: none was.
	leastAttempts int
	// unbound: an operator took the rate away.
	unbound  bool
	upgraded bool // all relays that start are of the later version
}

// newWorld returns one that is still to begin.
func newWorld() *world { return &world{stage: &stage{}} }

// plan is what a run draws for itself before it begins.
type plan struct {
	faults   Faults
	rate     [len(faultNames)]int // one to five: how often
	cfg      engine.Config
	store    Store
	relays   int
	messages int
	keys     int
	shards   int
	streams  bool
	dedupe   int // how many ids the broker remembers
	ttl      time.Duration
	timeout  time.Duration // of a call to the destination
	poison   int           // messages, in a thousand, that the broker rejects for a while or for ever
	steps    bool          // turns are made in several steps

	sequences, growing bool // see Sequences and GrowingIDs
	topics             int  // how many there are; zero: they do not fail
	breakers           int  // messages, in a thousand, that break their calls
	handlers           bool // the destination is a handler
	mostSuperseded     int  // rows, before a settlement is applied
}

// String says all that was drawn.
func (p *plan) String() string {
	c, r := &p.cfg, &p.cfg.Retry
	often := ""
	p.faults.each(func(i int, _ Faults) { often += fmt.Sprintf(" %s ×%d", faultNames[i], p.rate[i]) })
	return fmt.Sprintf("store %s, %d relays, %d messages of %d keys, %d shards, order %d, on reject %d, ordered %v, transactions %v, in flight %d, calls %d, "+
		"batch %d (at most %d, %d bytes), page %d (%d bytes), buffer %d, retry batch %d, retries from %s to %s, %d attempts, %d of them quick, slow behind %d, tally span %d, linger %s, prober %v, "+
		"TTL %s, timeout %s, turns in steps %v, streams %v, remembers %d, numbers %v, growing ids %v, %d topics that fail (at most %d held), rejects %d‰, breakers %d‰, handlers %v, counted first %v, rate %+v, faults%s",
		p.store, p.relays, p.messages, p.keys, p.shards, c.Order, c.OnReject, c.Ordered, c.Transactions, c.InFlight, c.Calls,
		c.Batch, c.MaxBatch, c.BatchBytes, c.Page, c.PageBytes, c.Buffer, c.RetryBatch, r.Min, r.Max, r.MaxAttempts, r.Quick, c.SlowBehind, c.TallySpan, c.Linger, c.Prober,
		p.ttl, p.timeout, p.steps, p.streams, p.dedupe, p.sequences, p.growing, p.topics, c.MaxHeld, p.poison, p.breakers, p.handlers, c.CountFirst, c.Rate, cmp.Or(often, " none"))
}

// Counts say what happened in a run.
type Counts struct {
	Messages, Committed, Accepted, Repeats, Relays, Turns int
	// Stops is how many relays stopped with messages in hand beside a store that answers.
	Stops int
	// Drains is how many relays drained that were alone.
	Drains int
	// Replays is how many replays came to their end, Cancelled how many an operator ended before.
	Replays, Cancelled int
	Faults             [len(faultNames)]int
}

func (w *world) begin(o Options) {
	w.options = o
	if o.Tape != nil {
		w.chance.play(o.Tape)
	} else {
		record := w.chance.record
		w.chance.seed(o.Seed)
		w.chance.record = record
	}
	w.trace.begin(o.Trace)
	w.ref, w.works = mainRef, []store.Ref{mainRef, maintenance.Ref}
	w.drawPlan()
	w.server = newServer(w)
	w.broker = newDestination(w)
	w.producers.begin(w)
	for range w.plan.relays {
		w.newRelay()
	}
	w.schedule(0, nil, &w.producers, 0)
	w.trouble()
}

// maxKeys is how many keys a run may have.
const maxKeys = 100

func (w *world) drawPlan() {
	o, p := &w.options, &w.plan
	p.faults = o.Faults
	if o.Drawn && o.Mode == Swarm {
		p.faults = 0
		o.Faults.each(func(_ int, k Faults) {
			if w.below(4) == 3 {
				p.faults |= k
			}
		})
	}
	for i := range p.rate {
		if k := Faults(1) << i; k <= EarlierFaults || p.faults.has(k) {
			p.rate[i] = w.of(1, 2, 5)
		}
	}
	p.store = o.Store
	if p.store == "" {
		p.store = []Store{Snapshots, Ranges, Snapshots, Serial}[w.below(4)]
	}
	p.relays = o.Relays
	if p.relays == 0 {
		p.relays = w.of(1, 2, 2, 3, 4)
	}
	p.messages = o.Messages
	if p.messages == 0 {
		p.messages = 20 + w.below(361)
	}
	p.keys = w.of(1, 2, 5, 20, maxKeys)
	p.shards = w.of(1, 1, 2, 3, 4, 7)
	p.streams = w.coin()
	p.dedupe = w.of(0, 0, 10, 1000)
	p.ttl = time.Duration(w.of(15, 5, 2)) * time.Second
	p.timeout = time.Duration(w.of(30, 5, 2)) * time.Second
	p.steps = w.coin()
	if p.faults.has(Rejects) {
		p.poison = w.of(20, 100, 200)
	}
	c := w.drawConfig()
	if w.below(4) == 3 {
		c.Transactions, c.Ordered, p.streams, p.dedupe = true, true, false, 0
	}
	w.drawSuperseding(&c)
	w.drawTopics(&c)
	w.drawPauses(&c)
	w.drawRetries(&c)
	w.drawRate(&c)
	if w.options.Handlers {
		w.drawHandlers(&c)
	}
	if (w.options.CountFirst || c.CountFirst) && !c.Transactions { // more attempts than relays die: only a refusal makes a message dead
		c.CountFirst, c.Retry.MaxAttempts = true, max(c.Retry.MaxAttempts, 20)
		for i := range c.Rules {
			c.Rules[i].MaxAttempts = max(c.Rules[i].MaxAttempts, 20)
		}
	}
	p.cfg = c.Normal()
	w.drawKeeping()
	if p.faults.has(Breakers) && !p.sequences && !p.growing && !p.cfg.Transactions && !p.handlers {
		p.breakers = w.of(5, 20, 50)
	}
}

// drawKeeping draws what the broker keeps repeats out by. Ids that must grow want an
// order that nothing leaves, and a stream that is not emptied: what lay there, and is sent
// again behind a later one, can never be stored.
func (w *world) drawKeeping() {
	p, c := &w.plan, &w.plan.cfg
	if p.handlers { // marks do
		return
	}
	ordered := c.OnReject == engine.Block && c.Order != engine.Unordered && !p.faults.has(Moves|Wipes|Emptied)
	p.growing = p.faults.has(GrowingIDs) && ordered && !c.Transactions
	p.sequences = p.faults.has(Sequences) && !c.Transactions && (!p.growing || w.coin())
	p.growing = p.growing && !p.sequences
	if p.sequences {
		p.streams = false
	}
}

func (w *world) drawConfig() engine.Config {
	c := engine.Config{
		Ref: w.ref, DeadTo: letterBox, DeadTopic: letterTopic, Order: engine.Order(w.of(0, 0, 0, 1, 2)), OnReject: engine.OnReject(w.of(0, 0, 1)),
		Retry: engine.Retry{
			Min: 50 * time.Millisecond, Max: 2 * time.Second, MaxAttempts: w.of(20, 5, 3, 2), Quick: w.of(0, 0, 1, 3),
		},
		Ordered: w.coin(), MaxBatch: w.of(0, 0, 5, 1), Prober: w.coin(),
		InFlight: w.of(1000, 20, 5, 2, 1), Calls: w.of(4, 2, 1), Batch: w.of(0, 20, 3), BatchBytes: w.of(0, 0, 1800),
		Page: w.of(1000, 30, 5, 2), PageBytes: w.of(0, 0, 3000), RetryBatch: w.of(0, 3, 1),
		SlowBehind: w.of(0, 3), TallySpan: int64(w.of(0, 16)), Linger: time.Duration(w.of(4, 0)) * time.Millisecond,
		Buffer: w.of(0, 0, 2500, 600, 1),
		Rand:   w.chance.float,
	}
	if c.Page <= 5 { // not drawn, so that the seeds that are known bring the same
		c.Rows = 4 * c.Page
	}
	return c
}

// Violation is a promise that a run broke, or something else that must not be.
type Violation struct {
	// Promise is P1 to P8, or "engine", "store" or "rest" where something that the
	// promises rest on was found wrong, or "rate".
	Promise string
	// What says what was seen.
	What string
	// At is when, since the run began.
	At time.Duration
}

func (v *Violation) String() string {
	return fmt.Sprintf("%s is broken at %v: %s", v.Promise, v.At, v.What)
}

func (w *world) failf(promise, format string, args ...any) {
	if w.failed == nil {
		w.failed = &Violation{Promise: promise, What: w.replay.prefix() + fmt.Sprintf(format, args...), At: w.now}
		w.tellf("!! %v", w.failed)
	}
}

// fault says that a fault of this kind happens now: it is among those of the run,
// faults have not ended, and chance says so, about so many times in a thousand.
func (w *world) fault(k Faults, permille int) bool {
	if w.calm || !w.plan.faults.has(k) {
		return false
	}
	i := indexOf(k)
	if !w.permille(permille * w.plan.rate[i]) {
		return false
	}
	w.counts.Faults[i]++
	return true
}

func indexOf(k Faults) int {
	for i := range faultNames {
		if k>>i == 1 {
			return i
		}
	}
	return -1
}

// after plans to do something, in a process if it is to wait for that.
func (w *world) after(d time.Duration, who *relay, do func()) { w.schedule(d, who, doing(do), 0) }

// schedule plans that something happens.
func (w *world) schedule(d time.Duration, who *relay, to happening, as what) {
	w.agenda.add(w.now+d, event{who: who, to: to, as: as})
}

// lag is the time that a message between two parties takes.
func (w *world) lag() time.Duration { return time.Duration(w.below(30)) * 100 * time.Microsecond }

// run plays until the condition holds, or fails.
func (w *world) run(what string, limit time.Duration, until func() bool) {
	end := w.now + limit
	for w.failed == nil && !until() {
		t, e := w.agenda.next(w.now, &w.chance, w.everyRelay())
		switch {
		case e.to == nil || t > end:
			w.failf("P8", "%s: not within %v: %s", what, limit, w.describe())
			return
		case w.steps > w.options.Steps:
			w.failf("P8", "%s: not within %d steps: %s", what, w.options.Steps, w.describe())
			return
		}
		w.now = t
		if r := e.who; r != nil {
			if r.dead {
				continue
			}
			if r.frozen > w.now {
				w.agenda.add(r.frozen, e)
				continue
			}
		}
		w.steps++
		e.to.happen(e.as)
		w.now += time.Duration(w.below(4)) * 10 * time.Microsecond
	}
}

func (w *world) describe() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d messages, %d of them accepted;%s", len(w.producers.msgs), w.broker.firsts, w.server)
	for _, r := range w.everyRelay() {
		fmt.Fprintf(&s, "\nrelay %s: circuit %d, %+v, %s", r.id(), r.flow.Circuit(), r.flow.Stats(), r.flow.Describe())
	}
	for _, a := range w.replays {
		fmt.Fprintf(&s, "\n%s%+v:%s", a.replay.prefix(), a.replay.Replay, a.server)
	}
	return s.String()
}
