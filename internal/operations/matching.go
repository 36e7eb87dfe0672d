package operations

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// MostMatching is how many messages a command for all that match is given for at most.
const MostMatching = 500

// Matching is what messages that match filters come to, in JSON. Names of fields are a contract.
type Matching struct {
	// The one subscription whose messages they are; none: scheduled messages, which are of no subscription yet.
	Subscription string `json:"subscription,omitempty"`
	// How many there are, at most 500: then those are the newest.
	Messages int `json:"messages"`
	// There are more than were counted.
	AtLeast bool `json:"at_least,omitempty"`
	// The newest of them.
	Newest postbag.ID `json:"newest"`
}

// mostMatchingCalls is how many pages are read for a count: each looks at a bounded number of rows.
const mostMatchingCalls = 5

// matching reads the newest messages that match, at most MostMatching, and says whether there are more.
func (s Store) matching(ctx context.Context, q store.Query) (all []store.Item, more bool, err error) {
	if q.State == "" || !slices.Contains(CommandStates(store.Discard), q.State) {
		return nil, false, refusef(ErrInvalid, "a command for all that match needs a state that takes it; choose one of %v", CommandStates(store.Discard))
	}
	q.Oldest, q.Cursor, q.Bare = false, "", true
	for calls := 0; ; calls++ {
		if calls == mostMatchingCalls {
			return nil, false, refusef(ErrInvalid, "too much must be read to find those that match; narrow them with after, or use postbag messages")
		}
		q.Limit = MostMatching - len(all)
		items, next, err := s.List(ctx, q)
		if err != nil {
			return nil, false, err
		}
		all = append(all, items...)
		if q.Cursor = next; next == "" || len(all) >= MostMatching {
			break
		}
	}
	for i := range all {
		if all[i].Subscription != all[0].Subscription {
			return nil, false, refusef(ErrInvalid, "messages of %s and of %s match; choose one subscription", all[0].Subscription, all[i].Subscription)
		}
	}
	return all, q.Cursor != "", nil
}

func matchingOf(items []store.Item, more bool) Matching {
	if len(items) == 0 {
		return Matching{}
	}
	return Matching{Subscription: items[0].Subscription, Messages: len(items), AtLeast: more, Newest: items[0].ID}
}

// CountMatching counts the messages that match filters with a state, for a command. It takes no notice of the sequence, the cursor and
// the limit of q. Messages of several subscriptions, and a state that takes no command, are ErrInvalid.
func (s Store) CountMatching(ctx context.Context, q store.Query) (Matching, error) {
	items, more, err := s.matching(ctx, q)
	return matchingOf(items, more), err
}

// PreviewMatching looks up for a command what CountMatching counted for q. Messages and Newest of was, where they are not zero, must be as
// they were: otherwise the command would be for messages that nobody counted, and it is ErrInvalid. If none matches, it is ErrNotFound.
func (s Store) PreviewMatching(ctx context.Context, q store.Query, kind store.CommandKind, was Matching) (*Preview, error) {
	if err := Takes(kind, q.State); err != nil {
		return nil, err
	}
	if s.Editor == nil && (q.State == store.StatePending || q.State == store.StateScheduled) {
		return nil, refusef(ErrUnsupported, "the state is %s, and this kind of store takes commands for parked messages only; nothing was done", q.State)
	}
	items, more, err := s.matching(ctx, q)
	if err != nil {
		return nil, err
	}
	now := matchingOf(items, more)
	switch {
	case now.Messages == 0:
		return nil, refusef(ErrNotFound, "no %s message matches any more; look again", q.State)
	case was.Messages != 0 && was.Messages != now.Messages, !was.Newest.IsZero() && was.Newest != now.Newest:
		return nil, refusef(ErrInvalid, "other %s messages match by now, %d of those that were read; look again, and give the command for them", q.State, now.Messages)
	}
	p := &Preview{Choice: Choice{
		Ref: store.Ref{Box: q.Box, Subscription: now.Subscription}, Kind: kind, Query: store.Query{State: q.State},
		Filter: fmt.Sprintf("the newest %d with%s", now.Messages, filterText(&q)),
	}}
	for i := range slices.Backward(items) { // the oldest first
		p.add(&items[i])
	}
	return p, nil
}

// filterText is a query as flags of postbag messages list.
func filterText(q *store.Query) (text string) {
	for _, one := range [][2]string{
		{"state", string(q.State)}, {"topic", q.Topic}, {"key", q.Key}, {"type", q.Type}, {"error", q.Error}, {"after", timeText(q.After)}, {"before", timeText(q.Before)},
	} {
		if one[1] != "" {
			text += " --" + one[0] + " " + Quoted(one[1])
		}
	}
	if !q.ID.IsZero() {
		text += " --id " + q.ID.String()
	}
	return text
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
