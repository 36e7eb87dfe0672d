package sqlkit

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// SetPaused holds a subscription, or lets it go on; see [store.Operator].
func (s *Base) SetPaused(ctx context.Context, a store.Audit, r store.Ref, paused bool) error {
	p := storekit.WholePause(r)
	if paused {
		return s.SetPause(ctx, a, p, 0)
	}
	return s.pausing(ctx, a, p, "resume", func(t *Tx, id int64) error {
		if _, err := t.endPause(id, &p); err != nil {
			return err
		}
		return t.audit(a, storekit.PauseText(p, false))
	})
}

// SetPause begins a pause; see [store.Pauser].
func (s *Base) SetPause(ctx context.Context, a store.Audit, p store.Pause, d time.Duration) error {
	return s.pausing(ctx, a, p, "pause", func(t *Tx, id int64) error {
		p, err := storekit.BeginPause(a, p, d, time.UnixMicro(t.Now))
		if err != nil {
			return err
		}
		if err := t.setPause(id, &p); err != nil {
			return err
		}
		return t.audit(a, storekit.PauseText(p, true))
	})
}

// EndPause ends a pause; see [store.Pauser].
func (s *Base) EndPause(ctx context.Context, a store.Audit, p store.Pause) (bool, error) {
	ended := false
	err := s.pausing(ctx, a, p, "resume", func(t *Tx, id int64) (err error) {
		if ended, err = t.endPause(id, &p); err != nil || !ended {
			return err
		}
		return t.audit(a, storekit.PauseText(p, false))
	})
	return ended && err == nil, err
}

// pausing changes pauses of a subscription, or of a destination, whose id is 0.
func (s *Base) pausing(ctx context.Context, a store.Audit, p store.Pause, doing string, fn func(*Tx, int64) error) error {
	doing += " " + p.String()
	if err := storekit.CheckAudit(a); err != nil {
		return s.dialect.Translate(doing, err)
	}
	if err := p.Validate(); err != nil {
		return s.dialect.Translate(doing, err)
	}
	return s.hooks.Change(ctx, doing, func(t *Tx) error {
		var id int64
		if p.Scope != store.PauseDestination {
			var err error
			if id, err = t.Subscription(p.Ref); err != nil {
				return err
			}
			if id == 0 || p.Subscription == store.Maintenance {
				return store.ErrNoSubscription
			}
		}
		return fn(t, id)
	})
}

// setPause writes a pause, in place of the one of the same.
func (t *Tx) setPause(id int64, p *store.Pause) error {
	all, err := t.pauses()
	if err != nil {
		return err
	}
	ends := int64(0)
	if !p.Until.IsZero() {
		ends = p.Until.UnixMicro()
	}
	at := slices.IndexFunc(all, func(o store.Pause) bool { return o.Same(p) })
	switch {
	case at >= 0:
		p.Since = all[at].Since
		t.Moved = t.Moved || !all[at].Until.Equal(p.Until)
	case len(all) >= store.MaxPauses:
		return store.ErrTooManyPauses
	default:
		t.Moved = true
	}
	if _, err := t.Exec(sqlSetPause, id, string(p.Scope), p.Value, p.Who, p.Why, p.Since.UnixMicro(), ends); err != nil {
		return err
	}
	return t.flag(id, p, true)
}

// endPause removes a pause, and says whether it was in force.
func (t *Tx) endPause(id int64, p *store.Pause) (bool, error) {
	var began, ends int64
	key := []any{id, string(p.Scope), p.Value}
	there, err := t.Row(sqlPause, key, &began, &ends)
	if err != nil {
		return false, err
	}
	moved := t.Moved
	t.Moved = false
	if err := t.flag(id, p, false); err != nil {
		return false, err
	}
	inForce := t.Moved
	if there {
		inForce = ends == 0 || ends > t.Now
		if _, err := t.Exec(sqlEndPause, key...); err != nil {
			return false, err
		}
	}
	t.Moved = moved || t.Moved || there
	return inForce, nil
}

// flag says by the flag of a subscription that a pause of all of it begins or ends: relays
// of older versions know nothing else.
func (t *Tx) flag(id int64, p *store.Pause, paused bool) error {
	if p.Scope != store.PauseSubscription {
		return nil
	}
	changed, err := t.Exec(sqlSetPaused, paused, id, paused)
	t.Moved = t.Moved || changed > 0
	return err
}

// endPauses removes the pauses whose time is over, and reads the others.
func (t *Tx) endPauses() ([]store.Pause, error) {
	over := false
	all, err := t.readPauses(func(*store.Pause) { over = true })
	if err != nil || !over {
		return all, err
	}
	t.Moved = true
	if _, err := t.Exec(sqlUnflag, t.Now); err != nil {
		return nil, err
	}
	_, err = t.Exec(sqlEndPauses, t.Now)
	return all, err
}

// pauses reads the pauses that are in force.
func (t *Tx) pauses() ([]store.Pause, error) { return t.readPauses(func(*store.Pause) {}) }

// readPauses reads the pauses that are in force, and calls over with each whose end is over.
func (t *Tx) readPauses(over func(*store.Pause)) ([]store.Pause, error) {
	var out []store.Pause
	now := time.UnixMicro(t.Now)
	err := t.Query(sqlPauses, nil, func(rows *sql.Rows) error {
		var p store.Pause
		var began, ends int64
		var flag bool
		if err := rows.Scan(&p.Box, &p.Subscription, &flag, &p.Scope, &p.Value, &p.Who, &p.Why, &began, &ends); err != nil {
			return err
		}
		p.Since = time.UnixMicro(began).UTC()
		if ends > 0 {
			p.Until = time.UnixMicro(ends).UTC()
		}
		switch {
		case p.Over(now):
			over(&p)
		case flag || p.Scope != store.PauseSubscription: // a program of an older version clears the flag alone
			out = append(out, p)
		}
		return nil
	})
	storekit.SortPauses(out)
	return out, err
}

// stillPaused corrects the flags of subscriptions whose pause is over, as long as no
// heartbeat has cleared them.
func stillPaused(b *store.BoxView, ended []store.Pause) {
	for i := range b.Subscriptions {
		state := &b.Subscriptions[i]
		whole := storekit.WholePause(state.Ref)
		if slices.ContainsFunc(ended, func(p store.Pause) bool { return p.Same(&whole) }) {
			state.Paused = false
		}
	}
}
