package sqlkit

import (
	"context"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// SetRetention sets how long messages of a box stay; see [store.Retainer].
func (s *Base) SetRetention(ctx context.Context, a store.Audit, box string, l store.Lifetimes) error {
	_, err := s.retain(ctx, "set the retention", box, func(r storekit.RetentionRow, now int64) (storekit.RetentionChange, error) {
		return storekit.SetRetention(r, box, now, a, l)
	})
	return err
}

// DeployRetention takes what a relay says of that; see [store.Retainer].
func (s *Base) DeployRetention(ctx context.Context, d store.Deployment) (store.BoxRetention, error) {
	return s.retain(ctx, "deploy the retention", d.Box, func(r storekit.RetentionRow, now int64) (storekit.RetentionChange, error) {
		return storekit.DeployRetention(r, now, &d)
	})
}

// retain changes what a box holds as fn says, and returns what it holds then.
func (s *Base) retain(ctx context.Context, doing, box string, fn func(storekit.RetentionRow, int64) (storekit.RetentionChange, error)) (store.BoxRetention, error) {
	var out store.BoxRetention
	err := s.hooks.Write(ctx, doing+" of box "+box, func(t *Tx) error {
		r, err := t.retention(box, t.Lock)
		if err != nil {
			return err
		}
		c, err := fn(r, t.Now)
		if err != nil {
			return err
		}
		out = c.Row.View(t.Now)
		return t.changeRetention(box, &c)
	})
	return out, err
}

// retention reads what a box holds.
func (t *Tx) retention(box, lock string) (r storekit.RetentionRow, err error) {
	found, err := t.Row(sqlRetention+lock, []any{box}, r.Dest()...)
	if err == nil && !found {
		err = store.ErrNoBox
	}
	return r, err
}

func (t *Tx) changeRetention(box string, c *storekit.RetentionChange) error {
	if c.Write {
		if _, err := t.Exec(sqlSetRetention, append(c.Row.Args(), box)...); err != nil {
			return err
		}
	}
	if c.What == "" {
		return nil
	}
	if c.Once {
		notices, err := t.notices()
		if err != nil || storekit.Told(notices[box], c.What) {
			return err
		}
	}
	return t.audit(c.Audit, c.What)
}

// Expired returns about how many messages housekeeping would remove; see [store.Retainer].
func (s *Base) Expired(ctx context.Context, box string, l store.Lifetimes) (int64, error) {
	n, err := s.expired(ctx, box, max(l.Delivered, l.Discarded))
	return n, s.dialect.Translate("count what would go of box "+box, err)
}

func (s *Base) expired(ctx context.Context, box string, keep time.Duration) (int64, error) {
	now, err := s.hooks.Now(ctx)
	if err != nil {
		return 0, err
	}
	var upto, swept int64
	found, err := s.row(ctx, sqlExpired, []any{box, now - keep.Microseconds(), box}, &upto, &swept)
	if err == nil && !found {
		err = store.ErrNoBox
	}
	return max(upto-max(swept, 0), 0), err
}
