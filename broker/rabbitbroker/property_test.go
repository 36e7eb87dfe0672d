package rabbitbroker_test

import (
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/internal/publishtest"
)

func TestAConsumerGetsThePropertiesThatHeadersOfTheMessageName(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "classic", false).create(t, nil)
	d := publishtest.Closing(t, dial(t, p.url, rabbitbroker.Options{}))
	msgs := publishtest.Messages(p.queue, 3)
	msgs[0].Headers = map[string]string{
		"rabbitmq.priority": "7", "rabbitmq.expiration": "1h0m0.25s", "rabbitmq.type": "a type", "rabbitmq.correlation_id": "request 1",
		"rabbitmq.reply_to": "answers", "kafka.partition": "of another", "own": "x",
	}
	msgs[1].Headers, msgs[1].Wire = msgs[0].Headers, &broker.Wire{Headers: map[string]string{"own": "x"}}
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, msgs...), broker.Accepted, "")
	held := p.read(t)
	if len(held) != 3 {
		t.Fatalf("the queue holds %d messages", len(held))
	}
	byID := map[string]amqp.Delivery{} // two channels: in no sequence
	for _, m := range held {
		byID[m.MessageId] = m
	}
	for i := range 2 {
		m := byID[msgs[i].ID.String()]
		if m.Priority != 7 || m.Expiration != "3600250" || m.Type != "a type" || m.CorrelationId != "request 1" || m.ReplyTo != "answers" {
			t.Errorf("message %d has priority %d, expiration %q, type %q, correlation id %q, reply-to %q", i, m.Priority, m.Expiration, m.Type, m.CorrelationId, m.ReplyTo)
		}
		for name := range m.Headers {
			if broker.IsProperty(name) {
				t.Errorf("message %d has the header %s", i, name)
			}
		}
		if m.Headers["own"] != "x" {
			t.Errorf("message %d has headers %v", i, m.Headers)
		}
	}
	if m := byID[msgs[2].ID.String()]; m.MessageId == "" || m.Priority != 0 || m.Expiration != "" || m.CorrelationId != "" || m.ReplyTo != "" {
		t.Errorf("a message without properties has priority %d, expiration %q, correlation id %q, reply-to %q", m.Priority, m.Expiration, m.CorrelationId, m.ReplyTo)
	}
}

// The server would close the channel for each of them, and with it fail their neighbours.
func TestAPropertyThatTheServerWouldNotTakeIsRejectedAlone(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "classic", false).create(t, nil)
	d := publishtest.Closing(t, dial(t, p.url, rabbitbroker.Options{}))
	for name, values := range map[string][]string{
		"rabbitmq.priority":       {"256", "-1", "CANARY", ""},
		"rabbitmq.expiration":     {"1000", "0s", "1us", "-1s", "1194h", ""},
		"rabbitmq.type":           {strings.Repeat("x", 256), ""},
		"rabbitmq.correlation_id": {strings.Repeat("x", 256), ""},
		"rabbitmq.reply_to":       {strings.Repeat("x", 256), "", "amq.rabbitmq.reply-to"},
		"rabbitmq.priorty":        {"1"},
	} {
		for _, value := range values {
			msgs := publishtest.Messages(p.queue, 2)
			msgs[0].Headers = map[string]string{name: value}
			results := publishtest.Publish(t, d, 20*time.Second, msgs...)
			err := results[0].Err
			if results[0].Outcome != broker.Rejected || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "CANARY") || results[1].Outcome != broker.Accepted {
				t.Errorf("%s %.10q: %v, and the message beside it %v", name, value, results[0], results[1])
			}
			if rabbitbroker.CheckHeaders(msgs[0].Headers) == nil {
				t.Errorf("%s %.10q: it is refused only when it is sent", name, value)
			}
		}
	}
}
