package operations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

const (
	// MostMatched is how many messages a Match comes to at most.
	MostMatched = 100_000
	// MostMatching is how many messages a command for all that match is given for at most, beside an operation.
	MostMatching = 500
	// mostMatchingCalls is how many pages are read for that: each looks at a bounded number of rows.
	mostMatchingCalls = 5
)

// Match says which messages a command is for: all that match a query with a state.
type Match struct {
	// Query selects them. Its sequence, cursor and limit are not looked at. A state that takes commands is required.
	Query store.Query
	// Kind narrows that to errors of one kind, as ErrorKind returns it. Empty: whatever the error is.
	Kind string
}

// bound is where a look at messages that match ends. With more of them than most it ends with errEnough.
type bound struct {
	most   int
	newest bool      // first; otherwise the oldest are
	calls  int       // pages: no more are read; zero: as many as there are
	until  time.Time // behind a page that ends later, it ends with errEnough; zero: it does not
}

// errEnough ends a look at messages.
var errEnough = errors.New("enough")

// each looks at the messages that match, up to a bound. They are all of one subscription.
func (m *Match) each(ctx context.Context, s Store, b bound, see func(*store.Item)) error {
	q := m.Query
	q.Oldest, q.Bare, q.Limit, q.Cursor = !b.newest, true, pageSize, ""
	seen, of := 0, ""
	for calls := 1; ; calls++ {
		items, next, err := s.List(ctx, q)
		if err != nil {
			return err
		}
		for i := range items {
			switch item := &items[i]; {
			case m.Kind != "" && (item.Reason == "" || ErrorKind(item.Reason) != m.Kind):
				continue
			case seen == b.most:
				return errEnough
			case seen > 0 && item.Subscription != of:
				return refusef(ErrInvalid, "messages of %s and of %s match; choose one subscription", of, item.Subscription)
			default:
				seen, of = seen+1, item.Subscription
				see(item)
			}
		}
		switch q.Cursor = next; {
		case next == "":
			return nil
		case seen == b.most && b.newest, !b.until.IsZero() && !time.Now().Before(b.until):
			return errEnough
		case calls == b.calls:
			return refusef(ErrInvalid, "too much must be read to find those that match; narrow them with after, or use postbag messages")
		}
	}
}

// check refuses what no command is for. kind is zero to count.
func (m *Match) check(s Store, kind store.CommandKind) error {
	state := m.Query.State
	switch {
	case state == "" || kind == 0 && !slices.Contains(CommandStates(store.Discard), state):
		return refusef(ErrInvalid, "a command for all that match needs a state that takes it; choose one of %v", CommandStates(store.Discard))
	case kind == 0:
		return nil
	case s.Editor == nil && (state == store.StatePending || state == store.StateScheduled):
		return refusef(ErrUnsupported, "the state is %s, and this kind of store takes commands for parked messages only; nothing was done", state)
	}
	return Takes(kind, state)
}

// Matching is what the newest messages that match come to, in JSON. Names of fields are a contract.
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

// newest reads the newest messages of a Match, at most MostMatching.
func (m *Match) newest(ctx context.Context, s Store) (items []store.Item, v Matching, err error) {
	err = m.each(ctx, s, bound{most: MostMatching, newest: true, calls: mostMatchingCalls}, func(item *store.Item) { items = append(items, *item) })
	if v.AtLeast = errors.Is(err, errEnough); v.AtLeast {
		err = nil
	}
	if len(items) > 0 {
		v.Subscription, v.Messages, v.Newest = items[0].Subscription, len(items), items[0].ID
	}
	return items, v, err
}

// CountMatching counts the newest messages of a Match, up to MostMatching. Messages of several subscriptions, and a state that takes no
// command, are ErrInvalid.
func (s Store) CountMatching(ctx context.Context, m Match) (Matching, error) {
	if err := m.check(s, 0); err != nil {
		return Matching{}, err
	}
	_, v, err := m.newest(ctx, s)
	return v, err
}

// PreviewMatching looks up for a command what CountMatching counted for m. Messages and Newest of was, where they are not zero, must be as
// they were: otherwise the command would be for messages that nobody counted, and it is ErrInvalid. If none matches, it is ErrNotFound.
func (s Store) PreviewMatching(ctx context.Context, m Match, kind store.CommandKind, was Matching) (*Preview, error) {
	if err := m.check(s, kind); err != nil {
		return nil, err
	}
	items, now, err := m.newest(ctx, s)
	if err != nil {
		return nil, err
	}
	switch {
	case now.Messages == 0:
		return nil, m.noneMatches()
	case was.Messages != 0 && was.Messages != now.Messages, !was.Newest.IsZero() && was.Newest != now.Newest:
		return nil, refusef(ErrInvalid, "other %s messages match by now, %d of those that were read; look again, and give the command for them", m.Query.State, now.Messages)
	}
	p := &Preview{Choice: Choice{
		Ref: store.Ref{Box: m.Query.Box, Subscription: now.Subscription}, Kind: kind, Query: store.Query{State: m.Query.State},
		Filter: fmt.Sprintf("the newest %d with %s", now.Messages, m.text()),
	}}
	for i := range slices.Backward(items) { // the oldest first
		p.add(&items[i])
	}
	return p, nil
}

func (m *Match) noneMatches() error {
	return refusef(ErrNotFound, "no %s message matches any more; look again", m.Query.State)
}

// text says for people which messages match. A key is not told: it may say who somebody is, and the audit log stays.
func (m *Match) text() string {
	q := &m.Query
	var words []string
	for _, one := range [][2]string{
		{"state", string(q.State)}, {"topic", q.Topic}, {"type", q.Type}, {"error", q.Error}, {"after", timeText(q.After)}, {"before", timeText(q.Before)},
	} {
		if one[1] != "" {
			words = append(words, "--"+one[0]+" "+Quoted(one[1]))
		}
	}
	for _, t := range q.Types {
		words = append(words, "--type "+Quoted(t))
	}
	if !q.ID.IsZero() {
		words = append(words, "--id "+q.ID.String())
	}
	if q.Key != "" {
		words = append(words, "--key")
	}
	text := strings.Join(words, " ")
	if m.Kind != "" {
		text += fmt.Sprintf(", with an error such as %.200q", m.Kind)
	}
	return text
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
