package relay_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

func TestHousekeepingWithoutARelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		stop := w.run(w.relay(relay.Options{NoMaintenance: true}))
		w.publish(50, 5)
		w.delivered(50)
		<-time.After(time.Second)
		if err := w.store.SetRetention(t.Context(), operator, "outbox", store.Lifetimes{Delivered: time.Hour}); err != nil {
			t.Fatal(err)
		}
		maintain := func() store.Report {
			t.Helper()
			rep, err := relay.Maintain(t.Context(), w.store, "outbox", relay.MaintainOptions{UntilDone: true})
			if err != nil {
				t.Fatal(err)
			}
			return rep
		}
		if rep := maintain(); rep.Deleted != 0 {
			t.Errorf("%d messages go before their time", rep.Deleted)
		}
		<-time.After(2 * time.Hour)
		if rep := maintain(); rep.Deleted != 50 || rep.More {
			t.Errorf("of 50 messages whose time is over the report says %+v", rep)
		}
		if o, err := w.store.Overview(t.Context()); err != nil || len(o.Relays) != 1 {
			t.Errorf("%d relays are there, not the one: %v", len(o.Relays), err)
		}
		if _, err := relay.Maintain(t.Context(), w.store, "missing", relay.MaintainOptions{}); !errors.Is(err, postbag.ErrNoBox) {
			t.Errorf("of a box that does not exist: %v", err)
		}
		stop()
		stop = w.run(w.relay(relay.Options{}))
		<-time.After(time.Second)
		if _, err := relay.Maintain(t.Context(), w.store, "outbox", relay.MaintainOptions{}); !errors.Is(err, relay.ErrMaintained) {
			t.Errorf("beside a relay that does it: %v, not ErrMaintained", err)
		}
		w.publish(5, 5)
		w.delivered(55)
		stop()
	})
}
