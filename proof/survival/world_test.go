package survival

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/proof/internal/record"
	"github.com/postbag/postbag/store/pgstore"
)

const (
	stream   = "EVENTS"
	inFlight = 1000
	ttl      = 2 * time.Second
)

// full says that the long form was asked for.
func full() bool { return os.Getenv("POSTBAG_FULL") == "1" }

// size is n in full, and a fifth of it in short form.
func size(n int) int {
	if full() {
		return n
	}
	return n / 5
}

// world is the servers of one test.
type world struct {
	t     *testing.T
	pg    *testserver.Postgres
	nats  *testserver.NATS
	pool  *pgxpool.Pool
	store *pgstore.Store
	pub   *postbag.Publisher[pgx.Tx]
	began time.Time
	dsn   string // where the writers and, unless told otherwise, the relays connect

	faults record.Faults
	pads   map[record.Event]string // what was added to a message to make it large
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, testserver.PostgresOptions{}, testserver.NATSOptions{})
}

func newWorldOn(t *testing.T, po testserver.PostgresOptions, no testserver.NATSOptions) *world {
	t.Helper()
	w := &world{t: t, pg: servertest.Postgres(t, po), nats: servertest.NATS(t, no), began: time.Now(), pads: map[record.Event]string{}}
	w.dsn = w.pg.DSN("postgres")
	w.open()
	w.addStream(jetstream.StreamConfig{})
	return w
}

// open connects to the database and makes what is missing of schema and box. It
// may be called again after dsn was changed.
func (w *world) open() {
	w.t.Helper()
	c, err := pgxpool.ParseConfig(w.dsn)
	if err != nil {
		w.t.Fatal(err)
	}
	c.MaxConns = 24
	w.pool, err = pgxpool.NewWithConfig(w.t.Context(), c)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(w.pool.Close)
	w.store, err = pgstore.Open(w.t.Context(), w.pool, pgstore.Options{Create: true})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = w.store.Close() })
	w.pub, err = postbag.NewPublisher(w.store, postbag.PublisherOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
}

// jetstream connects to the broker for the length of one call.
func (w *world) jetstream(do func(context.Context, jetstream.JetStream) error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.t.Context()), 2*time.Minute)
	defer cancel()
	nc, err := nats.Connect(w.nats.URL(), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true))
	if err != nil {
		w.t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err == nil {
		err = do(ctx, js)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// cannotStore is what the server calls it that the store of a stream cannot be made.
const cannotStore jetstream.ErrorCode = 10049

// addStream makes the stream. Its own deduplication is as short as the server
// allows, so that a duplicate shows. The server removes the folder of a deleted stream in the background, and what is left of
// it is in the way of one that is made again at once: addStream asks again while the server cannot make the store.
func (w *world) addStream(c jetstream.StreamConfig) {
	w.t.Helper()
	if c.Name == "" {
		c.Name, c.Subjects = stream, []string{"events.>"}
	}
	c.Storage = jetstream.FileStorage
	c.Discard, c.Duplicates = jetstream.DiscardNew, 100*time.Millisecond
	w.jetstream(func(ctx context.Context, js jetstream.JetStream) error {
		for {
			_, err := js.CreateStream(ctx, c)
			refused := (*jetstream.APIError)(nil)
			if !errors.As(err, &refused) || refused.ErrorCode != cannotStore || ctx.Err() != nil {
				return err
			}
			pause(20 * time.Millisecond)
		}
	})
}

// injure notes a fault.
func (w *world) injure(kind string, from time.Time) {
	w.faults.Note(kind, from)
}

// eventually waits for a condition.
func (w *world) eventually(within time.Duration, what string, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(within); !ok(); pause(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("not within %v: %s", within, what)
		}
	}
}

// pause lets time pass: how long a fault lasts, or a writer takes.
func pause(d time.Duration) { <-time.After(d) }
