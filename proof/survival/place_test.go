package survival

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
	"github.com/postbag/postbag/store/pgstore"
	"github.com/postbag/postbag/store/sqlitestore"
)

// place is a base as a process has it: it stores messages in its box, or has handlers that write effects.
type place interface {
	io.Closer
	box() store.Store
	receive(ctx context.Context, url string) error
	pages() (broker.Destination, error)
	positions() (source.Positions, error)
	consume(ctx context.Context, src source.Source) error
	consumer(src source.Source) (intake, error)
	receiver(src source.Source) (intake, error)
}

// placeOn is a place whose transactions are Tx.
type placeOn[Tx any] struct {
	store interface {
		store.Store
		inbox.Store[Tx]
		store.Lanes[Tx]
		io.Closer
	}
	exec  func(ctx context.Context, tx Tx, statement string, args ...any) error
	close func() // what is open besides the store
}

// awaitPlace opens a base, and waits while its server is away.
func awaitPlace(ctx context.Context, kind, dsn string) (place, error) {
	for {
		p, err := openPlace(ctx, kind, dsn, false)
		if err == nil || ctx.Err() != nil {
			return p, err
		}
		pause(50 * time.Millisecond)
	}
}

// openPlace opens a base.
func openPlace(ctx context.Context, kind, dsn string, create bool) (place, error) {
	var boxes []string
	if create {
		boxes = []string{"inbox"}
	}
	sqlExec := func(ctx context.Context, tx postbag.SQLTx, statement string, args ...any) error {
		_, err := tx.ExecContext(ctx, dialect(kind, statement), args...)
		return err
	}
	switch kind {
	case mariadb:
		s, err := mysqlstore.Open(ctx, dsn, mysqlstore.Options{Create: create, Boxes: boxes})
		return &placeOn[postbag.SQLTx]{store: s, exec: sqlExec, close: func() {}}, err
	case sqlite:
		s, err := sqlitestore.Open(ctx, dsn, sqlitestore.Options{Create: create, Boxes: boxes})
		return &placeOn[postbag.SQLTx]{store: s, exec: sqlExec, close: func() {}}, err
	case postgres:
		pool, err := pgxpool.New(ctx, dsn)
		if err != nil {
			return nil, err
		}
		s, err := pgstore.Open(ctx, pool, pgstore.Options{Create: create, Boxes: boxes})
		if err != nil {
			pool.Close()
		}
		return &placeOn[pgx.Tx]{store: s, close: pool.Close, exec: func(ctx context.Context, tx pgx.Tx, statement string, args ...any) error {
			_, err := tx.Exec(ctx, dialect(kind, statement), args...)
			return err
		}}, err
	}
	return nil, fmt.Errorf("there is no kind of base %q", kind)
}

func (p *placeOn[Tx]) Close() error {
	err := p.store.Close()
	p.close()
	return err
}

func (p *placeOn[Tx]) box() store.Store { return p.store }

func (p *placeOn[Tx]) receive(ctx context.Context, url string) error {
	return receive[Tx](ctx, p.store, url)
}

// apply writes the effect of a message.
func (p *placeOn[Tx]) apply(ctx context.Context, tx Tx, m *inbox.Message) error {
	number, err := strconv.Atoi(string(m.Payload))
	if err != nil {
		return err
	}
	if err := p.exec(ctx, tx, countEffect, m.Key); err != nil {
		return err
	}
	return p.exec(ctx, tx, writeEffect, string(m.Payload), m.Key, number, m.Attempt, m.Key)
}

// failing: a handler of pages fails at the first attempt of one message of so many.
const failing = 500

// pages is a destination that applies messages in pages.
func (p *placeOn[Tx]) pages() (broker.Destination, error) {
	return inbox.NewBatchDestination(inbox.BatchDestinationOptions[Tx]{
		Store: p.store, Consumer: "inbox", // as the receiver: their marks differ
		Handle: func(ctx context.Context, tx Tx, m *inbox.Message) error {
			err := p.apply(ctx, tx, m)
			if number, _ := strconv.Atoi(string(m.Payload)); number%failing == failing-1 && m.Attempt == 1 {
				return errors.New("not yet")
			}
			return err
		},
	})
}

// positions are kept in the base, as the marks are.
func (p *placeOn[Tx]) positions() (source.Positions, error) { return inbox.NewPositions[Tx](p.store) }

// consume applies what the source has, each message in the transaction of its mark.
func (p *placeOn[Tx]) consume(ctx context.Context, src source.Source) error {
	c, err := p.consumer(src)
	if err != nil {
		return err
	}
	return c.run(ctx)
}
