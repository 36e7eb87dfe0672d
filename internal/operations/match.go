package operations

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// MostMatched is how many messages a Match comes to at most.
const MostMatched = 100_000

// Match says which messages an operation is for: all that match a query with a state.
type Match struct {
	// Query selects them. Its sequence, cursor and limit are not looked at. A state that takes commands is required.
	Query store.Query
	// Kind narrows that to errors of one kind, as ErrorKind returns it. Empty: whatever the error is.
	Kind string
}

// Matched is what a Match comes to, in JSON. Names of fields are a contract.
type Matched struct {
	// The one subscription whose messages they are; none: scheduled messages, which are of no subscription yet, or no message.
	Subscription string `json:"subscription,omitempty"`
	// The state that they are in.
	State store.State `json:"state"`
	// How many there are.
	Messages int `json:"messages"`
	// There are more: than 100,000, or than could be counted in time. Then no command is taken for them.
	AtLeast bool `json:"at_least,omitempty"`
	// When they were counted, by the database's clock. What came later is not meant.
	AsOf time.Time `json:"as_of"`
}

// errEnough ends a look at messages.
var errEnough = errors.New("enough")

// each looks at all messages that match, the oldest first, until see fails. Behind a page that ends after a time, if it is not zero, it
// ends with errEnough.
func (m *Match) each(ctx context.Context, s Store, until time.Time, see func(*store.Item) error) error {
	q := m.Query
	q.Oldest, q.Bare, q.Limit, q.Cursor = true, true, pageSize, ""
	for {
		items, next, err := s.List(ctx, q)
		if err != nil {
			return err
		}
		for i := range items {
			if m.Kind != "" && (items[i].Reason == "" || ErrorKind(items[i].Reason) != m.Kind) {
				continue
			}
			if err := see(&items[i]); err != nil {
				return err
			}
		}
		switch q.Cursor = next; {
		case next == "":
			return nil
		case !until.IsZero() && !time.Now().Before(until):
			return errEnough
		}
	}
}

// check refuses what no operation is for.
func (m *Match) check(s Store) error {
	if s.Bookkeeper == nil {
		return errNoBookkeeper()
	}
	if m.Query.State == "" {
		return refusef(ErrInvalid, "a command for all that match needs a state that takes it; choose one of %v", CommandStates(store.Discard))
	}
	return Takes(store.Discard, m.Query.State)
}

// one checks that a message is of the same subscription as those before it, and notes of which.
func (v *Matched) one(item *store.Item) error {
	switch {
	case v.Messages == 0:
		v.Subscription = item.Subscription
	case item.Subscription != v.Subscription:
		return refusef(ErrInvalid, "messages of %s and of %s match; choose one subscription", v.Subscription, item.Subscription)
	}
	v.Messages++
	return nil
}

// CountMatched counts the messages of a Match, up to MostMatched, for about a span of time. Messages of several subscriptions, and a state
// that takes no command, are ErrInvalid. A store that keeps no operations is ErrUnsupported.
func (s Store) CountMatched(ctx context.Context, m Match, span time.Duration) (Matched, error) {
	v := Matched{State: m.Query.State}
	err := m.check(s)
	if err == nil {
		v.AsOf, err = s.Bookkeeper.Clock(ctx)
	}
	if err != nil {
		return v, err
	}
	err = m.each(ctx, s, time.Now().Add(span), func(item *store.Item) error {
		if v.Messages == MostMatched {
			return errEnough
		}
		return v.one(item)
	})
	if v.AtLeast = errors.Is(err, errEnough); v.AtLeast {
		err = nil
	}
	return v, err
}

// PreviewMatched looks up for an operation what CountMatched counted for m. What was stored later is left out, and what died later has
// no command in the end. If more messages match than were counted, it is ErrInvalid, and if none does, ErrNotFound.
func (s Store) PreviewMatched(ctx context.Context, m Match, kind store.CommandKind, was Matched) (*Preview, error) {
	if err := m.check(s); err != nil {
		return nil, err
	}
	if err := Takes(kind, m.Query.State); err != nil {
		return nil, err
	}
	now, err := s.Bookkeeper.Clock(ctx)
	switch {
	case err != nil:
		return nil, err
	case was.Messages < 1 || was.Messages > MostMatched:
		return nil, refusef(ErrInvalid, "%d messages are said to match; count them first, and choose fewer than %d", was.Messages, MostMatched+1)
	case was.AsOf.IsZero() || was.AsOf.After(now):
		return nil, refusef(ErrInvalid, "the time at which they were counted is missing, or lies in the future; count them again")
	}
	p := &Preview{Choice: m.choice(kind), asOf: was.AsOf, keep: true}
	until := was.AsOf.Add(time.Microsecond) // Before leaves its own time out, and some databases have no finer one
	if q := &m.Query; q.State != store.StateScheduled && (q.Before.IsZero() || q.Before.After(until)) {
		q.Before = until
	}
	got := Matched{}
	err = m.each(ctx, s, time.Time{}, func(item *store.Item) error {
		if got.Messages == was.Messages {
			return refusef(ErrInvalid, "more than the %d %s messages match by now that were counted; count them again, and give the command for them", was.Messages, m.Query.State)
		}
		p.add(item)
		return got.one(item)
	})
	if err == nil && got.Messages == 0 {
		err = refusef(ErrNotFound, "no %s message matches any more; look again", m.Query.State)
	}
	p.Subscription = got.Subscription
	return p, err
}

// choice is the command that an operation gives.
func (m *Match) choice(kind store.CommandKind) Choice {
	c := Choice{Ref: m.Query.Ref, Kind: kind, Query: m.Query, Filter: m.text()}
	if c.Query.State == store.StateScheduled {
		c.Only = store.StateScheduled
	}
	return c
}

// text says for people which messages match. A key is not told.
func (m *Match) text() string {
	q := m.Query
	q.Key = ""
	text := strings.TrimSpace(filterText(&q))
	if m.Query.Key != "" {
		text += " --key"
	}
	if m.Kind != "" {
		text += fmt.Sprintf(", with an error such as %.200q", m.Kind)
	}
	return text
}
