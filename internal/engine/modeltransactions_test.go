package engine_test

import (
	"slices"

	"github.com/postbag/postbag/internal/engine"
)

// transactions checks what the engine promises under Config.Transactions: one call
// at a time, nothing settled while it is out, and the first settlement of a shard
// behind a call covers all that was accepted of it, before the next call.
type transactions struct {
	calls    int
	leases   map[int64]engine.Lease // of the messages of the call that is out
	accepted []int64                // and not settled
}

func (x *transactions) begin(w *world, c *engine.Call) {
	if !w.cfg.Transactions {
		return
	}
	if x.calls++; x.calls > 1 {
		w.failf("transaction %d is made beside another", c.ID)
	}
	if len(x.accepted) > 0 {
		w.failf("transaction %d is made before messages %v are settled", c.ID, x.accepted)
	}
	x.leases = map[int64]engine.Lease{}
	for _, item := range c.Items {
		x.leases[item.Seq] = x.lease(w, item.Seq)
	}
}

func (x *transactions) end(w *world, c *engine.Call, answers []engine.Answer) {
	if !w.cfg.Transactions {
		return
	}
	x.calls--
	for i, item := range c.Items {
		if answers[i].Outcome == engine.Accepted && x.lease(w, item.Seq) == x.leases[item.Seq] {
			x.accepted = append(x.accepted, item.Seq)
		}
	}
}

// lease returns the lease that the relay's flow has for a message; zero: none.
func (x *transactions) lease(w *world, seq int64) engine.Lease {
	for _, r := range w.relays {
		if &r.tx != x {
			continue
		}
		for _, l := range r.flow.Leases() {
			if slot := w.log.msgs[seq-1].slot; slot >= l.Lo && slot < l.Hi {
				return l
			}
		}
	}
	return engine.Lease{}
}

func (x *transactions) turns(w *world, t *engine.Turn) {
	if x.calls > 0 && len(t.Settle) > 0 {
		w.failf("a settlement is made while a transaction is out")
	}
}

func (x *transactions) landed(w *world, t *engine.Turn, result *turnResult) {
	for i := range t.Settle {
		st := &t.Settle[i]
		sh := w.store.shard(st.Lo, st.Hi)
		for _, seq := range x.accepted {
			m := w.log.msgs[seq-1]
			if m.slot < st.Lo || m.slot >= st.Hi || sh == nil || !result.verdicts[i].Applied {
				continue
			}
			p := w.log.places[sh.position]
			if row, _ := w.store.row(seq); row != nil || !w.log.passed(&p, m) {
				w.failf("the settlement behind a transaction does not cover message %d", seq)
			}
		}
		x.let(w, st.Lo, st.Hi)
	}
}

// let forgets what was accepted of a range of slots.
func (x *transactions) let(w *world, lo, hi int) {
	x.accepted = slices.DeleteFunc(x.accepted, func(seq int64) bool {
		slot := w.log.msgs[seq-1].slot
		return slot >= lo && slot < hi
	})
}
