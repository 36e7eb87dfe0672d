package pgstore

import (
	"context"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

var _ store.Pauser = (*Store)(nil)

// SetPaused implements store.Operator.
func (s *Store) SetPaused(ctx context.Context, a store.Audit, r store.Ref, paused bool) error {
	p := storekit.WholePause(r)
	if paused {
		return s.SetPause(ctx, a, p, 0)
	}
	_, err := s.endPause(ctx, a, p, true)
	return err
}

// SetPause implements store.Pauser.
func (s *Store) SetPause(ctx context.Context, a store.Audit, p store.Pause, d time.Duration) error {
	var over, full, made bool
	err := s.pausing(ctx, a, p, func(v *server, sub int32, a store.Audit) error {
		if d < 0 {
			return store.ErrPauseOver
		}
		until := int64(0)
		if !p.Until.IsZero() {
			until = max(p.Until.UnixMicro(), 1)
		}
		begun := p
		begun.Until = time.Time{} // the statement knows the end, and adds it
		args := new(parameters).int4(sub).text(string(p.Scope)).text(p.Value).text(a.Who).text(a.Why)
		args.int8(d.Microseconds()).int8(until).text(storekit.PauseText(begun, true)).int4(store.MaxPauses)
		err := s.run(ctx, s.guard(v, "", nil), s.lockSubscription(sub), call{
			st: s.statements.get("set_pause", ""), args: args,
			each: func(r row) error {
				c := columns{rest: r}
				over, full, made = c.bool(), c.bool(), c.bool()
				return c.err
			},
		})
		switch {
		case err == nil && over:
			return store.ErrPauseOver
		case err == nil && full:
			return store.ErrTooManyPauses
		case err == nil && !made: // it was removed meanwhile
			return store.ErrNoSubscription
		}
		return err
	})
	return translateError("pause "+p.String(), err)
}

// EndPause implements store.Pauser.
func (s *Store) EndPause(ctx context.Context, a store.Audit, p store.Pause) (bool, error) {
	return s.endPause(ctx, a, p, false)
}

// endPause ends a pause. always: it is audited although there is none.
func (s *Store) endPause(ctx context.Context, a store.Audit, p store.Pause, always bool) (ended bool, err error) {
	err = s.pausing(ctx, a, p, func(v *server, sub int32, a store.Audit) error {
		args := new(parameters).int4(sub).text(string(p.Scope)).text(p.Value).text(a.Who).text(a.Why)
		args.text(storekit.PauseText(p, false)).bool(always)
		return s.run(ctx, s.guard(v, "", nil), s.lockSubscription(sub), call{
			st: s.statements.get("end_pause", ""), args: args,
			each: func(r row) error {
				c := columns{rest: r}
				ended = c.bool()
				return c.err
			},
		})
	})
	return ended && err == nil, translateError("resume "+p.String(), err)
}

// pausing changes pauses of a subscription, or of a destination, whose id is 0.
func (s *Store) pausing(ctx context.Context, a store.Audit, p store.Pause, fn func(*server, int32, store.Audit) error) error {
	a, err := audited(a)
	if err != nil {
		return err
	}
	if err := p.Validate(); err != nil {
		return err
	}
	if p.Scope == store.PauseDestination {
		return s.guarded(ctx, func(v *server) error { return fn(v, 0, a) })
	}
	return s.order(ctx, a, p.Ref, func(v *server, sub *catalogSubscription, a store.Audit) error { return fn(v, sub.id, a) })
}

// lockSubscription comes before all that locks pauses of a subscription: a removal locks both in that sequence, too.
func (s *Store) lockSubscription(id int32) call {
	return call{st: s.statements.get("lock_subscription", ""), args: new(parameters).int4(id)}
}

// pauses reads what is in force into all. skip: nobody wants it.
func (s *Store) pauses(all *[]store.Pause, skip func() bool) call {
	return call{
		st:    s.statements.get("pauses", ""),
		reset: func() { *all = nil },
		each: func(r row) error {
			if skip() {
				return nil
			}
			c := columns{rest: r}
			p := store.Pause{Ref: store.Ref{Box: c.text(), Subscription: c.text()}, Scope: store.PauseScope(c.text()), Value: c.text(), Who: c.text(), Why: c.text()}
			p.Since = time.UnixMicro(c.int8()).UTC()
			if ends := c.int8(); ends != 0 {
				p.Until = time.UnixMicro(ends).UTC()
			}
			*all = append(*all, p)
			return c.err
		},
	}
}
