package watermill_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill-nats/v2/pkg/jetstream"
	"github.com/nats-io/nats.go"
	natsjetstream "github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/watermillbroker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

// intake is an outbox whose messages go to NATS through Watermill, and an inbox that takes them in through Watermill.
type intake struct {
	from    *transport
	js      natsjetstream.JetStream
	inbox   *sqlitestore.Store
	topic   string
	patient context.Context
}

func newIntake(t *testing.T) *intake {
	t.Helper()
	url := servertest.NATS(t, testserver.NATSOptions{}).URL()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	in := &intake{topic: "orders"}
	if in.js, err = natsjetstream.New(nc); err != nil {
		t.Fatal(err)
	}
	to, err := jetstream.NewPublisher(jetstream.PublisherConfig{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = to.Close() })
	if err := newSubscriber(t, in.js, "").SubscribeInitialize(in.topic); err != nil {
		t.Fatal(err)
	}
	in.from = newTransport(t, to, watermillbroker.Options{})
	in.inbox, err = sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "inbox.db"), sqlitestore.Options{Create: true, Boxes: []string{"inbox"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.inbox.Close() })
	if err := in.inbox.Declare(t.Context(), []store.Spec{{Ref: store.Ref{Box: "inbox", Subscription: "worker"}, Shards: 1}}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	in.patient = ctx
	return in
}

// send puts messages of five keys into the outbox.
func (in *intake) send(t *testing.T, total int) {
	t.Helper()
	err := in.from.pub.InTx(in.patient, func(ctx context.Context, tx *sql.Tx) error {
		for n := range total {
			m := postbag.Message{Topic: in.topic, Type: "order.created", Key: fmt.Sprint("key ", n%5), Payload: fmt.Append(nil, n)}
			if err := in.from.pub.Publish(ctx, tx, m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (in *intake) source(t *testing.T) *watermillbroker.Source {
	t.Helper()
	src, err := watermillbroker.OpenSource(in.patient, newSubscriber(t, in.js, "billing"), watermillbroker.SourceOptions{
		Topics: []string{in.topic}, AckWait: 5 * time.Second, CloseSubscriber: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.Close(context.Background()) })
	return src
}

// abandon has a source take a message and end without an ack.
func (in *intake) abandon(t *testing.T) {
	t.Helper()
	src := in.source(t)
	if _, err := src.Fetch(in.patient, source.Limits{}); err != nil {
		t.Fatal(err)
	}
	if err := src.Close(in.patient); err != nil {
		t.Errorf("close: %v", err)
	}
}

// stored returns the numbers in the box, and wants each once, with those of a key in sequence.
func (in *intake) stored(t *testing.T) (n int) {
	t.Helper()
	items, _, err := in.inbox.List(in.patient, store.Query{Ref: store.Ref{Box: "inbox"}, Oldest: true, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]int{}
	for _, it := range items {
		var number int
		if _, err := fmt.Sscan(string(it.Payload), &number); err != nil {
			t.Fatal(err)
		}
		before, there := last[it.Key]
		if want := before + 5; there && number != want || !there && number > 4 || it.Key != fmt.Sprint("key ", number%5) {
			t.Errorf("of %s message %d comes after %d", it.Key, number, before)
		}
		last[it.Key] = number
	}
	return len(items)
}

func (in *intake) until(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-in.patient.Done():
			t.Fatalf("it does not happen that %s", what)
		}
	}
}

// runs runs a receiver or a consumer until the returned function, or the test, ends it.
func runs(t *testing.T, run func(context.Context) error) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	t.Cleanup(end)
	return end
}

func TestReceiversStoreOnceInOrderWhatARelayDeliversOverNATS(t *testing.T) {
	t.Parallel()
	in := newIntake(t)
	receive := func() (end func()) {
		src := in.source(t)
		r, err := inbox.NewReceiver(inbox.ReceiverOptions[postbag.SQLTx]{Store: in.inbox, Source: src, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		stop := runs(t, r.Run)
		return func() {
			stop()
			if err := src.Close(in.patient); err != nil {
				t.Errorf("close: %v", err)
			}
		}
	}
	const total = 100
	in.send(t, total)
	in.abandon(t)
	end := receive()
	for part := range 3 {
		in.until(t, "more is stored", func() bool { return in.stored(t) > 20*part })
		end()
		end = receive()
	}
	in.until(t, "all is stored", func() bool { return in.stored(t) == total })
	end()
}

func TestAConsumerAppliesOnceInOrderWhatARelayDeliversOverNATS(t *testing.T) {
	t.Parallel()
	in := newIntake(t)
	var calls atomic.Int64
	consume := func() (end func()) {
		c, err := inbox.NewConsumer(inbox.ConsumerOptions[postbag.SQLTx]{
			Store: in.inbox, Source: in.source(t), Consumer: "billing", Logger: slog.New(slog.DiscardHandler),
			Retry: inbox.Retry{Min: time.Millisecond, Max: time.Millisecond},
			Handle: func(ctx context.Context, tx postbag.SQLTx, m *inbox.Message) error {
				applied := postbag.Message{ID: postbag.NewID(), Topic: "applied", Key: m.Key, Payload: m.Payload}
				if err := in.inbox.Append(ctx, tx, "inbox", []postbag.Message{applied}); err != nil {
					return err
				}
				if calls.Add(1)%10 == 0 {
					return errors.New("not now")
				}
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return runs(t, c.Run)
	}
	const total = 60
	in.send(t, total)
	in.abandon(t)
	end := consume()
	in.until(t, "some is applied", func() bool { return in.stored(t) > 10 })
	end()
	end = consume()
	in.until(t, "all is applied", func() bool { return in.stored(t) == total })
	end()
}
