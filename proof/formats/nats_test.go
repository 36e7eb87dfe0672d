package formats_test

import (
	"testing"
	"time"

	cenats "github.com/cloudevents/sdk-go/protocol/nats_jetstream/v2"
	"github.com/cloudevents/sdk-go/v2/binding"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker/natsbroker"
)

func TestTheSDKReadsEventsOverNATS(t *testing.T) {
	t.Parallel()
	js := startNATS(t)
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "E", Subjects: []string{"e.>"}}); err != nil {
		t.Fatal(err)
	}
	read := make(chan binding.Message, 1)
	sub, err := js.Conn().Subscribe("e.>", func(m *nats.Msg) {
		if m.Header.Get("Nats-Msg-Id") != "" {
			read <- cenats.NewMessage(m)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Unsubscribe() })
	d, err := natsbroker.New(js, natsbroker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close(t.Context()) })
	readsBack(t, transport{dest: d, topic: "e.orders", read: read, undecoded: true})
}

// startNATS starts a server in this process.
func startNATS(t *testing.T) jetstream.JetStream {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server does not take connections")
	}
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}
