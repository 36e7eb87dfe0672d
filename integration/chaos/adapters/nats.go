package adapters

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/integration/chaos"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/natsbroker"
)

// NATS is a JetStream stream with natsbroker.
type NATS struct{}

const (
	natsStream     = "EVENTS"
	natsMaxPayload = 32 << 10
)

var natsSubjects = []string{"events.>"}

// Name implements chaos.Broker.
func (NATS) Name() string { return "nats" }

// Open implements chaos.Broker.
func (NATS) Open(ctx context.Context, dsn string) (broker.Destination, error) {
	return natsbroker.Dial(ctx, dsn, natsbroker.Options{Stream: natsStream})
}

// Poison implements chaos.Broker: the server takes no payload of that size.
func (NATS) Poison(m *postbag.Message) bool {
	m.Payload = append(m.Payload, strings.Repeat(" ", natsMaxPayload)...)
	return true
}

// natsPlace is a started server with a stream.
type natsPlace struct {
	server *testserver.NATS
	wire   *chaos.Wire
	conn   *nats.Conn
	js     jetstream.JetStream
	reader jetstream.Consumer
	stale  atomic.Bool // the stream is another one
	disk   *testserver.Tmpfs
}

// Start implements chaos.Broker.
func (NATS) Start(ctx context.Context, t chaos.Terms) (_ chaos.Place, err error) {
	p := &natsPlace{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	o := testserver.NATSOptions{MaxPayload: natsMaxPayload, StoreDir: filepath.Join(t.Dir, "store")}
	if t.Wants(diskFull) {
		p.disk, err = testserver.MountTmpfs(ctx, 512<<20)
		switch {
		case err == nil:
			o.StoreDir = filepath.Join(p.disk.Dir(), "store")
		case !errors.Is(err, testserver.ErrMissing):
			return nil, err
		}
	}
	if p.server, err = testserver.StartNATS(ctx, o); err != nil {
		return nil, err
	}
	u, err := url.Parse(p.server.URL())
	if err != nil {
		return nil, err
	}
	if p.wire, err = chaos.NewWire(u.Host); err != nil {
		return nil, err
	}
	if p.conn, err = nats.Connect(p.server.URL(), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond)); err != nil {
		return nil, err
	}
	if p.js, err = jetstream.New(p.conn); err != nil {
		return nil, err
	}
	return p, p.create(ctx)
}

// create makes the stream. Its own deduplication is as short as the server allows, so that a duplicate shows.
func (p *natsPlace) create(ctx context.Context) error {
	_, err := p.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: natsStream, Subjects: natsSubjects, Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew,
		Duplicates: 100 * time.Millisecond,
	})
	return err
}

// Version implements chaos.Place.
func (p *natsPlace) Version() string { return "NATS " + p.conn.ConnectedServerVersion() }

// DSN implements chaos.Place.
func (p *natsPlace) DSN() string { return at(p.server.URL(), p.wire.Addr()) }

// Topic implements chaos.Place.
func (*natsPlace) Topic() string { return "events.a" }

// More implements chaos.Place.
func (p *natsPlace) More(ctx context.Context) (out []chaos.Arrival, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if p.stale.Swap(false) {
		p.reader = nil
	}
	if p.reader == nil {
		if p.reader, err = p.js.OrderedConsumer(ctx, natsStream, jetstream.OrderedConsumerConfig{}); err != nil {
			return nil, err
		}
	}
	batch, err := p.reader.Fetch(2000, jetstream.FetchMaxWait(300*time.Millisecond))
	if err != nil {
		return nil, err
	}
	for m := range batch.Messages() {
		a, err := natsArrival(m)
		if err != nil {
			return out, err
		}
		out = append(out, a)
	}
	return out, batch.Error()
}

// Reread implements chaos.Rereadable.
func (p *natsPlace) Reread() { p.reader = nil }

