package sqlkit

import (
	"context"

	"github.com/postbag/postbag/store"
)

// Base is what a store has from this package: the methods of [store.Store],
// [store.Inspector] and [store.Operator] that need only the dialect and the hooks.
// A store holds one. It is safe for concurrent use, as the hooks are.
type Base struct {
	dialect *Dialect
	hooks   Hooks
}

// New makes the base of a store. All hooks are needed.
func New(d *Dialect, h Hooks) Base { return Base{dialect: d, hooks: h} }

// Hooks are what a store does itself for its Base.
type Hooks struct {
	// Change runs fn in a transaction that changes who owns what, or which boxes and
	// subscriptions exist, and commits. Such transactions run one after another. fn may
	// run several times: only the results of its last run may remain. Change translates
	// an error and puts doing before it.
	Change func(ctx context.Context, doing string, fn func(*Tx) error) error
	// Write is like Change, for changes that concern no other relay: such transactions
	// run side by side as far as the database can.
	Write func(ctx context.Context, doing string, fn func(*Tx) error) error
	// Snapshot runs fn in a read transaction: all its statements see the database as of
	// one moment. fn may run several times.
	Snapshot func(ctx context.Context, fn func(*Tx) error) error
	// Start returns the position at which a subscription of a box begins.
	Start func(t *Tx, box string, from store.Start) (store.Position, error)
	// Wake tells listeners that a box has something new.
	Wake func(box string)
	// Query is a Querier outside a transaction.
	Query func(ctx context.Context) Querier
	// Subscription returns the id of a subscription, zero for none, and Now the
	// database's clock in microseconds since 1970. Both are asked outside a
	// transaction.
	Subscription func(ctx context.Context, r store.Ref) (int64, error)
	Now          func(ctx context.Context) (int64, error)
}

// row scans the first row of a query outside a transaction.
func (s *Base) row(ctx context.Context, text string, args []any, dest ...any) (bool, error) {
	return Row(s.hooks.Query(ctx), text, args, dest...)
}

// Subscription returns the id of a subscription; zero: none.
func (t *Tx) Subscription(r store.Ref) (id int64, err error) {
	_, err = t.Row(SQLSubscription, []any{r.Box, r.Subscription}, &id, new([]byte), new([]byte))
	return id, err
}
