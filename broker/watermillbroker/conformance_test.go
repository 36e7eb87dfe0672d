package watermillbroker_test

import (
	"errors"
	"testing"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/broker/watermillbroker"
)

func TestADestinationConforms(t *testing.T) {
	t.Parallel()
	h := harness(watermillbroker.Options{})
	h.Spoil = func(m *broker.Delivery) { m.Type = spoiled }
	brokertest.Run(t, h)
}

// Of a batch nobody knows which message was meant.
func TestADestinationThatSendsBatchesConforms(t *testing.T) {
	t.Parallel()
	h := harness(watermillbroker.Options{Batch: 20, KeyMetadata: "partition", Classify: func(err error) broker.Class {
		if err.Error() == "Pub/Sub closed" {
			return broker.ClassUnavailable
		}
		return broker.ClassKeep
	}})
	h.Lacks[brokertest.PartReject] = "a publisher gives one answer for a batch, so that none of it is rejected"
	brokertest.Run(t, h)
}

// A publisher that says itself what its errors mean is heard.
func harness(o watermillbroker.Options) brokertest.Harness {
	open := func(t *testing.T) (*channel, brokertest.Fixture) {
		t.Helper()
		c := newChannel(t)
		return c, c.fixture(t, o)
	}
	return brokertest.Harness{
		Open: func(t *testing.T) brokertest.Fixture {
			_, f := open(t)
			return f
		},
		Outage: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			c, f := open(t)
			return f, brokertest.Switch{Off: c.stop, On: c.start}
		},
		Mute: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			c, f := open(t)
			return f, brokertest.Switch{Off: c.silence, On: c.unmute}
		},
		Misconfigured: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			c := newChannel(t)
			f := c.fixture(t, o)
			f.Destination = over(t, publisherFunc(func(string, ...*message.Message) error {
				return &broker.Error{Outcome: broker.Misconfigured, Err: errors.New("the login is refused; check it")}
			}), o)
			return f, brokertest.Switch{}
		},
		Topics: func(t *testing.T) (brokertest.Fixture, string, brokertest.Switch) {
			c, f := open(t)
			return f, missing, brokertest.Switch{On: c.allow}
		},
		On:       "Watermill's GoChannel",
		Lacks:    map[brokertest.Part]string{brokertest.PartLimit: "a channel has no limit"},
		Features: broker.Features{MaxBatch: max(o.Batch, 1)},
		Reserved: []string{"Content-Type", "Watermill-Uuid", "_watermill_message_uuid"},
	}
}
