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

// updateAll changes the accounts of a page in one statement, each as often as it is in there.
const updateAll = `
update bench_accounts a set balance = a.balance + p.times
from (select id, count(*) as times from unnest($1::int[]) id group by id) p where a.id = p.id`

// effectsByHand applies each page of rows in one transaction with the offset: an UPDATE for each row, or one for all.
func effectsByHand(whole bool) func(ctx context.Context, l *testbed) (rawSender, error) {
	return func(ctx context.Context, l *testbed) (rawSender, error) {
		if _, err := l.pool.Exec(ctx, ownTable+";"+ownOffset); err != nil {
			return rawSender{}, err
		}
		send := func(rows []rawRow) error {
			return pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) error {
				ids := make([]int32, len(rows))
				for i := range rows {
					ids[i] = int32(rows[i].seq % accounts)
				}
				if err := change(ctx, tx, ids, whole); err != nil {
					return err
				}
				_, err := tx.Exec(ctx, `update bench_offset set pos = $1 where name = 'billing'`, rows[len(rows)-1].seq)
				return err
			})
		}
		return rawSender{send: send, close: func() {}}, nil
	}
}

// change changes accounts, one after another or in one statement.
func change(ctx context.Context, tx pgx.Tx, ids []int32, whole bool) error {
	if whole {
		_, err := tx.Exec(ctx, updateAll, ids)
		return err
	}
	for _, id := range ids {
		if _, err := tx.Exec(ctx, ownUpdate, id); err != nil {
			return err
		}
	}
	return nil
}

// openEffects opens the store whose transactions have the effects: in the box's database.
func (l *testbed) openEffects(ctx context.Context) (*pgstore.Store, error) {
	return once(l, &l.effects, func() (*pgstore.Store, error) { return pgstore.Open(ctx, l.pool, pgstore.Options{Create: true}) })
}

// accountOf is the account of a message's key.
func accountOf(m *inbox.Message) (int32, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(m.Key, "key-"))
	return int32(n % accounts), err
}

// changeAccount is the handler of a message: one UPDATE, of the account of its key.
func changeAccount(ctx context.Context, tx pgx.Tx, m *inbox.Message) error {
	id, err := accountOf(m)
	if err != nil {
		return err
	}
	return change(ctx, tx, []int32{id}, false)
}

// changeAccounts is the handler of a page: one UPDATE for all of its accounts.
func changeAccounts(ctx context.Context, tx pgx.Tx, all []*inbox.Message) error {
	ids := make([]int32, len(all))
	for i, m := range all {
		id, err := accountOf(m)
		if err != nil {
			return err
		}
		ids[i] = id
	}
	return change(ctx, tx, ids, true)
}

// effects applies pages, each in one transaction with the record of its lane: with a handler of one message, or of a page.
func effects(whole bool) func(ctx context.Context, l *testbed) (broker.Destination, error) {
	return func(ctx context.Context, l *testbed) (broker.Destination, error) {
		if _, err := l.pool.Exec(ctx, ownTable); err != nil {
			return nil, err
		}
		s, err := l.openEffects(ctx)
		if err != nil {
			return nil, err
		}
		o := inbox.BatchDestinationOptions[pgx.Tx]{Store: s, Consumer: "billing"}
		if whole {
			o.HandleBatch = changeAccounts
		} else {
			o.Handle = changeAccount
		}
		return inbox.NewBatchDestination(o)
	}
}
