package simulation

import (
	"slices"

	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit/snapshots"
)

// An owner empties the log and has its numbering begin again, while relays have read of it
// and hold positions in it. What was in it is gone by the owner's order. What is written
// from then on must be delivered, though its seqs are below the positions: each read looks
// whether the log is the one of its position, the check after that sees to the positions,
// and all owners begin again.

// emptyLog empties the log and begins its numbering again.
func (w *world) emptyLog() {
	s := w.server
	if w.plan.cfg.Transactions {
		return // what the lane's record in the broker says is of the log that was
	}
	w.producers.cut(-1)           // it waits for all who write
	for _, a := range w.replays { // nothing is left of what they send
		a.endReplay()
	}
	at := w.instant()
	for _, m := range w.producers.msgs {
		if m.state == committed {
			m.state, m.emptied = forgotten, true
			w.recorders.history.Order(history.Command{ID: idOf(m), What: history.Discard, Unknown: true, Begin: at, End: w.instant()})
		}
	}
	s.log.empty()
	s.emptied++
	s.stored = len(w.broker.stored)
	s.w.rewoundOnce = true
	s.moved = true // the ledger and the log have nothing to do with each other from now on
	s.vanished += len(s.rows)
	s.rows, s.copies = nil, nil
	s.commands = slices.DeleteFunc(slices.Clone(s.commands), func(c command) bool { return c.m.emptied })
	s.dirty = true
	w.excuse("emptied", "database", w.plan.cfg.InFlight*max(1, len(w.relays)))
}

// beginAgain makes the positions good after the log was emptied: they have passed nothing
// of the one that is there now. All owners lose what they own.
func (s *server) beginAgain() {
	if !s.begunAgain() {
		return
	}
	s.doubted, s.begunAt, s.vanished = false, s.w.now, 0
	s.w.tellf("the numbering was begun again, which somebody saw")
	var position store.Position
	if l, ok := s.log.(*snapshotLog); ok {
		position = l.lowered(s.shards)
		s.file = l.file
	}
	passed := s.log.lens(position)
	s.rows = slices.DeleteFunc(slices.Clone(s.rows), func(r parked) bool { return !passed.passed(r.m) }) // it is read again
	for i := range s.shards {
		s.token++
		sh := &s.shards[i]
		sh.position, sh.owner, sh.token = position, "", s.token
		sh.version++
	}
	for i := range s.relays {
		s.relays[i].dead = true
	}
	s.house.owner = ""
	s.epoch++
	s.newLife() // what was known of the old numbering is worthless
	// All go back to what the one behind all others has passed: what was sent of the new log before somebody saw may be sent again.
	s.w.excuse("emptied", "database", s.w.plan.cfg.InFlight*max(1, len(s.w.relays))+len(s.w.broker.stored)-s.stored)
}

// begunAgain says whether positions are not of the log that is there now.
func (s *server) begunAgain() bool { return s.emptied > 0 && (s.doubted || s.unseen()) }

// unseen says that a position speaks of a log that is not there any more, which the next
// read from it must notice.
func (s *server) unseen() bool {
	if s.emptied == 0 {
		return false
	}
	return slices.ContainsFunc(s.shards, func(sh shard) bool { return s.log.otherNumbering(sh.position, &view{file: s.file}) })
}

// otherFile says that the sequence has another file than anybody has seen to: also when the
// store was set back to when nobody had.
func (s *server) otherFile() bool {
	l, ok := s.log.(*snapshotLog)
	return ok && s.emptied > 0 && l.file != s.file
}

// lowered is where all shards go on: transaction ids tell what they have passed. The
// sequence goes on behind all that was ever given out.
func (l *snapshotLog) lowered(shards []shard) store.Position {
	all := make([]snapshots.Position, len(shards))
	for i := range shards {
		all[i] = decode(shards[i].position)
		l.last = max(l.last, all[i].Reach(), all[i].Beyond(), all[i].Top)
	}
	l.logged = max(l.logged, l.last)
	back := snapshots.Lowered(all)
	return back.Encode()
}

// renumbered says that a read does not fit the log.
func (s *server) renumbered(q *store.Request, v *view) bool {
	_, ranges := s.log.(*rangeLog) // a lane whose end is of the log that was never gets there
	if s.emptied == 0 || !s.log.otherNumbering(q.From, v) && !(ranges && q.Until != "" && s.log.otherNumbering(q.Until, v)) {
		return false
	}
	l, ok := s.log.(*snapshotLog)
	s.doubted = s.doubted || ok && l.file == v.file
	return true
}

