package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	streamName = "ORDERS"
	topic      = "orders.placed"
)

// broker is a NATS server in this process, with its stream.
type broker struct {
	options server.Options
	server  *server.Server
}

func startBroker(ctx context.Context, dir string) (*broker, error) {
	b := &broker{options: server.Options{
		ServerName: "postbag-demo", Host: "127.0.0.1", Port: server.RANDOM_PORT,
		JetStream: true, StoreDir: dir, NoLog: true, NoSigs: true,
	}}
	if err := b.start(); err != nil {
		return nil, err
	}
	if a, ok := b.server.Addr().(*net.TCPAddr); ok {
		b.options.Port = a.Port // a restart comes back on it
	}
	if err := b.addStream(ctx); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *broker) start() error {
	options := b.options
	s, err := server.NewServer(&options)
	if err != nil {
		return fmt.Errorf("demo: the NATS server cannot be made: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return errors.New("demo: the NATS server did not come up in 10 s; see whether the machine is overloaded")
	}
	b.server = s
	return nil
}

func (b *broker) addStream(ctx context.Context) error {
	nc, err := connect(b.url())
	if err != nil {
		return fmt.Errorf("demo: no connection to the NATS server: %w", err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return fmt.Errorf("demo: no JetStream: %w", err)
	}
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{
		Name: streamName, Subjects: []string{"orders.>"}, Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew,
	})
	if err != nil {
		return fmt.Errorf("demo: the stream cannot be made: %w", err)
	}
	return nil
}

// connect makes a connection that outlives a restart of the broker, and keeps
// silent about it: what matters shows in the report.
func connect(url string) (*nats.Conn, error) {
	return nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
}

// restart takes the broker away for a while. What it stored stays.
func (b *broker) restart(ctx context.Context, away time.Duration) error {
	b.stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(away):
		return b.start()
	}
}

func (b *broker) stop() {
	b.server.Shutdown()
	b.server.WaitForShutdown()
}

func (b *broker) close() error {
	b.stop()
	return nil
}

func (b *broker) url() string     { return fmt.Sprintf("nats://127.0.0.1:%d", b.options.Port) }
func (b *broker) version() string { return server.VERSION }
