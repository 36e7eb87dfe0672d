package buntx

import (
	"context"
	"slices"

	"github.com/uptrace/bun"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/examples/internal/shop"
)

// basket is an aggregate: its methods raise events.
type basket struct {
	bun.BaseModel `bun:"table:orders"`

	ID       int64 `bun:",pk,autoincrement"`
	Customer string
	Cents    int

	postbag.DomainEvents `bun:"-"`
}

func (b *basket) place() {
	b.Raise(shop.Placed.Message(shop.Order{Customer: b.Customer, Cents: b.Cents}))
}

// unitOfWork saves aggregates in one transaction. Their events are published at its end.
type unitOfWork struct {
	tx    bun.Tx
	saved []postbag.Aggregate
}

// inTx runs fn, publishes what the saved aggregates have raised, and commits.
func inTx(ctx context.Context, db *bun.DB, pub *postbag.Publisher[postbag.SQLTx], fn func(context.Context, *unitOfWork) error) error {
	return db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		u := &unitOfWork{tx: tx}
		if err := fn(ctx, u); err != nil {
			return err
		}
		return pub.PublishEvents(ctx, tx.Tx, u.saved...)
	})
}

// insert saves an aggregate.
func (u *unitOfWork) insert(ctx context.Context, a postbag.Aggregate) error {
	if !slices.Contains(u.saved, a) {
		u.saved = append(u.saved, a)
	}
	_, err := u.tx.NewInsert().Model(a).Exec(ctx)
	return err
}

// PlaceBasket saves an aggregate with its events; both or neither.
func PlaceBasket(ctx context.Context, db *bun.DB, pub *postbag.Publisher[postbag.SQLTx], o shop.Order) error {
	return inTx(ctx, db, pub, func(ctx context.Context, u *unitOfWork) error {
		b := &basket{Customer: o.Customer, Cents: o.Cents}
		b.place()
		return u.insert(ctx, b)
	})
}
