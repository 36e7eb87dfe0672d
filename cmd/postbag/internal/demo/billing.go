package demo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/store/sqlitestore"
)

// Billing is the process of the billing service. It takes the orders from the stream and
// writes an invoice for each into a database of its own. See alive for life. It logs to log.
func Billing(ctx context.Context, life io.Reader, log io.Writer) (err error) {
	ctx, leave := alive(ctx, life)
	defer func() { err = errors.Join(err, leave()) }()
	s, err := sqlitestore.Open(ctx, os.Getenv(EnvBilling), sqlitestore.Options{})
	if err != nil {
		return unlessStopped(ctx, err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	src, err := openStream(ctx)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	handle, err := inbox.NewRouter(inbox.RouterOptions[postbag.SQLTx]{}, inbox.On(placed(), bill))
	if err != nil {
		return errors.Join(err, src.Close(ctx))
	}
	c, err := inbox.NewConsumer(inbox.ConsumerOptions[postbag.SQLTx]{
		Store: s, Source: src, Consumer: "billing", Handle: handle,
		Concurrency: 1, // SQLite has one writer at a time
		Logger:      slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		return errors.Join(err, src.Close(ctx))
	}
	return c.Run(ctx)
}

// openStream opens the source. It tries again while the broker is away, as the demo may take it away just now.
func openStream(ctx context.Context) (source.Source, error) {
	for {
		src, err := natsbroker.OpenSource(ctx, natsbroker.SourceOptions{
			URL: os.Getenv(EnvNATS), Stream: streamName, Consumer: "billing", Order: source.OrderStream, AckWait: time.Second,
		})
		if err == nil {
			return src, nil
		}
		if !errors.Is(err, source.ErrUnavailable) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(reconnectWait):
		}
	}
}

// bill is the handler of an order: an invoice, and what the customer owes, in one transaction.
func bill(ctx context.Context, tx postbag.SQLTx, o order) error {
	_, err := tx.ExecContext(ctx, `insert into invoices (customer, n, cents) values ($1, $2, $3)`, o.Customer, o.N, o.Cents)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `update owed set cents = cents + $1 where customer = $2`, o.Cents, o.Customer)
	return err
}

// books are the tables of the billing service, as the demo sees them. Nothing in them keeps
// an order from being billed twice: that is the inbox's work.
type books struct {
	path string
	db   *sql.DB
}

func openBooks(ctx context.Context, dir string) (*books, error) {
	path := filepath.Join(dir, "billing.db")
	s, err := sqlitestore.Open(ctx, path, sqlitestore.Options{Create: true})
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("demo: the billing service's database cannot be made: %w", err)
	}
	db, err := sql.Open("sqlite", sqlitestore.DSN(path))
	if err != nil {
		return nil, fmt.Errorf("demo: SQLite: %w", err)
	}
	for _, q := range []string{
		`create table invoices (place integer primary key autoincrement, customer integer not null, n integer not null, cents integer not null)`,
		`create table owed (customer integer primary key, cents integer not null)`,
		fmt.Sprintf(`with recursive c (id) as (select 0 union all select id + 1 from c where id < %d) insert into owed select id, 0 from c`, customers-1),
	} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return nil, errors.Join(fmt.Errorf("demo: the billing service's tables cannot be made: %w", err), db.Close())
		}
	}
	return &books{path: path, db: db}, nil
}

// count is how many invoices there are.
func (b *books) count(ctx context.Context) (n int, err error) {
	err = b.db.QueryRowContext(ctx, `select coalesce(max(place), 0) from invoices`).Scan(&n)
	return n, err
}

// effects is what the billing service did with the orders.
type effects struct {
	applied  int // orders that have an invoice
	twice    int // invoices beyond the first of an order
	disorder int // invoices behind one of a later order of their customer
	wrong    int // customers who owe something else than their invoices say
}

func (b *books) effects(ctx context.Context) (e effects, err error) {
	err = b.db.QueryRowContext(ctx, `select (select count(*) from (select distinct customer, n from invoices)),
		(select count(*) from invoices) - (select count(*) from (select distinct customer, n from invoices)),
		(select count(*) from (select n, max(n) over (partition by customer order by place rows between unbounded preceding and 1 preceding) as before
			from invoices) where n < before),
		(select count(*) from owed o where o.cents <> (select coalesce(sum(i.cents), 0) from invoices i where i.customer = o.customer))`).
		Scan(&e.applied, &e.twice, &e.disorder, &e.wrong)
	if err != nil {
		return e, fmt.Errorf("demo: the invoices cannot be counted: %w", err)
	}
	return e, nil
}

func (b *books) close() error { return b.db.Close() }
