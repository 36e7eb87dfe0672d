package kafkabroker_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
)

func TestATopicThatKafkaCannotHaveIsFoundBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	other := func(broker.Delivery) string { return "x" }
	for _, c := range []struct {
		options     kafkabroker.Options
		topic, want string
	}{
		{topic: "orders.created"},
		{topic: "orders/created", want: "holds a character that Kafka allows in no name"},
		{options: kafkabroker.Options{Prefix: "x."}, topic: strings.Repeat("a", 248), want: "has 250 bytes"},
		{options: kafkabroker.Options{Topic: other}, topic: "orders/created"},
	} {
		err := c.options.CheckTopic(c.topic)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("of the topic %.20q it says %v, want %q", c.topic, err, c.want)
		}
	}
}
