package sqlkit

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Maintenance is one call of Maintain: it does some housekeeping of a box, under the
// box's lease, for about a second. The store says what is to be done.
type Maintenance struct {
	store.Retention

	Report store.Report

	base *Base
	end  time.Time
	kept []kept
	// What the box holds of its retention, besides Keep.
	discarded, dead time.Duration
	// The first subscription that is gone and has rows left, as the round began. Null: none.
	leftover sql.NullInt64
	// When the operation of the box that nobody changed for longest was changed. Null: there is none.
	operation sql.NullInt64
	// When the errors of the note of the box that nobody looked after for longest were looked for. Null: there is none.
	unchecked sql.NullInt64
}

// MaintainTime is about how long one Maintain works.
const MaintainTime = time.Second

// NewMaintenance prepares a Maintain of a store.
func NewMaintenance(b *Base, r store.Retention) *Maintenance {
	return &Maintenance{Retention: r, Report: store.Report{NextDue: -1}, base: b, end: time.Now().Add(MaintainTime)}
}

// Run takes the steps in sequence, if the lease is that of the box.
func (m *Maintenance) Run(ctx context.Context, steps ...func(context.Context) error) (store.Report, error) {
	err := m.check(ctx)
	for _, step := range steps {
		if err == nil {
			err = step(ctx)
		}
	}
	return m.Report, m.base.dialect.Translate("maintain box "+m.Box, err)
}

func (m *Maintenance) lease() []any {
	return []any{m.Box, m.Subscription, m.Lo, m.Hi, m.Token}
}

// check returns ErrLeaseLost unless the lease is the box's for maintenance. It takes over
// what the box holds of its retention, and looks whether something is left of what is gone.
func (m *Maintenance) check(ctx context.Context) error {
	if m.Token == 0 || m.Subscription != store.Maintenance {
		return store.ErrLeaseLost
	}
	var r storekit.RetentionRow
	held, err := m.base.row(ctx, sqlHoldsUpkeep, m.lease(), append(r.Dest(), &m.leftover, &m.operation, &m.unchecked)...)
	if err == nil && !held {
		err = store.ErrLeaseLost
	}
	l := r.Lifetimes(m.Keep)
	m.Keep, m.discarded, m.dead = l.Delivered, l.Discarded, l.Dead
	return err
}

// Query is a Querier outside a transaction.
func (m *Maintenance) Query(ctx context.Context) Querier { return m.base.hooks.Query(ctx) }

// Write runs fn in a transaction under the lease and commits. Nobody can take the lease
// meanwhile. fn may run several times.
func (m *Maintenance) Write(ctx context.Context, fn func(*Tx) error) error {
	return m.base.hooks.Write(ctx, "maintain box "+m.Box, func(t *Tx) error {
		held, err := t.Row(SQLHolds+t.Lock, m.lease(), new(int))
		if err != nil {
			return err
		}
		if !held {
			return store.ErrLeaseLost
		}
		return fn(t)
	})
}

// Late says whether the time is over. If it is, Late notes that there is more to do.
func (m *Maintenance) Late() bool {
	if time.Now().Before(m.end) {
		return false
	}
	m.Report.More = true
	return true
}

// Faultf adds a fault to the report.
func (m *Maintenance) Faultf(format string, args ...any) {
	m.Report.Faults = append(m.Report.Faults, fmt.Sprintf(format, args...))
}

// PassedLongEnough returns the seq up to which all readers had passed everything Keep
// ago, or before a discarded message that is to be kept for longer. floor is the seq that
// they have passed now. It notes the floor now and then.
func (m *Maintenance) PassedLongEnough(ctx context.Context, floor int64) (int64, error) {
	longest := max(m.Keep, m.discarded)
	if longest <= 0 {
		return floor, nil
	}
	now, err := m.base.hooks.Now(ctx)
	if err != nil {
		return 0, err
	}
	var noted, at sql.NullInt64
	if _, err := m.base.row(ctx, sqlLastFloor, []any{m.Box}, &noted, &at); err != nil {
		return 0, err
	}
	step := storekit.NoteEvery(m.Keep, longest).Microseconds()
	if floor > noted.Int64 && now-at.Int64 >= step {
		err := m.Write(ctx, func(t *Tx) error {
			_, err := t.Exec(t.NoteFloor, m.Box, floor, now)
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	to := floor
	if m.Keep > 0 {
		if to, err = m.PassedBefore(ctx, floor, now-m.Keep.Microseconds()); err != nil {
			return 0, err
		}
	}
	return m.beforeDiscarded(ctx, floor, to, now)
}

// beforeDiscarded ends what may go before the first discarded message that is to be kept
// for longer than others.
func (m *Maintenance) beforeDiscarded(ctx context.Context, floor, to, now int64) (int64, error) {
	if m.discarded <= m.Keep || to == 0 {
		return to, nil
	}
	old, err := m.PassedBefore(ctx, floor, now-m.discarded.Microseconds())
	if err != nil {
		return 0, err
	}
	swept, err := Swept(m.Query(ctx), m.Box)
	if err != nil {
		return 0, err
	}
	var first sql.NullInt64
	_, err = m.base.row(ctx, sqlFirstDiscarded, []any{max(old, swept), m.Box}, &first)
	if first.Valid {
		to = min(to, first.Int64-1)
	}
	return to, err
}

// PassedBefore returns the seq that all had passed at a time, as it was noted.
func (m *Maintenance) PassedBefore(ctx context.Context, floor, at int64) (int64, error) {
	var old sql.NullInt64
	_, err := m.base.row(ctx, sqlFloorAt, []any{m.Box, at}, &old)
	return min(old.Int64, floor), err
}
