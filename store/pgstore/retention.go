package pgstore

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

var _ store.Retainer = (*Store)(nil)

// retentionTimes is how often a change is decided again because another came before it.
const retentionTimes = 10

var errRetentionChanges = errors.New("others change it all the time; try again")

// SetRetention implements store.Retainer.
func (s *Store) SetRetention(ctx context.Context, a store.Audit, box string, l store.Lifetimes) error {
	a, err := audited(a)
	if err == nil {
		_, err = s.changeRetention(ctx, box, func(r storekit.RetentionRow, now int64) (storekit.RetentionChange, error) {
			return storekit.SetRetention(r, box, now, a, l)
		})
	}
	return translateError("set the retention of box "+box, err)
}

// DeployRetention implements store.Retainer.
func (s *Store) DeployRetention(ctx context.Context, d store.Deployment) (store.BoxRetention, error) {
	d.Relay = auditText(d.Relay)
	v, err := s.changeRetention(ctx, d.Box, func(r storekit.RetentionRow, now int64) (storekit.RetentionChange, error) {
		return storekit.DeployRetention(r, now, &d)
	})
	return v, translateError("deploy the retention of box "+d.Box, err)
}

// retained is what a box holds, with the number of the change that made it so.
type retained struct {
	storekit.RetentionRow

	found       bool
	id          int32
	change, now int64
}

// changeRetention changes what a box holds as fn says, and returns what it holds then. A
// change that was decided by what is not so any more is decided again.
func (s *Store) changeRetention(ctx context.Context, box string,
	fn func(storekit.RetentionRow, int64) (storekit.RetentionChange, error),
) (out store.BoxRetention, err error) {
	err = s.guarded(ctx, func(v *server) error {
		for range retentionTimes {
			held, err := s.retention(ctx, v, box)
			if err != nil {
				return err
			}
			c, err := fn(held.RetentionRow, held.now)
			if err != nil {
				return err
			}
			out = c.Row.View(held.now)
			if done, err := s.writeRetention(ctx, v, box, &held, &c); err != nil || done {
				return err
			}
		}
		return errRetentionChanges
	})
	return out, err
}

// retention reads what a box holds.
func (s *Store) retention(ctx context.Context, v *server, box string) (out retained, err error) {
	err = s.run(ctx, s.guard(v, "", nil), call{
		st: s.statements.get("retention", ""), args: new(parameters).text(box),
		reset: func() { out = retained{} },
		each: func(r row) error {
			c := columns{rest: r}
			out.found, out.id, out.change, out.now = true, c.int4(), c.int8(), c.int8()
			out.RetentionRow = c.retention()
			return c.err
		},
	})
	if err == nil && !out.found {
		err = store.ErrNoBox
	}
	return out, err
}

// retention reads the columns that say what a box holds.
func (c *columns) retention() (r storekit.RetentionRow) {
	for _, set := range []*[3]int64{&r.Operator, &r.Deployed} {
		for i := range set {
			set[i] = c.int8()
		}
	}
	r.At, r.By = c.int8(), c.text()
	return r
}

// writeRetention writes a change, unless there was another one since it was decided, and
// says whether it is done.
func (s *Store) writeRetention(ctx context.Context, v *server, box string, held *retained, c *storekit.RetentionChange) (done bool, err error) {
	what := c.What
	if c.Once {
		notices, err := s.notices(ctx, v, held.now)
		if err != nil {
			return false, err
		}
		if storekit.Told(notices[box], what) {
			what = ""
		}
	}
	if !c.Write && what == "" {
		return true, nil
	}
	a := new(parameters).int4(held.id).int8(held.change).bool(c.Write)
	for _, set := range [][3]int64{c.Row.Operator, c.Row.Deployed} {
		for _, micros := range set {
			a.int8(micros)
		}
	}
	a.int8(c.Row.At).text(c.Row.By).text(c.Audit.Who).text(c.Audit.Why).text(what).text(selectedBy(c.Audit))
	err = s.run(ctx, s.guard(v, "", nil), call{
		st: s.statements.get("set_retention", ""), args: a,
		reset: func() { done = false },
		each: func(row) error {
			done = true
			return nil
		},
	})
	return done, err
}

