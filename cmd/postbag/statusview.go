package main

import (
	"time"

	"github.com/postbag/postbag/store"
)

// statusView is the state of a store in JSON. Names of fields are a contract.
type statusView struct {
	// When it was, by the database's clock.
	Now time.Time `json:"now"`
	// The boxes.
	Boxes []boxView `json:"boxes"`
	// The live relays.
	Relays []relayView `json:"relays"`
}

// boxView is the state of a box in JSON.
type boxView struct {
	// The box.
	Name string `json:"name"`
	// About how many messages its log holds.
	Messages int64 `json:"messages"`
	// The last number that the log has given out.
	LastSeq int64 `json:"last_seq"`
	// How many messages wait for their time.
	Scheduled int64 `json:"scheduled"`
	// With --watch: about how many messages a second were published since the last
	// look.
	Rate *float64 `json:"published_per_second,omitempty"`
	// The subscriptions.
	Subscriptions []subscriptionView `json:"subscriptions"`
}

// subscriptionView is the state of a subscription in JSON.
type subscriptionView struct {
	// The subscription.
	Name string `json:"name"`
	// Its filter; none: all types.
	Types []string `json:"types,omitempty"`
	// An operator holds it.
	Paused bool `json:"paused,omitempty"`
	// How many shards it has.
	Shards int `json:"shards"`
	// How many it shall have.
	Wanted int `json:"shards_wanted"`
	// How many of them a live relay owns.
	Owned int `json:"shards_owned"`
	// How many relays own them.
	Owners int `json:"owners"`
	// About how many messages wait to be read.
	Backlog int64 `json:"backlog"`
	// The age of the oldest message that waits to be read or is parked; zero: there
	// is none.
	Oldest float64 `json:"oldest_seconds"`
	// Parked messages by state.
	Parked map[string]int64 `json:"parked"`
	// How many messages were delivered since the beginning.
	Delivered int64 `json:"delivered"`
	// How many were discarded since the beginning.
	Discarded int64 `json:"discarded"`
	// How many orders wait for a relay.
	Queued int64 `json:"orders_queued"`
	// With --watch: how many messages a second were delivered since the last look.
	Rate *float64 `json:"delivered_per_second,omitempty"`
	// The shards.
	Detail []shardView `json:"shard_list"`
}

// shardView is the state of a shard in JSON.
type shardView struct {
	// Its slots, from the first to the last.
	Slots string `json:"slots"`
	// The id of the relay that owns it; none: it is free.
	Owner string `json:"owner,omitempty"`
	// It grows when the shard changes hands.
	Token int64 `json:"token"`
	// It grows with each settlement.
	Version int64 `json:"version"`
}

// relayView is the state of a live relay in JSON.
type relayView struct {
	// The relay's id, new at each start.
	ID string `json:"id"`
	// What people call it.
	Name string `json:"name"`
	// Seconds until its heartbeat is no longer good.
	Expires float64 `json:"expires_seconds"`
	// The subscriptions that it can work.
	Works []string `json:"works"`
	// How many shards it owns.
	Shards int `json:"shards"`
}

// viewStatus makes the view of a look, with rates if there was one before.
func viewStatus(o, last *store.Overview) *statusView {
	v := &statusView{Now: o.Now.UTC(), Boxes: []boxView{}, Relays: []relayView{}}
	owned := make(map[string]int)
	for i := range o.Boxes {
		b := &o.Boxes[i]
		view := boxView{
			Name: b.Name, Messages: b.Rows, LastSeq: b.Last, Scheduled: b.Scheduled,
			Subscriptions: []subscriptionView{},
			Rate:          rateOf(o, last, func(at *store.Overview) (int64, bool) { return lastSeq(at, b.Name) }),
		}
		for j := range b.Subscriptions {
			s := &b.Subscriptions[j]
			one := viewSubscription(s)
			one.Rate = rateOf(o, last, func(at *store.Overview) (int64, bool) { return delivered(at, s.Ref) })
			view.Subscriptions = append(view.Subscriptions, one)
			for k := range s.Shards {
				owned[s.Shards[k].Owner]++
			}
		}
		v.Boxes = append(v.Boxes, view)
	}
	for _, r := range o.Relays {
		one := relayView{ID: r.ID, Name: r.Name, Expires: r.Expires.Seconds(), Works: []string{}, Shards: owned[r.ID]}
		for _, w := range r.Works {
			if w.Subscription != store.Maintenance {
				one.Works = append(one.Works, w.String())
			}
		}
		v.Relays = append(v.Relays, one)
	}
	return v
}

func viewSubscription(s *store.SubscriptionView) subscriptionView {
	v := subscriptionView{
		Name: s.Subscription, Types: s.Types, Paused: s.Paused, Shards: len(s.Shards), Wanted: s.Wanted,
		Backlog: s.Backlog, Oldest: s.Oldest.Seconds(), Delivered: s.Delivered, Discarded: s.Discarded, Queued: s.Commands,
		Parked: make(map[string]int64), Detail: []shardView{},
	}
	for _, state := range []store.ParkState{store.Waiting, store.Blocked, store.InFlight, store.Dead} {
		v.Parked[state.String()] = s.Parked[state]
	}
	owners := make(map[string]bool)
	for i := range s.Shards {
		shard := &s.Shards[i]
		if shard.Owner != "" {
			v.Owned++
			owners[shard.Owner] = true
		}
		v.Detail = append(v.Detail, shardView{shard.Slots.String(), shard.Owner, shard.Token, shard.Version})
	}
	v.Owners = len(owners)
	return v
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
