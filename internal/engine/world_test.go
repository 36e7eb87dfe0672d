package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/postbag/postbag/internal/engine"
)

// odds are how likely things go wrong. Each run draws its own: some of them, and
// not the others.
type odds struct {
	slow, silent, lying, poison, lostTurn, badRead, rollback, command float64
	outages, takeovers, kills, restarts, graceful, reshapes, pauses   bool
	policies                                                          bool // relays come with another Order
}

// faultless: nothing happens that may cause a duplicate.
func (o *odds) faultless() bool {
	return o.silent+o.lying == 0 && !o.takeovers && !o.kills && !o.restarts && !o.policies
}

// world is one run: everything, under one clock and one source of chance.
type world struct {
	rng     *rand.Rand
	now     time.Duration
	events  agenda
	steps   int
	err     error
	cfg     engine.Config
	odds    odds
	log     *modelLog
	store   *modelStore
	broker  *modelBroker
	relays  []*modelRelay
	streams bool
	pardon  bool // the broker rejects nothing any more
	calm    bool // no more faults
	resting bool // nothing to do
	paused  bool
	trace   bool
	keys    int
	target  int          // messages
	open    map[int]bool // keys of open transactions
	opened  int
	counts  []int // of shards, that were there or may have been

	identities, repeats, faults, reshapes, retired int
}

func newWorld(chance rand.Source) *world {
	w := &world{rng: rand.New(chance), open: map[int]bool{}, trace: os.Getenv("ENGINE_TRACE") != ""}
	w.log = newModelLog(logKind(w.rng.IntN(3)), w.rng)
	w.log.restless = w.coin()
	w.cfg = w.config().Normal()
	w.odds = w.drawOdds()
	w.streams = w.coin()
	if w.rng.IntN(4) == 0 {
		w.cfg.Transactions, w.cfg.Ordered, w.streams = true, true, false
	}
	w.keys = []int{1, 2, 5, 20, 100}[w.rng.IntN(5)]
	w.target = 20 + w.rng.IntN(150)
	w.store = newModelStore(w, []int{1, 1, 2, 3, 4, 7}[w.rng.IntN(6)])
	w.counts = []int{w.store.wanted}
	w.broker = newModelBroker(w)
	return w
}

func (w *world) coin() bool { return w.rng.IntN(2) == 0 }

// chance says yes with probability p, while faults happen.
func (w *world) chance(p float64) bool { return p > 0 && !w.calm && w.rng.Float64() < p }

func (w *world) pick(n ...int) int { return n[w.rng.IntN(len(n))] }

func (w *world) config() engine.Config {
	return engine.Config{
		Order: engine.Order(w.pick(0, 0, 0, 1, 2)), OnReject: engine.OnReject(w.pick(0, 0, 1)),
		Retry: engine.Retry{
			Min: 50 * time.Millisecond, Max: 2 * time.Second, MaxAttempts: w.pick(2, 3, 5, 20), Quick: w.pick(0, 0, 1, 3),
		},
		Ordered: w.coin(), MaxBatch: w.pick(0, 0, 1, 5), Prober: w.coin(),
		InFlight: w.pick(1, 2, 5, 20, 1000), Calls: w.pick(1, 2, 4), Batch: w.pick(0, 3, 20), BatchBytes: w.pick(0, 0, 300),
		Page: w.pick(2, 5, 30, 1000), PageBytes: w.pick(0, 0, 500), RetryBatch: w.pick(0, 1, 3),
		SlowBehind: w.pick(0, 3), TallySpan: int64(w.pick(0, 16)),
		Rand: w.rng.Float64,
	}
}

func (w *world) drawOdds() odds {
	some := func(p float64) float64 {
		if w.rng.IntN(3) > 0 {
			return 0
		}
		return p
	}
	seldom := func() bool { return w.rng.IntN(4) == 0 }
	o := odds{
		slow: some(0.05), poison: some(0.2), lostTurn: some(0.1), badRead: some(0.05), rollback: some(0.2), command: some(0.3),
		outages: seldom(), graceful: seldom(), reshapes: seldom(), pauses: seldom(),
	}
	o.policies = w.cfg.Order != engine.Unordered && seldom()
	if w.rng.IntN(3) > 0 {
		o.silent, o.lying = some(0.05), some(0.1)
		o.takeovers, o.kills, o.restarts = seldom(), seldom(), seldom()
	}
	return o
}

// failf ends the run.
func (w *world) failf(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("at %v: %s", w.now, fmt.Sprintf(format, args...))
	}
}

func (w *world) at(t time.Duration, do func())    { w.events.add(t, do) }
func (w *world) after(d time.Duration, do func()) { w.at(w.now+d, do) }

// lag is the time that a message between two parties takes.
func (w *world) lag() time.Duration {
	d := time.Duration(w.rng.IntN(3000)) * time.Microsecond
	if w.chance(0.02) {
		d *= 50
	}
	return d
}

