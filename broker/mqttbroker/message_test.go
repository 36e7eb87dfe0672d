package mqttbroker_test

import (
	"errors"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/paho"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/internal/publishtest"
)

func TestAConsumerGetsTheMessageThatWasPublished(t *testing.T) {
	t.Parallel()
	for _, template := range []string{"", "{topic}/{key}"} {
		p := newPlace(t, sharedServer(t))
		d := dial(t, sharedServer(t).Addr(), mqttbroker.Options{Topic: template})
		m := publishtest.Messages(p.topic, 1)[0]
		m.Key, m.Type, m.At = "a/b+c#%\x00\xff", "größe", time.Date(2026, 3, 14, 15, 9, 26, 535_897_000, time.UTC)
		m.Payload = []byte("\x00\xff\r\n")
		m.Headers = map[string]string{"Postbag-Id": "forged", "Postbag-New": "later", "größe\x01": "\xff", "plain": "ü 100%"}
		if template != "" {
			m.Key = "a/b+c#%"
		}
		wants(t, publishtest.Publish(t, d, 10*time.Second, m), broker.Accepted, "")
		got, err := mqttbroker.Message(p.all(t)[0])
		if err != nil || !got.Equal(m.Message) || !got.At.Equal(m.At) || got.Attempt != 1 {
			t.Errorf("template %q: %+v, %v", template, got, err)
		}
	}
}

func TestAMessageOfAnotherPublisherIsErrForeign(t *testing.T) {
	t.Parallel()
	for _, p := range []*paho.Publish{{Topic: "t"}, {Topic: "t", Properties: &paho.PublishProperties{}}} {
		if _, err := mqttbroker.Message(p); !errors.Is(err, mqttbroker.ErrForeign) {
			t.Errorf("%v, want ErrForeign", err)
		}
	}
	for name, value := range map[string]string{broker.HeaderID: "x", broker.HeaderTime: "yesterday"} {
		p := &paho.Publish{Properties: &paho.PublishProperties{}}
		p.Properties.User.Add(name, value)
		if _, err := mqttbroker.Message(p); err == nil || errors.Is(err, mqttbroker.ErrForeign) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
