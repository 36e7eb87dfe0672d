package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/engine"
)

// TestThePromisesHoldWhateverHappens plays many runs of the mini-world, each from
// a seed of its own, and checks the promises after each. A failure names its
// seed; to play it again:
//
//	ENGINE_SEED=4711 go test -run TestThePromisesHoldWhateverHappens ./internal/engine
//
// ENGINE_RUNS plays that many, from ENGINE_SEED on.
func TestThePromisesHoldWhateverHappens(t *testing.T) {
	t.Parallel()
	first, runs := uint64(0), uint64(1000)
	if testing.Short() {
		runs = 200
	}
	if s := os.Getenv("ENGINE_SEED"); s != "" {
		first, runs = number(t, s), 1
	}
	if s := os.Getenv("ENGINE_RUNS"); s != "" {
		runs = number(t, s)
	}
	const workers = 4
	for w := range uint64(workers) {
		t.Run(strconv.FormatUint(w, 10), func(t *testing.T) {
			t.Parallel()
			failed := 0
			for seed := first + w; seed < first+runs && failed < 5; seed += workers {
				if err := play(rand.NewPCG(seed, 42)); err != nil {
					failed++
					t.Errorf("seed %d: %v", seed, err)
				}
			}
		})
	}
}

func number(t *testing.T, s string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// play is one run: trouble, then calm until everything is delivered that can be,
// then an operator who retries what is dead, until nothing is left.
func play(chance rand.Source) error {
	w := newWorld(chance)
	for range w.pick(1, 1, 2, 3) {
		w.newRelay()
	}
	w.write()
	w.trouble()
	w.run("writing", time.Hour, func() bool { return len(w.log.msgs) >= w.target && w.opened == 0 })
	w.calm, w.paused, w.broker.down = true, false, engine.Accepted
	w.after(0, func() {
		if len(w.relays) == 0 {
			w.newRelay()
		}
	})
	w.run("delivering", time.Hour, func() bool { return w.steps%7 == 0 && w.settled() })
	w.checkStored()
	w.checkOrder()
	w.pardon = true
	for _, row := range w.store.rows {
		w.store.order(engine.RetryNow, row.Seq)
	}
	w.run("retrying", time.Hour, func() bool { return w.steps%7 == 0 && w.settled() && len(w.store.rows) == 0 })
	w.idle()
	w.checkStored()
	w.checkOrder()
	w.checkLedger()
	w.checkRepeats()
	w.checkLeftovers()
	if w.err != nil {
		return fmt.Errorf("%w\n%+v\n%+v, %d relays, log %d", w.err, w.cfg, w.odds, len(w.relays), w.log.kind)
	}
	return nil
}

// settled: every position has passed everything, and what is parked is dead, or
// waits for what is dead.
func (w *world) settled() bool {
	for _, sh := range w.store.shards {
		p := w.log.places[sh.position]
		for _, m := range w.log.msgs {
			if m.commit > 0 && sh.has(m.slot) && !w.log.passed(&p, m) {
				return false
			}
		}
	}
	var slots [][2]int
	for _, sh := range w.store.shards {
		slots = append(slots, [2]int{sh.lo, sh.hi})
	}
	if w.dueSomewhere(slots) || len(w.store.waiting(slots)) > 0 {
		return false
	}
	if len(w.store.shards) != w.store.wanted {
		return false
	}
	for _, r := range w.relays {
		if r.flow.Lanes() > 1 {
			return false
		}
		for _, row := range w.store.rows {
			if row.State == engine.InFlight && !row.freed {
				return false
			}
		}
	}
	return true
}

// dueSomewhere says that a parked message can be tried, now or later. Rows of
// strict order wait for those that an earlier ByKey has left.
func (w *world) dueSomewhere(shards [][2]int) bool {
	due := false
	for _, slots := range shards {
		foreign := false
		for _, r := range w.store.rows {
			foreign = foreign || r.Blocking && r.Hash != 1 && r.Slot >= slots[0] && r.Slot < slots[1]
		}
		w.store.heads(slots, func(_ int, r *modelRow, _ time.Duration) {
			due = due || !foreign || r.Hash != 1
		})
	}
	return due
}

// idle lets the world rest for a while: nobody may ask for more than a little.
func (w *world) idle() {
	if w.err != nil {
		return
	}
	w.resting = true
	end := w.now + 15*time.Second
	w.run("coming to rest", time.Minute, func() bool { return w.now >= end })
	turns, dues, end := w.store.turns, w.store.dues, w.now+15*time.Second
	w.run("resting", time.Minute, func() bool { return w.now >= end })
	turns, dues = w.store.turns-turns, w.store.dues-dues
	if n := len(w.relays); turns > 18*n || dues > 3*n+3*len(w.store.shards) {
		w.failf("%d idle relays made %d turns and asked %d times for parked messages in 15 s", n, turns, dues)
	}
}

// checkStored: nothing is lost, and nothing else is sent.
func (w *world) checkStored() {
	for _, m := range w.log.msgs {
		_, stored := w.broker.first[m.seq]
		row, _ := w.store.row(m.seq)
		_, discarded := w.store.discarded[m.seq]
		switch {
		case (m.commit == 0 || m.filtered) && (stored || row != nil):
			w.failf("message %d must not be sent, nor parked", m.seq)
		case m.commit > 0 && !m.filtered && !stored && row == nil && !discarded:
			w.failf("message %d is lost", m.seq)
		case stored && row != nil && w.odds.faultless():
			w.failf("message %d is delivered, and parked", m.seq)
		}
	}
}

// checkOrder: first acceptances follow the order of commits, where one
// transaction began after the other had committed, and under Block nothing goes
// before what is parked or was discarded later.
func (w *world) checkOrder() {
	if w.cfg.OnReject != engine.Block || w.cfg.Order == engine.Unordered || w.err != nil {
		return
	}
	after := func(a, b *logMessage) bool { // b comes after a
		if a.commit == 0 || b.commit == 0 || a.filtered || b.filtered {
			return false
		}
		if w.cfg.Order == engine.ByShard && !w.odds.policies {
			return a.commit <= b.begin && w.together(a.slot, b.slot)
		}
		return a.key == b.key && a.key != 0 && a.seq < b.seq
	}
	for _, a := range w.log.msgs {
		done, stored := w.broker.first[a.seq]
		if at, discarded := w.store.discarded[a.seq]; discarded && !stored {
			done, stored = at-1, true
		}
		for _, b := range w.log.msgs {
			if !after(a, b) {
				continue
			}
			if at, sent := w.broker.first[b.seq]; sent && (!stored || at < done) {
				w.failf("message %d (key %d) was stored before %d (key %d)", b.seq, b.key, a.seq, a.key)
				return
			}
		}
	}
}

// together says that two slots were of one shard all the time.
func (w *world) together(a, b int) bool {
	for _, n := range w.counts {
		if shardAt(a, n) != shardAt(b, n) {
			return false
		}
	}
	return true
}

func shardAt(slot, n int) int {
	for i := range n {
		if slot < (i+1)*4096/n {
			return i
		}
	}
	return n
}

func (w *world) checkLedger() {
	var got, want, delivered engine.Tally
	for _, y := range w.store.ledger {
		got = sum(got, y.Count, y.SeqSum, y.IDSum)
	}
	for _, m := range w.log.msgs {
		if m.commit > 0 {
			want = sum(want, 1, uint64(m.seq), m.sum)
		}
		_, discarded := w.store.discarded[m.seq]
		if m.commit > 0 && !m.filtered && !discarded {
			delivered = sum(delivered, 1, uint64(m.seq), m.sum)
		}
	}
	if got != want {
		w.failf("the ledger counts %+v, the log %+v", got, want)
	}
	if y := w.store.ledger[engine.Delivered]; w.err == nil && y != delivered {
		w.failf("the ledger has %+v delivered, they are %+v", y, delivered)
	}
}

func (w *world) checkRepeats() {
	if most := w.broker.lies + w.faults*w.cfg.InFlight; w.repeats > most {
		w.failf("%d repeats, %d lost answers and %d faults explain %d", w.repeats, w.broker.lies, w.faults, most)
	}
}

func (w *world) checkLeftovers() {
	waste := w.retired
	for _, r := range w.relays {
		waste += r.idleWakes
		if n := r.flow.Held(); n != 0 {
			w.failf("relay %d keeps %d things of what is over: %+v", r.identity, n, r.flow.Stats())
		}
	}
	if waste > w.steps/4 {
		w.failf("%d of %d steps were wakes for nothing", waste, w.steps)
	}
}
