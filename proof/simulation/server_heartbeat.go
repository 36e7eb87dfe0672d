package simulation

import (
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// mainRef is the subscription of a run that is there from the beginning.
var mainRef = store.Ref{Box: "b", Subscription: "s"}

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

// beat carries out a heartbeat: one transaction. What it sees, it writes to v, which is empty.
func (s *server) beat(who *relay, b *store.Beat, v *seen) {
	defer func() { v.Epoch = s.epoch }()
	if !s.renew(b) {
		return
	}
	v.Now = wallClock.Add(s.now())
	if l, ok := s.log.(*snapshotLog); ok && len(b.Take) > 0 {
		l.bound(who.view.bounds)
	}
	if b.Leave {
		s.free(b.Relay)
		s.relays = slices.DeleteFunc(s.relays, func(h heartbeat) bool { return h.id == b.Relay })
		s.epoch++
		return
	}
	for i := range b.Give {
		if sh := s.held(b.Relay, &b.Give[i]); sh != nil {
			sh.owner = ""
			s.epoch++
		}
	}
	for i := range b.Reshape {
		s.reshape(b.Relay, &b.Reshape[i])
	}
	s.bury()
	s.endPauses()
	s.keep(b)
	for i := range b.Take {
		if sh := s.shard(b.Take[i].Lo, b.Take[i].Hi); b.Take[i].Ref == s.w.ref && sh != nil && sh.owner == "" && !s.gone {
			s.token++
			sh.owner, sh.token = b.Relay, s.token
			s.epoch++
			s.land(sh)
		}
	}
	s.look(who, v)
}

// held returns the shard that a relay has a lease of, if it still has.
func (s *server) held(id string, l *store.Lease) *shard {
	if sh := s.shard(l.Lo, l.Hi); l.Ref == s.w.ref && sh != nil && sh.token == l.Token && sh.owner == id {
		return sh
	}
	return nil
}

// renew makes or renews a heartbeat row, and says whether the relay lives.
func (s *server) renew(b *store.Beat) bool {
	now := s.now()
	h := s.heartbeat(b.Relay)
	switch {
	case h == nil && !b.New:
		return false
	case h == nil:
		s.relays = append(s.relays, heartbeat{id: b.Relay, expires: now + b.TTL, conditions: b.Conditions})
		s.epoch++
		return true
	case h.dead || now >= h.expires:
		return false
	}
	h.expires, h.conditions = now+b.TTL, b.Conditions
	return true
}

func (s *server) free(owner string) {
	if s.house.owner == owner {
		s.house.owner = ""
	}
	for i := range s.shards {
		if s.shards[i].owner == owner {
			s.shards[i].owner = ""
		}
	}
}

// reshape replaces all shards, if the caller holds them all at one position.
func (s *server) reshape(id string, r *store.Reshape) {
	if len(r.Leases) != len(s.shards) {
		return
	}
	for i := range r.Leases {
		l := &r.Leases[i]
		if sh := s.held(id, l); sh == nil || sh.version != l.Version || sh.position != s.shards[0].position {
			return
		}
	}
	s.split(r.Shards, s.shards[0].position, id)
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

func (s *server) look(who *relay, v *seen) {
	v.Alive = true
	now := s.now()
	for i := range s.relays {
		if h := &s.relays[i]; !h.dead && now < h.expires {
			v.Relays = append(v.Relays, store.RelayState{ID: h.id, Expires: h.expires - now, Works: s.w.works, Conditions: h.conditions})
		}
	}
	slices.SortFunc(v.Relays, func(a, b store.RelayState) int { return strings.Compare(a.ID, b.ID) })
	of := &v.of[0]
	*of = store.SubscriptionState{Ref: s.w.ref, Wanted: s.wanted, Paused: s.paused || s.whole(), Unreadable: s.unreadable(who), Settings: s.settings, Shards: of.Shards[:0]}
	for i := range s.shards {
		of.Shards = append(of.Shards, s.shards[i].state(s.w.ref))
	}
	v.of[1] = store.SubscriptionState{Ref: maintenance.Ref, Wanted: 1, Shards: append(v.of[1].Shards[:0], s.house.state())}
	v.Subscriptions = v.of[:]
	v.Pauses = slices.Clone(s.pauses)
	if s.gone {
		v.Subscriptions = v.of[1:]
	}
}

// state is a shard as a view shows it.
func (s *shard) state(ref store.Ref) store.ShardState {
	return store.ShardState{
		Lease: store.Lease{Shard: store.Shard{Ref: ref, Slots: store.Slots{Lo: s.lo, Hi: s.hi}}, Token: s.token, Version: s.version},
		Owner: s.owner, Position: s.position,
	}
}
