package engine_test

import (
	"slices"
	"time"

	"github.com/postbag/postbag/internal/engine"
)

// modelRelay is a relay of the mini-world: the shell around a flow, in the order
// of package relay.
type modelRelay struct {
	w        *world
	identity int // new at each restart
	flow     *engine.Flow
	dead     bool
	leaving  bool // a graceful stop
	stalled  bool // its heartbeats do not get through

	turning    bool
	generation int
	loading    map[int]bool
	giving     []engine.Lease
	taking     []int // lower bounds
	gathering  bool
	sending    map[int]map[int64]int // key → calls that hold it
	wakeAt     time.Duration
	idleWakes  int
	tx         transactions
}

func (w *world) newRelay() *modelRelay {
	w.identities++
	r := &modelRelay{w: w, identity: w.identities, flow: engine.NewFlow(w.cfg), loading: map[int]bool{}, sending: map[int]map[int64]int{}}
	r.flow.Expire(1 << 60)
	w.relays = append(w.relays, r)
	w.after(w.lag(), r.beat)
	return r
}

// pump does all that can be done now, and asks to be woken.
func (r *modelRelay) pump(woken bool) {
	if r.dead {
		return
	}
	w, f := r.w, r.flow
	busy := false
	for r.step() || f.Wake(w.now, !r.turning, true) <= w.now && r.step() {
		busy = true
	}
	if woken && !busy {
		r.idleWakes++
	}
	if err := f.Audit(); err != nil {
		w.failf("relay %d: %v", r.identity, err)
	}
	if out := f.Stats().Unsettled; out > w.cfg.InFlight {
		w.failf("relay %d: %d messages are out, %d may be", r.identity, out, w.cfg.InFlight)
	}
	at := f.Wake(w.now, !r.turning, true)
	if at <= w.now {
		w.failf("relay %d: wants to be woken at %v, now is %v, and has nothing to do: %s", r.identity, at, w.now, f.Describe())
		return
	}
	if r.wakeAt <= w.now || at < r.wakeAt {
		r.wakeAt = at
		w.at(at, func() {
			if r.wakeAt == w.now {
				r.pump(true)
			}
		})
	}
}

// step makes one pass, as the relay's loop does, and says whether it did
// anything.
func (r *modelRelay) step() bool {
	w, f := r.w, r.flow
	did := false
	for _, l := range f.Left() {
		r.giving = append(r.giving, l)
		did = true
	}
	if r.turn() {
		did = true
	}
	f.Absorb(w.now)
	f.Slow(w.now)
	switch f.Check(w.now) {
	case engine.NoCheck:
	case engine.AskProber:
		did = true
		r.probe()
	case engine.TryOne:
		did = true
		if c := f.Trial(w.now); c != nil {
			r.call(c)
		}
	}
	for c := f.Next(w.now); c != nil; c = f.Next(w.now) {
		r.call(c)
		did = true
	}
	if d, ok := f.Due(w.now); ok {
		did = true
		r.due(d)
	}
	return did
}

func (r *modelRelay) turn() bool {
	w := r.w
	if r.turning {
		return false
	}
	t := r.flow.Turn(w.now)
	if t.Empty() {
		return false
	}
	r.turning = true
	r.tx.turns(w, &t)
	generation := r.generation
	if w.trace {
		w.tracef("relay %d: turn %+v", r.identity, t)
	}
	var attempt func()
	attempt = func() {
		w.after(w.lag(), func() {
			if r.generation != generation || r.dead && w.chance(0.5) {
				return
			}
			result := w.store.turn(&t)
			w.after(w.lag(), func() {
				if r.generation != generation || r.dead {
					return
				}
				if w.chance(w.odds.lostTurn) {
					w.after(w.lag()*10, attempt)
					return
				}
				r.tx.landed(w, &t, &result)
				r.landed(&result)
			})
		})
	}
	attempt()
	return true
}

func (r *modelRelay) landed(result *turnResult) {
	w, f := r.w, r.flow
	r.turning = false
	if w.trace {
		w.tracef("relay %d: landed %+v", r.identity, *result)
	}
	f.Landed(w.now, result.verdicts, result.pages)
	f.NextDue(w.now, result.nextDue)
	f.Order(w.now, result.commands)
	if w.chance(0.2) {
		f.Absorb(w.now)
	}
	r.pump(false)
}

