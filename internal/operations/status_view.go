package operations

import (
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// StatusOf makes a status of the overview o. If last is an earlier overview, the status has rates. last may be nil.
func StatusOf(o, last *store.Overview) *Status {
	v := &Status{Now: o.Now.UTC(), Boxes: []Box{}, Relays: []Relay{}}
	owned := make(map[string]int)
	for i := range o.Boxes {
		b := &o.Boxes[i]
		view := Box{
			Name: b.Name, Messages: b.Rows, LastSeq: b.Last, Scheduled: b.Scheduled, Missing: b.Missing,
			Subscriptions: []Subscription{}, Retention: retentionOf(b.Retention),
			Rate: rateOf(o, last, func(at *store.Overview) (int64, bool) { return lastSeq(at, b.Name) }),
		}
		for _, n := range b.Notices {
			view.Notices = append(view.Notices, Notice{n.Ago.Seconds(), n.What, n.Why})
		}
		for j := range b.Subscriptions {
			s := &b.Subscriptions[j]
			one := subscriptionOf(s)
			one.conditions(s.Ref, o.Relays)
			one.Unworked = unworked(s, o.Relays)
			if one.Where != nil {
				one.Older = OlderRelays(s.Ref, o.Relays)
			}
			// What relays say is as old as their heartbeat. What is settled since is in no backlog.
			one.Unsettled = min(one.Unsettled, s.Backlog+s.Parked[store.ParkInFlight])
			one.Rate = rateOf(o, last, func(at *store.Overview) (int64, bool) { return delivered(at, s.Ref) })
			view.Subscriptions = append(view.Subscriptions, one)
			for k := range s.Shards {
				owned[s.Shards[k].Owner]++
			}
		}
		v.Boxes = append(v.Boxes, view)
	}
	for _, r := range o.Relays {
		one := Relay{ID: r.ID, Name: r.Name, Expires: r.Expires.Seconds(), Works: []string{}, Shards: owned[r.ID]}
		if len(r.Conditions) > 0 && r.Conditions[0].Lease > 0 {
			seen := ageOf(&r, &r.Conditions[0]).Seconds()
			one.Seen = &seen
		}
		for _, w := range r.Works {
			if w.Subscription != store.Maintenance {
				one.Works = append(one.Works, w.String())
			}
		}
		v.Relays = append(v.Relays, one)
	}
	v.addPauses(o)
	return v
}

func subscriptionOf(s *store.SubscriptionView) Subscription {
	v := Subscription{
		Name: s.Subscription, Paused: s.Paused, Shards: len(s.Shards), Wanted: s.Wanted,
		Backlog: s.Backlog, Oldest: s.Oldest.Seconds(), Delivered: s.Delivered, Discarded: s.Discarded, Superseded: s.Superseded, Queued: s.Commands,
		Parked: make(map[string]int64), Detail: []Shard{},
	}
	v.Types, v.Where, v.Unreadable = filterOf(&s.SubscriptionState)
	if s.Replay != nil {
		v.ReplayOf = s.Replay.Of
	}
	for _, state := range ParkStates {
		v.Parked[state.String()] = s.Parked[state]
		if s.Parked[state] >= store.CountedParked {
			v.AtLeast = append(v.AtLeast, state.String())
		}
	}
	for _, h := range s.Held {
		if store.HeldByPause(h.Topic) {
			continue
		}
		v.Held = append(v.Held, HeldTopic{Topic: h.Topic, Messages: h.Messages, Error: h.Reason})
	}
	owners := make(map[string]bool)
	for i := range s.Shards {
		shard := &s.Shards[i]
		if shard.Owner != "" {
			v.Owned++
			owners[shard.Owner] = true
		}
		v.Detail = append(v.Detail, Shard{shard.Slots.String(), shard.Owner, shard.Token, shard.Version})
	}
	v.Owners = len(owners)
	return v
}

// ParkStates are the states in which messages are parked, in the order in which they are shown.
var ParkStates = []store.ParkState{store.ParkRetrying, store.ParkBlocked, store.ParkInFlight, store.ParkHeld, store.ParkDead}

// worse orders the states of a destination.
var worse = []string{"closed", "probing", "held", "open", store.ConditionUnreadable}

// ageOf is how long ago a relay said a condition, at its last heartbeat.
func ageOf(r *store.RelayState, c *store.Condition) time.Duration { return max(c.Lease-r.Expires, 0) }

// conditions adds what relays say of the destination. What began before their last heartbeat has gone on since.
func (v *Subscription) conditions(of store.Ref, relays []store.RelayState) {
	for i := range relays {
		for _, c := range relays[i].Conditions {
			if c.Ref != of {
				continue
			}
			v.Unsettled += int64(c.Unsettled)
			age := ageOf(&relays[i], &c)
			if d := v.Destination; d == nil || slices.Index(worse, c.State) > slices.Index(worse, d.State) {
				v.Destination = &Destination{State: c.State, Since: (c.Since + age).Seconds(), Error: c.Error, Relay: relays[i].Name}
			}
			for _, t := range c.Topics {
				at := slices.IndexFunc(v.Held, func(h HeldTopic) bool { return h.Topic == t.Topic })
				if at < 0 {
					at, v.Held = len(v.Held), append(v.Held, HeldTopic{Topic: t.Topic})
				}
				v.Held[at].Since, v.Held[at].Error = (t.Since + age).Seconds(), t.Error
			}
		}
	}
}

// rateOf returns how fast a number grows a second between two looks, by the
// database's clock; nil if it was not there before, or went back.
func rateOf(o, last *store.Overview, number func(*store.Overview) (int64, bool)) *float64 {
	if last == nil || !o.Now.After(last.Now) {
		return nil
	}
	now, _ := number(o)
	before, ok := number(last)
	if !ok || now < before {
		return nil
	}
	rate := float64(now-before) / o.Now.Sub(last.Now).Seconds()
	return &rate
}

func lastSeq(o *store.Overview, box string) (int64, bool) {
	for i := range o.Boxes {
		if o.Boxes[i].Name == box {
			return o.Boxes[i].Last, true
		}
	}
	return 0, false
}

func delivered(o *store.Overview, r store.Ref) (int64, bool) {
	for i := range o.Boxes {
		for j := range o.Boxes[i].Subscriptions {
			if s := &o.Boxes[i].Subscriptions[j]; s.Ref == r {
				return s.Delivered, true
			}
		}
	}
	return 0, false
}