func (r *rows) empty() { r.bySeq, r.last = nil, 0 }

func (l *rangeLog) empty() {
	l.rows.empty()
	l.incarnation++
}

// otherNumbering: the row at a position, or the witness of the box, is not the one that it was.
func (l *rangeLog) otherNumbering(position store.Position, _ *view) bool {
	return position != "" && l.place(position).log != l.incarnation
}

func (l *snapshotLog) empty() {
	l.lose()
	l.rows.empty()
	l.logged, l.foreign = 0, 0
	if l.server.identity > 1 || l.server.w.coin() { // else it was set back, and has the file that it had
		l.file = l.server.emptied + 1
	}
}

// otherNumbering asks as pgstore does, by the very code: for the sequence's file, for its end, and
// for rows where the position says that there is none.
func (l *snapshotLog) otherNumbering(position store.Position, v *view) bool {
	return l.file != v.file || decode(position).To == nil && l.outnumbers(position)
}

// outnumbers asks what can be asked of a copy, too: its sequence has another file.
func (l *snapshotLog) outnumbers(position store.Position) bool {
	p := &l.decode(position).p
	if l.last < p.Beyond() || l.belies(p, p.Beyond()) {
		return true
	}
	if p.Done == nil {
		return false
	}
	now := l.snapshot()
	return l.belies(p, p.Done.News(&now))
}

// belies says that the last row up to a bound is not where a position says.
func (l *snapshotLog) belies(p *snapshots.Position, bound int64) bool {
	for seq := min(bound, int64(len(l.bySeq))); seq > 0; seq-- {
		if m := l.at(seq); m != nil && m.state == committed {
			return p.Belied(m.xid, seq)
		}
	}
	return false
}

// meaning is what a relay has read of logs, since it had nothing. A turn that is on its way means that, whatever becomes of the relay.
type meaning struct {
	read  map[int64]*message // by seq
	stale map[int64]bool     // seqs that it read of a log that was emptied, too
}

// meant is the settlement without what it says of messages that the owner has removed.
func (s *server) meant(of *meaning, t *store.Settlement) *store.Settlement {
	if s.emptied == 0 || of == nil {
		return t
	}
	gone := func(seq int64) bool {
		m := of.read[seq]
		return m != nil && m.emptied
	}
	out := *t
	out.Park = slices.DeleteFunc(slices.Clone(t.Park), func(p store.Park) bool {
		now := s.at(p.Seq)
		another := now == nil || now.slot != p.Slot || p.State == store.ParkHeld && p.Topic != topicNames[now.topic] && !s.w.paused(p.Topic, now) || s.w.outcounts(now, &p)
		return gone(p.Seq) || another && of.stale[p.Seq]
	})
	out.Resolve = slices.DeleteFunc(slices.Clone(t.Resolve), func(r store.Resolved) bool { return gone(r.Seq) })
	out.Done = slices.DeleteFunc(slices.Clone(t.Done), func(d store.Done) bool { return gone(d.Seq) })
	return &out
}

// outcounts says that a row has attempts that its message cannot have had.
func (w *world) outcounts(m *message, p *store.Park) bool {
	unread := m.damaged || m.repaired && p.Attempts == m.attempts()+1 // attempts of what cannot be read are counted without a call
	return p.Attempts > w.mayCount(m, p) && !unread
}

// hasRead notes the messages that a turn tells a relay of.
func (r *relay) hasRead(c *turnCall) {
	for i := range c.pages {
		for j := range c.pages[i].Records {
			r.means(r.w.message(&c.pages[i].Records[j]))
		}
	}
	for i := range c.commands {
		r.means(r.w.named(c.commands[i].Message))
	}
}

// means notes which message a relay means by a seq.
func (r *relay) means(m *message) {
	if !r.w.plan.faults.has(Emptied) {
		return
	}
	if r.meaning == nil {
		r.meaning = &meaning{read: map[int64]*message{}, stale: map[int64]bool{}}
	}
	if before := r.meaning.read[m.seq]; before != nil && before != m && before.emptied {
		r.meaning.stale[m.seq] = true
	}
	r.meaning.read[m.seq] = m
}
