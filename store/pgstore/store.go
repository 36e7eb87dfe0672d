package pgstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// Store is a store of boxes in a PostgreSQL database. It implements
// [store.Store], [store.Waker], [store.Migrator], [store.Inspector],
// [store.Operator] and [postbag.Appender] of [pgx.Tx]. It is made by [Open], and is safe for concurrent use until Close.
type Store struct {
	pool *pgxpool.Pool
	opts Options

	catalog *catalog
	// unprepared: the pool's sessions do not keep prepared statements.
	unprepared atomic.Bool
	// server is the one that calls are meant for, nil before the first call.
	server   atomic.Pointer[server]
	adopting sync.Mutex
	// roster is what is known of boxes and subscriptions, nil when it is to be
	// read again.
	roster atomic.Pointer[roster]
	hints  hints
	// doubts are boxes whose numbering a turn found to be begun again, until Check has seen to it.
	doubts sync.Map
	faults faults
	// keepers remember what housekeeping has found.
	keepers keepers

	wake   waker
	closed sync.Once
}

var (
	_ store.Store              = (*Store)(nil)
	_ store.Migrator           = (*Store)(nil)
	_ store.Waker              = (*Store)(nil)
	_ postbag.Appender[pgx.Tx] = (*Store)(nil)
)

// Open opens the boxes of the database that pool is connected to. pool stays the
// application's: Close does not close it. Its default query mode decides how
// statements are sent: the modes that prepare are fastest; behind a pooler in
// transaction mode use pgx.QueryExecModeExec (the store notices the others, and
// does without prepared statements then). Errors name all bad options at once.
func Open(ctx context.Context, pool *pgxpool.Pool, o Options) (*Store, error) {
	if pool == nil {
		return nil, errors.New("pgstore: open: pool is nil; give a *pgxpool.Pool, or use OpenAppender with a *sql.DB")
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	catalog, err := newCatalog()
	if err != nil {
		return nil, translateError("open", err)
	}
	s := &Store{pool: pool, opts: o.withDefaults(), catalog: catalog}
	s.faults.report = o.OnFault
	switch pool.Config().ConnConfig.DefaultQueryExecMode {
	case pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol:
		s.unprepared.Store(true)
	default:
	}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	s.wake.start(s)
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

// Close ends what the store began: its listening connection and the sending of
// notifications. It leaves the pool open. A second Close does nothing.
func (s *Store) Close() error {
	s.closed.Do(s.wake.stop)
	return nil
}
