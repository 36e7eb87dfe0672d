package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/inbox"
)

// ownTable is what people write by hand in place of an inbox, and the accounts that their handlers change.
const ownTable = `
drop table if exists bench_processed, bench_accounts;
create table bench_processed (consumer text collate "C", id bytea, at timestamptz not null default now(), primary key (consumer, id));
create table bench_accounts (id int primary key, balance bigint not null) with (fillfactor = 50);
insert into bench_accounts select n, 0 from generate_series(0, 999) n`

const (
	ownInsert = `insert into bench_processed (consumer, id) values ($1, $2) on conflict do nothing`
	ownBatch  = `insert into bench_processed (consumer, id) select $1, unnest($2::bytea[]) on conflict do nothing returning id`
	ownUpdate = `update bench_accounts set balance = balance + 1 where id = $1`
)

// applying runs one way to apply perTx messages a transaction, none of which came before.
func applying(clients, perTx int, way func(in *inbox.Inbox[pgx.Tx]) func(context.Context, pgx.Tx, int) error) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (sample, error) {
		box, s, err := l.box(ctx)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = s.Close() }()
		if _, err := l.pool.Exec(ctx, ownTable+`; truncate postbag._once`); err != nil {
			return sample{}, err
		}
		in, err := inbox.New[pgx.Tx](s)
		if err != nil {
			return sample{}, err
		}
		v, err := l.writeFor(ctx, 4*time.Second, clients, perTx, way(in))
		if err != nil {
			return sample{}, err
		}
		return v, l.drop(ctx, box)
	}
}

// withUpdate is a way whose transaction changes an account too.
func withUpdate(way func(in *inbox.Inbox[pgx.Tx]) func(context.Context, pgx.Tx, int) error) func(in *inbox.Inbox[pgx.Tx]) func(context.Context, pgx.Tx, int) error {
	return func(in *inbox.Inbox[pgx.Tx]) func(context.Context, pgx.Tx, int) error {
		mark := way(in)
		return func(ctx context.Context, tx pgx.Tx, client int) error {
			if err := mark(ctx, tx, client); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, ownUpdate, client) // no two clients have an account in common
			return err
		}
	}
}

func onceRaw(*inbox.Inbox[pgx.Tx]) func(context.Context, pgx.Tx, int) error {
	return func(ctx context.Context, tx pgx.Tx, _ int) error {
		id := postbag.NewID()
		_, err := tx.Exec(ctx, ownInsert, "billing", id[:])
		return err
	}
}

func onceInbox(in *inbox.Inbox[pgx.Tx]) func(context.Context, pgx.Tx, int) error {
	return func(ctx context.Context, tx pgx.Tx, _ int) error {
		_, err := in.Once(ctx, tx, "billing", inbox.UUID(postbag.NewID()))
		return err
	}
}

func onceRawBatch(n int) func(*inbox.Inbox[pgx.Tx]) func(context.Context, pgx.Tx, int) error {
	return func(*inbox.Inbox[pgx.Tx]) func(context.Context, pgx.Tx, int) error {
		return func(ctx context.Context, tx pgx.Tx, _ int) error {
			ids := make([][]byte, n)
			for i := range ids {
				id := postbag.NewID()
				ids[i] = id[:]
			}
			rows, err := tx.Query(ctx, ownBatch, "billing", ids)
			if err != nil {
				return err
			}
			_, err = pgx.CollectRows(rows, pgx.RowTo[[]byte])
			return err
		}
	}
}

func onceBatch(n int) func(*inbox.Inbox[pgx.Tx]) func(context.Context, pgx.Tx, int) error {
	return func(in *inbox.Inbox[pgx.Tx]) func(context.Context, pgx.Tx, int) error {
		return func(ctx context.Context, tx pgx.Tx, _ int) error {
			marks := make([]inbox.Mark, n)
			for i := range marks {
				marks[i].ID = inbox.UUID(postbag.NewID())
			}
			_, err := in.OnceBatch(ctx, tx, "billing", marks)
			return err
		}
	}
}
