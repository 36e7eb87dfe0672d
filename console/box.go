package console

import (
	"net/http"
	"slices"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

var (
	errNoDatabase = &missing{"this console shows no such database; the overview has those there are"}
	errNoBox      = &missing{"there is no such box; the overview has those there are"}
)

// missing is something that is not there.
type missing struct{ text string }

func (e *missing) Error() string { return e.text }

// Unwrap says that it is operations.ErrNotFound.
func (*missing) Unwrap() error { return operations.ErrNotFound }

// SubscriptionState is the state of one subscription in JSON, with its settings.
type SubscriptionState struct {
	operations.Subscription

	// What was declared, and what operators set.
	Detail *operations.SubscriptionDetail `json:"detail"`
	// The settings in force that the store keeps, with where they come from.
	Settings []operations.Setting `json:"settings"`
}

func (c *console) box(r *http.Request) (BoxState, error) {
	d, err := c.database(r)
	if err != nil {
		return BoxState{}, err
	}
	s, err := d.status(r.Context())
	if err != nil {
		return BoxState{}, err
	}
	b, err := boxOf(s, r.PathValue("box"))
	if err != nil {
		return BoxState{}, err
	}
	return boxState(b), nil
}

func boxOf(s *operations.Status, name string) (*operations.Box, error) {
	for i := range s.Boxes {
		if s.Boxes[i].Name == name {
			return &s.Boxes[i], nil
		}
	}
	return nil, errNoBox
}

func (c *console) subscription(r *http.Request) (v SubscriptionState, err error) {
	d, err := c.database(r)
	if err != nil {
		return v, err
	}
	now, before, err := d.overview(r.Context())
	if err != nil {
		return v, err
	}
	ref := store.Ref{Box: r.PathValue("box"), Subscription: r.PathValue("subscription")}
	b, err := boxOf(operations.StatusOf(now, before), ref.Box)
	if err != nil {
		return v, err
	}
	detail, err := operations.Subscriptions(now).Find(ref)
	if err != nil {
		return v, err
	}
	at := slices.IndexFunc(b.Subscriptions, func(s operations.Subscription) bool { return s.Name == ref.Subscription })
	return SubscriptionState{Subscription: b.Subscriptions[at], Detail: detail, Settings: detail.Stored()}, nil
}

// Relays are the live relays of a database in JSON.
type Relays struct {
	// The relays.
	Relays []operations.Relay `json:"relays"`
}

func (c *console) relays(r *http.Request) (Relays, error) {
	d, err := c.database(r)
	if err != nil {
		return Relays{}, err
	}
	s, err := d.status(r.Context())
	if err != nil {
		return Relays{}, err
	}
	return Relays{s.Relays}, nil
}
