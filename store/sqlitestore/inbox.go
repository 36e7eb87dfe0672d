package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

var (
	_ store.Inbox[postbag.SQLTx] = (*Store)(nil)
	_ store.Inbox[postbag.SQLTx] = (*Appender)(nil)
	_ store.Forgetter            = (*Store)(nil)
	_ store.Forgetter            = (*Appender)(nil)
	_ store.Rerunner             = (*Store)(nil)
	_ store.Rerunner             = (*Appender)(nil)
	_ store.OutageTeller         = (*Store)(nil)
	_ store.OutageTeller         = (*Appender)(nil)
)

// markRows is how many marks one INSERT records; see appendRows.
const markRows = 16

// Mark records in tx that a consumer has applied messages; see [store.Inbox]. SQLite has
// one writer: a transaction that marks keeps all others from it until it ends. Begin it
// with the writer lock, as InTx does. If it has read before it marks, it ends in ErrAgain
// where another one has written since. SQLite runs in this process: there is no round trip
// to save, and a statement has up to 16 marks.
func (s *Store) Mark(ctx context.Context, tx postbag.SQLTx, consumer string, marks []store.Mark) ([]bool, error) {
	doing := "mark messages for consumer " + storekit.Printable(consumer)
	if tx == nil {
		return nil, postbag.ErrNoTx
	}
	m, err := storekit.NewMarking(consumer, marks)
	if err != nil {
		return nil, translateError(doing, err)
	}
	for from := 0; from < len(m.Marks); from += markRows {
		if err := s.markSome(ctx, tx, consumer, m, from, min(from+markRows, len(m.Marks))); err != nil {
			return nil, translateError(doing, met(err))
		}
	}
	return m.Answer(), nil
}

// markSome records up to markRows marks. What comes back is new. The others are compared.
func (s *Store) markSome(ctx context.Context, tx postbag.SQLTx, consumer string, m *storekit.Marking, from, to int) error {
	args := make([]any, 0, 2+2*markRows)
	args = append(args, []byte(consumer), s.micros())
	var rows strings.Builder
	for i := from; i < to; i++ {
		if i > from {
			rows.WriteString(", ")
		}
		fmt.Fprintf(&rows, sqlMarkRow, len(args)+1, len(args)+2)
		args = append(args, []byte(m.Marks[i].ID), sumArg(m.Marks[i].Sum))
	}
	err := s.queryIn(ctx, tx, fmt.Sprintf(sqlMark, rows.String()), args, func(rows *sql.Rows) error {
		var id []byte
		err := rows.Scan(&id)
		if i, ours := m.Find(id); ours {
			m.Fresh(i)
		}
		return err
	})
	if err != nil {
		return err
	}
	for i := from; i < to; i++ {
		if !m.Compares(i) {
			continue
		}
		if err := s.compare(ctx, tx, consumer, m, i); err != nil {
			return err
		}
	}
	return nil
}

// compare compares a mark that was there with what was recorded.
func (s *Store) compare(ctx context.Context, tx postbag.SQLTx, consumer string, m *storekit.Marking, i int) error {
	return s.queryIn(ctx, tx, sqlMarkedSum, []any{[]byte(consumer), []byte(m.Marks[i].ID)}, func(rows *sql.Rows) error {
		var sum []byte
		if err := rows.Scan(&sum); err != nil {
			return err
		}
		return m.Repeated(i, sum)
	})
}

// sumArg returns a sum as an argument; nil: there is none.
func sumArg(sum store.Sum) any {
	if sum == (store.Sum{}) {
		return nil
	}
	return sum[:]
}

// queryIn runs a query in an application's transaction, prepared as execIn does it.
func (s *Store) queryIn(ctx context.Context, tx postbag.SQLTx, text string, args []any, each func(*sql.Rows) error) error {
	st, err := s.statementIn(ctx, tx, s.comments.Consumer, text)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(ctx, args...) //nolint:rowserrcheck // ScanAll does it
	if err != nil {
		return err
	}
	return sqlkit.ScanAll(rows, each)
}

