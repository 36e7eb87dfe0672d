package simulation

import (
	"slices"
	"time"

	"github.com/postbag/postbag/internal/engine"
)

// beatCall is a heartbeat as it is sent, see package store.
type beatCall struct {
	relay   string
	fresh   bool
	leave   bool
	ttl     time.Duration
	give    []engine.Lease
	reshape []engine.Lease
	take    [][2]int
}

// outlook is what a heartbeat sees.
type outlook struct {
	alive  bool
	epoch  int64
	relays []living
	wanted int
	paused bool
	shards []shard
}

type living struct {
	id      string
	expires time.Duration
}

func (s *server) heartbeat(id string) *heartbeat {
	for i := range s.relays {
		if s.relays[i].id == id {
			return &s.relays[i]
		}
	}
	return nil
}

// longest is how long a heartbeat may still be good for: that of a relay which is
// gone has to run out, and a clock that was set back has put that off.
func (s *server) longest() (longest time.Duration) {
	for i := range s.relays {
		if h := &s.relays[i]; !h.dead {
			longest = max(longest, h.expires-s.now())
		}
	}
	return longest
}

// beat carries out a heartbeat: one transaction. What it sees but for the epoch, it
// writes to o, which is empty.
func (s *server) beat(who *relay, b *beatCall, o *outlook) {
	if !s.renew(b) {
		return
	}
	if l, ok := s.log.(*snapshotLog); ok && len(b.take) > 0 {
		l.bound(who.view.bounds)
	}
	if b.leave {
		s.free(b.relay)
		s.relays = slices.DeleteFunc(s.relays, func(h heartbeat) bool { return h.id == b.relay })
		s.epoch++
		return
	}
	for _, l := range b.give {
		if sh := s.shard(l.Lo, l.Hi); sh != nil && sh.token == l.Token && sh.owner == b.relay {
			sh.owner = ""
			s.epoch++
		}
	}
	s.reshape(b)
	s.bury()
	for _, slots := range b.take {
		if sh := s.shard(slots[0], slots[1]); sh != nil && sh.owner == "" {
			s.token++
			sh.owner, sh.token = b.relay, s.token
			s.epoch++
			s.land(sh)
		}
	}
	s.look(o)
}

// renew makes or renews a heartbeat row, and says whether the relay lives.
func (s *server) renew(b *beatCall) bool {
	now := s.now()
	h := s.heartbeat(b.relay)
	switch {
	case h == nil && !b.fresh:
		return false
	case h == nil:
		s.relays = append(s.relays, heartbeat{id: b.relay, expires: now + b.ttl})
		s.epoch++
		return true
	case h.dead || now >= h.expires:
		return false
	}
	h.expires = now + b.ttl
	return true
}

func (s *server) free(owner string) {
	for i := range s.shards {
		if s.shards[i].owner == owner {
			s.shards[i].owner = ""
		}
	}
}

// reshape replaces all shards, if the caller holds them all at one position.
func (s *server) reshape(b *beatCall) {
	if len(b.reshape) == 0 || len(b.reshape) != len(s.shards) {
		return
	}
	for _, l := range b.reshape {
		sh := s.shard(l.Lo, l.Hi)
		if sh == nil || sh.owner != b.relay || sh.token != l.Token || sh.version != l.Version || sh.position != s.shards[0].position {
			return
		}
	}
	s.split(s.wanted, s.shards[0].position, b.relay)
	s.epoch++
}

// bury marks relays dead whose time is over, and frees their shards.
func (s *server) bury() {
	now := s.now()
	for i := range s.relays {
		h := &s.relays[i]
		if h.dead || now < h.expires {
			continue
		}
		h.dead = true
		s.w.excuse("expired", "relay "+h.id, s.w.plan.cfg.InFlight)
		s.free(h.id)
		s.epoch++
	}
}

func (s *server) look(o *outlook) {
	o.alive, o.wanted, o.paused = true, s.wanted, s.paused
	o.shards = append(o.shards, s.shards...)
	now := s.now()
	for i := range s.relays {
		if h := &s.relays[i]; !h.dead && now < h.expires {
			o.relays = append(o.relays, living{h.id, h.expires - now})
		}
	}
}
