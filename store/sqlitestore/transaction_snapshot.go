package sqlitestore

import (
	"context"

	"github.com/postbag/postbag/store/sqlkit"
)

// snapshot runs fn in a transaction that reads, so that all its statements see
// one moment. fn is short: while it runs, the write-ahead log is not emptied.
func (s *Store) snapshot(ctx context.Context, fn func(*sqlkit.Tx) error) error {
	conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	t := s.newTransaction(ctx, conn, nil)
	err = retryBusy(ctx, s.deadline(), func() error {
		_, err := t.Exec(sqlBeginRead)
		return err
	})
	if err != nil {
		_ = conn.Close()
		return err
	}
	t.Now = s.micros()
	err = fn(&t.Tx)
	if _, end := t.Exec(sqlRollback); end != nil {
		return dropConn(conn, end)
	}
	_ = conn.Close()
	return err
}
