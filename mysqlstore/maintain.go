package mysqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
)

// maintainTime is about how long one Maintain works.
const maintainTime = time.Second

// Maintain does some of a box's housekeeping; see [store.Store]. It promotes
// scheduled messages, and deletes, by small transactions with pauses between
// them, what every subscription had passed Keep ago and the ledger agrees with; of a box
// with partitions it drops whole ones, and makes new ones.
// Parked messages stay in the table, before the seq at which the log then begins,
// and count as copied; tombstones stay for a day; the last row of the log stays
// always. With nothing to do it writes nothing.
func (s *Store) Maintain(ctx context.Context, r store.Retention) (store.Report, error) {
	m := maintenance{s: s, Retention: r, end: time.Now().Add(maintainTime)}
	m.report.NextDue = -1
	err := m.run(ctx)
	return m.report, translateError("maintain box "+r.Box, err)
}

// maintenance is one Maintain at work.
type maintenance struct {
	store.Retention
	division

	s      *Store
	end    time.Time
	report store.Report
	held   []partition // below the log's beginning, and something in it has to stay
}

func (m *maintenance) run(ctx context.Context) error {
	if err := m.check(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{m.promote, m.divide, m.retain, m.recheckKept} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (m *maintenance) holdsArgs() []any {
	return []any{m.Box, m.Subscription, m.Lo, m.Hi, m.Token}
}

// check returns ErrLeaseLost unless the lease is the box's for maintenance.
func (m *maintenance) check(ctx context.Context) error {
	if m.Token == 0 || m.Subscription != store.Maintenance {
		return store.ErrLeaseLost
	}
	held, err := m.s.row(ctx, sqlHolds, m.holdsArgs(), new(int))
	if err == nil && !held {
		err = store.ErrLeaseLost
	}
	return err
}

// write is a transaction under the lease, which nobody can take meanwhile.
func (m *maintenance) write(ctx context.Context, fn func(*transaction) error) error {
	return m.s.write(ctx, "maintain box "+m.Box, func(t *transaction) error {
		held, err := t.row(sqlLockHolds, m.holdsArgs(), new(int))
		if err != nil {
			return err
		}
		if !held {
			return store.ErrLeaseLost
		}
		return fn(t)
	})
}

// late says whether the time is over, and notes that there is more to do.
func (m *maintenance) late() bool {
	if time.Now().Before(m.end) {
		return false
	}
	m.report.More = true
	return true
}

// rest leaves the server to others for half as long as something took.
func (m *maintenance) rest(ctx context.Context, took time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(min(took/2, maintainTime/4)):
	}
}

func (m *maintenance) faultf(format string, args ...any) {
	m.report.Faults = append(m.report.Faults, fmt.Sprintf(format, args...))
}

// now returns the database's clock in microseconds since 1970.
func (s *Store) now(ctx context.Context) (int64, error) {
	var v sight
	_, err := s.row(ctx, s.sightText(), nil, v.dest()...)
	return v.now, err
}
