package memstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// SetPaused implements store.Operator.
func (s *Store) SetPaused(ctx context.Context, a store.Audit, r store.Ref, paused bool) error {
	p := storekit.WholePause(r)
	_, err := call(ctx, s, OpCommand, func() (struct{}, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if paused {
			return struct{}{}, s.setPause(a, p, 0)
		}
		if _, err := s.ordered(a, r); err != nil {
			return struct{}{}, err
		}
		s.endPause(p)
		s.note(a, storekit.PauseText(p, false))
		return struct{}{}, nil
	})
	return err
}

// SetPause implements store.Pauser.
func (s *Store) SetPause(ctx context.Context, a store.Audit, p store.Pause, d time.Duration) error {
	_, err := call(ctx, s, OpCommand, func() (struct{}, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return struct{}{}, s.setPause(a, p, d)
	})
	return err
}

func (s *Store) setPause(a store.Audit, p store.Pause, d time.Duration) error {
	now := s.now()
	p, err := storekit.BeginPause(a, p, d, now)
	if err != nil {
		return fmt.Errorf("memstore: pause %s: %w", p.String(), err)
	}
	if err := s.pausable(p); err != nil {
		return err
	}
	s.endPauses(now)
	if i := s.pauseAt(p); i >= 0 {
		p.Since = s.pauses[i].Since
		if s.pauses[i].Until != p.Until {
			s.epoch++
		}
		s.pauses[i] = p
		s.note(a, storekit.PauseText(p, true))
		return nil
	}
	if len(s.pauses) >= store.MaxPauses {
		return fmt.Errorf("memstore: pause %s: %w", p.String(), store.ErrTooManyPauses)
	}
	s.pauses = append(s.pauses, p)
	s.epoch++
	s.note(a, storekit.PauseText(p, true))
	return nil
}

// EndPause implements store.Pauser.
func (s *Store) EndPause(ctx context.Context, a store.Audit, p store.Pause) (bool, error) {
	return call(ctx, s, OpCommand, func() (bool, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, err := storekit.BeginPause(a, store.Pause{Ref: p.Ref, Scope: p.Scope, Value: p.Value}, 0, s.now()); err != nil {
			return false, fmt.Errorf("memstore: resume %s: %w", p.String(), err)
		}
		if err := s.pausable(p); err != nil {
			return false, err
		}
		s.endPauses(s.now())
		ended := s.endPause(p)
		if ended {
			s.note(a, storekit.PauseText(p, false))
		}
		return ended, nil
	})
}

// pausable returns an error if the pause is of a subscription that is not there.
func (s *Store) pausable(p store.Pause) error {
	if p.Scope == store.PauseDestination {
		return nil
	}
	if p.Subscription == store.Maintenance {
		return fmt.Errorf("memstore: subscription %s: %w", p.Ref, store.ErrNoSubscription)
	}
	_, err := s.subscription(p.Ref)
	return err
}

// pauseAt returns the place of the pause of the same, or -1.
func (s *Store) pauseAt(p store.Pause) int {
	return slices.IndexFunc(s.pauses, func(o store.Pause) bool { return o.Same(&p) })
}

// endPause ends a pause, and says whether there was one.
func (s *Store) endPause(p store.Pause) bool {
	i := s.pauseAt(p)
	if i < 0 {
		return false
	}
	s.pauses = slices.Delete(s.pauses, i, i+1)
	s.epoch++
	return true
}

// forgetPauses removes the pauses of a subscription that is gone.
func (s *Store) forgetPauses(r store.Ref) {
	s.pauses = slices.DeleteFunc(s.pauses, func(p store.Pause) bool { return p.Ref == r })
}

// endPauses ends the pauses whose time is over.
func (s *Store) endPauses(now time.Time) {
	n := len(s.pauses)
	s.pauses = slices.DeleteFunc(s.pauses, func(p store.Pause) bool { return p.Over(now) })
	if len(s.pauses) < n {
		s.epoch++
	}
}

// paused returns the pauses that are in force.
func (s *Store) paused(now time.Time) []store.Pause {
	out := slices.DeleteFunc(slices.Clone(s.pauses), func(p store.Pause) bool { return p.Over(now) })
	storekit.SortPauses(out)
	return out
}

// holds says that all of a subscription is held.
func (s *Store) holds(r store.Ref, now time.Time) bool {
	i := s.pauseAt(storekit.WholePause(r))
	return i >= 0 && !s.pauses[i].Over(now)
}
