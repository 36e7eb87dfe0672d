package rabbitbroker_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/rabbitbroker"
)

func TestATopicThatMakesATooLongRoutingKeyIsFoundBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 250)
	other := func(broker.Delivery) (exchange, key string) { return "x", "y" }
	for _, c := range []struct {
		options rabbitbroker.Options
		want    string
	}{
		{},
		{options: rabbitbroker.Options{RoutingKey: "orders.{topic}"}, want: "the routing key has 257 bytes"},
		{options: rabbitbroker.Options{Exchange: "orders.{topic}"}, want: "the exchange's name has 257 bytes"},
		{options: rabbitbroker.Options{RoutingKey: "orders.{type}"}},
		{options: rabbitbroker.Options{Route: other}},
	} {
		err := c.options.CheckTopic(long)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("with %+v it says %v, want %q", c.options, err, c.want)
		}
	}
}
