package relay_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/memstore"
)

func TestAPolicyThatDoesNotExistIsRefused(t *testing.T) {
	t.Parallel()
	for expected, s := range map[string]relay.Subscription{
		"Order is 3; choose ByKey, ByShard or Unordered":  {Order: relay.Unordered + 1},
		"Order is -1; choose ByKey, ByShard or Unordered": {Order: -1},
		"OnReject is 3; choose Block, Skip or Supersede":  {OnReject: relay.Supersede + 1},
		"choose Order ByKey, or OnReject Skip":            {OnReject: relay.Supersede, Order: relay.ByShard},
		"Supersede, which compares the messages of a key": {OnReject: relay.Supersede, Order: relay.Unordered},
		"Supersede, which ExactlyOnce cannot do":          {OnReject: relay.Supersede, ExactlyOnce: true},
		"Cadence is 3; choose Balanced, Latency or":       {Cadence: relay.Background + 1},
		"Cadence is -1; choose Balanced, Latency or":      {Cadence: -1},
		"OnReject is -1; choose Block, Skip or Supersede": {OnReject: -1},
	} {
		s.To = membroker.Null()
		_, err := relay.New(memstore.New(memstore.Options{}), relay.Options{Subscriptions: []relay.Subscription{s}})
		if err == nil || !strings.Contains(err.Error(), expected) {
			t.Errorf("the error is %v, want one with %q", err, expected)
		}
	}
}
