package pgstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag/store/storekit"
)

// Open opens the boxes of the database that pool is connected to. pool stays yours: Close
// does not close it. Its default query mode decides how statements are sent. The modes
// that prepare are fastest. Behind a pooler in transaction mode use
// pgx.QueryExecModeExec. (With another mode the store notices the pooler at the first
// error, and uses no prepared statements from then on.) Errors name all bad options at
// once.
func Open(ctx context.Context, pool *pgxpool.Pool, o Options) (*Store, error) {
	if pool == nil {
		return nil, errors.New("pgstore: open: pool is nil; give a *pgxpool.Pool, or use OpenAppender with a *sql.DB")
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s, err := newStore(pool, o)
	if err != nil {
		return nil, err
	}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	s.wake.start(s)
	return s, nil
}

// newStore makes a store that has asked nothing yet.
func newStore(pool *pgxpool.Pool, o Options) (*Store, error) {
	catalog, err := newStatementSet(storekit.NewComments(o.SQLComments))
	if err != nil {
		return nil, translateError("open", err)
	}
	s := &Store{pool: pool, opts: o.withDefaults(), statements: catalog}
	s.faults.report = o.OnFault
	switch pool.Config().ConnConfig.DefaultQueryExecMode {
	case pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol:
		s.unprepared.Store(true)
	default:
	}
	return s, nil
}

// open makes what Create asks for and looks at the rest.
func (s *Store) open(ctx context.Context) error {
	switch {
	case s.opts.Unmigrated:
		return translateError("open", s.pool.Ping(ctx))
	case !s.opts.Create:
		return s.checkSchema(ctx)
	}
	if _, err := s.Migrate(ctx); err != nil {
		return err
	}
	for _, box := range s.opts.Boxes {
		if err := s.CreateBox(ctx, box); err != nil {
			return err
		}
	}
	return nil
}