func natsArrival(m jetstream.Msg) (a chaos.Arrival, err error) {
	meta, err := m.Metadata()
	if err != nil {
		return a, err
	}
	key, err := url.PathUnescape(m.Headers().Get("Postbag-Key"))
	if err != nil {
		return a, fmt.Errorf("adapters: a key on NATS: %w", err)
	}
	return chaos.Arrival{
		Key: key, Headers: map[string]string{"tx": m.Headers().Get("tx")}, Payload: m.Data(), From: meta.Timestamp, To: meta.Timestamp,
	}, nil
}

// Faults implements chaos.Place.
func (p *natsPlace) Faults() []chaos.Fault {
	return slices.Concat(p.wire.Faults(chaos.BrokerWire), []chaos.Fault{
		p.wire.Lost("answer to a publish lost", chaos.BrokerWire, chaos.EveryRelay, `"stream":"`+natsStream),
		atOnce("restart of the broker", chaos.Brokers, p.server.Restart),
		gone("SIGKILL of the broker", chaos.Brokers, p.server),
		frozen("SIGSTOP of the broker", chaos.Brokers, p.server),
		p.changed("full stream that discards what is new", func(c *jetstream.StreamConfig) { c.MaxMsgs = 1 }, func(c *jetstream.StreamConfig) { c.MaxMsgs = -1 }),
		p.changed("stream that listens to other subjects",
			func(c *jetstream.StreamConfig) { c.Subjects = []string{"elsewhere.>"} }, func(c *jetstream.StreamConfig) { c.Subjects = natsSubjects }),
		wiped("stream deleted and recreated", p.recreate),
		wiped("restart of the broker with its data wiped", p.forget),
	}, p.diskFaults())
}

// changed is a setting of the stream that is another one for a while.
func (p *natsPlace) changed(name string, begin, end func(*jetstream.StreamConfig)) chaos.Fault {
	set := func(change func(*jetstream.StreamConfig)) func(context.Context) error {
		return func(ctx context.Context) error {
			return patiently(ctx, func() error {
				s, err := p.js.Stream(ctx, natsStream)
				if err != nil {
					return err
				}
				c := s.CachedInfo().Config
				change(&c)
				_, err = p.js.UpdateStream(ctx, c)
				return err
			})
		}
	}
	return chaos.Fault{
		Name: name, Room: chaos.Brokers, Stops: true, Least: time.Second, Most: 4 * time.Second,
		Begin: func(ctx context.Context, _ *chaos.Strike) (func(context.Context) error, error) {
			return set(end), set(begin)(ctx)
		},
	}
}

// recreate deletes the stream and makes it again.
func (p *natsPlace) recreate(ctx context.Context) error {
	defer p.stale.Store(true)
	gone := func() error {
		err := p.js.DeleteStream(ctx, natsStream)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil // an answer was lost
		}
		return err
	}
	return errors.Join(patiently(ctx, gone), patiently(ctx, func() error { return p.create(ctx) }))
}

// forget restarts the server without what it had stored.
func (p *natsPlace) forget(ctx context.Context) error {
	defer p.stale.Store(true)
	return errors.Join(
		p.server.Stop(ctx), os.RemoveAll(filepath.Join(p.server.StoreDir(), "jetstream")), p.server.Start(ctx),
		patiently(ctx, func() error { return p.create(ctx) }),
	)
}

// diskFull is the name of a fault.
const diskFull = "full disk under the broker"

// diskFaults fill the disk. Such a server turns JetStream off until it is started again, as a service manager does.
func (p *natsPlace) diskFaults() []chaos.Fault {
	if p.disk == nil {
		return nil
	}
	return []chaos.Fault{full(diskFull, chaos.Brokers, p.disk, p.server.Restart)}
}

// Close implements chaos.Place.
func (p *natsPlace) Close() (err error) {
	if p.conn != nil {
		p.conn.Close()
	}
	if p.wire != nil {
		err = p.wire.Close()
	}
	if p.server != nil {
		err = errors.Join(err, p.server.Close())
	}
	if p.disk != nil {
		err = errors.Join(err, p.disk.Close())
	}
	return err
}
