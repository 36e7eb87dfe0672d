package relay_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/memstore"
)

func TestEachLineAboutASubscriptionOrABoxNamesTheBox(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
		if op == memstore.OpMaintain {
			return memstore.Fault{Err: errors.New("no right")}
		}
		return memstore.Fault{}
	}}, membroker.Options{Decide: func(m broker.Delivery, _ int) membroker.Act {
		if string(m.Payload) == "key-1/0" {
			return membroker.Fail(broker.Rejected, "bad")
		}
		return membroker.Act{}
	}})
	log, _, stop := w.logged(w.store, relay.Options{Subscriptions: []relay.Subscription{{To: w.to, Retry: relay.Retry{Min: time.Millisecond, Max: time.Millisecond, MaxAttempts: 2}}}})
	w.publish(6, 3)
	for _, text := range []string{"begins to deliver", "a message is rejected", "a message is dead", "relay: housekeeping"} {
		w.eventually(text, func() bool { return log.count(text) > 0 })
	}
	stop()
	for _, text := range []string{"subscription=", "relay: housekeeping", "a message is"} {
		for _, line := range log.with(text) {
			if !strings.Contains(line, "box=outbox ") {
				t.Errorf("the line does not name the box: %s", line)
			}
		}
	}
}