func (r *modelRelay) due(d engine.DueRequest) {
	w := r.w
	w.after(w.lag(), func() {
		messages := w.store.due(&d)
		w.after(w.lag(), func() {
			switch {
			case r.dead:
			case w.chance(w.odds.lostTurn):
				r.flow.DueFailed(w.now)
				r.pump(false)
			default:
				if w.trace {
					w.tracef("relay %d: due %+v", r.identity, messages)
				}
				r.flow.DueLanded(w.now, messages)
				r.pump(false)
			}
		})
	})
}

func (r *modelRelay) probe() {
	w := r.w
	w.after(w.lag(), func() {
		o := w.broker.down
		if o == engine.NotSent {
			o = engine.Unavailable
		}
		w.after(w.lag(), func() {
			if !r.dead {
				r.flow.Probed(w.now, o)
				r.pump(false)
			}
		})
	})
}

// call sends a call to the broker; it gets there even if the relay dies.
func (r *modelRelay) call(c *engine.Call) {
	w := r.w
	r.hold(c)
	if w.trace {
		w.tracef("relay %d: call %d: %+v", r.identity, c.ID, c.Items)
	}
	r.tx.begin(w, c)
	reported := make([]bool, len(c.Items))
	release := func(i int) {
		if !reported[i] {
			reported[i] = true
			if key := w.log.msgs[c.Items[i].Seq-1].key; key != 0 {
				if calls := r.sending[key]; calls[c.ID] > 1 {
					calls[c.ID]--
				} else {
					delete(calls, c.ID)
				}
			}
		}
	}
	w.after(w.lag(), func() {
		answers := w.broker.receive(c.Items)
		last := w.slowness()
		for i := range answers {
			if w.streams && w.chance(0.8) {
				w.after(min(w.slowness(), last), func() {
					if !r.dead {
						release(i)
						if w.trace {
							w.tracef("relay %d: call %d: reported %d %+v", r.identity, c.ID, c.Items[i].Seq, answers[i])
						}
						r.flow.Reported(w.now, c.ID, i, answers[i])
						r.pump(false)
					}
				})
			}
		}
		w.after(last, func() {
			if r.dead {
				return
			}
			for i := range answers {
				release(i)
			}
			if w.trace {
				w.tracef("relay %d: call %d: answered %+v", r.identity, c.ID, answers)
			}
			r.tx.end(w, c, answers)
			r.flow.Answered(w.now, c.ID, answers)
			r.pump(false)
		})
	})
}

// hold checks that no two calls at a time hold messages of one key, and that one
// call does only if the destination keeps order within it.
func (r *modelRelay) hold(c *engine.Call) {
	w := r.w
	if len(c.Items) > w.cfg.Batch {
		w.failf("a call of %d messages, %d may be", len(c.Items), w.cfg.Batch)
	}
	for _, item := range c.Items {
		if item.Tag != item.Seq {
			w.failf("message %d has the tag %v", item.Seq, item.Tag)
		}
		key := w.log.msgs[item.Seq-1].key
		if key == 0 || w.cfg.Order == engine.Unordered || w.odds.policies && w.cfg.OnReject == engine.Skip {
			continue
		}
		if r.sending[key] == nil {
			r.sending[key] = map[int64]int{}
		}
		r.sending[key][c.ID]++
		if len(r.sending[key]) > 1 || r.sending[key][c.ID] > 1 && !w.cfg.Ordered {
			w.failf("relay %d: message %d of key %d is sent beside another", r.identity, item.Seq, key)
		}
	}
}

// let forgets what is in calls of a range of slots, which is another's now.
func (r *modelRelay) let(lo, hi int) {
	r.tx.let(r.w, lo, hi)
	for key := range r.sending {
		if slot := (key * 613) % 4096; slot >= lo && slot < hi {
			delete(r.sending, key)
		}
	}
}