// Expired implements store.Retainer.
func (s *Store) Expired(ctx context.Context, box string, l store.Lifetimes) (n int64, err error) {
	found := false
	err = s.guarded(ctx, func(v *server) error {
		return s.run(ctx, s.guard(v, "", nil), call{
			st:    s.statements.get("expired", ""),
			args:  new(parameters).text(box).int8(max(l.Delivered, l.Discarded).Microseconds()),
			reset: func() { found = false },
			each: func(r row) error {
				c := columns{rest: r}
				n, found = max(c.int8(), 0), true
				return c.err
			},
		})
	})
	if err == nil && !found {
		err = store.ErrNoBox
	}
	return n, translateError("count what would go of box "+box, err)
}

// expire has dead messages discarded that are dead for longer than the box keeps them: it
// queues commands for the owners of their shards. Each round looks at some of them.
func (m *maintenance) expire(ctx context.Context) error {
	if m.dead == store.Forever {
		return nil
	}
	for i := range m.followers {
		if m.late() {
			return nil
		}
		if err := m.expireOf(ctx, &m.followers[i]); err != nil {
			return err
		}
	}
	return nil
}

func (m *maintenance) expireOf(ctx context.Context, f *follower) error {
	looked, last := int64(0), int64(0)
	var over []int64
	err := m.s.run(ctx, m.s.guard(m.v, "", nil), call{
		st:    m.s.statements.get("dead", ""),
		args:  new(parameters).int4(f.id).int8(m.deadSeen[f.id]).int4(storekit.ExpireLook).int8(m.dead.Microseconds()),
		reset: func() { looked, last, over = 0, 0, nil },
		each: func(r row) error {
			c := columns{rest: r}
			seq, dead := c.int8(), c.bool()
			if len(over) == storekit.ExpireMost {
				return c.err
			}
			if looked, last = looked+1, seq; dead {
				over = append(over, seq)
			}
			return c.err
		},
	})
	if err == nil && len(over) > 0 {
		err = m.discardDead(ctx, f, over)
	}
	if err != nil {
		return err
	}
	if looked < storekit.ExpireLook && len(over) < storekit.ExpireMost {
		last = 0 // once more from the beginning
	}
	if m.deadSeen == nil {
		m.deadSeen = map[int32]int64{}
	}
	m.deadSeen[f.id] = last
	return nil
}

// discardDead queues the commands. No operator can queue one meanwhile: a message that
// somebody has retried is left alone.
func (m *maintenance) discardDead(ctx context.Context, f *follower, over []int64) error {
	ref := store.Ref{Box: m.Box, Subscription: f.name}
	a := storekit.ExpireAudit(m.dead)
	queued := int64(0)
	err := m.s.run(ctx, m.s.guard(m.v, "", nil), call{st: m.s.statements.get("lock_subscription", ""), args: new(parameters).int4(f.id)}, call{
		st: m.s.statements.get("expire", ""),
		args: new(parameters).int4(f.id).int8s(len(over), func(i int) int64 { return over[i] }).int8(m.dead.Microseconds()).
			int4(m.box).int8(m.Token).int4(storekit.ExpireWait).text(a.Who).text(a.Why).text("discard " + ref.String() + " "),
		reset: func() { queued = 0 },
		each: func(r row) error {
			c := columns{rest: r}
			queued = c.int8()
			return c.err
		},
	})
	if err == nil && queued > 0 {
		m.report.Expired += queued
		m.s.Wake(m.Box)
	}
	return err
}

// beforeDiscarded ends what may go before the first discarded message that is to be kept
// for longer than others.
func (m *maintenance) beforeDiscarded(ctx context.Context, to int64) (int64, error) {
	if m.discarded <= m.Keep || to <= m.dropped {
		return to, nil
	}
	subs := m.subs()
	first := int64(0)
	err := m.s.run(ctx, m.s.guard(m.v, "", nil), call{
		st:    m.s.statements.get("first_discarded", ""),
		args:  new(parameters).int4s(len(subs), func(i int) int32 { return subs[i] }).int8(max(m.older, m.dropped)),
		reset: func() { first = 0 },
		each: func(r row) error {
			c := columns{rest: r}
			first = c.int8()
			return c.err
		},
	})
	if first > 0 {
		to = min(to, first-1)
	}
	return to, err
}

// keeps takes over what the box holds of its retention.
func (u *round) keeps(m *maintenance) {
	l := u.retention.Lifetimes(max(m.Keep, 0))
	m.Keep, m.discarded, m.dead = l.Delivered, l.Discarded, l.Dead
}

// longest is how long notes of floors are needed.
func (m *maintenance) longest() time.Duration { return max(m.Keep, m.discarded) }
