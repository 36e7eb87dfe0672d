package relay

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/store"
)

// Options configure a Relay.
type Options struct {
	// Subscriptions are what the relay works on. At least one.
	Subscriptions []Subscription
	// Boxes are what holds for all subscriptions of a box, by its name. Each is read by
	// one of Subscriptions. Defaults to none.
	Boxes map[string]Box
	// Destinations are what subscriptions that operators add go to, by the name that operators
	// say (store.SettingDestination). The relay begins such a subscription while it runs, with
	// the defaults of a Subscription and what operators have set, and ends it when it is
	// removed. One that Subscriptions has, by box and name, stays as it is there. Nothing is
	// exactly once: a destination with transactions is left alone, with a line in the log.
	// Names are 1 to 63 letters, digits, - or _. Several may be the same destination, also one
	// of Subscriptions. The caller closes them after Run. With any, Hooks may be called from
	// several goroutines, by one at a time, and so may OnError. A hook and OnError may be called
	// at the same time. Boxes may name boxes that no subscription reads yet. Stats has added subscriptions, too. The map is copied. Defaults
	// to none: the relay begins no subscription.
	Destinations map[string]broker.Destination
	// Name tells people which relay this is. Defaults to "host:pid".
	Name string
	// TTL is how long the relay's leases outlive its last heartbeat. After that time
	// others take over when it dies. Between 1 s and 10 min. Defaults to 15 s.
	TTL time.Duration
	// Grace is how long a graceful shutdown waits for answers that are out. Defaults to
	// 10 s.
	Grace time.Duration
	// PollMax is the longest pause between two polls of an idle store. Defaults to 1 s,
	// and to 500 ms while other relays are there.
	PollMax time.Duration
	// SettleEvery is the longest time that an answered message waits for its settlement
	// while there is little to do. Defaults to 50 ms.
	SettleEvery time.Duration
	// Keep is Retention.Delivered of all boxes whose Retention does not say it, see
	// Box.Retention. Between 1 s and 100 years. Defaults to nothing said: the box then goes
	// by what others have said, or by 72 h.
	Keep time.Duration
	// NoMaintenance leaves the boxes' housekeeping to other relays, or to a cron job that calls Maintain.
	// Scheduled messages then wait for those too: housekeeping moves them into the log.
	NoMaintenance bool
	// Logger gets one line for each change of state. Defaults to slog.Default().
	Logger *slog.Logger
	// OnError is called with each error of the store, also with one that ends Run, and with
	// one each time that a row cannot be read; with one error of each call to a
	// destination in which anything failed; and with one error when a topic stops
	// working. Messages that are held for that topic then cause no further calls, until
	// the topic works again. What the relay gives up itself, since it stops, is no error.
	// It is called from the relay's loop, so it must return soon. Optional.
	OnError func(error)
	// Hooks hear what the relay does: pages, calls, messages, settlements, deaths, leases. All
	// of them are called. Defaults to none, which costs nothing.
	Hooks []Hooks
}

// validate fills the defaults and reports everything that is wrong.
func (o *Options) validate() error {
	var errs []error
	if len(o.Subscriptions) == 0 {
		errs = append(errs, errors.New("relay: no subscriptions; name at least one with its destination"))
	}
	errs = append(errs, deadTopics(o.Subscriptions)) // before middleware is in front of the destinations
	seen := make(map[store.Ref]bool)
	for i := range o.Subscriptions {
		s := &o.Subscriptions[i]
		if err := s.validate(o.Boxes[s.ref().Box]); err != nil {
			errs = append(errs, fmt.Errorf("relay: subscription %d (%s): %w", i, s.ref(), err))
		}
		if seen[s.ref()] {
			errs = append(errs, fmt.Errorf("relay: subscription %s is named twice; give each a Name of its own", s.ref()))
		}
		seen[s.ref()] = true
	}
	errs = append(errs, o.boxes(), deadTo(o.Subscriptions), o.validKeep())
	errs = append(errs, o.times()...)
	if o.Name == "" {
		host, _ := os.Hostname()
		o.Name = fmt.Sprintf("%s:%d", host, os.Getpid())
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return errors.Join(errs...)
}

// boxes reports what is wrong with Boxes. Settings of a box that no subscription reads would
// have no effect.
func (o *Options) boxes() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(o.Boxes)) {
		errs = append(errs, o.validRetention(name))
		if len(o.Destinations) == 0 && !slices.ContainsFunc(o.Subscriptions, func(s Subscription) bool { return s.ref().Box == name }) {
			errs = append(errs, fmt.Errorf("relay: Boxes names %.64q, which no subscription reads; correct the name, or leave it out", name))
		}
	}
	return errors.Join(errs...)
}

func (o *Options) times() []error {
	var errs []error
	for _, t := range []struct {
		name        string
		value       *time.Duration
		normal      time.Duration
		least, most time.Duration
	}{
		{"TTL", &o.TTL, 15 * time.Second, time.Second, 10 * time.Minute},
		{"Grace", &o.Grace, 10 * time.Second, time.Millisecond, time.Hour},
		{"PollMax", &o.PollMax, time.Second, time.Millisecond, time.Minute},
		{"SettleEvery", &o.SettleEvery, 50 * time.Millisecond, time.Millisecond, 10 * time.Second},
	} {
		if *t.value == 0 {
			*t.value = t.normal
		}
		if *t.value < t.least || *t.value > t.most {
			errs = append(errs, fmt.Errorf("relay: %s is %v; choose between %v and %v", t.name, *t.value, t.least, t.most))
		}
	}
	return errs
}

// Start says where a new subscription begins.
type Start = store.Start

// First begins at the oldest message that the box holds. It is the default.
func First() Start { return Start{} }

// Now begins with what commits after the subscription was declared.
func Now() Start { return Start{Now: true} }

// At begins with what was stored at or after a time. A little more may come.
func At(t time.Time) Start { return Start{At: t} }

func validName(ref store.Ref) error {
	return errors.Join(postbag.ValidBox(ref.Box), postbag.ValidSubscription(ref.Subscription))
}
