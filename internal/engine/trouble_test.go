package engine_test

import (
	"fmt"
	"os"
	"time"

	"github.com/postbag/postbag/internal/engine"
)

// trouble plans what goes wrong, while messages are written.
func (w *world) trouble() {
	w.sometimes(w.odds.outages, 300, w.outage)
	w.sometimes(w.odds.takeovers, 300, w.takeover)
	w.sometimes(w.odds.kills, 400, w.kill)
	w.sometimes(w.odds.restarts, 500, w.restart)
	w.sometimes(w.odds.graceful, 300, w.stop)
	w.sometimes(w.odds.reshapes, 400, func() { w.store.wanted = w.pick(1, 2, 3, 5, 8); w.counts = append(w.counts, w.store.wanted) })
	w.sometimes(w.odds.pauses, 300, w.pause)
	w.sometimes(w.odds.policies, 200, w.policy)
	w.sometimes(w.odds.command > 0, 50, w.command)
}

// sometimes does something again and again, about every so many milliseconds.
func (w *world) sometimes(wanted bool, every int, do func()) {
	if !wanted {
		return
	}
	var again func()
	again = func() {
		if !w.calm {
			do()
			w.after(time.Duration(w.rng.IntN(2*every))*time.Millisecond, again)
		}
	}
	w.after(time.Duration(w.rng.IntN(2*every))*time.Millisecond, again)
}

func (w *world) relay() *modelRelay {
	if len(w.relays) == 0 {
		return nil
	}
	return w.relays[w.rng.IntN(len(w.relays))]
}

func (w *world) outage() {
	w.broker.down = []engine.Outcome{engine.Unavailable, engine.Misconfigured, engine.NotSent, engine.Accepted}[w.rng.IntN(4)]
	w.after(time.Duration(w.rng.IntN(3000))*time.Millisecond, func() { w.broker.down = engine.Accepted })
}

// takeover: the heartbeats of a relay stop, others take its shards, and it does
// not know; later it finds out.
func (w *world) takeover() {
	r := w.relay()
	if r == nil || r.stalled {
		return
	}
	w.faults++
	if w.trace {
		w.tracef("relay %d: stalls", r.identity)
	}
	r.stalled = true
	w.free(r)
	generation := r.generation
	w.after(time.Duration(w.rng.IntN(2000))*time.Millisecond, func() {
		if r.generation == generation && !r.dead {
			r.renew()
			r.pump(false)
		}
	})
	if w.rng.IntN(2) == 0 && len(w.relays) < 4 {
		w.newRelay()
	}
}

// free marks the shards of a relay as nobody's.
func (w *world) free(r *modelRelay) {
	for _, sh := range w.store.shards {
		if sh.owner == r.identity {
			sh.owner = 0
		}
	}
}

func (w *world) kill() {
	r := w.relay()
	if r == nil {
		return
	}
	w.faults++
	if w.trace {
		w.tracef("relay %d: killed", r.identity)
	}
	r.dead = true
	w.drop(r)
	w.after(time.Duration(w.rng.IntN(300))*time.Millisecond, func() { w.free(r) })
	w.newRelay()
}

func (w *world) drop(r *modelRelay) {
	for i, o := range w.relays {
		if o == r {
			w.relays = append(w.relays[:i:i], w.relays[i+1:]...)
			w.retired += r.idleWakes
			return
		}
	}
}

// restart: the server of the store crashed, so that what was read and not settled
// is worthless.
func (w *world) restart() {
	for _, r := range append([]*modelRelay(nil), w.relays...) {
		w.faults++
		w.free(r)
		r.renew()
		r.pump(false)
	}
}

// stop ends a relay gracefully, and another one comes.
func (w *world) stop() {
	r := w.relay()
	if r == nil || r.leaving {
		return
	}
	r.leaving = true
	r.flow.Leave()
	r.pump(false)
	w.newRelay()
}

// pause holds the subscription for a while.
func (w *world) pause() {
	w.paused = true
	w.after(time.Duration(w.rng.IntN(500))*time.Millisecond, func() { w.paused = false })
}

// policy has a relay deployed with another Order.
func (w *world) policy() {
	w.cfg.Order = engine.ByShard - w.cfg.Order
	if w.coin() {
		w.stop()
	} else {
		w.kill()
	}
}

func (w *world) command() {
	if len(w.store.rows) > 0 && w.chance(w.odds.command) {
		row := w.store.rows[w.rng.IntN(len(w.store.rows))]
		w.store.order(engine.Kind(1+w.rng.IntN(2)), row.Seq)
	}
}

// tracef tells what happens, if ENGINE_TRACE is set.
func (w *world) tracef(format string, args ...any) {
	if w.trace {
		fmt.Fprintf(os.Stderr, "%v "+format+"\n", append([]any{w.now}, args...)...)
	}
}
