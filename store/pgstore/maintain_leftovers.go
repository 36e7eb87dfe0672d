package pgstore

import (
	"context"
	"time"

	"github.com/postbag/postbag/store/storekit"
)

// sweep deletes rows of subscriptions and replays that are gone, some in each transaction, until there are none, or
// until a time. It says whether there may be more.
func (s *Store) sweep(ctx context.Context, v *server, end time.Time) (more bool, err error) {
	for {
		found := false
		err = s.run(ctx, s.planned(group{s.guard(v, "", nil), {
			st: s.statements.get("sweep_leftovers", ""), args: new(parameters).int8(storekit.SweepMost),
			reset: func() { found = false },
			each:  func(row) error { found = true; return nil },
		}})...)
		if err != nil || !found || !time.Now().Before(end) {
			return found || err != nil, err
		}
	}
}

// tryToSweep is sweep after a command. What it does not come to is left to housekeeping.
func (s *Store) tryToSweep(ctx context.Context) {
	_ = s.guarded(ctx, func(v *server) error {
		_, err := s.sweep(ctx, v, time.Now().Add(maintainTime))
		return err
	})
}

// leftovers does so in housekeeping.
func (m *maintenance) leftovers(ctx context.Context) error {
	if !m.leftover {
		return nil
	}
	more, err := m.s.sweep(ctx, m.v, m.end)
	m.report.More = m.report.More || more && err == nil
	return err
}
