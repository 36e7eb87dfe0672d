package mqttbroker_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/mqttbroker"
)

func TestATopicThatMQTTCannotHaveIsFoundBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	other := func(broker.Delivery) string { return "x" }
	for _, c := range []struct {
		options     mqttbroker.Options
		topic, want string
	}{
		{topic: "orders/created"},
		{topic: "orders/#", want: "holds a wildcard"},
		{topic: "$orders", want: "begins with $"},
		{options: mqttbroker.Options{Topic: "x/{topic}"}, topic: "$orders"},
		{options: mqttbroker.Options{Topic: "x/{topic}"}, topic: "orders/+", want: "holds a wildcard"},
		{options: mqttbroker.Options{Topic: "{key}"}, topic: "orders/+"},
		{options: mqttbroker.Options{TopicOf: other}, topic: "orders/+"},
	} {
		err := c.options.CheckTopic(c.topic)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("of the topic %q it says %v, want %q", c.topic, err, c.want)
		}
	}
}
