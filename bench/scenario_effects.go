package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/store/pgstore"
)

// accounts is how many rows the handlers change.
const accounts = 1000

// ownOffset is where a reader that is written by hand keeps its offset, in the transaction of its effects.
const ownOffset = `
drop table if exists bench_offset;
create table bench_offset (name text primary key, pos bigint not null);
insert into bench_offset values ('billing', 0)`

// effectsByHand applies each page of rows in one transaction, an UPDATE for each row, with the offset.
func effectsByHand(ctx context.Context, l *testbed) (rawSender, error) {
	if _, err := l.pool.Exec(ctx, ownTable+";"+ownOffset); err != nil {
		return rawSender{}, err
	}
	send := func(rows []rawRow) error {
		return pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) error {
			for i := range rows {
				if _, err := tx.Exec(ctx, ownUpdate, rows[i].seq%accounts); err != nil {
					return err
				}
			}
			_, err := tx.Exec(ctx, `update bench_offset set pos = $1 where name = 'billing'`, rows[len(rows)-1].seq)
			return err
		})
	}
	return rawSender{send: send, close: func() {}}, nil
}

// openEffects opens the store whose transactions have the effects: in the box's database.
func (l *testbed) openEffects(ctx context.Context) (*pgstore.Store, error) {
	return once(l, &l.effects, func() (*pgstore.Store, error) { return pgstore.Open(ctx, l.pool, pgstore.Options{Create: true}) })
}

// changeAccount is the handler of a message: one UPDATE, of the account of its key.
func changeAccount(ctx context.Context, tx pgx.Tx, m *inbox.Message) error {
	n, err := strconv.Atoi(strings.TrimPrefix(m.Key, "key-"))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, ownUpdate, n%accounts)
	return err
}

// effects applies pages, each in one transaction with the record of its lane.
func effects(ctx context.Context, l *testbed) (broker.Destination, error) {
	if _, err := l.pool.Exec(ctx, ownTable); err != nil {
		return nil, err
	}
	s, err := l.openEffects(ctx)
	if err != nil {
		return nil, err
	}
	return inbox.NewBatchDestination(inbox.BatchDestinationOptions[pgx.Tx]{Store: s, Consumer: "billing", Handle: changeAccount})
}

// effectEach applies each message in a transaction with its mark.
func effectEach(ctx context.Context, l *testbed) (broker.Destination, error) {
	if _, err := l.pool.Exec(ctx, ownTable+`; truncate postbag._once`); err != nil {
		return nil, err
	}
	s, err := l.openEffects(ctx)
	if err != nil {
		return nil, err
	}
	return inbox.NewDestination(inbox.DestinationOptions[pgx.Tx]{Store: s, Consumer: "billing", Handle: changeAccount, CountAfter: true})
}
