package mysqlstore

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
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

// Mark records in tx that a consumer has applied messages; see [store.Inbox].
func (s *Store) Mark(ctx context.Context, tx postbag.SQLTx, consumer string, marks []store.Mark) ([]bool, error) {
	return s.producer.mark(ctx, tx, consumer, marks)
}

// Mark implements store.Inbox.
func (d *Appender) Mark(ctx context.Context, tx postbag.SQLTx, consumer string, marks []store.Mark) ([]bool, error) {
	return d.producer.mark(ctx, tx, consumer, marks)
}

// mark records marks in tx. Its statements hold their values themselves, as those of
// append do.
func (p *producer) mark(ctx context.Context, tx postbag.SQLTx, consumer string, marks []store.Mark) ([]bool, error) {
	doing := "mark messages for consumer " + storekit.Printable(consumer)
	if tx == nil {
		return nil, postbag.ErrNoTx
	}
	m, err := storekit.NewMarking(consumer, marks)
	if err != nil {
		return nil, translateError(doing, err)
	}
	for from := 0; from < len(m.Marks); {
		text, to := p.markText(consumer, m.Marks, from)
		if err := p.markSome(ctx, tx, consumer, m, text, from, to); err != nil {
			return nil, translateError(doing, met(err))
		}
		from = to
	}
	return m.Answer(), nil
}

// markText makes the statement that records marks from one on: all of them, if the server
// takes it so large. It returns which one comes next.
func (p *producer) markText(consumer string, marks []store.Mark, from int) (text string, to int) {
	most := max(p.statement()-len(sqlMarkAgain), 0)
	b := []byte(sqlMark)
	var none store.Sum
	for to = from; to < len(marks); to++ {
		if to > from && len(b)+2*(len(consumer)+len(marks[to].ID)+len(none))+len("(0x, 0x, 0x), ") > most {
			break
		}
		if to > from {
			b = append(b, ", "...)
		}
		b = literal(append(b, '('), []byte(consumer))
		b = literal(append(b, ", "...), []byte(marks[to].ID))
		b = append(b, ", "...)
		if marks[to].Sum == none {
			b = append(b, "NULL)"...)
			continue
		}
		b = append(literal(b, marks[to].Sum[:]), ')')
	}
	return string(append(b, sqlMarkAgain...)), to
}

// markSome runs a statement of markText. The server counts a new row as one and a row that
// was there as two, which each such statement changes, whatever the driver's settings.
// Where all are new, nothing more is asked.
func (p *producer) markSome(ctx context.Context, tx postbag.SQLTx, consumer string, m *storekit.Marking, text string, from, to int) error {
	result, err := tx.ExecContext(ctx, text+p.comments.Consumer)
	if err != nil {
		return err
	}
	changed, err := result.RowsAffected()
	if err != nil {
		return err
	}
	if changed == int64(to-from) {
		for i := from; i < to; i++ {
			m.Fresh(i)
		}
		return nil
	}
	came := 0
	err = sqlkit.Querying(ctx, tx)(markedText(consumer, m.Marks[from:to])+p.comments.Consumer, nil, func(rows *sql.Rows) error {
		var id, sum []byte
		var again int64
		if err := rows.Scan(&id, &sum, &again); err != nil {
			return err
		}
		i, ours := m.Find(id)
		if !ours {
			return nil
		}
		came++
		if again == 0 {
			m.Fresh(i)
			return nil
		}
		return m.Repeated(i, sum)
	})
	if err == nil {
		err = storekit.Seen(to-from, came)
	}
	return err
}

// markedText makes the statement that reads some marks of a consumer back.
func markedText(consumer string, marks []store.Mark) string {
	var ids []byte
	for i := range marks {
		ids = jsonID(ids, []byte(marks[i].ID))
	}
	return fmt.Sprintf(sqlMarked, ids, consumer)
}

// jsonID appends an id to a list for sqlIDs.
func jsonID(ids, id []byte) []byte {
	if len(ids) > 0 {
		ids = append(ids, ',')
	}
	return append(hex.AppendEncode(append(ids, '"'), id), '"')
}

// met adds ErrAgain to an error by which the server says that another transaction was in
// the way.
func met(err error) error {
	if metAnother(codeOf(err)) {
		return &meeting{err}
	}
	return err
}

// metAnother says whether a server's error number means that another transaction was in the
// way.
func metAnother(code uint16) bool {
	switch code {
	case codeDeadlock, codeLockWait, codeRecordChanged, codeXADeadlock, codeXATimeout, codeRolledBack:
		return true
	}
	return false
}

