package mysqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

// pair is a primary and its replica, behind one address that can move from the first
// to the second.
type pair struct {
	testing.TB

	primary, replica *testserver.MySQL
	admin            *sql.DB // on the replica
	dsn              string
	address          atomic.Pointer[string]
}

func newPair(tb testing.TB, k *kind) *pair {
	tb.Helper()
	start := func() *testserver.MySQL {
		return servertest.MySQL(tb, testserver.MySQLOptions{
			Oracle: k.oracle, NoSync: true, Replication: true, Settings: map[string]string{"max-connections": "1000"},
		})
	}
	p := &pair{TB: tb, primary: start(), replica: start()}
	direct := databaseOn(tb, p.primary, "shop")
	p.admin = openSQL(tb, p.replica.DSN(""))
	if err := p.replica.Follow(tb.Context(), p.admin, p.primary); err != nil {
		tb.Fatal(err)
	}
	p.move(p.primary)
	network := fmt.Sprintf("pair%d", drawn.Add(1))
	mysql.RegisterDialContext(network, func(ctx context.Context, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", *p.address.Load())
	})
	tb.Cleanup(func() { mysql.DeregisterDialContext(network) })
	p.dsn = strings.Replace(direct, "@tcp(", "@"+network+"(", 1)
	return p
}

func (p *pair) move(to *testserver.MySQL) {
	address := fmt.Sprintf("127.0.0.1:%d", to.Port())
	p.address.Store(&address)
}

// failOver kills the primary, promotes the replica and moves the address. Both servers
// were made of one template, and have one password.
func (p *pair) failOver() {
	p.Helper()
	if err := p.primary.Kill(p.Context()); err != nil {
		p.Fatal(err)
	}
	if err := p.replica.Promote(p.Context(), p.admin); err != nil {
		p.Fatal(err)
	}
	p.move(p.replica)
}

// relays runs two relays until the function that is returned ends them.
func (p *pair) relays(to *membroker.Destination) (end func()) {
	p.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for range 2 {
		f := newFixture(p.TB, p.dsn, grace(time.Second), func(o *mysqlstore.Options) { o.Create, o.Boxes = false, nil })
		r, err := relay.New(f.Store, relay.Options{
			TTL: 2 * time.Second, Logger: slog.New(slog.DiscardHandler),
			Subscriptions: []relay.Subscription{{To: to.Connect()}},
		})
		if err != nil {
			p.Fatal(err)
		}
		running.Go(func() {
			if err := r.Run(ctx); err != nil && ctx.Err() == nil {
				p.Errorf("a relay ended: %v", err)
			}
		})
	}
	return func() { cancel(); running.Wait() }
}

func TestAFailOverToASemiSynchronousReplicaLosesNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		p := newPair(t, k)
		if err := p.primary.Synchronous(t.Context(), openSQL(t, p.primary.DSN(""))); err != nil {
			t.Fatal(err)
		}
		f := newFixture(t, p.dsn, grace(time.Second))
		s := &testBox{TB: t, Driver: boxtest.Of(t, f), fixture: f}
		s.Must(s.CreateBox(t.Context(), "outbox"))
		l := s.load(sql.LevelReadCommitted, true)
		to := membroker.New(membroker.Options{})
		end := p.relays(to)
		defer end()
		came := func() map[postbag.ID]int {
			got := make(map[postbag.ID]int)
			for _, r := range to.Taken() {
				got[r.ID]++
			}
			return got
		}
		s.Eventually("much is delivered", func() bool { return l.count() > 1000 && len(came()) > 500 })
		p.failOver()
		before := l.count()
		s.Eventually("writers go on at the other server", func() bool { return l.count() > before+1000 })
		committed := l.end()
		lost := func() (n int) {
			got := came()
			for id := range committed {
				if got[id] == 0 {
					n++
				}
			}
			return n
		}
		s.Eventually("everything has come", func() bool { return lost() == 0 })
		again, phantoms := 0, 0
		for id, n := range came() {
			again += n - 1
			if !l.committed[id] && !l.unknown[id] {
				phantoms++
			}
		}
		// What two relays had sent and not settled when the server went.
		if phantoms > 0 || again > 2*1000 {
			t.Errorf("of %d messages %d were never committed, and %d came again", len(committed), phantoms, again)
		}
		t.Logf("%d messages, %d of them before the fail-over; %d came again", len(committed), before, again)
	})
}

// A replica that was behind has lost messages and the positions behind them alike. Its
// seqs are given out again, to other messages; who had read the lost ones must notice.
func TestAFailOverToALaggingReplicaDeliversWhatItHas(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		p := newPair(t, k)
		s := testBoxOn(t, p.dsn)
		first := s.publish(boxtest.Messages(10, "a")...)
		s.want(s.Deliver(), first...)
		unsettled := s.publish(boxtest.Messages(10, "b")...)
		s.Eventually("the replica has it", func() bool {
			var n int
			err := p.admin.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM shop.postbag_outbox").Scan(&n)
			return err == nil && n == 20
		})
		s.Must(p.replica.Deaf(t.Context(), p.admin))
		lost := s.publish(boxtest.Messages(10, "c")...)
		last := s.number("SELECT MAX(seq) FROM postbag_outbox")
		s.want(s.Deliver(), append(unsettled, lost...)...)
		beyond := s.At
		p.failOver()

		fresh := s.publish(boxtest.Messages(15, "d")...)
		if n := s.number("SELECT COUNT(*) FROM postbag_outbox WHERE seq <= ? AND `key` = 'd'", last); n == 0 {
			t.Fatal("no seq of a lost message was given out again: the test shows nothing")
		}
		var err error
		s.Eventually("the other server is reached", func() bool {
			_, err = s.Turn(t.Context(), store.Turn{Read: []store.Request{request(beyond, 100)}})
			return err == nil || errors.Is(err, store.ErrRestarted) || errors.Is(err, store.ErrMoved)
		})
		if err == nil {
			t.Fatal("a position of the other server's life was read from")
		}
		if _, err := s.Check(t.Context()); err != nil {
			t.Fatalf("the log and the positions agree, and the check says %v", err)
		}
		s.At = s.position(outbox)
		s.want(s.Read(), append(unsettled, fresh...)...)
	})
}
