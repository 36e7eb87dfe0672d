package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
	"github.com/postbag/postbag/store/pgstore"
)

// killable is a server that can be killed, and started again on what it stored.
type killable interface {
	Kill(ctx context.Context) error
	Start(ctx context.Context) error
	Close() error
}

// crashBox is an empty box named outbox on a server of its own.
type crashBox struct {
	store  store.Store
	server killable
	// insert writes a message on a new connection: it fails as long as the server does
	// not answer.
	insert func(ctx context.Context) error
	answer func(ctx context.Context) error
	close  func()
}

func crashPostgres(ctx context.Context, _ *testbed) (*crashBox, error) {
	server, err := testserver.StartPostgres(ctx, testserver.PostgresOptions{})
	if err != nil {
		return nil, err
	}
	exec := func(ctx context.Context, text string) error {
		c, err := pgx.Connect(ctx, server.DSN("postgres"))
		if err != nil {
			return err
		}
		_, err = c.Exec(ctx, text)
		return errors.Join(err, c.Close(ctx))
	}
	s, err := openRelayStore(ctx, server.DSN("postgres"), pgstore.Options{Create: true, Boxes: []string{"outbox"}})
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return &crashBox{
		store: s.store, server: server,
		answer: func(ctx context.Context) error { return exec(ctx, "select 1") },
		insert: func(ctx context.Context) error {
			return exec(ctx, "insert into postbag.outbox (topic, payload) values ('t', 'x')")
		},
		close: func() { s.close(); _ = server.Close() },
	}, nil
}

func crashMariaDB(ctx context.Context, _ *testbed) (*crashBox, error) {
	server, err := testserver.StartMySQL(ctx, testserver.MySQLOptions{})
	if err != nil {
		return nil, err
	}
	exec := func(ctx context.Context, text string) error {
		db, err := sql.Open("mysql", server.DSN(""))
		if err != nil {
			return err
		}
		_, err = db.ExecContext(ctx, text)
		return errors.Join(err, db.Close())
	}
	if err := exec(ctx, "CREATE DATABASE shop"); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	s, err := mysqlstore.Open(ctx, server.DSN("shop"), mysqlstore.Options{Create: true})
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return &crashBox{
		store: s, server: server,
		answer: func(ctx context.Context) error { return exec(ctx, "SELECT 1") },
		insert: func(ctx context.Context) error {
			return exec(ctx, "INSERT INTO shop.postbag_outbox (topic, payload) VALUES ('t', 'x')")
		},
		close: func() { _ = s.Close(); _ = server.Close() },
	}, nil
}

// databaseKilled kills a server under a relay that is alone, starts it again at once, and
// commits a message as soon as it answers.
func databaseKilled(open func(context.Context, *testbed) (*crashBox, error)) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (v sample, err error) {
		b, err := open(ctx, l)
		if err != nil {
			return sample{}, err
		}
		defer b.close()
		to := membroker.New(membroker.Options{})
		_, stop, err := (&sqlBox{store: b.store}).deliver(ctx, relay.Subscription{To: to})
		if err != nil {
			return sample{}, err
		}
		defer func() { err = errors.Join(err, stop()) }()
		var took []time.Duration
		for n := range repeats + 1 {
			from := time.Now()
			if n > 0 {
				if from, err = b.crash(ctx); err != nil {
					return sample{}, err
				}
			}
			if err := errors.Join(b.insert(ctx), to.WaitFor(ctx, n+1)); err != nil {
				return sample{}, err
			}
			if n > 0 {
				took = append(took, time.Since(from))
			}
			time.Sleep(time.Second) // until it is settled
		}
		v.times(took)
		v.Extra["duplicates"] = float64(to.Repeats())
		return v, nil
	}
}

// crash kills the server and starts it, and returns when it answered a new connection.
func (b *crashBox) crash(ctx context.Context) (time.Time, error) {
	if err := errors.Join(b.server.Kill(ctx), b.server.Start(ctx)); err != nil {
		return time.Time{}, err
	}
	return answered(ctx, b.answer)
}

// answered asks until there is an answer, a minute at most, and returns when it came.
func answered(ctx context.Context, ask func(context.Context) error) (time.Time, error) {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		err := ask(ctx)
		if err == nil {
			return time.Now(), nil
		}
		if time.Now().After(deadline) {
			return time.Time{}, fmt.Errorf("a server that was started does not answer: %w", err)
		}
	}
}

// awayBroker is a broker that goes away.
type awayBroker struct {
	to     broker.Destination
	server interface {
		Kill(ctx context.Context) error
		Start(ctx context.Context) error
	}
}

func natsAway(ctx context.Context, l *testbed) (awayBroker, error) {
	to, err := natsDestination(ctx, l)
	return awayBroker{to, l.nats}, err
}

func redisAway(ctx context.Context, l *testbed) (awayBroker, error) {
	to, err := redisDestination(ctx, l)
	return awayBroker{to, l.redis}, err
}

func kafkaAway(ctx context.Context, l *testbed) (awayBroker, error) {
	to, err := kafkaDestination(ctx, l)
	return awayBroker{to, l.kafka}, err
}

// brokerAway kills a broker under a relay of a box in PostgreSQL, commits messages
// meanwhile, and starts the broker after three seconds.
func brokerAway(open func(context.Context, *testbed) (awayBroker, error)) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (v sample, err error) {
		b, err := stopPostgres(ctx, l)
		if err != nil {
			return sample{}, err
		}
		defer func() { err = errors.Join(err, b.close()) }()
		away, err := open(ctx, l)
		if err != nil {
			return sample{}, err
		}
		defer func() { err = errors.Join(err, away.to.Close(context.WithoutCancel(ctx))) }()
		came := make(chan time.Time, 1)
		_, stop, err := b.deliver(ctx, relay.Subscription{To: away.to, Use: []broker.Middleware{
			func(next broker.Destination) broker.Destination { return &firstAccepted{next, came} },
		}})
		if err != nil {
			return sample{}, err
		}
		defer func() { err = errors.Join(err, stop()) }()
		var took []time.Duration
		for n := range repeats + 1 {
			d, err := b.outage(ctx, away, came, n > 0)
			if err != nil {
				return sample{}, err
			}
			if n > 0 {
				took = append(took, d)
			}
		}
		v.times(took)
		return v, nil
	}
}

// outage delivers a message, over an outage if there is one to be, and returns how long
// after the broker's return it was accepted.
func (b *sqlBox) outage(ctx context.Context, away awayBroker, came <-chan time.Time, kill bool) (time.Duration, error) {
	if kill {
		if err := away.server.Kill(ctx); err != nil {
			return 0, err
		}
	}
	if err := b.append(ctx, []postbag.Message{newMessage(0)}); err != nil {
		return 0, err
	}
	from := time.Now()
	if kill {
		time.Sleep(3 * time.Second)
		if err := away.server.Start(ctx); err != nil {
			return 0, err
		}
		from = time.Now()
	}
	select {
	case at := <-came:
		return at.Sub(from), nil
	case <-time.After(time.Minute):
		return 0, errors.New("nothing was delivered for a minute")
	}
}

// firstAccepted tells when a message was accepted, if somebody is to know.
type firstAccepted struct {
	broker.Destination

	came chan time.Time
}

func (f *firstAccepted) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	f.Destination.Publish(ctx, msgs, func(i int, r broker.Result) {
		if r.Outcome == broker.Accepted {
			select {
			case f.came <- time.Now():
			default:
			}
		}
		report(i, r)
	})
}
