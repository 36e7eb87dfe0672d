package formats_test

import (
	"testing"

	"github.com/IBM/sarama"
	cekafka "github.com/cloudevents/sdk-go/protocol/kafka_sarama/v2"
	"github.com/cloudevents/sdk-go/v2/binding"

	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// The SDK reads Kafka with a client library of its own.
func TestTheSDKReadsEventsOverKafka(t *testing.T) {
	t.Parallel()
	s := servertest.Kafka(t, testserver.KafkaOptions{})
	d, err := kafkabroker.Dial(t.Context(), s.Brokers()[0], kafkabroker.Options{Create: &kafkabroker.Create{Partitions: 1, Replicas: 1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close(t.Context()) })
	tr := transport{dest: d, topic: "orders"}
	tr.publish(t, nil, sent()["json"]) // which makes the topic

	config := sarama.NewConfig()
	config.Version = sarama.V2_8_0_0
	consumer, err := sarama.NewConsumer(s.Brokers(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = consumer.Close() })
	records, err := consumer.ConsumePartition("orders", 0, sarama.OffsetNewest)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = records.Close() })
	read := make(chan binding.Message, 1)
	go func() {
		for r := range records.Messages() {
			read <- cekafka.NewMessageFromConsumerMessage(r)
		}
	}()
	tr.read = read
	readsBack(t, tr)
}