// beat is a heartbeat: it gives, reshapes, takes, sees, and plans.
func (r *modelRelay) beat() {
	w := r.w
	if r.dead {
		return
	}
	w.after(w.beatEvery(), r.beat)
	if r.stalled {
		return
	}
	w.log.tick()
	give, take := r.giving, r.taking
	r.giving, r.taking = nil, nil
	for _, l := range give {
		if sh := w.store.shard(l.Lo, l.Hi); sh != nil && sh.token == l.Token && sh.owner == r.identity {
			sh.owner = 0
		}
	}
	r.reshape()
	for _, lo := range take {
		for _, sh := range w.store.shards {
			if sh.lo == lo && sh.owner == 0 && !r.leaving {
				w.store.take(sh, r.identity)
			}
		}
	}
	r.see()
	if r.leaving && len(r.flow.Leases()) == 0 && len(r.loading) == 0 && len(r.giving) == 0 && !r.turning {
		r.dead = true
		w.relays = slices.DeleteFunc(w.relays, func(o *modelRelay) bool { return o == r })
		w.retired += r.idleWakes
		return
	}
	r.pump(false)
}

// reshape replaces the shards when the flow is quiet.
func (r *modelRelay) reshape() {
	if !r.gathering || len(r.loading) > 0 || !r.flow.Quiet() {
		return
	}
	if r.w.store.reshape(r.identity, r.w.store.wanted, r.flow.Leases()) {
		r.w.reshapes++
		r.flow.Reset()
		r.flow.Quiesce(false)
		r.gathering = false
	}
}

func (r *modelRelay) see() {
	w := r.w
	r.flow.Expire(1 << 60)
	r.flow.Pause(w.paused)
	held := map[int]int64{}
	for _, l := range r.flow.Leases() {
		held[l.Lo] = l.Token
	}
	var holdings []engine.Holding
	all := true
	for _, sh := range w.store.shards {
		token, have := held[sh.lo]
		mine := sh.owner == r.identity
		all = all && mine
		holdings = append(holdings, engine.Holding{Lo: sh.lo, Hi: sh.hi, Owner: w.nameOf(sh.owner)})
		delete(held, sh.lo)
		if have && (!mine || token != sh.token) {
			if w.trace {
				w.tracef("relay %d: lost %d", r.identity, sh.lo)
			}
			r.flow.Lost(sh.lo)
			r.let(sh.lo, sh.hi)
		} else if mine && !have && !r.loading[sh.lo] {
			r.load(sh)
		}
	}
	for lo := range held {
		r.flow.Lost(lo)
		r.let(0, 4096)
	}
	gather := w.store.wanted != len(w.store.shards)
	take, give := engine.Plan(w.nameOf(r.identity), w.able(), "s", holdings, gather)
	if r.leaving {
		r.flow.Leave()
		return
	}
	r.taking = take
	if len(give) > 0 {
		if w.trace {
			w.tracef("relay %d: leaves %v", r.identity, give)
		}
		r.flow.Leave(give...)
	}
	r.gathering = gather && all && len(give) == 0
	r.flow.Quiesce(r.gathering)
}

// load fetches what is blocked of a shard that was taken, and adds it.
func (r *modelRelay) load(sh *modelShard) {
	w := r.w
	r.loading[sh.lo] = true
	l := engine.Lease{Lo: sh.lo, Hi: sh.hi, Token: sh.token, Version: sh.version}
	position := sh.position
	generation := r.generation
	w.after(w.lag(), func() {
		blocked := w.store.blocked(sh)
		w.after(w.lag(), func() {
			if r.generation != generation || r.dead {
				return
			}
			delete(r.loading, l.Lo)
			if w.trace {
				w.tracef("relay %d: add %+v at %s, blocked %v", r.identity, l, position, blocked)
			}
			r.flow.Add(l, position, blocked)
			if r.leaving {
				r.flow.Leave(l.Lo)
			}
			r.pump(false)
		})
	})
}

// renew begins anew after what was read became worthless, or the heartbeat
// expired.
func (r *modelRelay) renew() {
	w := r.w
	if w.trace {
		w.tracef("relay %d: begins anew", r.identity)
	}
	if w.chance(0.5) {
		r.flow.Landed(w.now, nil, nil)
		r.flow.Reset()
	} else {
		r.flow.Reset()
		r.flow.Landed(w.now, nil, nil)
	}
	r.flow.Quiesce(false)
	r.gathering, r.turning, r.stalled = false, false, false
	r.generation++
	r.let(0, 4096)
	clear(r.loading)
	r.giving, r.taking = nil, nil
	w.identities++
	r.identity = w.identities
}
