package sqlitestore

import (
	"context"
	"database/sql"

	"github.com/postbag/postbag/store/sqlkit"
)

// query runs a statement outside a transaction and calls each with every row,
// until it returns sqlkit.ErrEnough or ctx ends.
func (s *Store) query(ctx context.Context, text string, args []any, each func(*sql.Rows) error) error {
	rows, err := s.rows(ctx, text, args) //nolint:rowserrcheck // ScanAll does
	if err != nil {
		return err
	}
	return sqlkit.ScanAll(rows, func(rows *sql.Rows) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return each(rows)
	})
}

// rows begins a query. It is tried again while the database is locked, which a
// reader meets only while another process recovers the log after a crash.
func (s *Store) rows(ctx context.Context, text string, args []any) (rows *sql.Rows, err error) {
	err = retryBusy(ctx, s.deadline(), func() error {
		if err := s.inPlace(); err != nil {
			return err
		}
		st, err := s.statements.get(ctx, s.pool(), text, s.comments.Relay)
		if err != nil {
			return err
		}
		rows, err = st.QueryContext(s.calm(ctx), args...) //nolint:rowserrcheck,sqlclosecheck // scanAll does both
		return err
	})
	return rows, err
}

// calm returns the context of one read. database/sql and the driver each start a
// goroutine to watch one that can end, which costs more than a small read, and an
// interrupted connection is thrown away. On the store's own connections, of which
// there are enough, a read is bounded anyway, and looks at ctx with every row.
func (s *Store) calm(ctx context.Context) context.Context {
	if s.owned {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// querier is query with a context.
func (s *Store) querier(ctx context.Context) sqlkit.Querier {
	return func(text string, args []any, each func(*sql.Rows) error) error {
		return s.query(ctx, text, args, each)
	}
}

// row scans the first row of a query into dest, and says whether there is one.
func (s *Store) row(ctx context.Context, text string, args []any, dest ...any) (bool, error) {
	return sqlkit.Row(s.querier(ctx), text, args, dest...)
}
