package relay_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// ofKey publishes a message of a key and a type, as refusing knows them.
func (w *world) ofKey(key, typ, payload string) {
	w.t.Helper()
	err := w.pub.InTx(w.t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
		return w.pub.Publish(ctx, tx, postbag.Message{Topic: "t", Key: key, Type: typ, Payload: []byte(payload)})
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestARejectedMessageIsSupersededByTheNextOfItsKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		stop := w.run(w.relay(relay.Options{Subscriptions: []relay.Subscription{{To: refusing{w.to}, OnReject: relay.Supersede}}}))
		defer stop()
		w.ofKey("truck", "bad", "here")
		w.ofKey("other", "bad", "waits")
		<-time.After(time.Minute)
		if v := w.overview(); v.Parked[store.ParkRetrying] != 2 || v.Superseded != 0 {
			t.Fatalf("parked are %v, and %d are superseded; want 2 that wait and none", v.Parked, v.Superseded)
		}
		w.ofKey("truck", "good", "there")
		<-time.After(10 * time.Second)
		if v := w.overview(); v.Parked[store.ParkRetrying] != 1 || v.Superseded != 1 || v.Delivered != 1 {
			t.Errorf("parked are %v, %d are superseded and %d delivered; want one of each", v.Parked, v.Superseded, v.Delivered)
		}
		items, _, err := w.store.List(t.Context(), store.Query{Ref: store.Ref{Box: "outbox", Subscription: "default"}, State: store.StateSuperseded})
		if err != nil || len(items) != 1 || string(items[0].Payload) != "here" || items[0].Attempts < 2 {
			t.Errorf("superseded are %v (error: %v), want the first after several attempts", items, err)
		}
	})
}
