package relay_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

func TestADrainSaysWhichShardsAnotherRelayHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	stuck := membroker.New(membroker.Options{})
	stuck.FailTopic("t", broker.Unavailable)
	other := w.relay(relay.Options{Name: "the other", Subscriptions: []relay.Subscription{{To: stuck}}})
	stop := w.run(other)
	w.eventually("the other relay has shards", func() bool {
		s := other.Stats()
		return len(s.Subscriptions) > 0 && s.Subscriptions[0].Shards > 0
	})
	if err := w.relay(relay.Options{}).Drain(t.Context()); err != nil {
		t.Errorf("the drain beside another relay, with nothing that waits: %v", err)
	}
	w.publish(10, 10)
	w.eventually("what the other relay has waits", func() bool { return w.overview().Parked[store.ParkHeld] == 10 })
	err := w.relay(relay.Options{}).Drain(t.Context())
	if !errors.Is(err, relay.ErrHeld) || !strings.Contains(err.Error(), "shards of outbox/default, by the other") {
		t.Errorf("the drain beside another relay: %v", err)
	}
	stop()
	if err := w.relay(relay.Options{}).Drain(t.Context()); err != nil {
		t.Errorf("the drain after the other relay's end: %v", err)
	}
	w.delivered(10)
}

// laterFilter is a store whose subscriptions have filters that a later version wrote, of which it reads a part.
type laterFilter struct{ *memstore.Store }

func (s laterFilter) Beat(ctx context.Context, b store.Beat) (store.View, error) {
	v, err := s.Store.Beat(ctx, b)
	for i := range v.Subscriptions {
		if v.Subscriptions[i].Ref == outby {
			v.Subscriptions[i].Unreadable, v.Subscriptions[i].TypesBy = errors.New("an unknown field"), "anna"
		}
	}
	return v, err
}

func TestADrainSaysThatAFilterCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	w.publish(10, 10)
	log := &logged{}
	r, err := relay.New(laterFilter{w.store}, relay.Options{Subscriptions: []relay.Subscription{{To: w.to}}, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Drain(t.Context())
	if err == nil || !strings.Contains(err.Error(), "the filter of outbox/default cannot be read") || w.to.Len() > 0 {
		t.Errorf("the drain delivers %d messages, and says %v", w.to.Len(), err)
	}
	if strings.Contains(log.String(), "the one that an operator set") {
		t.Errorf("the log has a part of the filter: %s", log)
	}
}
