package mqttbroker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/internal/publishtest"
)

func TestASubscriberGetsThePropertiesThatHeadersOfTheMessageName(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	p := newPlace(t, s)
	d := publishtest.Closing(t, dial(t, s.Addr(), mqttbroker.Options{}))
	msgs := publishtest.Messages(p.topic, 3)
	msgs[0].Headers = map[string]string{
		"mqtt.expiry": "1h", "mqtt.content_type": "text/plain", "mqtt.response_topic": "answers/1", "mqtt.correlation_data": "request\x001",
		"kafka.partition": "of another", "own": "x",
	}
	msgs[1].Headers, msgs[1].Wire = msgs[0].Headers, &broker.Wire{Headers: map[string]string{"own": "x"}, ContentType: "application/json"}
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, msgs...), broker.Accepted, "")
	found := 0
	for _, m := range p.all(t) {
		if m.Properties == nil {
			t.Fatalf("a message has no properties")
		}
		props := m.Properties
		for _, u := range props.User {
			if broker.IsProperty(u.Key) {
				t.Errorf("a message has the user property %s", u.Key)
			}
		}
		switch string(m.Payload) {
		case string(msgs[0].Payload), string(msgs[1].Payload):
			found++
			if props.MessageExpiry == nil || *props.MessageExpiry > 3600 || *props.MessageExpiry < 3500 || props.ContentType != "text/plain" ||
				props.ResponseTopic != "answers/1" || string(props.CorrelationData) != "request\x001" {
				t.Errorf("it has the properties %+v", props)
			}
		case string(msgs[2].Payload):
			found++
			if props.MessageExpiry != nil || props.ContentType != "" || props.ResponseTopic != "" || len(props.CorrelationData) > 0 {
				t.Errorf("a message without has the properties %+v", props)
			}
		}
	}
	if found != len(msgs) {
		t.Errorf("the subscriber got %d messages of %d", found, len(msgs))
	}
}

// The broker would end the connection for some of them.
func TestAPropertyThatMQTTCannotCarryIsRejectedAlone(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	p := newPlace(t, s)
	d := publishtest.Closing(t, dial(t, s.Addr(), mqttbroker.Options{}))
	long := strings.Repeat("x", 1<<16)
	for name, values := range map[string][]string{
		"mqtt.expiry":           {"CANARY", "0s", "90", "1500ms", "1193047h", ""},
		"mqtt.content_type":     {"a\x01", long, ""},
		"mqtt.response_topic":   {"a/#", "+", "$SYS/x", long, ""},
		"mqtt.correlation_data": {long, ""},
		"mqtt.expire":           {"1s"},
	} {
		for _, value := range values {
			msgs := publishtest.Messages(p.topic, 2)
			msgs[0].Headers = map[string]string{name: value}
			results := publishtest.Publish(t, d, 20*time.Second, msgs...)
			err := results[0].Err
			if results[0].Outcome != broker.Rejected || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "CANARY") || results[1].Outcome != broker.Accepted {
				t.Errorf("%s %.10q: %v, and the message beside it %v", name, value, results[0], results[1])
			}
			if mqttbroker.CheckHeaders(msgs[0].Headers) == nil {
				t.Errorf("%s %.10q: it is refused only when it is sent", name, value)
			}
		}
	}
}
