package simulation

import (
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// backup is a state that the store may be set back to.
type backup struct {
	saved

	at      time.Duration
	commits int
	log     logState
	replays map[*world]saved
}

// saved is what a backup has of a subscription.
type saved struct {
	tables

	firsts int // acceptances until then
}

// backUp copies the state, in the memory of an old copy.
func (s *server) backUp(old *backup) backup {
	b := backup{at: s.w.instant(), commits: s.w.producers.commits, log: s.log.save()}
	b.saved = s.save(&old.saved)
	for _, a := range s.w.replays {
		if b.replays == nil {
			b.replays = make(map[*world]saved)
		}
		b.replays[a] = a.server.save(&saved{})
	}
	return b
}

// save copies what there is of a subscription.
func (s *server) save(old *saved) saved {
	b := saved{tables: s.tables, firsts: len(s.w.broker.stored)}
	b.shards, b.rows = copied(s.shards, old.shards), copied(s.rows, old.rows)
	b.discarded, b.deaths, b.letters = slices.Clip(s.discarded), slices.Clip(s.deaths), slices.Clip(s.letters)
	b.commands, b.relays = copied(s.commands, old.commands), copied(s.relays, old.relays)
	return b
}

// crash restarts the server: what was committed or prepared is there, and nothing else.
func (s *server) crash() {
	s.w.producers.cut(s.w.now + s.w.tick)
	s.log.restore(s.log.save())
	s.newLife()
}

func (s *server) newLife() {
	s.life++
	for _, r := range s.w.everyRelay() {
		r.w.excuse("restart", "relay "+r.id(), r.w.plan.cfg.InFlight)
	}
}

// fallBack sets the store back to an earlier state: a standby that lagged was
// promoted, or a backup restored. What was committed since is gone.
func (s *server) fallBack(b *backup) {
	s.w.losesReplays(func(a *world) bool { _, there := b.replays[a]; return !there })
	s.w.producers.cut(b.at)
	for _, m := range s.w.producers.msgs {
		if m.commit > b.commits && m.state == committed {
			m.state = forgotten
		}
	}
	s.setBack(&b.saved, b.at)
	for _, a := range s.w.replays {
		if of, there := b.replays[a]; there && !a.replay.isOver() {
			a.server.setBack(&of, b.at)
		}
	}
	s.log.restore(b.log)
	s.timeline++
	s.newLife()
}

// setBack sets a subscription back to an earlier state.
func (s *server) setBack(b *saved, at time.Duration) {
	for _, m := range s.w.producers.msgs {
		m.discarded = false
	}
	s.w.rewound(at)
	again := len(s.w.broker.stored) - b.firsts + s.w.plan.cfg.InFlight // and what was stored before, and settled since
	if s.w.plan.cfg.Transactions {
		again += s.w.plan.cfg.InFlight // and what is under way now: otherwise the restart has an excuse of its own for it
	}
	s.w.excuse("set back", "database", again)
	s.forget(b.commands)
	token := s.token // has a random half
	s.tables = b.tables
	s.token = token
	for _, m := range s.discarded {
		m.discarded = true
	}
	s.shards, s.rows = slices.Clone(b.shards), slices.Clone(b.rows)
	s.commands, s.relays = slices.Clone(b.commands), slices.Clone(b.relays)
}

// forget notes whose discards the store does not have any more, though a relay may
// have begun to carry them out, so that the key went on.
func (s *server) forget(kept []command) {
	for i := range s.commands {
		c := &s.commands[i]
		if c.kind == store.Discard && !c.done && !slices.ContainsFunc(kept, func(k command) bool { return k.id == c.id && k.m == c.m }) {
			c.m.forgiven = true
		}
	}
}

// relocate makes the database a copy in another cluster, made from a dump.
// Positions speak of transaction ids of the old one, so that every shard goes back
// to its floor, once a relay has looked.
func (s *server) relocate() {
	l, ok := s.log.(*snapshotLog)
	if !ok {
		return
	}
	s.w.producers.cut(-1) // no dump has a prepared one
	begun := s.emptied > 0 && slices.ContainsFunc(s.shards, func(sh shard) bool { return l.outnumbers(sh.position) })
	l.move(uint64(3 + s.w.below(1500)))
	for _, m := range s.w.producers.msgs {
		m.copied = m.copied || m.state == committed
	}
	s.identity++
	s.timeline++
	s.copies = nil // they are of the other cluster
	s.newLife()
	s.lowers(l, begun)
	for _, a := range s.w.replays {
		if !a.replay.isOver() {
			a.server.lowers(l, false)
		}
	}
}

// lowers has all shards of a copy go back to the floor that they have in common: to the beginning, if their positions are of a log
// that was emptied.
func (s *server) lowers(l *snapshotLog, begun bool) {
	s.moved, s.w.rewoundOnce = true, true
	s.w.excuse("copy", "database", len(s.w.broker.stored)+s.w.plan.cfg.InFlight*len(s.w.relays)) // and what is stored before they notice
	floor := l.last
	for i := range s.shards {
		p := decode(s.shards[i].position)
		floor = min(floor, p.Lowest())
	}
	if begun {
		floor = 0
	}
	back := decode("")
	back.Floor, back.Base = floor, l.last
	for i := range s.shards {
		s.token++
		sh := &s.shards[i]
		sh.position, sh.owner, sh.token = back.Encode(), "", s.token
		sh.version++
	}
	s.rows = slices.DeleteFunc(s.rows, func(r parked) bool { return r.Seq > floor })
	kept := slices.DeleteFunc(slices.Clone(s.commands), func(c command) bool { return c.m.seq > floor })
	s.forget(kept)
	s.commands = kept
	for i := range s.relays {
		s.relays[i].dead = true
	}
	s.house.owner = ""
	s.discarded = slices.DeleteFunc(slices.Clone(s.discarded), func(m *message) bool {
		again := m.seq > floor
		if again {
			m.discarded = false
		}
		return again
	})
	s.ledger = [8]store.Tally{}
	s.epoch++
}
