package main

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/pgstore"
)

// held is latency at 1,000 messages a second while a stranger holds something
// open: a snapshot, or a write transaction in another database.
func held(sql string) func(context.Context, *lab) (sample, error) {
	return func(ctx context.Context, l *lab) (sample, error) {
		stop, err := l.hold(ctx, sql)
		if err != nil {
			return sample{}, err
		}
		defer stop()
		return latency(1000, false, pgstore.Options{})(ctx, l)
	}
}

// hold opens a transaction in a database of its own, does sql in it and keeps it
// open.
func (l *lab) hold(ctx context.Context, sql string) (stop func(), err error) {
	_ = l.pg.CreateDatabase(ctx, "stranger") // exists from the second time on
	conn, err := pgx.Connect(ctx, l.pg.DSN("stranger"))
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "begin isolation level repeatable read; "+sql); err != nil {
		return nil, err
	}
	return func() { _ = conn.Close(context.WithoutCancel(ctx)) }, nil
}

// longDrain drains a large box and compares the last tenth's pace with the first's.
func longDrain(n int) func(context.Context, *lab) (sample, error) {
	return func(ctx context.Context, l *lab) (sample, error) {
		box, s, err := l.box(ctx)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = s.Close() }()
		d := &pace{tenth: int64(n / 10)}
		v, err := l.drainWith(ctx, s, box, n, 10_000, 1, d)
		if err != nil {
			return sample{}, err
		}
		v.Extra["last/first tenth"] = d.ratio()
		return v, l.drop(ctx, box)
	}
}
