package survival

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/pgstore"
)

// consumerEnv, if it is set, makes this program a consumer: what kind of one, and what that takes, a line each.
const consumerEnv = "POSTBAG_SURVIVAL_CONSUMER"

// ackWait is after how long the broker brings a message again that nobody acknowledged.
const ackWait = 2 * time.Second

// P5: an effect in the transaction of its mark is committed once, whatever is killed. The table of effects has no key: a second one would be there.
func TestConsumersThatAreKilledApplyEachMessageOnce(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	n := size(50_000)
	w.exec(`create table effects (id text not null)`)
	w.fillStream(n, 50)
	kills := w.killConsumers("apply", n, w.effects)
	delivered := w.awaitAcknowledged(n, 3*time.Minute)
	t.Logf("%d messages were delivered %d times while %d consumers were killed", n, delivered, kills)
	if delivered <= n {
		t.Errorf("of %d messages none came twice: nothing was shown", n)
	}
	judgeEffects(t, n, 50, history.OnceEach, w.effectsIn(`select 'events.' || id::integer % 50, id::integer from effects`))
}

// killConsumers kills consumers, and now and then the database, until nine of ten messages are done, or 20 were killed.
func (w *world) killConsumers(kind string, n int, done func() int) (kills int) {
	w.t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	consumers := []*exec.Cmd{w.startConsumer(kind), w.startConsumer(kind)}
	for ; kills < 20 && done() < n*9/10; kills++ {
		pause(time.Duration(100+r.IntN(400)) * time.Millisecond)
		i := r.IntN(len(consumers))
		_ = consumers[i].Process.Kill()
		_ = consumers[i].Wait() // it was killed
		consumers[i] = w.startConsumer(kind)
		if kills%7 == 3 {
			if err := w.pg.Restart(w.t.Context(), testserver.StopImmediate); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	return kills
}

// effects returns how many there are, or none while the database is away.
func (w *world) effects() (n int) {
	_ = w.pool.QueryRow(w.t.Context(), `select count(*) from effects`).Scan(&n) // the database may be away
	return n
}

// subject is one of those that messages have.
func subject(i int) string { return fmt.Sprint("events.", i) }

// fillStream puts n messages of so many subjects into the stream, each with an id.
func (w *world) fillStream(n, subjects int) {
	w.t.Helper()
	w.fillStreamFrom(0, n, subjects)
}

// fillStreamFrom puts messages into the stream whose numbers are first and more, up to end.
func (w *world) fillStreamFrom(first, end, subjects int) {
	w.t.Helper()
	numbers := make([]int, end-first)
	for i := range numbers {
		numbers[i] = first + i
	}
	w.send(subjects, numbers)
}

// send puts messages into the stream, each with its number for an id.
func (w *world) send(subjects int, numbers []int) {
	w.t.Helper()
	w.jetstream(func(ctx context.Context, js jetstream.JetStream) error {
		for _, i := range numbers {
			_, err := js.PublishMsgAsync(&nats.Msg{
				Subject: subject(i % subjects), Data: []byte(fmt.Sprint(i)), Header: nats.Header{"Id": {fmt.Sprint(i)}},
			}, jetstream.WithStallWait(time.Minute)) // a busy machine answers late
			if err != nil {
				return err
			}
		}
		select {
		case <-js.PublishAsyncComplete():
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// startConsumer starts this program as a consumer of the world's servers. It is killed when the test ends.
func (w *world) startConsumer(kind string) *exec.Cmd {
	w.t.Helper()
	return w.startProcess(kind, w.dsn, w.nats.URL())
}

// startProcess starts this program as a consumer, with settings as consume takes them. It is killed when the test ends.
func (w *world) startProcess(settings ...string) *exec.Cmd {
	w.t.Helper()
	c := exec.CommandContext(context.WithoutCancel(w.t.Context()), os.Args[0])
	c.Env = append(os.Environ(), consumerEnv+"="+strings.Join(settings, "\n"))
	c.Stderr = w.t.Output()
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if c.ProcessState == nil {
			_ = c.Process.Kill()
			_ = c.Wait() // it was killed
		}
	})
	return c
}

// awaitAcknowledged waits until the broker has nothing left for the consumers, and returns how many times it delivered one.
func (w *world) awaitAcknowledged(n int, within time.Duration) (delivered int) {
	w.t.Helper()
	w.jetstream(func(ctx context.Context, js jetstream.JetStream) error {
		w.eventually(within, "all messages are acknowledged", func() bool {
			c, err := js.Consumer(ctx, stream, "billing")
			if err != nil {
				return false
			}
			i := c.CachedInfo()
			delivered = int(i.Delivered.Consumer)
			return i.NumPending == 0 && i.NumAckPending == 0 && delivered >= n
		})
		return nil
	})
	return delivered
}

// consume is a consumer. It runs until it is killed.
func consume(settings string) error {
	ctx := context.Background()
	kind, settings, _ := strings.Cut(settings, "\n")
	switch kind {
	case "pages":
		return workPages(ctx, strings.Split(settings, "\n"))
	case "handle":
		return handleAll(ctx, strings.Split(settings, "\n"))
	}
	dsn, url, _ := strings.Cut(settings, "\n")
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return err
	}
	store, err := pgstore.Open(ctx, pool, pgstore.Options{})
	for ; err != nil; store, err = pgstore.Open(ctx, pool, pgstore.Options{}) {
		pause(50 * time.Millisecond) // the database is away
	}
	switch kind {
	case "receive":
		return receive(ctx, store, url)
	case "durable":
		return workBox(ctx, store, url, relay.Retry{Min: time.Second}, false)
	case "deadly":
		return workBox(ctx, store, url, relay.Retry{Min: time.Second, MaxAttempts: deadlyAttempts}, true)
	}
	return apply(ctx, pool, store, url)
}

// apply applies each message in a transaction with its mark, and acknowledges it after the commit.
func apply(ctx context.Context, pool *pgxpool.Pool, store *pgstore.Store, url string) error {
	in, err := inbox.New[pgx.Tx](store)
	if err != nil {
		return err
	}
	nc, err := nats.Connect(url)
	if err != nil {
		return err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	c, err := js.CreateOrUpdateConsumer(ctx, stream, jetstream.ConsumerConfig{
		Durable: "billing", AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxAckPending: 2000,
	})
	if err != nil {
		return err
	}
	for {
		batch, err := c.Fetch(200, jetstream.FetchMaxWait(time.Second))
		if err != nil {
			return err
		}
		for m := range batch.Messages() {
			if err := applyOnce(ctx, pool, in, m.Headers().Get("Id")); err != nil {
				continue // the database is away: the message comes again
			}
			if err := m.Ack(); err != nil {
				return err
			}
		}
		if err := batch.Error(); err != nil && !errors.Is(err, nats.ErrTimeout) {
			return err
		}
	}
}

func applyOnce(ctx context.Context, pool *pgxpool.Pool, in *inbox.Inbox[pgx.Tx], id string) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		fresh, err := in.Once(ctx, tx, "billing", inbox.MessageID(id))
		if err != nil || !fresh {
			return err
		}
		_, err = tx.Exec(ctx, `insert into effects values ($1)`, id)
		return err
	})
}