// met adds ErrAgain to an error by which SQLite says that another transaction was in the way.
func met(err error) error {
	if isBusy(err) {
		return fmt.Errorf("%w: %w", store.ErrAgain, err)
	}
	return err
}

// RunAgain says whether err means that a transaction met another one (SQLITE_BUSY,
// SQLITE_LOCKED); see [store.Rerunner].
func (*Store) RunAgain(err error) bool { return errors.Is(err, store.ErrAgain) || isBusy(err) }

// RunAgain is that of a Store.
func (*Appender) RunAgain(err error) bool { return errors.Is(err, store.ErrAgain) || isBusy(err) }

// Outage says whether err means that the database fails: a full disk (SQLITE_FULL), a file that is
// read-only (SQLITE_READONLY) or cannot be read or written (SQLITE_IOERR); see [store.OutageTeller].
func (*Store) Outage(err error) bool { return fails(err) }

// Outage is that of a Store.
func (*Appender) Outage(err error) bool { return fails(err) }

// DeclareConsumer says for how long the marks of a consumer are kept; see [store.Forgetter].
func (s *Store) DeclareConsumer(ctx context.Context, consumer string, keep time.Duration) error {
	return s.forgetting().DeclareConsumer(ctx, consumer, keep)
}

// Consumers returns the declared consumers; see [store.Forgetter].
func (s *Store) Consumers(ctx context.Context) ([]store.Consumer, error) {
	return s.forgetting().Consumers(ctx)
}

// forgetWait is for how long Forget waits for the writer lock.
const forgetWait = time.Second

// Forget removes some marks whose time is over; see [store.Forgetter]. It waits a second
// for the one writer lock, as others do. If it cannot have it, it does no more, and says
// Busy if it has done nothing.
func (s *Store) Forget(ctx context.Context) (store.Forgotten, error) {
	f := s.forgetting()
	f.Write = func(ctx context.Context, doing string, fn func(*sqlkit.Tx) error) error {
		deadline := time.Now().Add(min(forgetWait, s.opts.BusyTimeout))
		return s.writeUntil(ctx, doing, deadline, func(t *transaction) error { return fn(&t.Tx) })
	}
	done, err := f.Forget(ctx)
	if errors.Is(err, ErrBusy) {
		done.Busy = done == store.Forgotten{}
		return done, nil
	}
	return done, err
}

func (s *Store) forgetting() *sqlkit.Forgetting {
	return &sqlkit.Forgetting{
		Dialect: &dialect,
		Query:   s.querier,
		Now:     func(context.Context) (int64, error) { return s.micros(), nil },
		Write: func(ctx context.Context, doing string, fn func(*sqlkit.Tx) error) error {
			return s.write(ctx, doing, func(t *transaction) error { return fn(&t.Tx) })
		},
	}
}

// forgetMarks deletes old marks of a consumer in a range of its ids.
func forgetMarks(t *sqlkit.Tx, consumer, after, upto []byte, before int64) (int64, error) {
	return t.Exec(sqlForgetMarks, consumer, after, upto, before)
}

// Mark implements store.Inbox.
func (d *Appender) Mark(ctx context.Context, tx postbag.SQLTx, consumer string, marks []store.Mark) ([]bool, error) {
	return d.store.Mark(ctx, tx, consumer, marks)
}

// DeclareConsumer implements store.Forgetter.
func (d *Appender) DeclareConsumer(ctx context.Context, consumer string, keep time.Duration) error {
	return d.store.DeclareConsumer(ctx, consumer, keep)
}

// Consumers implements store.Forgetter.
func (d *Appender) Consumers(ctx context.Context) ([]store.Consumer, error) {
	return d.store.Consumers(ctx)
}

// Forget implements store.Forgetter.
func (d *Appender) Forget(ctx context.Context) (store.Forgotten, error) { return d.store.Forget(ctx) }
