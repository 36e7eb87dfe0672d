package adapters

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/chaos"
)

// What PostgreSQL answers to who does not get a lock.
const (
	pgLockNotAvailable = "55P03"
	pgDeadlock         = "40P01"
)

// inLog does something to the log as its owner, in one transaction that does not wait long for others.
func (p *postgres) inLog(ctx context.Context, do func(context.Context, pgx.Tx) error) error {
	var c *pgx.Conn
	err := patiently(ctx, func() (err error) { c, err = pgx.Connect(ctx, p.DSN(chaos.Operators)); return err })
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }() // it may be broken
	err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '8s'`); err != nil {
			return err
		}
		return do(ctx, tx)
	})
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && (refused.Code == pgLockNotAvailable || refused.Code == pgDeadlock) {
		return chaos.ErrGivenUp
	}
	return err
}

// Plant implements chaos.Damageable: headers nested so deeply that no reader goes through them, which boxes of before took.
func (p *postgres) Plant(ctx context.Context, msgs []postbag.Message, bad int) error {
	return p.inLog(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := pgPlain(ctx, tx, msgs[:bad]); err != nil {
			return err
		}
		var guard string
		err := tx.QueryRow(ctx, `SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'headers_are_flat'`).Scan(&guard)
		if err == nil {
			_, err = tx.Exec(ctx, `ALTER DOMAIN postbag.headers DROP CONSTRAINT headers_are_flat`)
		}
		if err == nil {
			m := &msgs[bad]
			_, err = tx.Exec(ctx, `INSERT INTO postbag.outbox (id, topic, type, key, headers, payload)
VALUES ($1, $2, $3, $4, ('{"a":' || repeat('[', 11000) || repeat(']', 11000) || '}')::json, $5)`, m.ID.String(), m.Topic, m.Type, m.Key, m.Payload)
		}
		if err == nil {
			_, err = tx.Exec(ctx, `ALTER DOMAIN postbag.headers ADD CONSTRAINT headers_are_flat `+guard)
		}
		if err != nil {
			return err
		}
		return pgPlain(ctx, tx, msgs[bad+1:])
	})
}

// Empty implements chaos.Damageable.
func (p *postgres) Empty(ctx context.Context, r *rand.Rand) (ids []postbag.ID, err error) {
	text := `TRUNCATE postbag.outbox RESTART IDENTITY`
	if r.IntN(2) == 0 {
		text = `WITH gone AS (DELETE FROM postbag.outbox RETURNING 1) SELECT setval('postbag.outbox__seq', 1, false), (SELECT count(*) FROM gone)`
	}
	err = p.inLog(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `LOCK TABLE postbag.outbox`); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT id::text FROM postbag.outbox UNION SELECT id::text FROM postbag._copies`)
		if err != nil {
			return err
		}
		if ids, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (id postbag.ID, err error) {
			var text string
			if err := row.Scan(&text); err != nil {
				return id, err
			}
			return postbag.ParseID(text)
		}); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, text)
		return err
	})
	return ids, err
}