// RunAgain says whether err means that a transaction met another one: a deadlock (1213), a
// lock timeout (1205), and what is like them; see [store.Rerunner].
func (*Store) RunAgain(err error) bool {
	return errors.Is(err, store.ErrAgain) || metAnother(codeOf(err))
}

// RunAgain is that of a Store.
func (*Appender) RunAgain(err error) bool {
	return errors.Is(err, store.ErrAgain) || metAnother(codeOf(err))
}

// Outage says whether err means that the server fails: a disk or a table is full (1021, 1114), it
// is read-only (1290, 1836), or has no connections left; see [store.OutageTeller].
func (*Store) Outage(err error) bool { return fails(err) }

// Outage is that of a Store.
func (*Appender) Outage(err error) bool { return fails(err) }

// meeting is an error of the server that is also [store.ErrAgain].
type meeting struct{ error }

func (m *meeting) Unwrap() []error { return []error{store.ErrAgain, m.error} }

// DeclareConsumer says for how long the marks of a consumer are kept; see [store.Forgetter].
func (s *Store) DeclareConsumer(ctx context.Context, consumer string, keep time.Duration) error {
	return s.forgetting().DeclareConsumer(ctx, consumer, keep)
}

// Consumers returns the declared consumers; see [store.Forgetter].
func (s *Store) Consumers(ctx context.Context) ([]store.Consumer, error) {
	return s.forgetting().Consumers(ctx)
}

// Forget removes some marks whose time is over; see [store.Forgetter].
func (s *Store) Forget(ctx context.Context) (store.Forgotten, error) {
	return s.forgetting().Forget(ctx)
}

func (s *Store) forgetting() *sqlkit.Forgetting {
	return &sqlkit.Forgetting{
		Dialect: &dialect,
		Query:   s.query,
		Now:     s.now,
		Write: func(ctx context.Context, doing string, fn func(*sqlkit.Tx) error) error {
			return s.write(ctx, doing, func(t *transaction) error { return fn(&t.Tx) })
		},
	}
}

// DeclareConsumer implements store.Forgetter. It needs the rights of a relay.
func (d *Appender) DeclareConsumer(ctx context.Context, consumer string, keep time.Duration) error {
	return d.forgetting().DeclareConsumer(ctx, consumer, keep)
}

// Consumers implements store.Forgetter. It needs the rights of a console.
func (d *Appender) Consumers(ctx context.Context) ([]store.Consumer, error) {
	return d.forgetting().Consumers(ctx)
}

// Forget implements store.Forgetter. It needs the rights of a relay.
func (d *Appender) Forget(ctx context.Context) (store.Forgotten, error) {
	return d.forgetting().Forget(ctx)
}

func (d *Appender) forgetting() *sqlkit.Forgetting {
	return &sqlkit.Forgetting{
		Dialect: &dialect,
		Query:   d.query,
		Write:   d.write,
		Now: func(ctx context.Context) (now int64, err error) {
			_, err = sqlkit.Row(d.query(ctx), sqlClock, nil, &now)
			return now, err
		},
	}
}

// query runs a statement of a consumer outside a transaction.
func (d *Appender) query(ctx context.Context) sqlkit.Querier {
	return sqlkit.Querying(ctx, commented(d.db, d.producer.comments.Consumer))
}

// write runs fn in a transaction of the application's pool, and commits. It is READ
// COMMITTED, whatever the pool's sessions are, and runs again as those of a Store.
func (d *Appender) write(ctx context.Context, doing string, fn func(*sqlkit.Tx) error) error {
	return retry(ctx, doing, func() (err error) {
		tx, err := d.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		if err != nil {
			return err
		}
		t := &sqlkit.Tx{Dialect: &dialect, Ctx: ctx, On: commented(tx, d.producer.comments.Consumer)}
		if _, err = t.Row(sqlClock, nil, &t.Now); err == nil {
			err = fn(t)
		}
		if err != nil {
			if end := tx.Rollback(); !errors.Is(end, sql.ErrTxDone) {
				err = errors.Join(err, end)
			}
			return err
		}
		return tx.Commit()
	})
}

// forgetMarks deletes old marks of a consumer in a range of its ids. What a consumer has
// locked is left to the next time.
func forgetMarks(t *sqlkit.Tx, consumer, after, upto []byte, before int64) (int64, error) {
	var ids []byte
	err := t.Query(sqlOldMarks, []any{consumer, after, upto, before}, func(rows *sql.Rows) error {
		var id sql.RawBytes
		if err := rows.Scan(&id); err != nil {
			return err
		}
		ids = jsonID(ids, id)
		return nil
	})
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return t.Exec(fmt.Sprintf(sqlForgetMarks, ids, consumer))
}
