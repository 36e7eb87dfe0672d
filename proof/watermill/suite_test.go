package watermill_test

import (
	"os"
	"testing"

	"github.com/ThreeDotsLabs/watermill-nats/v2/pkg/jetstream"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"
	"github.com/ThreeDotsLabs/watermill/pubsub/tests"
	"github.com/nats-io/nats.go"
	natsjetstream "github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker/watermillbroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
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
// wants a command, which a server of the test's own has not.
func TestWatermillsSuiteOverNATS(t *testing.T) {
	t.Parallel()
	url := servertest.NATS(t, testserver.NATSOptions{}).URL()
	to, err := jetstream.NewPublisher(jetstream.PublisherConfig{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = to.Close() })
	tr := newTransport(t, to, watermillbroker.Options{})
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := natsjetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	tests.TestPubSub(t,
		tests.Features{
			ConsumerGroups: true, GuaranteedOrder: true, GuaranteedOrderWithSingleSubscriber: true,
			Persistent: true, NewSubscriberReceivesOldMessages: true, ForceShort: short,
		},
		func(t *testing.T) (message.Publisher, message.Subscriber) {
			t.Helper()
			return tr.publisher(), newSubscriber(t, js, "")
		},
		func(t *testing.T, group string) (message.Publisher, message.Subscriber) {
			t.Helper()
			return tr.publisher(), newSubscriber(t, js, group)
		})
}
