package simulation

import (
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// changeFilter has an operator change the filter: it refuses the messages that it may refuse, or takes
// them from now on. Each read goes by the filter of its end.
func (w *world) changeFilter() {
	w.server.refuses = !w.server.refuses
	w.server.epoch++
}

// judged marks what of a page the filter of now refuses.
func (s *server) judged(p *store.Batch) {
	if s.w.replay != nil {
		s.refuse(p)
		return
	}
	if !s.w.plan.faults.has(Filters) {
		return
	}
	for i := range p.Records {
		if m := s.w.message(&p.Records[i]); m.shifting {
			p.Records[i].Filtered = s.refuses
			m.leftOut = m.leftOut || s.refuses
		}
	}
}

// shifted says that nothing is known of what became of a message but that the ledger has it: the filter
// refused it when it was read, or it was sent.
func (w *world) shifted(m *message) bool {
	if !m.shifting || m.accepted > 0 || m.discarded {
		return false
	}
	row, _ := w.server.row(m.seq)
	return row == nil || row.m != m
}

// remove has an operator remove the subscription, and another one declare it again some time after,
// where it stood. Relays see it in no view meanwhile, and leases of before are worth nothing.
func (w *world) remove() {
	s := w.server
	if s.gone {
		return
	}
	w.excuse("removal", "subscription", w.plan.cfg.InFlight*len(w.relays))
	s.gone = true
	for i := range s.shards {
		s.token++
		s.shards[i].owner, s.shards[i].token = "", s.token
	}
	s.epoch++
	w.after(time.Duration(w.below(1500))*time.Millisecond, nil, func() {
		s.gone = false
		s.epoch++
	})
}

// checkEnded: a relay sends nothing of a subscription that is gone, or of a replay that has ended, as it was told.
func (r *relay) checkEnded(c *engine.Call) {
	if r.ended {
		r.w.failf("P2", "relay %d sends %d messages, and it was told that what it works has ended", r.number, len(c.Items))
	}
}

// vanished notes that the relay has dropped all that it had of the subscription.
func (r *relay) vanished() {
	r.meaning = nil
	r.let(0, 4096)
}
