package natsbroker_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/natsbroker"
)

func TestATopicWithoutASubjectIsFoundBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	other := func(broker.Delivery) string { return "x" }
	for _, c := range []struct {
		options     natsbroker.Options
		topic, want string
	}{
		{topic: "orders.created"},
		{topic: "all orders", want: "holds a space"},
		{options: natsbroker.Options{Prefix: "x."}, topic: "orders.*", want: "has a wildcard for a token"},
		{options: natsbroker.Options{Subject: other}, topic: "all orders"},
	} {
		err := c.options.CheckTopic(c.topic)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("of the topic %q it says %v, want %q", c.topic, err, c.want)
		}
	}
}
