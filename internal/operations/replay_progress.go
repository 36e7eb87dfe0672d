package operations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/store"
)

// Replay is a replay and how far it is, in JSON. Names of fields are a contract.
type Replay struct {
	// Its name.
	Name string `json:"name"`
	// Its box.
	Box string `json:"box"`
	// The subscription whose messages come again.
	Of string `json:"of"`
	// The destination that they go to.
	Destination string `json:"destination"`
	// running, paused, idle, dead or through: idle ones wait for postbag replay resume; dead ones are through but for dead messages,
	// and for those of their keys behind them.
	State string `json:"state"`
	// The seqs that it sends again: above after, up to through.
	After   int64 `json:"after"`
	Through int64 `json:"through"`
	// The seq up to which it has looked at everything.
	Floor int64 `json:"floor"`
	// How far it is, from 0 to 1: the part of the seqs that it has looked at, without the messages that wait.
	Done float64 `json:"done"`
	// The times between which messages were stored, if they were given.
	From   *time.Time `json:"from,omitempty"`
	Before *time.Time `json:"before,omitempty"`
	// The types that come. Empty: all.
	Types []string `json:"types"`
	// Of how many keys messages come. Zero: of all.
	Keys int `json:"keys"`
	// The most messages a second. Zero: no limit of its own.
	Rate float64 `json:"rate"`
	// Messages carry no header that says that they come again.
	Unmarked bool `json:"unmarked"`
	// How many messages were delivered, left out, discarded, and superseded by a newer one of their key.
	Delivered  int64 `json:"delivered"`
	Filtered   int64 `json:"filtered"`
	Discarded  int64 `json:"discarded"`
	Superseded int64 `json:"superseded"`
	// How many messages are parked, by state.
	Parked map[string]int64 `json:"parked"`

	// Plan is what the replay sends again.
	Plan store.Replay `json:"-"`
	// commands wait for a relay.
	commands int64
	// stuck: what is blocked waits behind dead messages, and behind nothing else.
	stuck bool
}

// The states of a replay.
const (
	ReplayRunning = "running"
	ReplayPaused  = "paused"
	ReplayIdle    = "idle"
	ReplayDead    = "dead"
	ReplayThrough = "through"
)

// Replays returns the replays of a box, or of all boxes.
func (s Store) Replays(ctx context.Context, box string) ([]Replay, error) {
	if s.Replayer == nil {
		return nil, refusef(ErrUnsupported, "this kind of store keeps no replays")
	}
	o, err := s.Look(ctx, box)
	if err != nil {
		return nil, err
	}
	return s.ReplaysOf(ctx, o.Boxes)
}

