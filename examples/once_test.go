package examples_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/examples/internal/shop"
	"github.com/postbag/postbag/examples/once"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// booked returns how many orders are booked on the customer.
func (s *site) booked() (n int) {
	s.t.Helper()
	if err := s.db.QueryRowContext(s.t.Context(), `select orders from customers where name = 'customer-7'`).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

func TestAMessageThatComesTwiceAtOnceIsAppliedOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	app, err := pgstore.OpenAppender(t.Context(), s.db, pgstore.AppenderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	in, err := inbox.New[postbag.SQLTx](app)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	apply := func(ctx context.Context, m postbag.Message) error {
		return once.Apply(ctx, s.db, in, m)
	}
	for n := range 20 {
		m := shop.Placed.Message(shop.Order{Customer: "customer-7", Cents: n})
		m.ID = postbag.NewID()
		for range 3 {
			group.Go(func() {
				if err := apply(t.Context(), m); err != nil {
					t.Error(err)
				}
			})
		}
	}
	group.Wait()
	if n := s.booked(); n != 20 {
		t.Errorf("20 messages that came three times each are booked %d times", n)
	}

	m := shop.Placed.Message(shop.Order{Customer: "customer-7", Cents: 1})
	m.ID = postbag.NewID()
	if err := apply(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	m.Payload = shop.Placed.Message(shop.Order{Customer: "customer-7", Cents: 2}).Payload
	if err := apply(t.Context(), m); !errors.Is(err, store.ErrOtherBytes) {
		t.Errorf("another message with the same id gave %v", err)
	}
	if n := s.booked(); n != 21 {
		t.Errorf("21 messages are booked %d times", n)
	}
}

// consumer makes a role that may do what a consumer must, and no more.
func (s *site) consumer() (dsn string) {
	s.t.Helper()
	s.exec(`create role consumer login password 'consumer'`)
	s.exec(`grant usage on schema postbag to consumer`)
	s.exec(`grant select (consumer, id, sum), insert (consumer, id, sum) on postbag._once to consumer`)
	s.exec(`grant select, update on customers to consumer`)
	return s.pg.DSNAs("consumer", "consumer", "postgres")
}

func TestAPythonConsumerAppliesEachMessageOnceWithPlainSQL(t *testing.T) {
	t.Parallel()
	if out, err := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", "import psycopg2").CombinedOutput(); err != nil {
		servertest.Need(t, fmt.Errorf("psycopg2 is missing (%w: %s): %w", err, out, testserver.ErrMissing))
	}
	s := newSite(t)
	dsn := s.consumer()
	run := func(lines ...string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "python/apply.py")
		cmd.Env = append(os.Environ(), "DATABASE_URL="+dsn)
		cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
		return cmd.CombinedOutput()
	}
	var lines []string
	for n := range 25 {
		line := fmt.Sprintf(`{"id": "order-%d", "customer": "customer-7", "cents": %d}`, n, n)
		lines = append(lines, line, line)
	}
	for range 2 {
		if out, err := run(lines...); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if n := s.booked(); n != 25 {
		t.Errorf("25 messages that came four times each are booked %d times", n)
	}
	out, err := run(`{"id": "order-3", "customer": "customer-7", "cents": 99}`)
	if err == nil || !strings.Contains(string(out), "another message with the id b'order-3'") {
		t.Errorf("another message with a known id gave %v: %s", err, out)
	}
	if n := s.booked(); n != 25 {
		t.Errorf("the refused message was booked: %d", n)
	}
}
