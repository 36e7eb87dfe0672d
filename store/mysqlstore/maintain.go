package mysqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
)

// Maintain does some of a box's housekeeping; see [store.Store]. It promotes
// scheduled messages, and deletes, by small transactions with pauses between
// them, what every subscription had passed Keep ago and the ledger agrees with; of a box
// with partitions it drops whole ones, and makes new ones.
// Parked messages stay in the table, before the seq at which the log then begins,
// and count as copied; tombstones stay for a day; the last row of the log stays
// always. With nothing to do it writes nothing.
func (s *Store) Maintain(ctx context.Context, r store.Retention) (store.Report, error) {
	m := maintenance{Maintenance: sqlkit.NewMaintenance(&s.base, r), s: s}
	return m.Run(ctx, m.promote, m.divide, m.retain, m.recheckKept, m.expire, m.watchNumbering, m.WatchSchedule, m.Sweep, m.ForgetOperations, m.ForgetErrorNotes)
}

// maintenance is one Maintain at work.
type maintenance struct {
	*sqlkit.Maintenance
	division

	s    *Store
	held []partition // below the log's beginning, and something in it has to stay
}

// expire has dead messages discarded whose time is over.
func (m *maintenance) expire(ctx context.Context) error { return m.Expire(ctx, &m.s.dead) }

// watchNumbering says when somebody has chosen a seq so high that the numbering comes
// to its end. Any session that may insert can: SET insert_id.
func (m *maintenance) watchNumbering(ctx context.Context) error {
	var far, beyond int64
	if _, err := m.s.row(ctx, fmt.Sprintf(sqlFarSeqs, tableOf(m.Box)), nil, &far, &beyond); err != nil {
		return err
	}
	switch {
	case beyond > 0:
		m.Faultf("rows of box %s have a seq above %s, and are never delivered: a session has set insert_id; copy them away, delete them, "+
			"ALTER TABLE %s AUTO_INCREMENT = 1, and insert the copies without a seq", m.Box, highestSeq, tableOf(m.Box))
	case far > 0:
		m.Faultf("seqs of box %s are near the end of the numbering, beyond which every INSERT fails: a session has set insert_id; "+
			"once these rows are delivered, delete those with a seq from %s on and ALTER TABLE %s AUTO_INCREMENT = 1", m.Box, farSeq, tableOf(m.Box))
	}
	return nil
}

// rest leaves the server to others for half as long as something took.
func (m *maintenance) rest(ctx context.Context, took time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(min(took/2, sqlkit.MaintainTime/4)):
	}
}

// now returns the database's clock in microseconds since 1970.
func (s *Store) now(ctx context.Context) (int64, error) {
	var v serverState
	_, err := s.row(ctx, s.serverStateText(), nil, v.dest()...)
	return v.now, err
}
