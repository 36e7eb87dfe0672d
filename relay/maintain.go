package relay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// ErrMaintained says that a relay, or another call of Maintain, does the housekeeping of the
// box already.
var ErrMaintained = errors.New("relay: another process does the housekeeping of the box")

// MaintainOptions configure a Maintain.
type MaintainOptions struct {
	// Name tells people who does it. Defaults to "host:pid, maintains".
	Name string
	// UntilDone goes on until there is nothing more to do now. False: one round, of about a
	// second.
	UntilDone bool
}

// The lease of a Maintain: how long it outlives the last heartbeat, and how often it is
// renewed.
const (
	maintainTTL  = time.Minute
	maintainBeat = 15 * time.Second
)

// Maintain does the housekeeping of a box without a relay, under the lease with which a
// relay does it: for programs and cron jobs beside relays with NoMaintenance. It removes
// what the box does not keep any longer, moves scheduled messages into the log, and makes
// room in it. It returns the sum of what it did. ErrMaintained: somebody else has the lease,
// and nothing was done. It is safe for concurrent use.
func Maintain(ctx context.Context, s store.Store, box string, o MaintainOptions) (store.Report, error) {
	_, err := s.Check(ctx)
	if isMoved(err) { // it has reconciled the positions
		_, err = s.Check(ctx)
	}
	if err != nil {
		return store.Report{}, err
	}
	if o.Name == "" {
		host, _ := os.Hostname()
		o.Name = fmt.Sprintf("%s:%d, maintains", host, os.Getpid())
	}
	m := &maintainer{store: s, ref: store.Ref{Box: box, Subscription: store.Maintenance}, id: newID(), name: o.Name}
	defer m.leave(ctx)
	if err := m.beat(ctx, true); err != nil {
		return store.Report{}, err
	}
	return m.run(ctx, o.UntilDone)
}

// maintainer is a Maintain at work.
type maintainer struct {
	store    store.Store
	ref      store.Ref
	id, name string
	lease    store.Lease
	beaten   time.Time
}

// beat takes the lease, or renews it.
func (m *maintainer) beat(ctx context.Context, first bool) error {
	v, err := m.store.Beat(ctx, store.Beat{
		Relay: m.id, Name: m.name, New: first, TTL: maintainTTL, Works: []store.Ref{m.ref},
		Take: []store.Shard{{Ref: m.ref, Slots: store.AllSlots}},
	})
	if err != nil {
		return err
	}
	m.beaten = time.Now()
	i := slices.IndexFunc(v.Subscriptions, func(s store.SubscriptionState) bool { return s.Ref == m.ref })
	if i < 0 || len(v.Subscriptions[i].Shards) == 0 {
		return fmt.Errorf("relay: maintain box %.64q: %w", m.ref.Box, store.ErrNoBox)
	}
	shard := v.Subscriptions[i].Shards[0]
	if !v.Alive || shard.Owner != m.id {
		return ErrMaintained
	}
	m.lease = shard.Lease
	return nil
}

// run does rounds.
func (m *maintainer) run(ctx context.Context, untilDone bool) (store.Report, error) {
	var sum store.Report
	for {
		r, err := m.store.Maintain(ctx, store.Retention{Lease: m.lease, Keep: store.DefaultLifetime})
		sum.Promoted, sum.Added, sum.Dropped = sum.Promoted+r.Promoted, sum.Added+r.Added, sum.Dropped+r.Dropped
		sum.Copied, sum.Deleted, sum.Expired = sum.Copied+r.Copied, sum.Deleted+r.Deleted, sum.Expired+r.Expired
		sum.Faults, sum.More, sum.NextDue = r.Faults, r.More, r.NextDue
		switch {
		case errors.Is(err, store.ErrLeaseLost):
			return sum, ErrMaintained
		case err != nil || !r.More || !untilDone:
			return sum, err
		}
		if time.Since(m.beaten) >= maintainBeat {
			if err := m.beat(ctx, false); err != nil {
				return sum, err
			}
		}
	}
}

// leave gives the lease back.
func (m *maintainer) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	_, _ = m.store.Beat(ctx, store.Beat{Relay: m.id, Name: m.name, Leave: true}) // otherwise it runs out
}
