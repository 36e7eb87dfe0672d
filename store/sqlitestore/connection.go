package sqlitestore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
)

// pinned is the connection that the store's own writes use, with the statements
// prepared on it. Only the holder of the writers' queue touches it. A store over
// an application's *sql.DB has none: it must not keep one of a pool that may be
// no larger than one.
type pinned struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt
}

func (p *pinned) close() error {
	if p.conn == nil {
		return nil
	}
	var errs []error
	for _, st := range p.statements {
		errs = append(errs, st.Close())
	}
	errs = append(errs, p.conn.Close())
	*p = pinned{}
	return errors.Join(errs...)
}

// connect returns a connection of the pool. A new one may find the database locked
// while another process makes it use a write-ahead log.
func (s *Store) connect(ctx context.Context) (conn *sql.Conn, err error) {
	if err := s.inPlace(); err != nil {
		return nil, err
	}
	err = retryBusy(ctx, s.deadline(), func() error {
		conn, err = s.pool().Conn(ctx)
		return err
	})
	return conn, err
}

// pin returns a connection to write with. SQLite itself does not wait on it: see
// retryWrite. It would not stop with a context either.
func (s *Store) pin(ctx context.Context) (*sql.Conn, error) {
	if err := s.inPlace(); err != nil {
		return nil, err
	}
	if s.owned && s.pinned.conn != nil {
		return s.pinned.conn, nil
	}
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := setBusyTimeout(ctx, conn, 0); err != nil {
		return nil, fmt.Errorf("set busy_timeout: %w", dropConn(conn, err))
	}
	if s.owned {
		s.pinned = pinned{conn: conn, statements: make(map[string]*sql.Stmt)}
	}
	return conn, nil
}

// unpin gives conn back, or drops it if it is broken.
func (s *Store) unpin(conn *sql.Conn, broken bool) {
	switch {
	case broken:
		s.pinned = pinned{}
		_ = dropConn(conn, nil)
	case s.owned:
	case setBusyTimeout(context.Background(), conn, s.busy) != nil:
		_ = dropConn(conn, nil)
	default:
		_ = conn.Close()
	}
}

// setBusyTimeout sets how long SQLite itself waits for locks on conn.
func setBusyTimeout(ctx context.Context, conn *sql.Conn, millis int64) error {
	_, err := conn.ExecContext(ctx, fmt.Sprintf(sqlSetBusyTimeout, millis))
	return err
}

// dropConn closes conn itself rather than giving it back to its pool, and
// returns err.
func dropConn(conn *sql.Conn, err error) error {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = conn.Close()
	return err
}
