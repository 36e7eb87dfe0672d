package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Lifetimes say how long messages of a box stay, by what became of them. A field of zero
// says nothing. Each time is in steps of a microsecond.
type Lifetimes struct {
	// Delivered is how long a message stays in the log after every subscription has passed
	// it. It is meant for messages that were delivered or filtered.
	Delivered time.Duration
	// Discarded is how long a discarded message stays in the log after every subscription has
	// passed it. All that is behind it in the log stays as long. It is never less than
	// Delivered.
	Discarded time.Duration
	// Dead is how long a dead message stays parked. Then housekeeping has it discarded.
	// Forever: until an operator discards it.
	Dead time.Duration
}

// Forever as Lifetimes.Dead keeps dead messages until somebody discards them.
const Forever time.Duration = math.MaxInt64

// DefaultLifetime is Lifetimes.Delivered where nobody says anything.
const DefaultLifetime = 72 * time.Hour

// LeastLifetime is the shortest time that people can set for an outcome. A lease can be
// valid for ten minutes, and a standby that takes over can be behind. A message that went
// before that could not be looked at when somebody asks what became of it. A store takes
// less: tests need it.
const LeastLifetime = 10 * time.Minute

// mostLifetime is the longest time.
const mostLifetime = 100 * 365 * 24 * time.Hour

// IsZero says whether nothing is said.
func (l Lifetimes) IsZero() bool { return l == Lifetimes{} }

// Or returns l with what it does not say taken from other.
func (l Lifetimes) Or(other Lifetimes) Lifetimes {
	for _, f := range []struct{ to, from *time.Duration }{
		{&l.Delivered, &other.Delivered}, {&l.Discarded, &other.Discarded}, {&l.Dead, &other.Dead},
	} {
		if *f.to == 0 {
			*f.to = *f.from
		}
	}
	return l
}

// Validate reports what cannot be set. What is said must not be shorter than least:
// LeastLifetime where people say it. Discarded messages lie among delivered ones, so they
// cannot go before those. That is compared with Delivered only if both are said.
func (l Lifetimes) Validate(least time.Duration) error {
	var errs []error
	for _, f := range []struct {
		name string
		d    time.Duration
	}{{"delivered", l.Delivered}, {"discarded", l.Discarded}, {"dead", l.Dead}} {
		if f.d != 0 && (f.d < least || f.d > mostLifetime) && !(f.name == "dead" && f.d == Forever) {
			errs = append(errs, fmt.Errorf("store: %s messages cannot be kept for %v; the least is %v, the most %v", f.name, f.d, least, mostLifetime))
		}
	}
	if l.Discarded != 0 && l.Discarded < l.Delivered {
		errs = append(errs, fmt.Errorf("store: discarded messages cannot be kept for %v, less than delivered ones (%v): they lie among those; the least is %v",
			l.Discarded, l.Delivered, l.Delivered))
	}
	return errors.Join(errs...)
}

// BoxRetention is what a box holds about its retention.
type BoxRetention struct {
	// Operator is what operators have set. It comes first.
	Operator Lifetimes
	// Deployed is what relays say by their configuration. It holds where Operator says
	// nothing.
	Deployed Lifetimes
	// By is the name of the relay that said so last, and Ago how long ago.
	By  string
	Ago time.Duration
}

// Lifetimes returns what holds, every field of it. def is Delivered where nobody says
// anything.
func (r *BoxRetention) Lifetimes(def time.Duration) Lifetimes {
	l := r.Operator.Or(r.Deployed)
	if l.Delivered == 0 {
		l.Delivered = def
	}
	l.Discarded = max(l.Discarded, l.Delivered)
	if l.Dead == 0 {
		l.Dead = Forever
	}
	return l
}

// Deployment is what a relay says about the retention of a box.
type Deployment struct {
	Box string
	// Relay is the relay's name, for people.
	Relay string
	Lifetimes
	// Refused is how long the store has kept other lifetimes although this relay says these.
	// Zero: it is the first time that the relay says so.
	Refused time.Duration
}

// How often a relay says what it has deployed, and how long a store holds what relays have
// said when none says it any more.
const (
	DeployEvery = 10 * time.Minute
	DeployHeld  = time.Hour
)

// Retainer is implemented by a store whose boxes hold their retention. Maintain then goes
// by the box, and Retention.Keep is the default of a box that holds nothing. So it does
// not matter which relay maintains a box.
type Retainer interface {
	// SetRetention is an operator's command. It replaces BoxRetention.Operator. Lifetimes of
	// zero end that: what relays have deployed holds again. If no relay has said that for
	// DeployHeld, it goes too. The audit log has who, why and both values. The box must exist
	// (ErrNoBox).
	SetRetention(ctx context.Context, a Audit, box string, l Lifetimes) error
	// DeployRetention is a relay's word. A relay says it when it starts, and every
	// DeployEvery. It returns what the box holds then. If it says nothing, nothing changes.
	//
	// Two relays that say different lifetimes cannot alternate. Longer lifetimes replace
	// shorter ones at once. Anything else waits until no relay has said for DeployHeld what
	// the box holds. If a relay says it again while d waits, the box gets a notice.
	DeployRetention(ctx context.Context, d Deployment) (BoxRetention, error)
	// Expired returns about how many messages of the log housekeeping would remove now if
	// these lifetimes held. Discarded messages may hold some of them.
	Expired(ctx context.Context, box string, l Lifetimes) (int64, error)
}
