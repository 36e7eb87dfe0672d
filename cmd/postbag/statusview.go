package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/console"
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
	// What the store did of its own accord, such as after its log was emptied: of the last
	// day, until postbag ledger accept, newest first.
	Notices []noticeView `json:"notices,omitempty"`
}

// noticeView is something that people should know of a box in JSON.
type noticeView struct {
	// How long ago it was.
	Ago float64 `json:"seconds_ago"`
	// What was done.
	What string `json:"what"`
	// Why.
	Why string `json:"why"`
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
	// About how many messages wait to be read or settled.
	Backlog int64 `json:"backlog"`
	// How many of the backlog the destination has accepted, whose settlement is to come.
	Unsettled int64 `json:"unsettled"`
	// The age of the oldest message that waits to be read or is parked; zero: there
	// is none.
	Oldest float64 `json:"oldest_seconds"`
	// Parked messages by state.
	Parked map[string]int64 `json:"parked"`
	// The states of which there may be more than were counted.
	AtLeast []string `json:"parked_at_least,omitempty"`
	// How the destination is, as the relays say; none: no relay says.
	Destination *destinationView `json:"destination,omitempty"`
	// The topics that do not work, for which messages are held.
	Held []heldView `json:"held,omitempty"`
	// How many messages were delivered since the beginning.
	Delivered int64 `json:"delivered"`
	// How many were discarded since the beginning.
	Discarded int64 `json:"discarded"`
	// How many commands wait for a relay.
	Queued int64 `json:"commands_queued"`
	// With --watch: how many messages a second were delivered since the last look.
	Rate *float64 `json:"delivered_per_second,omitempty"`
	// The shards.
	Detail []shardView `json:"shard_list"`
}

// destinationView is how a destination is in JSON: of several relays, as the one says that
// is worst off.
type destinationView struct {
	// closed: messages flow; probing: it is tried; open: it is left alone; held: too many
	// messages wait for topics that do not work.
	State string `json:"state"`
	// For how long.
	Since float64 `json:"since_seconds"`
	// Its last failure since then.
	Error string `json:"error,omitempty"`
	// The relay that says so.
	Relay string `json:"relay"`
}

// destinationWords are the states in words, in a table and as the predicate of a sentence:
// an operator need not know circuit breakers.
var destinationWords = map[string]struct{ word, predicate string }{
	"closed":  {"works", "works"},
	"probing": {"probing", "is probing"},
	"open":    {"away", "takes no messages"},
	"held":    {"full", "waits for topics that do not work"},
}

// inWords is the state in words.
func (d *destinationView) inWords() (words struct{ word, predicate string }) {
	words, known := destinationWords[d.State]
	if !known { // a newer relay says it
		words.word, words.predicate = d.State, "is "+d.State
	}
	return words
}

// heldView is a topic that does not work in JSON.
type heldView struct {
	// The topic.
	Topic string `json:"topic"`
	// How many messages are held for it; those behind them do not count.
	Messages int64 `json:"messages"`
	// For how long it has not worked, as a relay says.
	Since float64 `json:"since_seconds,omitempty"`
	// Why, as a relay says.
	Error string `json:"error,omitempty"`
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
		for _, n := range b.Notices {
			view.Notices = append(view.Notices, noticeView{n.Ago.Seconds(), n.What, n.Why})
		}
		for j := range b.Subscriptions {
			s := &b.Subscriptions[j]
			one := viewSubscription(s)
			one.conditions(s.Ref, o.Relays)
			// What relays say is as old as their heartbeat. What is settled since is in no backlog.
			one.Unsettled = min(one.Unsettled, s.Backlog+s.Parked[store.InFlight])
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
	for _, state := range parkStates {
		v.Parked[state.String()] = s.Parked[state]
		if s.Parked[state] >= store.CountedParked {
			v.AtLeast = append(v.AtLeast, state.String())
		}
	}
	for _, h := range s.Held {
		v.Held = append(v.Held, heldView{Topic: h.Topic, Messages: h.Messages})
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

var parkStates = []store.ParkState{store.Waiting, store.Blocked, store.InFlight, store.Held, store.Dead}

// worse orders the states of a destination.
var worse = []string{"closed", "probing", "held", "open"}

// conditions adds what relays say of the destination.
func (v *subscriptionView) conditions(of store.Ref, relays []store.RelayState) {
	for i := range relays {
		for _, c := range relays[i].Conditions {
			if c.Ref != of {
				continue
			}
			v.Unsettled += int64(c.Unsettled)
			if d := v.Destination; d == nil || slices.Index(worse, c.State) > slices.Index(worse, d.State) {
				v.Destination = &destinationView{State: c.State, Since: c.Since.Seconds(), Error: c.Error, Relay: relays[i].Name}
			}
			for _, t := range c.Topics {
				at := slices.IndexFunc(v.Held, func(h heldView) bool { return h.Topic == t.Topic })
				if at < 0 {
					at, v.Held = len(v.Held), append(v.Held, heldView{Topic: t.Topic})
				}
				v.Held[at].Since, v.Held[at].Error = t.Since.Seconds(), t.Error
			}
		}
	}
}

// inWords says what was done, why and when.
func (n *noticeView) inWords() string {
	return fmt.Sprintf("%s ago postbag decided to %s: %s", span(seconds(n.Ago)), console.Printable(n.What), console.Printable(n.Why))
}

// troubles are what someone should see to, a line each.
func (v *statusView) troubles() []string {
	var out []string
	for i := range v.Boxes {
		b := &v.Boxes[i]
		for _, n := range b.Notices {
			out = append(out, fmt.Sprintf("box %s: %s; see that nothing else is amiss, then run postbag ledger accept --box %s", b.Name, n.inWords(), b.Name))
		}
		if len(b.Subscriptions) == 0 && b.Messages+b.Scheduled > 0 {
			out = append(out, fmt.Sprintf("box %s has messages and no subscription; start a relay", b.Name))
		}
		for j := range b.Subscriptions {
			s := &b.Subscriptions[j]
			at := b.Name + "/" + s.Name
			if s.Owned == 0 {
				out = append(out, "no relay works "+at+"; start one")
			}
			if d := s.Destination; d != nil && (d.State == "open" || d.State == "held") {
				out = append(out, fmt.Sprintf("the destination of %s %s since %s: %s", at, d.inWords().predicate, span(seconds(d.Since)), console.Printable(d.Error)))
			}
			for _, h := range s.Held {
				out = append(out, fmt.Sprintf("topic %s of %s does not work, %d messages are held", console.Printable(h.Topic), at, h.Messages))
			}
			if n := s.Parked[store.Dead.String()]; n > 0 {
				out = append(out, fmt.Sprintf("%d messages of %s are dead; see postbag messages list --state dead", n, at))
			}
		}
	}
	return out
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
