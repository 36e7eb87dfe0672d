package sqlkit

import (
	"context"
	"database/sql"
	"errors"
)

// Runner runs statements. It is a *sql.Conn, or a type that keeps statements prepared on
// one.
type Runner interface {
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// Together is a Runner that can send several statements in one round trip, and
// returns how many rows each changed. args are those of all of them.
type Together interface {
	ExecTogether(ctx context.Context, texts []string, args []any) ([]int64, error)
}

// Tx is one short transaction of a store's own, on one connection. The store
// begins and ends it. It is not safe for concurrent use.
type Tx struct {
	*Dialect

	// Ctx is the context of all statements.
	Ctx context.Context //nolint:containedctx // the transaction lives within one call, and its statements share this
	On  Runner
	// Now is the database's clock when the transaction began, in microseconds since 1970.
	// Epoch is the counter that relays look at.
	Now, Epoch int64
	// Moved says that Epoch has to grow with the commit.
	Moved bool
	// NoLetters, if not nil, is why no dead letter is written.
	NoLetters error
	// MostSuperseded is how many rows each settlement ends at most before it is applied. Zero: as many as one may.
	MostSuperseded int64
}

// Querier runs a query, in a transaction or not. It calls each with every row, which each
// scans, until each returns ErrEnough.
type Querier func(text string, args []any, each func(*sql.Rows) error) error

// ErrEnough ends a query early without an error.
var ErrEnough = errors.New("enough")

// Exec runs a statement and returns how many rows it changed.
func (t *Tx) Exec(text string, args ...any) (int64, error) {
	result, err := t.On.ExecContext(t.Ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Insert runs a statement that adds one row, and returns the id of that row.
func (t *Tx) Insert(text string, args ...any) (int64, error) {
	result, err := t.On.ExecContext(t.Ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// Order is a statement that changes rows, with its arguments.
type Order struct {
	Text string
	Args []any
}

// togetherArgs bounds the arguments of statements that travel together.
const togetherArgs = 2000

// All runs statements in sequence, as many per round trip as are sensible. It returns how
// many rows each changed.
func (t *Tx) All(orders []Order) ([]int64, error) {
	together, ok := t.On.(Together)
	if !ok {
		return t.oneByOne(orders)
	}
	var changed []int64
	for len(orders) > 0 {
		var texts []string
		var args []any
		n := 0
		for ; n < len(orders) && (n == 0 || len(args) < togetherArgs); n++ {
			texts = append(texts, orders[n].Text)
			args = append(args, orders[n].Args...)
		}
		some, err := together.ExecTogether(t.Ctx, texts, args)
		if err != nil {
			return nil, err
		}
		changed, orders = append(changed, some...), orders[n:]
	}
	return changed, nil
}

func (t *Tx) oneByOne(orders []Order) ([]int64, error) {
	changed := make([]int64, len(orders))
	var err error
	for i := range orders {
		if changed[i], err = t.Exec(orders[i].Text, orders[i].Args...); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// Query is a Querier.
func (t *Tx) Query(text string, args []any, each func(*sql.Rows) error) error {
	return query(t.Ctx, t.On, text, args, each)
}

// Querying returns a Querier of what runs on: a connection, or any of a *sql.DB.
func Querying(ctx context.Context, on Runner) Querier {
	return func(text string, args []any, each func(*sql.Rows) error) error {
		return query(ctx, on, text, args, each)
	}
}

func query(ctx context.Context, on Runner, text string, args []any, each func(*sql.Rows) error) error {
	rows, err := on.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	return ScanAll(rows, each)
}

// Row scans the first row of a query into dest, and says whether there is one.
func (t *Tx) Row(text string, args []any, dest ...any) (bool, error) {
	return Row(t.Query, text, args, dest...)
}

// Row scans the first row of a query into dest, and says whether there is one.
func Row(query Querier, text string, args []any, dest ...any) (bool, error) {
	found := false
	err := query(text, args, func(rows *sql.Rows) error {
		found = true
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		return ErrEnough
	})
	return found, err
}

// Numbers returns the one column of a query.
func Numbers(query Querier, text string, args []any) ([]int64, error) {
	var out []int64
	err := query(text, args, func(rows *sql.Rows) error {
		var n int64
		err := rows.Scan(&n)
		out = append(out, n)
		return err
	})
	return out, err
}

// ScanAll calls each with every row, until it returns ErrEnough, and closes rows.
func ScanAll(rows *sql.Rows, each func(*sql.Rows) error) error {
	for more := true; more; more = rows.NextResultSet() {
		for rows.Next() {
			if err := each(rows); errors.Is(err, ErrEnough) {
				return rows.Close()
			} else if err != nil {
				return errors.Join(err, rows.Close())
			}
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}
