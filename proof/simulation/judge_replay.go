package simulation

import "github.com/postbag/postbag/store"

// judgeThrough judges a replay of which the store says that nothing can come any more: all that was asked for was delivered, or is
// dead, and the ledger has all that was looked at.
func (w *world) judgeThrough() {
	s := w.server
	for _, m := range w.producers.msgs {
		if m.state != committed || m.filtered || m.discarded || m.accepted > 0 {
			continue
		}
		if row, _ := s.row(m.seq); row == nil || row.m != m {
			w.failf("P1", "it is through, and message %d (seq %d) was not sent", m.id, m.seq)
			return
		}
	}
	w.checkReplayLedger()
}

// checkReplayLedger: the ledger has every message that the positions have passed since the beginning, under what became of it.
func (w *world) checkReplayLedger() {
	s := w.server
	if s.moved || w.failed != nil {
		return
	}
	var got, want, delivered store.Tally
	for _, y := range s.ledger {
		got = sum(got, y.Count, y.SeqSum, y.IDSum)
	}
	for _, m := range w.producers.msgs {
		if m.state != committed || m.seq <= w.replay.After || !w.passed(m) {
			continue
		}
		want = sum(want, 1, uint64(m.seq), m.sum)
		if row, _ := s.row(m.seq); !m.filtered && !m.discarded && (row == nil || row.m != m) {
			delivered = sum(delivered, 1, uint64(m.seq), m.sum)
		}
	}
	if got != want {
		w.failf("P1", "the ledger counts %+v, and it has looked at %+v", got, want)
	}
	if y := s.ledger[store.TallyDelivered]; y != delivered {
		w.failf("P1", "the ledger has %+v delivered, they are %+v", y, delivered)
	}
}

// judgeReplay judges what a replay has sent so far: what it has not is pending or parked.
func (w *world) judgeReplay() {
	if !w.replay.over {
		w.verdict(true)
	}
}

// replaysSettled says that replays have nothing left that could be done.
func (w *world) replaysSettled() bool {
	for _, a := range w.replays {
		if !a.replay.over && !a.settled() {
			return false
		}
	}
	return true
}

// pardonReplays has an operator retry all that is dead in replays, now that nothing is refused any more.
func (w *world) pardonReplays() {
	for _, a := range w.replays {
		for _, m := range a.producers.msgs {
			m.repaired = m.damaged
		}
		for i := range a.server.rows {
			a.server.order(store.Retry, a.server.rows[i].m)
		}
	}
}
