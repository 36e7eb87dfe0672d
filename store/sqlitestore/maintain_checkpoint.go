package sqlitestore

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag/store/sqlkit"
)

// smallWAL is the size from which the write-ahead log is worth a checkpoint. The
// writers make one themselves at about this size, unless a reader is in the way.
const smallWAL = 8 << 20

// checkpoint keeps the write-ahead log in hand. A passive one blocks nobody. The
// one that truncates the file holds the writer lock while it waits for readers,
// for no longer than shortBusy.
func (m *maintenance) checkpoint(ctx context.Context) (err error) {
	size := m.s.walSize()
	if size < min(smallWAL, m.s.opts.LargeWAL) {
		return nil
	}
	text := sqlCheckpoint
	if size >= m.s.opts.LargeWAL {
		text = sqlCheckpointTruncate
	}
	if err := m.s.writer.enter(ctx, time.Now().Add(sqlkit.MaintainTime)); err != nil {
		return err
	}
	defer m.s.writer.leave()
	conn, err := m.s.pin(ctx)
	if err != nil {
		return err
	}
	defer m.s.unpin(conn, false)
	if err := setBusyTimeout(ctx, conn, shortBusy.Milliseconds()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, setBusyTimeout(context.WithoutCancel(ctx), conn, 0)) }()
	var busy, pages, moved int
	err = conn.QueryRowContext(context.WithoutCancel(ctx), text).Scan(&busy, &pages, &moved)
	if isBusy(err) {
		return nil
	}
	return err
}
