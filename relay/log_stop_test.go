package relay_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/memstore"
)

// A relay that ended what it had under way when it was told to stop said that its store
// did not answer, and why: the context that it had ended itself.
func TestAStopIsNotLoggedAsAnOutageOfTheStore(t *testing.T) {
	t.Parallel()
	for _, op := range []memstore.Op{
		memstore.OpCheck, memstore.OpDeclare, memstore.OpBeat, memstore.OpTurn, memstore.OpBlocked, memstore.OpDue, memstore.OpMaintain,
	} {
		t.Run(string(op), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { stopWhileTheStoreHangs(t, op) })
		})
	}
}

func stopWhileTheStoreHangs(t *testing.T, op memstore.Op) {
	t.Helper()
	var hangs atomic.Bool
	var hung atomic.Int64
	w := newWorld(t, memstore.Options{Fault: func(_ context.Context, o memstore.Op) memstore.Fault {
		if o == op && hangs.Load() {
			hung.Add(1)
			return memstore.Fault{Hang: true}
		}
		return memstore.Fault{}
	}}, membroker.Options{Decide: func(m broker.Delivery, _ int) membroker.Act {
		if string(m.Payload) == "key-1/0" {
			return membroker.Fail(broker.Rejected, "bad")
		}
		return membroker.Act{}
	}})
	w.publish(1, 1)
	early := op == memstore.OpCheck || op == memstore.OpDeclare || op == memstore.OpBlocked
	hangs.Store(early) // asked for once, in the beginning
	var errs lines
	log, r, stop := w.logged(w.store, relay.Options{
		Subscriptions: []relay.Subscription{{To: w.to, Retry: relay.Retry{Min: time.Second, Max: time.Second}}},
		TTL:           10 * time.Minute, Grace: 2 * time.Second, // no call runs into a limit of its own
		OnError: func(err error) { _, _ = errs.Write([]byte(err.Error())) },
	})
	if !early {
		<-time.After(time.Second)
		w.publish(20, 3)
		<-time.After(time.Second)
		hangs.Store(true)
	}
	if op != memstore.OpBeat { // the one that it stops with
		for hung.Load() == 0 {
			w.publish(3, 3)
			<-time.After(100 * time.Millisecond)
		}
	}
	stop()
	if hung.Load() == 0 {
		t.Fatal("no call hung")
	}
	for _, text := range []string{"canceled", "does not answer", "housekeeping", "does not take messages"} {
		if n := log.count(text); n > 0 {
			t.Errorf("%d lines with %q:\n%s", n, text, log)
		}
	}
	if opening := op == memstore.OpCheck || op == memstore.OpDeclare; opening && !r.Stats().Graceful {
		t.Errorf("a relay that had nothing yet has not ended well:\n%s", log)
	}
	if n := errs.count("canceled"); n > 0 {
		t.Errorf("OnError heard of a context that the relay ended itself: %s", &errs)
	}
}

// So did a relay whose destination had not answered when it stopped.
func TestAStopIsNotLoggedAsAnOutageOfTheDestination(t *testing.T) {
	t.Parallel()
	for _, batch := range []int{1, 0} {
		t.Run(fmt.Sprintf("batch %d", batch), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				hold := make(chan struct{})
				w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(broker.Delivery, int) membroker.Act {
					return membroker.Act{Hold: hold}
				}})
				var errs lines
				log, _, stop := w.logged(w.store, relay.Options{
					Subscriptions: []relay.Subscription{{To: w.to, Batch: batch}},
					OnError:       func(err error) { _, _ = errs.Write([]byte(err.Error())) },
				})
				w.publish(20, 5)
				<-time.After(500 * time.Millisecond)
				stop()
				for _, text := range []string{"canceled", "does not take messages", "unknown"} {
					if n := log.count(text) + errs.count(text); n > 0 {
						t.Errorf("%d lines with %q:\n%s%s", n, text, log, &errs)
					}
				}
			})
		})
	}
}
