package store

import (
	"context"
	"errors"
	"time"
)

// Steward is implemented by a store whose subscriptions operators can change while relays
// run. Every change is written to the audit log in the same transaction, and changes the
// epoch, so that relays hear of it soon.
type Steward interface {
	// SetFilter gives a subscription another filter. Each read of a Turn that
	// begins after the call judges by the new filter, whatever process makes it. What was read
	// before stays judged by the filter of its read, and its settlement says so in the ledger.
	// Positions do not change: what a position has passed is not read again. From then on the
	// filter is the operator's, and Declare with another one changes nothing and is no error.
	// It may be said again. The error names what no filter can have.
	SetFilter(ctx context.Context, a Audit, r Ref, f Filter) error
	// Remove deletes a subscription: its shards and positions, its parked messages, commands and
	// ledger. The log and other subscriptions stay as they are, and what this one alone kept may
	// be dropped by retention. Settlements under its leases are lost from then on. Declare makes
	// no subscription of that name until Readmit. A store may delete rows later, some at a time,
	// that nothing shows and nobody works from then on.
	//
	// It is ErrWorked, and nothing is deleted, if a live relay holds a shard of one that is not
	// paused, unless force is set.
	Remove(ctx context.Context, a Audit, r Ref, force bool) error
	// Readmit lets Declare make a subscription of that name again, by a spec of its own.
	// ErrNoSubscription: none of that name was removed.
	Readmit(ctx context.Context, a Audit, r Ref) error
}

// ErrWorked says that a live relay works a subscription that was to be removed.
var ErrWorked = errors.New("store: a live relay works the subscription; pause it first, or force its removal")

// Removed is a subscription that an operator removed, and that Declare does not make again.
type Removed struct {
	Name string
	At   time.Time
	By   string
}
