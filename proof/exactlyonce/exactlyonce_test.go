package exactlyonce

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/proof/internal/record"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

const topic = "events"

// world is a database with its writers, a Kafka, and relays between them.
type world struct {
	t     *testing.T
	dsn   string
	store *pgstore.Store
	pub   *postbag.Publisher[pgx.Tx]
	kafka *testserver.Kafka

	relays map[string]*process // that live

	stop      chan struct{}
	writers   sync.WaitGroup
	committed [keys]atomic.Int64
}

const keys = 40

// patience is how long a busy machine may take to do anything.
const patience = 2 * time.Minute

func newWorld(t *testing.T, o testserver.KafkaOptions) *world {
	t.Helper()
	w := &world{t: t, relays: map[string]*process{}, stop: make(chan struct{})}
	w.dsn = servertest.Postgres(t, testserver.PostgresOptions{}).DSN("postgres")
	w.kafka = servertest.Kafka(t, o)
	pool, err := pgxpool.New(t.Context(), w.dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if w.store, err = pgstore.Open(t.Context(), pool, pgstore.Options{Create: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.store.Close() })
	if w.pub, err = postbag.NewPublisher[pgx.Tx](w.store, postbag.PublisherOptions{}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) start(name string) {
	w.t.Helper()
	w.relays[name] = start(w.t, name, w.dsn, w.kafka.Brokers())
}

// write starts writers that commit until the world's stop.
func (w *world) write() {
	const count = 4
	for i := range count {
		w.writers.Go(func() {
			tick := time.NewTicker(4 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-w.stop:
					return
				case <-tick.C:
				}
				if err := w.transaction(i+count*rand.IntN(keys/count), 1+rand.IntN(6), rand.IntN(20) == 0); err != nil {
					w.t.Errorf("a writer failed: %v", err)
					return
				}
			}
		})
	}
}

var errRollback = errors.New("rolled back on purpose")

// transaction commits n messages of a key, or publishes them and rolls back.
func (w *world) transaction(key, n int, back bool) error {
	err := w.pub.InTx(context.WithoutCancel(w.t.Context()), func(ctx context.Context, tx pgx.Tx) error {
		for i := range n {
			e := record.Event{Key: fmt.Sprint(key), N: int(w.committed[key].Load()) + i, Phantom: back}
			if err := w.pub.Publish(ctx, tx, postbag.Message{Topic: topic, Key: e.Key, Payload: e.Payload()}); err != nil {
				return err
			}
		}
		if back {
			return errRollback
		}
		return nil
	})
	if back && errors.Is(err, errRollback) {
		return nil
	}
	if err == nil {
		w.committed[key].Add(int64(n))
	}
	return err
}

func (w *world) eventually(what string, is func() bool) {
	w.t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-deadline:
			w.t.Fatalf("still not: %s", what)
		case <-tick.C:
		}
	}
}

// view is the subscription's state, and the names of the relays by id.
func (w *world) view() (s store.SubscriptionView, names map[string]string) {
	w.t.Helper()
	v, err := w.store.Overview(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	names = map[string]string{}
	for _, r := range v.Relays {
		names[r.ID] = r.Name
	}
	for _, b := range v.Boxes {
		for _, s := range b.Subscriptions {
			if s.Subscription == "default" {
				return s, names
			}
		}
	}
	return s, names
}

// owner waits until one of the living relays has all shards and delivers.
func (w *world) owner(not string) *process {
	w.t.Helper()
	var owner *process
	w.eventually("a relay works", func() bool {
		s, names := w.view()
		owner = nil
		for _, shard := range s.Shards {
			p := w.relays[names[shard.Owner]]
			if p == nil || p.name == not || owner != nil && p != owner {
				return false
			}
			owner = p
		}
		return owner != nil
	})
	before, _ := w.view()
	w.eventually("messages are delivered", func() bool {
		s, _ := w.view()
		return s.Delivered > before.Delivered+100
	})
	return owner
}

func TestKilledRelaysAndZombiesDeliverEachMessageOnce(t *testing.T) {
	t.Parallel()
	kills, zombies := 3, 2
	if servertest.Full() {
		kills, zombies = 20, 10
	}
	w := newWorld(t, testserver.KafkaOptions{})
	w.write()
	w.start("relay-0")
	w.start("relay-1")
	started := 2
	for n := range kills + zombies {
		owner := w.owner("")
		<-time.After(time.Duration(rand.IntN(200)) * time.Millisecond) // at any moment
		if zombies == 0 || kills > 0 && n%3 != 1 {
			kills--
			owner.kill()
			delete(w.relays, owner.name)
			w.start(fmt.Sprintf("relay-%d", started))
			started++
			continue
		}
		zombies--
		owner.signal(t, syscall.SIGSTOP)
		w.owner(owner.name)
		owner.signal(t, syscall.SIGCONT)
	}
	w.owner("")
	w.judge(w.end(), started-2)
}

// end stops the writers, and returns what a consumer sees when all is settled.
func (w *world) end() []record.Arrival {
	w.t.Helper()
	close(w.stop)
	w.writers.Wait()
	w.eventually("all is settled", func() bool {
		s, _ := w.view()
		return s.Backlog == 0
	})
	return w.read()
}

// read returns what a consumer of committed messages sees.
func (w *world) read() []record.Arrival {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	c, err := kgo.NewClient(kgo.SeedBrokers(w.kafka.Brokers()...), kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	ends, err := kadm.NewClient(c).ListEndOffsets(ctx, topic)
	if err != nil {
		w.t.Fatal(err)
	}
	left := map[int32]int64{}
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			left[o.Partition] = o.Offset
		}
	})
	var all []record.Arrival
	for len(left) > 0 {
		fetched := c.PollFetches(ctx)
		if ctx.Err() != nil {
			w.t.Fatalf("the topic cannot be read: %v", fetched.Errors())
		}
		fetched.EachRecord(func(r *kgo.Record) {
			if r.Offset >= left[r.Partition]-1 {
				delete(left, r.Partition)
			}
			if r.Attrs.IsControl() {
				return
			}
			all = append(all, record.Arrived(w.t, r.Value))
		})
	}
	return all
}

// judge wants each committed message once, those of a key in order.
func (w *world) judge(seen []record.Arrival, killed int) {
	w.t.Helper()
	committed := map[string]int{}
	for k := range w.committed {
		committed[fmt.Sprint(k)] = int(w.committed[k].Load())
	}
	r := record.Require(w.t, seen, committed, record.Plain, nil, history.Options{ExactlyOnce: true})
	w.t.Logf("%d relays killed: %d seen, %s", killed, len(seen), record.Line(r))
}
