package sqlitestore

import (
	"context"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
)

// Maintain does some of a box's housekeeping; see [store.Store]. It promotes
// scheduled messages, deletes by small transactions what every subscription had
// passed Keep ago and the ledger agrees with, and keeps the write-ahead log from
// growing. Parked messages stay in the table, before the seq at which the log
// then begins, and count as copied. With nothing to do it writes nothing.
func (s *Store) Maintain(ctx context.Context, r store.Retention) (store.Report, error) {
	m := maintenance{Maintenance: sqlkit.NewMaintenance(&s.base, r), s: s}
	return m.Run(ctx, m.promote, m.retain, m.recheckKept, m.expire, m.WatchSchedule, m.Sweep, m.ForgetOperations, m.ForgetErrorNotes, m.checkpoint)
}

// maintenance is one Maintain at work.
type maintenance struct {
	*sqlkit.Maintenance

	s *Store
}

// expire has dead messages discarded whose time is over.
func (m *maintenance) expire(ctx context.Context) error { return m.Expire(ctx, &m.s.dead) }
