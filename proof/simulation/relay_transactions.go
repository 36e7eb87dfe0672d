package simulation

import (
	"slices"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// transactions checks what the engine promises under Config.Transactions: one call
// at a time, nothing settled while it is out, and the first settlement of a shard
// behind a call covers all that was accepted of it, before the next call.
type transactions struct {
	calls    int
	leases   []store.Lease // of the messages of the call that is out, in their order
	accepted []*message    // and not settled
}

func (r *relay) transactionBegins(c *engine.Call) {
	w, x := r.w, &r.tx
	if !w.plan.cfg.Transactions {
		return
	}
	if x.calls++; x.calls > 1 {
		w.failf("engine", "transaction %d is made beside another", c.ID)
	}
	if len(x.accepted) > 0 {
		w.failf("engine", "transaction %d is made before %d messages of the last are settled", c.ID, len(x.accepted))
	}
	x.leases = x.leases[:0]
	for _, item := range c.Items {
		x.leases = append(x.leases, r.leaseOf(w.message(item.Record)))
	}
}

func (r *relay) transactionEnds(d *delivery) {
	if !r.w.plan.cfg.Transactions {
		return
	}
	r.tx.calls--
	for i, item := range d.call.Items {
		m := r.w.message(item.Record)
		if l := r.leaseOf(m); d.answers[i].Outcome == broker.Accepted && l.Token != 0 && l == r.tx.leases[i] {
			r.tx.accepted = append(r.tx.accepted, m)
		}
	}
}

// leaseOf returns the lease that the flow has for a message; zero: none.
func (r *relay) leaseOf(m *message) store.Lease {
	return r.flow.LeaseOf(m.slot)
}

// transactionsSettle looks at a turn that is made.
func (r *relay) transactionsSettle(t *store.Turn) {
	if r.tx.calls > 0 && len(t.Settle) > 0 {
		r.w.failf("engine", "a settlement is made while a transaction is out")
	}
}

// transactionSettled looks at a settlement whose verdict is there; stands says that the
// store was not set back since. A row that was copied from another cluster may have the
// id of a transaction that runs in this one: then it counts as not passed.
func (r *relay) transactionSettled(t *store.Settlement, v *store.Verdict, stands bool) {
	for _, m := range r.tx.accepted {
		if m.slot < t.Lo || m.slot >= t.Hi || !v.Applied || !stands {
			continue
		}
		sh := r.w.server.shard(t.Lo, t.Hi)
		row, _ := r.w.server.row(m.seq)
		covered := sh == nil || m.copied || (row == nil || row.m != m) && r.w.server.log.lens(sh.position).passed(m)
		if !covered {
			r.w.failf("engine", "the settlement behind a transaction does not cover message %d", m.id)
		}
	}
	r.tx.let(t.Lo, t.Hi)
}

// let forgets what was accepted of a range of slots.
func (x *transactions) let(lo, hi int) {
	x.accepted = slices.DeleteFunc(x.accepted, func(m *message) bool { return m.slot >= lo && m.slot < hi })
}
