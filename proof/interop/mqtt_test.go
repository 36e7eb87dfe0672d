package interop_test

import (
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// A subscriber's session is there before the messages.
func TestMQTTConsumersReadEveryFormat(t *testing.T) {
	t.Parallel()
	python(t)
	s := servertest.Mosquitto(t, testserver.MosquittoOptions{})
	transport{
		escapes: true,
		open: func(t *testing.T, place string) broker.Destination {
			t.Helper()
			consume(t, "mqtt_subscribe", s.Addr(), place, 0, nil)
			d, err := mqttbroker.Dial(t.Context(), "mqtt://"+s.Addr(), mqttbroker.Options{})
			return closing(t, d, err)
		},
		read: func(t *testing.T, place string, n int) []seen {
			t.Helper()
			return consume(t, "mqtt", s.Addr(), place, n, nil)
		},
	}.readsAll(t)
}
