package demo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/postbag/postbag"
)

const (
	customers = 200
	tills     = 4 // goroutines that sell
)

// placed is the event of an order that was placed.
func placed() postbag.Event[order] {
	return postbag.Event[order]{
		Type: "order.placed", Topic: topic,
		Key: func(o order) string { return "customer-" + strconv.Itoa(o.Customer) },
	}
}

// shop commits orders, each in one transaction with its message.
type shop struct {
	db        *database
	publisher *postbag.Publisher[postbag.SQLTx]
	placed    postbag.Event[order]

	mu     sync.Mutex
	sold   map[[2]int]bool
	undone int
}

func openShop(ctx context.Context, db *database) (*shop, error) {
	p, err := postbag.NewPublisher(db.appender, postbag.PublisherOptions{})
	if err != nil {
		return nil, err
	}
	for _, q := range []string{
		`create table customers (id integer primary key, orders integer not null)`,
		`create table orders (customer integer not null, n integer not null, cents integer not null, primary key (customer, n))`,
	} {
		if _, err := db.sql.ExecContext(ctx, q); err != nil {
			return nil, fmt.Errorf("demo: the shop's tables cannot be made: %w", err)
		}
	}
	for id := range customers {
		if _, err := db.sql.ExecContext(ctx, fmt.Sprintf(`insert into customers values (%d, 0)`, id)); err != nil {
			return nil, fmt.Errorf("demo: the customers cannot be made: %w", err)
		}
	}
	return &shop{db: db, publisher: p, placed: placed(), sold: make(map[[2]int]bool)}, nil
}

// sell commits n orders at about rate a second.
func (s *shop) sell(ctx context.Context, n, rate int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan struct{})
	var wg sync.WaitGroup
	for range tills {
		wg.Go(func() {
			for range work {
				if err := s.sale(ctx); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	begun := time.Now()
	for sent := 0; sent < n && ctx.Err() == nil; {
		<-tick.C
		for due := int(time.Since(begun).Seconds() * float64(rate)); sent < min(due, n) && ctx.Err() == nil; sent++ {
			select {
			case work <- struct{}{}:
			case <-ctx.Done():
			}
		}
	}
	close(work)
	wg.Wait()
	return context.Cause(ctx)
}

var errChangedMind = errors.New("the customer changed their mind")

// sale commits one order; one in twenty is given up first, after its message was
// published.
func (s *shop) sale(ctx context.Context) error {
	if rand.IntN(20) == 0 {
		if _, err := s.place(ctx, errChangedMind); !errors.Is(err, errChangedMind) {
			return fmt.Errorf("demo: a transaction was not rolled back: %w", err)
		}
		s.mu.Lock()
		s.undone++
		s.mu.Unlock()
	}
	o, err := s.place(ctx, nil)
	if err != nil {
		return fmt.Errorf("demo: an order failed: %w", err)
	}
	s.mu.Lock()
	s.sold[[2]int{o.Customer, o.N}] = true
	s.mu.Unlock()
	return nil
}

// place takes the customer's row first: that is what puts the orders of one
// customer in order. end is returned at the end, to roll back.
func (s *shop) place(ctx context.Context, end error) (order, error) {
	o := order{Customer: rand.IntN(customers), Cents: 100 + rand.IntN(10_000)}
	err := s.db.inTx(ctx, func(tx *sql.Tx) error {
		row := tx.QueryRowContext(ctx, fmt.Sprintf(`update customers set orders = orders + 1 where id = %d returning orders`, o.Customer))
		if err := row.Scan(&o.N); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, fmt.Sprintf(`insert into orders values (%d, %d, %d)`, o.Customer, o.N, o.Cents)); err != nil {
			return err
		}
		if err := s.publisher.Publish(ctx, tx, s.placed.Message(o)); err != nil {
			return err
		}
		return end
	})
	return o, err
}

func (s *shop) committed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sold)
}

func (s *shop) rolledBack() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.undone
}

func (s *shop) orders() map[[2]int]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[[2]int]bool, len(s.sold))
	for k := range s.sold {
		out[k] = true
	}
	return out
}
