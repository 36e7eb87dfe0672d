package operations

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// MostParked is how many messages of each state a look at errors or keys reads.
const MostParked = 500

// ErrorGroup is what parked messages with one kind of error come to, in JSON. Names of fields are a contract.
type ErrorGroup struct {
	// The subscription.
	Subscription string `json:"subscription"`
	// Their state: dead, retrying, held or in-flight.
	State store.State `json:"state"`
	// The error without what differs from message to message: a number is N, an id is ID, and a
	// quoted part is three dots. Names of hosts stay.
	Kind string `json:"kind"`
	// How many messages were seen.
	Messages int `json:"messages"`
	// There may be more than were seen: a look reads a bounded number of each state.
	AtLeast bool `json:"at_least,omitempty"`
	// When the oldest of them was stored.
	First time.Time `json:"first_stored"`
	// When the newest was.
	Last time.Time `json:"last_stored"`
	// The newest of them.
	ID postbag.ID `json:"id"`
	// Its error, as it is.
	Example string `json:"example"`
	// All of them have just this error.
	Same bool `json:"same,omitempty"`
	// The topic, the type and the key that all of them have; none: they have several, or none.
	Topic string `json:"topic,omitempty"`
	Type  string `json:"type,omitempty"`
	Key   string `json:"key,omitempty"`
	// The longest part that all these errors have, to search messages by; none: they have none.
	Search string `json:"search,omitempty"`
	// What an operator noted of this kind of error in the subscription; none: nothing. The groups of other states have it, too.
	Note *ErrorNote `json:"note,omitempty"`
}

// ErrorKind returns an error without what differs from message to message; see [storekit.ErrorKind].
func ErrorKind(reason string) string { return storekit.ErrorKind(reason) }

// parkedOf reads up to most parked messages of one state, and says whether there are more.
func (s Store) parkedOf(ctx context.Context, q store.Query, state store.State) ([]store.Item, bool, error) {
	q.State = state
	items, next, err := s.List(ctx, q)
	return items, next != "", err
}

// ErrorGroups groups the newest parked messages of a box, or of the subscription that is named, by subscription, state and kind of
// error: the largest groups come first. It reads at most MostParked messages of each state. Blocked messages have no error of their own.
func (s Store) ErrorGroups(ctx context.Context, r store.Ref) ([]ErrorGroup, error) {
	type place struct {
		subscription, kind string
		state              store.State
	}
	at := make(map[place]int)
	groups := []ErrorGroup{}
	for _, state := range []store.State{store.StateDead, store.StateRetrying, store.StateHeld, store.StateInFlight} {
		items, more, err := s.parkedOf(ctx, store.Query{Ref: r, Bare: true, Limit: MostParked}, state)
		if err != nil {
			return nil, err
		}
		for i := range items {
			item := &items[i]
			if item.Reason == "" {
				continue
			}
			where := place{item.Subscription, ErrorKind(item.Reason), state}
			n, known := at[where]
			if !known {
				n = len(groups)
				at[where] = n
				groups = append(groups, groupOf(item, where.kind, more))
			}
			groups[n].add(item)
		}
	}
	slices.SortStableFunc(groups, func(a, b ErrorGroup) int { return cmp.Compare(b.Messages, a.Messages) })
	return groups, nil
}

// PreviewGroup looks up the messages of one of the groups that ErrorGroups returned for r, for a command. Of the group, Subscription,
// State and Kind say which it is. Messages and ID, where they are not zero, must be as they were: otherwise the command would
// be for messages that nobody counted, and it is ErrInvalid. If there is none any more, it is ErrNotFound.
func (s Store) PreviewGroup(ctx context.Context, r store.Ref, kind store.CommandKind, g ErrorGroup) (*Preview, error) {
	if !slices.Contains(ParkedStates(), g.State) {
		return nil, refusef(ErrInvalid, "%.40q is no state of messages with an error; write dead, retrying, held or in-flight", string(g.State))
	}
	items, more, err := s.parkedOf(ctx, store.Query{Ref: r, Bare: true, Limit: MostParked}, g.State)
	if err != nil {
		return nil, err
	}
	p := &Preview{Choice: Choice{
		Ref: store.Ref{Box: r.Box, Subscription: g.Subscription}, Kind: kind, Query: store.Query{State: g.State},
		Filter: fmt.Sprintf("the newest %s messages with an error such as %.200q", g.State, g.Kind),
	}}
	var now ErrorGroup
	for i := range items {
		item := &items[i]
		if item.Reason == "" || item.Subscription != g.Subscription || ErrorKind(item.Reason) != g.Kind {
			continue
		}
		if p.Size() == 0 {
			now = groupOf(item, g.Kind, more)
		}
		now.add(item)
		p.add(item)
	}
	slices.Reverse(p.seqs) // the oldest first
	slices.Reverse(p.First)
	switch {
	case p.Size() == 0:
		return nil, refusef(ErrNotFound, "no %s message of %s has an error of this kind any more; look again", g.State, p.Ref)
	case g.Messages != 0 && g.Messages != now.Messages, !g.ID.IsZero() && g.ID != now.ID:
		return nil, refusef(ErrInvalid, "other %s messages of %s have an error of this kind by now, %d of those that were read; look again, and give the command for them", g.State, p.Ref, now.Messages)
	}
	return p, nil
}

func groupOf(item *store.Item, kind string, more bool) ErrorGroup {
	return ErrorGroup{
		Subscription: item.Subscription, State: item.State, Kind: kind, AtLeast: more, First: item.At.UTC(), Last: item.At.UTC(),
		Same: true, Topic: item.Topic, Type: item.Type, Key: item.Key, ID: item.ID, Example: item.Reason, Search: storekit.ErrorSearch(item.Reason),
	}
}

func (g *ErrorGroup) add(item *store.Item) {
	g.Messages++
	g.Same = g.Same && g.Example == item.Reason
	g.Topic, g.Type, g.Key = common(g.Topic, item.Topic), common(g.Type, item.Type), common(g.Key, item.Key)
	if at := item.At.UTC(); at.Before(g.First) {
		g.First = at
	} else if at.After(g.Last) {
		g.Last, g.ID, g.Example = at, item.ID, item.Reason
	}
}

// common is what two texts have in common: all or nothing.
func common(a, b string) string {
	if a != b {
		return ""
	}
	return a
}
