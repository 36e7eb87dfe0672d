package kafkabroker_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/publishtest"
)

// Whose sequence numbers the broker does not take any more never sends again: the
// client stays so, whatever becomes of the broker.
func TestAProducerThatFailedForGoodIsReplaced(t *testing.T) {
	t.Parallel()
	fake, err := kfake.NewCluster(kfake.NumBrokers(1))
	must(t, err)
	t.Cleanup(fake.Close)
	p := newPlace(t, fake.ListenAddrs()).create(t)
	d := publishtest.Closing(t, dial(t, fake.ListenAddrs(), kafkabroker.Options{}))
	publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, publishtest.Messages(p.topic, 3)...), broker.Accepted, "")
	fake.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		q, _ := r.(*kmsg.ProduceRequest)
		a, _ := q.ResponseKind().(*kmsg.ProduceResponse)
		for _, topic := range q.Topics {
			at := kmsg.NewProduceResponseTopic()
			at.Topic, at.TopicID = topic.Topic, topic.TopicID
			for _, partition := range topic.Partitions {
				ap := kmsg.NewProduceResponseTopicPartition()
				ap.Partition, ap.ErrorCode = partition.Partition, kerr.OutOfOrderSequenceNumber.Code
				at.Partitions = append(at.Partitions, ap)
			}
			a.Topics = append(a.Topics, at)
		}
		return a, nil, true
	})
	msgs := publishtest.Messages(p.topic, 5)
	for i := range msgs {
		msgs[i].Key = "k"
	}
	publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, msgs...), broker.Unknown, "")
	publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, msgs...), broker.Accepted, "")
}
