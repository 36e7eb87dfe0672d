package watermill_test

import (
	"os"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill-nats/v2/pkg/jetstream"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"
	"github.com/ThreeDotsLabs/watermill/pubsub/tests"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/postbag/postbag/watermillbroker"
)

// short makes the suite's numbers small, but in the long form.
var short = os.Getenv("POSTBAG_FULL") != "1"

// A GoChannel lives in one instance and forgets with it.
func TestWatermillsSuiteOverAGoChannel(t *testing.T) {
	t.Parallel()
	tests.TestPubSub(t, tests.Features{ExactlyOnceDelivery: true, RequireSingleInstance: true, ForceShort: short},
		func(t *testing.T) (message.Publisher, message.Subscriber) {
			t.Helper()
			channel := gochannel.NewGoChannel(gochannel.Config{OutputChannelBuffer: 10_000, Persistent: true}, nil)
			return newTransport(t, channel, watermillbroker.Options{Batch: 50}).publisher(), channel
		}, nil)
}

// NATS keeps what it took: consumer groups, order, old messages for new
// subscribers. Delivery is at least once. The suite's own restart of the broker
// wants a command, which a server in this process has not.
func TestWatermillsSuiteOverNATS(t *testing.T) {
	t.Parallel()
	url := startNATS(t)
	to, err := jetstream.NewPublisher(jetstream.PublisherConfig{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = to.Close() })
	tr := newTransport(t, to, watermillbroker.Options{})
	open := func(t *testing.T, config jetstream.SubscriberConfig) (message.Publisher, message.Subscriber) {
		t.Helper()
		config.URL, config.AckWaitTimeout = url, time.Second
		s, err := jetstream.NewSubscriber(config)
		if err != nil {
			t.Fatal(err)
		}
		return tr.publisher(), s
	}
	tests.TestPubSub(t,
		tests.Features{
			ConsumerGroups: true, GuaranteedOrder: true, GuaranteedOrderWithSingleSubscriber: true,
			Persistent: true, NewSubscriberReceivesOldMessages: true, RequireSingleInstance: true, ForceShort: short,
		},
		func(t *testing.T) (message.Publisher, message.Subscriber) {
			t.Helper()
			return open(t, jetstream.SubscriberConfig{})
		},
		func(t *testing.T, group string) (message.Publisher, message.Subscriber) {
			t.Helper()
			return open(t, jetstream.SubscriberConfig{ResourceInitializer: jetstream.GroupedConsumer(group)})
		})
}

func startNATS(t *testing.T) (url string) {
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
	return s.ClientURL()
}
