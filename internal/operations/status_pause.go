package operations

import (
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
)

// Pause is what an operator holds in JSON.
type Pause struct {
	// subscription, destination, topic, type or key.
	Scope string `json:"scope"`
	// Which destination, topic, type or key.
	Value string `json:"value,omitempty"`
	// The box and the subscription; none: a destination, of all subscriptions.
	Box          string `json:"box,omitempty"`
	Subscription string `json:"subscription,omitempty"`
	// Who holds it, and why.
	Who string `json:"who"`
	Why string `json:"why"`
	// When it began.
	Since time.Time `json:"since"`
	// When it ends by itself; none: when somebody resumes it.
	Until *time.Time `json:"until,omitempty"`
	// How many messages are held; those behind them in their keys do not count.
	Messages int64 `json:"messages"`
}

func pauseOf(p *store.Pause) Pause {
	v := Pause{
		Scope: string(p.Scope), Value: p.Value, Box: p.Box, Subscription: p.Subscription, Who: p.Who, Why: p.Why, Since: p.Since.UTC(),
	}
	if !p.Until.IsZero() {
		until := p.Until.UTC()
		v.Until = &until
	}
	return v
}

// Of says what is held, such as "topic orders of outbox/default".
func (p *Pause) Of() string {
	at := p.Box + "/" + p.Subscription
	switch store.PauseScope(p.Scope) {
	case store.PauseSubscription:
		return at
	case store.PauseDestination:
		return "destination " + p.Value
	default:
		return p.Scope + " " + p.Value + " of " + at
	}
}

// Ends says when it ends, for people.
func (p *Pause) Ends() string {
	if p.Until == nil {
		return "until it is resumed"
	}
	return "until " + p.Until.Format(time.RFC3339)
}

// InWords says who holds it, since when, until when and why.
func (p *Pause) InWords() string {
	return fmt.Sprintf("by %s since %s %s: %s", p.Who, p.Since.Format(time.RFC3339), p.Ends(), p.Why)
}

// addPauses adds what operators hold to a status, and to the subscriptions that it is of.
func (v *Status) addPauses(o *store.Overview) {
	v.Pauses = []Pause{}
	for i := range o.Pauses {
		p := &o.Pauses[i]
		one := pauseOf(p)
		for j := range o.Boxes {
			for k := range o.Boxes[j].Subscriptions {
				s := &o.Boxes[j].Subscriptions[k]
				if !concerns(p, s.Ref, o.Relays) {
					continue
				}
				here := pauseOf(p)
				here.Messages = heldBy(p, s)
				one.Messages += here.Messages
				to := &v.Boxes[j].Subscriptions[k]
				to.Pauses = append(to.Pauses, here)
				to.Paused = to.Paused || p.Scope == store.PauseDestination
			}
		}
		v.Pauses = append(v.Pauses, one)
	}
}

// concerns says that a pause is of a subscription, or of the destination that a relay says
// it has.
func concerns(p *store.Pause, of store.Ref, relays []store.RelayState) bool {
	if p.Scope != store.PauseDestination {
		return p.Ref == of
	}
	for i := range relays {
		for _, c := range relays[i].Conditions {
			if c.Ref == of && c.Destination == p.Value {
				return true
			}
		}
	}
	return false
}

// heldBy is how many messages of a subscription a pause holds, as far as its overview says.
func heldBy(p *store.Pause, s *store.SubscriptionView) int64 {
	name := p.HeldAs()
	for _, h := range s.Held {
		if p.Messages() && h.Topic == name {
			return h.Messages
		}
	}
	return 0
}
