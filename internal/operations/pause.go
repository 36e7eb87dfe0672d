package operations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// SetPaused holds a subscription, or lets it go on. Relays hear of it within a moment.
func (s Store) SetPaused(ctx context.Context, a store.Audit, r store.Ref, paused bool) error {
	if err := ValidAudit(a); err != nil {
		return err
	}
	return s.Operator.SetPaused(ctx, a, r, paused)
}

// Pause holds what p names, for d if that is not zero, or else until p.Until if that is set.
// Relays hear of it within a moment. notes are what the operator should know, one line each.
// A live relay of an older version, which would go on, is ErrInvalid. So is what
// [store.Pauser] refuses.
func (s Store) Pause(ctx context.Context, a store.Audit, p store.Pause, d time.Duration) (notes []string, err error) {
	if err := s.pausable(a, &p); err != nil {
		return nil, err
	}
	if p.Scope != store.PauseSubscription {
		o, err := s.Overview(ctx)
		if err != nil {
			return nil, err
		}
		if r := olderThanPauses(&o, &p); r != nil {
			return nil, refusef(ErrInvalid, "relay %s is of an older version, which goes on with what is paused by %s; stop it or upgrade it, or pause the whole subscription", r.Name, p.Scope)
		}
		if p.Scope == store.PauseDestination && !names(&o, p.Value) {
			notes = append(notes, fmt.Sprintf("no live relay calls its destination %s; the pause holds those that will", p.Value))
		}
	}
	if s.Pauser == nil && d == 0 {
		return nil, s.Operator.SetPaused(ctx, a, p.Ref, true)
	}
	if s.Pauser == nil {
		return nil, errNoEnds
	}
	err = s.Pauser.SetPause(ctx, a, p, d)
	if errors.Is(err, store.ErrPauseOver) || errors.Is(err, store.ErrTooManyPauses) {
		err = refusef(ErrInvalid, "%v", err)
	}
	return notes, err
}

// Resume ends the pause of what p names. If there is none, the error is ErrNotFound, but for
// a whole subscription, which may be resumed again.
func (s Store) Resume(ctx context.Context, a store.Audit, p store.Pause) error {
	if err := s.pausable(a, &p); err != nil {
		return err
	}
	if p.Scope == store.PauseSubscription {
		return s.Operator.SetPaused(ctx, a, p.Ref, false)
	}
	ended, err := s.Pauser.EndPause(ctx, a, p)
	if err == nil && !ended {
		err = refusef(ErrNotFound, "there is no pause of %s; see postbag subscriptions pauses", p.String())
	}
	return err
}

// pausable says whether the store can hold what p names.
func (s Store) pausable(a store.Audit, p *store.Pause) error {
	if err := ValidAudit(a); err != nil {
		return err
	}
	if err := p.Validate(); err != nil {
		return refusef(ErrInvalid, "%v", err)
	}
	if s.Pauser == nil && (p.Scope != store.PauseSubscription || !p.Until.IsZero()) {
		return errNoEnds
	}
	return nil
}

var errNoEnds = refusef(ErrUnsupported, "this kind of store keeps no pauses with an end, or of some messages; pause the whole subscription, without an end")

// olderThanPauses returns a live relay that works what p holds and does not know such pauses.
func olderThanPauses(o *store.Overview, p *store.Pause) *store.RelayState {
	for i := range o.Relays {
		r := &o.Relays[i]
		for _, ref := range r.Works {
			if ref.Subscription == store.Maintenance || p.Messages() && ref != p.Ref {
				continue
			}
			if olderThan(r, ref) {
				return r
			}
		}
	}
	return nil
}

// names says that a live relay calls a destination so.
func names(o *store.Overview, destination string) bool {
	return slices.ContainsFunc(o.Relays, func(r store.RelayState) bool {
		return slices.ContainsFunc(r.Conditions, func(c store.Condition) bool { return c.Destination == destination })
	})
}

// Pauses returns what operators hold, oldest first.
func (s Store) Pauses(ctx context.Context) ([]Pause, error) {
	o, err := s.Overview(ctx)
	if err != nil {
		return nil, err
	}
	return StatusOf(&o, nil).Pauses, nil
}
