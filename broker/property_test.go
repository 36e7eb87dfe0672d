package broker_test

import (
	"maps"
	"testing"

	"github.com/postbag/postbag/broker"
)

func TestOnlyHeadersOfANamespaceAreProperties(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"kafka.partition": true, "mqtt.": true, "nats.ttl": true, "rabbitmq.anything": true,
		"kafka": false, "Kafka.partition": false, "x-kafka.partition": false, "redis.x": false, "": false,
	} {
		if got := broker.IsProperty(name); got != want {
			t.Errorf("%q is a property: %v", name, got)
		}
	}
}

func TestHeadersWithoutPropertiesAreThoseThatWereThere(t *testing.T) {
	t.Parallel()
	own := map[string]string{"a": "1", "nats.ttl": "1h"}
	if got := broker.WithoutProperties(own); !maps.Equal(got, map[string]string{"a": "1"}) || len(own) != 2 {
		t.Errorf("%v is left of %v", got, own)
	}
	if got := broker.WithoutProperties(nil); got != nil {
		t.Errorf("of none %v is left", got)
	}
}

type checking struct{ broker.Destination }

func (checking) CheckHeaders(map[string]string) error { return nil }

func TestTheHeaderCheckerIsFoundBehindMiddleware(t *testing.T) {
	t.Parallel()
	if _, ok := broker.HeaderCheckerOf(broker.Wrap(checking{}, marked("a"))); !ok {
		t.Error("it is not found")
	}
	if _, ok := broker.HeaderCheckerOf(broker.Wrap(bare{}, marked("a"))); ok {
		t.Error("one is found where there is none")
	}
}
