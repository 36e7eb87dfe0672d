package operations

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag/store"
)

// Matched is what all messages that match come to, for an operation, in JSON. Names of fields are a contract.
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

// CountMatched counts the messages of a Match for an operation, up to MostMatched, for about a span of time. Messages of several
// subscriptions, and a state that takes no command, are ErrInvalid. A store that keeps no operations is ErrUnsupported.
func (s Store) CountMatched(ctx context.Context, m Match, span time.Duration) (Matched, error) {
	v := Matched{State: m.Query.State}
	err := m.kept(ctx, s, 0, &v.AsOf)
	if err != nil {
		return v, err
	}
	err = m.each(ctx, s, bound{most: MostMatched, until: time.Now().Add(span)}, func(item *store.Item) {
		v.Subscription = item.Subscription
		v.Messages++
	})
	if v.AtLeast = errors.Is(err, errEnough); v.AtLeast {
		err = nil
	}
	return v, err
}

// kept checks that an operation can be over a Match, and asks for the database's time.
func (m *Match) kept(ctx context.Context, s Store, kind store.CommandKind, now *time.Time) (err error) {
	if s.Bookkeeper == nil {
		return errNoBookkeeper()
	}
	if err := m.check(s, kind); err != nil {
		return err
	}
	*now, err = s.Bookkeeper.Clock(ctx)
	return err
}

// PreviewMatched looks up for an operation what CountMatched counted for m. What was stored later is left out, and what died later has
// no command in the end. If more messages match than were counted, it is ErrInvalid, and if none does, ErrNotFound.
func (s Store) PreviewMatched(ctx context.Context, m Match, kind store.CommandKind, was Matched) (*Preview, error) {
	var now time.Time
	switch err := m.kept(ctx, s, kind, &now); {
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
	err := m.each(ctx, s, bound{most: was.Messages}, func(item *store.Item) {
		p.Subscription = item.Subscription
		p.add(item)
	})
	switch {
	case errors.Is(err, errEnough):
		err = refusef(ErrInvalid, "more than the %d %s messages match by now that were counted; count them again, and give the command for them", was.Messages, m.Query.State)
	case err == nil && p.Size() == 0:
		err = m.noneMatches()
	}
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