// ReplaysOf returns the replays of boxes that somebody has looked at.
func (s Store) ReplaysOf(ctx context.Context, boxes []store.BoxView) ([]Replay, error) {
	out := []Replay{}
	if s.Replayer == nil {
		return out, refusef(ErrUnsupported, "this kind of store keeps no replays")
	}
	for i := range boxes {
		for j := range boxes[i].Subscriptions {
			if v := &boxes[i].Subscriptions[j]; v.Replay != nil {
				r, err := s.replayOf(ctx, v)
				if err != nil {
					return nil, err
				}
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// Replay returns one replay. One that is not there is ErrNotFound.
func (s Store) Replay(ctx context.Context, r store.Ref) (*Replay, error) {
	all, err := s.Replays(ctx, r.Box)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Name == r.Subscription {
			return &all[i], nil
		}
	}
	return nil, NoReplay(r)
}

// replayOf makes the view of a replay.
func (s Store) replayOf(ctx context.Context, v *store.SubscriptionView) (Replay, error) {
	p := v.Replay
	r := Replay{
		Name: v.Subscription, Box: v.Box, Of: p.Of, Destination: p.Destination, State: ReplayIdle, After: p.After, Through: p.Through,
		Types: append([]string{}, v.Types...), Keys: len(p.Keys), Rate: p.Rate, Unmarked: p.Unmarked,
		Delivered: v.Delivered, Filtered: v.Filtered, Discarded: v.Discarded, Superseded: v.Superseded, Parked: make(map[string]int64), Plan: *p, commands: v.Commands,
	}
	if !p.From.IsZero() {
		r.From = &p.From
	}
	if !p.Before.IsZero() {
		r.Before = &p.Before
	}
	var err error
	if r.Floor, err = core.ReplayFloor(p, v.Shards, s.Replayer.Floor); err != nil {
		return r, err
	}
	if slices.ContainsFunc(v.Shards, func(sh store.ShardState) bool { return sh.Owner != "" }) {
		r.State = ReplayRunning
	}
	for _, state := range ParkStates {
		r.Parked[state.String()] = v.Parked[state]
	}
	if r.stuck, err = s.stuck(ctx, v, r.Floor); err != nil {
		return r, err
	}
	r.Done = float64(max(r.Floor-p.After-r.waiting(), 0)) / float64(max(p.Through-p.After, 1))
	switch {
	case r.through() && r.Parked[store.ParkDead.String()] > 0:
		r.State = ReplayDead
	case r.through():
		r.State = ReplayThrough
	case v.Paused:
		r.State = ReplayPaused
	}
	return r, nil
}

// through says that nothing of the replay can come any more, and nothing waits but what is dead.
func (r *Replay) through() bool {
	p := core.ReplayProgress{Floor: r.Floor, Waiting: r.waiting(), Commands: r.commands}
	return p.Through(&r.Plan)
}

// stuck says that a replay has come to its end, and that all that is blocked there is behind dead messages: the first of
// each key would be due otherwise. What is in hand of a relay is due as well, until it is settled.
func (s Store) stuck(ctx context.Context, v *store.SubscriptionView, floor int64) (bool, error) {
	p := v.Parked
	if s.Due == nil || floor < v.Replay.Through || v.Commands > 0 || p[store.ParkBlocked] == 0 || p[store.ParkDead] == 0 ||
		p[store.ParkRetrying]+p[store.ParkInFlight]+p[store.ParkHeld] > 0 {
		return false, nil
	}
	for i := range v.Shards { // under strict order the rows of all shards have one hash
		first, err := s.Due(ctx, store.Due{Ref: v.Ref, Slots: []store.Slots{v.Shards[i].Slots}, Limit: 1, Bytes: 1})
		if errors.Is(err, store.ErrDenied) { // who only reads may not ask, and is told less
			return false, nil
		}
		if err != nil || len(first) > 0 {
			return false, err
		}
	}
	return true, nil
}

// waiting is how many messages were read and wait: for another attempt, for a topic that does not work, or behind others.
func (r *Replay) waiting() (n int64) {
	for state, parked := range r.Parked {
		if state != store.ParkDead.String() && !(r.stuck && state == store.ParkBlocked.String()) {
			n += parked
		}
	}
	return n
}

// Percent is how far it is, for people. 100% is for a replay that is through.
func (r *Replay) Percent() string {
	if r.through() {
		return "100%"
	}
	return fmt.Sprintf("%d%%", min(int(100*r.Done), 99))
}

// Summary is what a replay has done, in words, and where it ended if it is not through.
func (r *Replay) Summary() string {
	var b strings.Builder
	b.WriteString(r.Counts())
	if !r.through() {
		fmt.Fprintf(&b, ", ended at %s", r.Percent())
	}
	return b.String()
}

// Counts is what became of its messages, in words.
func (r *Replay) Counts() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d delivered, %d left out, %d discarded", r.Delivered, r.Filtered, r.Discarded)
	if r.Superseded > 0 {
		fmt.Fprintf(&b, ", %d superseded", r.Superseded)
	}
	for _, state := range ParkStates {
		if n := r.Parked[state.String()]; n > 0 {
			fmt.Fprintf(&b, ", %d %s", n, state)
		}
	}
	return b.String()
}
