package adapters

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/source"
)

// NATS is a JetStream stream with natsbroker.
type NATS struct{}

const (
	natsStream     = "EVENTS"
	natsSubject    = "events.a"
	natsBranch     = "events.b"
	natsMaxPayload = 32 << 10
	natsAckWait    = 3 * time.Second
)

var natsSubjects = []string{"events.>"}

// Name implements chaos.Broker.
func (NATS) Name() string { return "nats" }

// Open implements chaos.Broker.
func (NATS) Open(ctx context.Context, dsn string) (broker.Destination, error) {
	return natsbroker.Dial(ctx, dsn, natsbroker.Options{Stream: natsStream})
}

// CanTake implements chaos.Taker.
func (NATS) CanTake() bool { return true }

// Joins implements chaos.Junction.
func (NATS) Joins() bool { return true }

// Take implements chaos.Taker. One member gets all messages, and loses them to another one when it is silent for natsAckWait.
func (NATS) Take(ctx context.Context, dsn string) (source.Source, error) {
	return natsbroker.OpenSource(ctx, natsbroker.SourceOptions{
		URL: dsn, Stream: natsStream, Consumer: chaos.ConsumerName, Order: source.OrderStream, AckWait: natsAckWait,
	})
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
	o := testserver.NATSOptions{MaxPayload: natsMaxPayload, StoreDir: filepath.Join(t.Dir, "store"), Users: natsUsers()}
	if p.disk, err = smallDisk(ctx, t); err != nil {
		return nil, err
	}
	if p.disk != nil {
		o.StoreDir = filepath.Join(p.disk.Dir(), "store")
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

// natsUsers are the harness and the relays, who may not publish to some subjects.
func natsUsers(deny ...string) []testserver.NATSUser {
	const harness, relays = "word-of-the-harness", "word-of-the-relays"
	return []testserver.NATSUser{{Name: "harness", Password: harness}, {Name: "relay", Password: relays, Deny: deny}}
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
func (p *natsPlace) DSN() string {
	relay := natsUsers()[1]
	u := url.URL{Scheme: "nats", Host: p.wire.Addr(), User: url.UserPassword(relay.Name, relay.Password)}
	return u.String()
}

// Topic implements chaos.Place.
func (*natsPlace) Topic() string { return natsSubject }

// Branch implements chaos.Branched.
func (*natsPlace) Branch() string { return natsBranch }

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

// natsArrival takes a message of natsbroker or of Watermill's publisher, which writes the key as it is.
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
		Key: key, Headers: map[string]string{"tx": m.Headers().Get("tx"), broker.HeaderReplay: m.Headers().Get(broker.HeaderReplay)}, Payload: m.Data(), From: meta.Timestamp, To: meta.Timestamp,
	}, nil
}

// Close implements chaos.Place.
func (p *natsPlace) Close() error {
	if p.conn != nil {
		p.conn.Close()
	}
	return errors.Join(closed(p.wire), closed(p.server), closed(p.disk))
}
