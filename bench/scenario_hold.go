package main

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// held is a way to go while strangers hold transactions open in another database.
func held(way func(context.Context, *testbed) (sample, error), sql ...string) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (sample, error) {
		for _, s := range sql {
			stop, err := l.hold(ctx, s)
			if err != nil {
				return sample{}, err
			}
			defer stop()
		}
		return way(ctx, l)
	}
}

// What a stranger holds open: a snapshot, or a transaction that has written.
const (
	snapshotHeld = "select count(*) from pg_class"
	writerHeld   = "create temp table t (); select pg_current_xact_id()"
)

// hold opens a transaction in a database of its own, does sql in it and keeps it
// open.
func (l *testbed) hold(ctx context.Context, sql string) (stop func(), err error) {
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
func longDrain(n int) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (sample, error) {
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
