package pgstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
)

// session is a transaction of pgx or of database/sql.
type session interface {
	// exec returns how many rows were written.
	exec(ctx context.Context, q command) (int64, error)
	// query reads each row into what into points at, and then calls each.
	query(ctx context.Context, q command, into []any, each func() error) error
}

type pgxSession struct {
	s  *Store
	tx pgx.Tx
}

func (p pgxSession) exec(ctx context.Context, q command) (int64, error) {
	tag, err := p.s.send(ctx, p.tx, q)
	return tag.RowsAffected(), err
}

func (p pgxSession) query(ctx context.Context, q command, into []any, each func() error) error {
	rows, err := p.tx.Query(ctx, q.sql, p.s.arguments(p.tx, q)...)
	if err == nil {
		_, err = pgx.ForEachRow(rows, into, each)
	}
	if err != nil {
		p.s.withoutPrepared(err)
	}
	return err
}

type sqlSession struct{ tx postbag.SQLTx }

func (d sqlSession) exec(ctx context.Context, q command) (int64, error) {
	result, err := d.tx.ExecContext(ctx, q.sql, q.args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (d sqlSession) query(ctx context.Context, q command, into []any, each func() error) (err error) {
	rows, err := d.tx.QueryContext(ctx, q.sql, q.args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := each(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// inSession runs fn in a transaction of the store's own.
func (s *Store) inSession(ctx context.Context, fn func(context.Context, session) error) error {
	work := func(ctx context.Context, tx pgx.Tx) error { return fn(ctx, pgxSession{s, tx}) }
	err := s.inOwnTx(ctx, work)
	if s.withoutPrepared(err) {
		err = s.inOwnTx(ctx, work)
	}
	return err
}

// inSession runs fn in a transaction of the appender's own, which sees every row, or fails, and calls nothing but the server's own.
func (d *Appender) inSession(ctx context.Context, fn func(context.Context, session) error) error {
	return d.InTx(ctx, func(ctx context.Context, tx postbag.SQLTx) error {
		in := sqlSession{tx}
		if _, err := in.exec(ctx, command{d.catalog.get("unfiltered", "").sql, nil}); err != nil {
			return err
		}
		return fn(ctx, in)
	})
}
