package history

import (
	"errors"
	"fmt"
	"time"
)

// Options say what a history is judged by. The zero Options are for a subscription with order by key whose run has come to
// rest.
type Options struct {
	// Subscription is judged alone: records that name another one are left out. Empty: all records are of one.
	Subscription string
	// Wants says whether the subscription has a message delivered. Nil: it has them all.
	Wants func(m *Intent) bool

	// InFlight is how many messages a fault may cause to be sent again, if the fault does not say. Zero is 1,000.
	InFlight int
	// Slack is how long after a fault's end it still explains duplicates: until leases have changed hands. It is also how long a
	// message that was stored may wait for its settlement: a fault that comes meanwhile has it sent again, at any time.
	Slack time.Duration
	// ExactlyOnce says that no fault explains a duplicate.
	ExactlyOnce bool

	// Effects says what is promised of the effects of messages. Zero: nothing is missed that was not recorded.
	Effects Effects
	// Unread says that nobody recorded what lies in the broker: of messages only their effects are judged.
	Unread bool

	// Unordered says that no order is promised.
	Unordered bool
	// Skip says that a message that was refused or parked is left behind by its key, and so has no order.
	Skip bool
	// MayPend says that the run was judged before it came to rest, so messages may be waiting in the store.
	MayPend bool
	// Ended is when the run was judged: scheduled messages that are due later may be waiting. Zero: all may.
	Ended time.Duration

	// Takeover and Resume are the longest gaps of the two kinds. Zero: they are not judged.
	Takeover, Resume time.Duration
	// OpenTransaction and LockWait are the longest that is tolerated of each. Zero: any is a breach.
	OpenTransaction, LockWait time.Duration

	// Unseen says whether a message may have been stored, and wiped, before the reader could see it: then nobody knows where it stood
	// first, and it has no order. Nil: none.
	Unseen func(id ID) bool

	// Lookup looks for a message that seems lost, in the store and in the broker. Nil: what seems lost is reported so.
	Lookup func(id ID) Found
	// Lookups is how many messages are looked up at most; further ones count as lost. Zero is 1,000.
	Lookups int
	// Examples is how many breaches of a promise are shown. Zero is 10.
	Examples int
}

// Found is what a Lookup found.
type Found struct {
	State  State  `json:"state"`          // in the store
	Broker bool   `json:"broker"`         // it was stored in the broker, and the reader has missed it
	Note   string `json:"note,omitempty"` // whatever helps a person
}

// Validate returns all that is wrong with the options.
func (o *Options) Validate() error {
	var all []error
	wrong := func(name string, n any) {
		all = append(all, fmt.Errorf("history: Options.%s is %v, below zero; leave it zero for the default", name, n))
	}
	for _, one := range []struct {
		name string
		n    int
	}{{"InFlight", o.InFlight}, {"Lookups", o.Lookups}, {"Examples", o.Examples}} {
		if one.n < 0 {
			wrong(one.name, one.n)
		}
	}
	for _, one := range []struct {
		name string
		d    time.Duration
	}{{"Slack", o.Slack}, {"Takeover", o.Takeover}, {"Resume", o.Resume}, {"OpenTransaction", o.OpenTransaction}, {"LockWait", o.LockWait}} {
		if one.d < 0 {
			wrong(one.name, one.d)
		}
	}
	if int(o.Effects) >= len(effects) {
		all = append(all, fmt.Errorf("history: Options.Effects is %v; give NoEffects, OnceEach or OnceInOrder", o.Effects))
	}
	return errors.Join(all...)
}

func (o *Options) setDefaults() {
	if o.InFlight <= 0 {
		o.InFlight = 1000
	}
	if o.Lookups <= 0 {
		o.Lookups = 1000
	}
	if o.Examples <= 0 {
		o.Examples = 10
	}
}
