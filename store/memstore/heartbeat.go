package memstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// relayRow is a relay's heartbeat.
type relayRow struct {
	id, name string
	expires  time.Time
	works    []store.Ref
	// conditions are those of the last Beat.
	conditions []store.Condition
	dead       bool
}

// keepDead is how long a dead relay's row stays, so that its id is not made again.
const keepDead = time.Hour

// Beat implements store.Store.
func (s *Store) Beat(ctx context.Context, b store.Beat) (store.View, error) {
	return call(ctx, s, OpBeat, func() (store.View, error) {
		if b.Relay == "" || (b.TTL <= 0 && !b.Leave) {
			return store.View{}, fmt.Errorf("memstore: beat: relay id %q, TTL %s; give an id and a positive TTL", b.Relay, b.TTL)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		now := s.now()
		if !s.renew(b, now) {
			return store.View{Epoch: s.epoch}, nil
		}
		if b.Leave {
			s.leave(b.Relay)
			return s.view(b, now, false), nil
		}
		s.give(b.Relay, b.Give)
		for _, r := range b.Reshape {
			s.reshape(b.Relay, r)
		}
		s.bury(now)
		s.endPauses(now)
		for _, sh := range b.Take {
			s.take(b.Relay, sh, now)
		}
		return s.view(b, now, true), nil
	})
}

// renew makes or renews a heartbeat, and says whether the relay lives.
func (s *Store) renew(b store.Beat, now time.Time) bool {
	r := s.relays[b.Relay]
	switch {
	case r == nil && !b.New:
		return false
	case r == nil:
		r = &relayRow{id: b.Relay}
		s.relays[b.Relay] = r
		s.epoch++
	case r.dead || !now.Before(r.expires):
		return false
	}
	if r.name != b.Name || !slices.Equal(r.works, b.Works) {
		s.epoch++
	}
	r.name, r.works, r.expires = b.Name, slices.Clone(b.Works), now.Add(b.TTL)
	r.conditions = copied(b.Conditions)
	return true
}

// leave gives everything back and removes the heartbeat.
func (s *Store) leave(id string) {
	s.free(func(owner string) bool { return owner == id })
	delete(s.relays, id)
	s.epoch++
}

// free takes their shards from some relays.
func (s *Store) free(from func(owner string) bool) {
	for _, b := range s.boxes {
		for _, sub := range b.subs {
			for _, sh := range sub.shards {
				if sh.owner != "" && from(sh.owner) {
					sh.owner = ""
				}
			}
		}
	}
}

// give takes back leases that the relay still holds.
func (s *Store) give(id string, leases []store.Lease) {
	for _, l := range leases {
		if sh := s.held(id, l); sh != nil {
			sh.owner = ""
			s.epoch++
		}
	}
}

// held returns the shard of a lease if the relay holds it under that token.
func (s *Store) held(id string, l store.Lease) *shard {
	sub, err := s.subscription(l.Ref)
	if err != nil {
		return nil
	}
	if sh := sub.shard(l.Slots); sh != nil && sh.owner == id && sh.token == l.Token {
		return sh
	}
	return nil
}

// reshape replaces a subscription's shards, if all is as it must be.
func (s *Store) reshape(id string, r store.Reshape) {
	sub, err := s.subscription(r.Ref)
	if err != nil || r.Shards < 1 || r.Shards > store.SlotCount || len(r.Leases) != len(sub.shards) {
		return
	}
	seen := map[*shard]bool{}
	for _, l := range r.Leases {
		sh := s.held(id, l)
		if sh == nil || l.Ref != r.Ref || seen[sh] || sh.version != l.Version || sh.position != sub.shards[0].position {
			return
		}
		seen[sh] = true
	}
	at := sub.shards[0].position
	sub.shards = nil
	for _, slots := range store.Split(r.Shards) {
		s.lastToken++
		sub.shards = append(sub.shards, &shard{slots: slots, owner: id, token: s.lastToken, version: 1, position: at})
	}
	s.epoch++
}

// bury marks relays dead whose time is over, and frees their shards.
func (s *Store) bury(now time.Time) {
	dead := map[string]bool{}
	for id, r := range s.relays {
		switch {
		case !r.dead && !now.Before(r.expires):
			r.dead, dead[id] = true, true
		case r.dead && now.Sub(r.expires) > keepDead:
			delete(s.relays, id)
		}
	}
	if len(dead) > 0 {
		s.free(func(owner string) bool { return dead[owner] })
		s.epoch++
	}
}

// take gives a free shard to the relay.
func (s *Store) take(id string, want store.Shard, now time.Time) {
	sub, err := s.subscription(want.Ref)
	if err != nil {
		return
	}
	sh := sub.shard(want.Slots)
	if sh == nil || sh.owner != "" {
		return
	}
	sh.owner = id
	s.lastToken++
	sh.token = s.lastToken
	s.epoch++
	sub.lot.land(want.Slots, now)
}

// view returns what a beat sees.
func (s *Store) view(b store.Beat, now time.Time, alive bool) store.View {
	v := store.View{Alive: alive, Epoch: s.epoch, Now: now, Relays: s.live(now), Pauses: s.paused(now)}
	for _, ref := range b.Works {
		if sub, err := s.subscription(ref); err == nil {
			v.Subscriptions = append(v.Subscriptions, sub.state(s.holds(ref, now)))
		}
	}
	return v
}

// live returns the relays that live, sorted by id.
func (s *Store) live(now time.Time) []store.RelayState {
	var out []store.RelayState
	for _, r := range s.relays {
		if !r.dead && now.Before(r.expires) {
			out = append(out, store.RelayState{
				ID: r.id, Name: r.name, Expires: r.expires.Sub(now), Works: slices.Clone(r.works),
				Conditions: copied(r.conditions),
			})
		}
	}
	slices.SortFunc(out, func(a, b store.RelayState) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// copied returns conditions that share nothing with those given.
func copied(conditions []store.Condition) []store.Condition {
	out := slices.Clone(conditions)
	for i := range out {
		out[i].Topics = slices.Clone(out[i].Topics)
	}
	return out
}
