package kafkabroker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/publishtest"
)

func TestAMessageGoesToThePartitionAndHasTheTimeThatItsHeadersName(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers())
	p.partitions = 3
	p.create(t)
	d := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{}))
	msgs := publishtest.Messages(p.topic, 6)
	for i := range msgs {
		msgs[i].Key = "one key" // in a call, in three partitions
		msgs[i].Headers = map[string]string{"kafka.partition": string(rune('0' + i%3)), "kafka.timestamp": "2026-01-31T12:00:00.25Z", "mqtt.expiry": "of another", "own": "x"}
		if i >= 3 {
			msgs[i].Wire = &broker.Wire{Headers: map[string]string{"own": "x"}}
		}
	}
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, msgs...), broker.Accepted, "")
	records := p.read(t)
	if len(records) != len(msgs) {
		t.Fatalf("the topic holds %d records", len(records))
	}
	of := map[string]int{}
	for i := range msgs {
		of[string(msgs[i].Payload)] = i
	}
	for _, r := range records {
		i, known := of[string(r.Value)]
		if !known || r.Partition != int32(i%3) || r.Timestamp.UTC().Format(time.RFC3339Nano) != "2026-01-31T12:00:00.25Z" {
			t.Errorf("message %d is in partition %d, of %v", i, r.Partition, r.Timestamp.UTC())
		}
		for _, h := range r.Headers {
			if broker.IsProperty(h.Key) {
				t.Errorf("message %d has the header %s", i, h.Key)
			}
		}
	}
}

func TestAPropertyThatKafkaCannotObeyIsRejectedAloneAndHoldsItsKeyBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	d := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{}))
	for name, values := range map[string][]string{
		"kafka.partition": {"-1", "CANARY", "", "2147483648", "99"},
		"kafka.timestamp": {"CANARY", "1969-12-31T23:59:59Z", "2262-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1767225600000", ""},
		"kafka.partitoin": {"1"},
	} {
		for _, value := range values {
			msgs := publishtest.Messages(p.topic, 3)
			msgs[0].Headers = map[string]string{name: value}
			msgs[1].Key = msgs[0].Key
			results := publishtest.Publish(t, d, 20*time.Second, msgs...)
			err := results[0].Err
			if results[0].Outcome != broker.Rejected || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "CANARY") {
				t.Errorf("%s %.10q: %v", name, value, results[0])
			}
			if results[1].Outcome != broker.NotSent || results[2].Outcome != broker.Accepted {
				t.Errorf("%s %.10q: the message behind it is %v, the one beside it %v", name, value, results[1], results[2])
			}
			if refused := kafkabroker.CheckHeaders(msgs[0].Headers) != nil; refused == (value == "99") {
				t.Errorf("%s %.10q: it is refused when it is published: %v", name, value, refused)
			}
		}
	}
}
