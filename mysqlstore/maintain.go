package mysqlstore

import (
	"context"
	"time"

	"github.com/postbag/postbag/internal/sqlstore"
	"github.com/postbag/postbag/store"
)

// Maintain does some of a box's housekeeping; see [store.Store]. It promotes
// scheduled messages, and deletes, by small transactions with pauses between
// them, what every subscription had passed Keep ago and the ledger agrees with; of a box
// with partitions it drops whole ones, and makes new ones.
// Parked messages stay in the table, before the seq at which the log then begins,
// and count as copied; tombstones stay for a day; the last row of the log stays
// always. With nothing to do it writes nothing.
func (s *Store) Maintain(ctx context.Context, r store.Retention) (store.Report, error) {
	m := maintenance{Maintenance: sqlstore.NewMaintenance(&s.base, r), s: s}
	return m.Run(ctx, m.promote, m.divide, m.retain, m.recheckKept)
}

// maintenance is one Maintain at work.
type maintenance struct {
	*sqlstore.Maintenance
	division

	s    *Store
	held []partition // below the log's beginning, and something in it has to stay
}

// rest leaves the server to others for half as long as something took.
func (m *maintenance) rest(ctx context.Context, took time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(min(took/2, sqlstore.MaintainTime/4)):
	}
}

// now returns the database's clock in microseconds since 1970.
func (s *Store) now(ctx context.Context) (int64, error) {
	var v sight
	_, err := s.row(ctx, s.sightText(), nil, v.dest()...)
	return v.now, err
}