// slowness is the time that an answer of the broker takes.
func (w *world) slowness() time.Duration {
	if w.chance(w.odds.slow) {
		return time.Duration(w.rng.IntN(20000)) * time.Millisecond
	}
	return w.lag()
}

func (w *world) beatEvery() time.Duration {
	d := time.Duration(100+w.rng.IntN(400)) * time.Millisecond
	if w.resting {
		d *= 10
	}
	return d
}

func (w *world) nameOf(identity int) string {
	if identity == 0 {
		return ""
	}
	return strconv.Itoa(identity)
}

// able are the relays whose heartbeats get through.
func (w *world) able() []string {
	var out []string
	for _, r := range w.relays {
		if !r.stalled && !r.dead && !r.leaving {
			out = append(out, w.nameOf(r.identity))
		}
	}
	return out
}

// run plays until the condition holds, or fails.
func (w *world) run(what string, limit time.Duration, until func() bool) {
	end := w.now + limit
	for w.err == nil && !until() {
		t, do := w.events.next()
		if do == nil || t > end {
			w.failf("%s: not within %v: %s", what, limit, w.describe())
			return
		}
		if w.steps++; w.steps > 400_000 {
			w.failf("%s: too many steps: %s", what, w.describe())
			return
		}
		w.now = t
		do()
	}
}

func (w *world) describe() string {
	s := fmt.Sprintf("%d messages, %d stored;%s", w.log.committed(), len(w.broker.first), w.store)
	for _, r := range w.relays {
		s += fmt.Sprintf("\nrelay %d: circuit %d, %+v, %s", r.identity, r.flow.Circuit(), r.flow.Stats(), r.flow.Describe())
	}
	return s
}

// write begins a transaction now and then, until there are enough messages.
func (w *world) write() {
	if len(w.log.msgs) >= w.target {
		return
	}
	w.after(time.Duration(w.rng.IntN(20000))*time.Microsecond, w.write)
	if w.opened > 0 && w.log.kind == serial {
		return
	}
	var mine []*logMessage
	for range 1 + w.rng.IntN(4) {
		key := w.rng.IntN(w.keys + 1)
		if w.open[key] && key != 0 && !holds(mine, key) {
			continue // another transaction holds the row that orders the key
		}
		w.open[key] = true
		m := &logMessage{
			seq: int64(len(w.log.msgs)) + 1, key: key, size: 1 + w.rng.IntN(100), sum: w.rng.Uint64(),
			filtered: w.rng.IntN(10) == 0, begin: w.log.commits,
		}
		m.slot = (key * 613) % 4096
		if key == 0 {
			m.slot = int(m.sum % 4096)
		}
		w.log.msgs = append(w.log.msgs, m)
		mine = append(mine, m)
	}
	if len(mine) == 0 {
		return
	}
	w.opened++
	end := func() {
		w.opened--
		if w.rng.Float64() < w.odds.rollback {
			for _, m := range mine {
				m.dead = true
			}
		} else {
			w.log.commits++
			for _, m := range mine {
				m.commit = w.log.commits
			}
		}
		for _, m := range mine {
			delete(w.open, m.key)
		}
		if w.coin() {
			for _, r := range w.relays {
				r.flow.Woken()
				r.pump(false)
			}
		}
	}
	if w.log.kind == serial || w.rng.IntN(3) == 0 {
		end()
		return
	}
	w.after(time.Duration(w.rng.IntN(200))*time.Millisecond, end)
}

func holds(msgs []*logMessage, key int) bool {
	for _, m := range msgs {
		if m.key == key {
			return true
		}
	}
	return false
}

// agenda is what will happen, in order of time and then of arrival.
type agenda struct {
	items []appointment
	n     int
}

type appointment struct {
	at time.Duration
	n  int
	do func()
}

func (a *appointment) before(b *appointment) bool { return a.at < b.at || a.at == b.at && a.n < b.n }

func (a *agenda) add(at time.Duration, do func()) {
	a.n++
	a.items = append(a.items, appointment{at, a.n, do})
	for i := len(a.items) - 1; i > 0; {
		up := (i - 1) / 2
		if !a.items[i].before(&a.items[up]) {
			return
		}
		a.items[i], a.items[up] = a.items[up], a.items[i]
		i = up
	}
}

func (a *agenda) next() (time.Duration, func()) {
	if len(a.items) == 0 {
		return 0, nil
	}
	first, last := a.items[0], len(a.items)-1
	a.items[0] = a.items[last]
	a.items[last] = appointment{}
	a.items = a.items[:last]
	for i := 0; ; {
		c := 2*i + 1
		if c >= last {
			return first.at, first.do
		}
		if c+1 < last && a.items[c+1].before(&a.items[c]) {
			c++
		}
		if !a.items[c].before(&a.items[i]) {
			return first.at, first.do
		}
		a.items[c], a.items[i] = a.items[i], a.items[c]
		i = c
	}
}
