package relay_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/memstore"
)

// A connection that went dead answers nothing, and the client's system may take
// hours to notice.
func TestACallOfTheStoreThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, op := range []memstore.Op{
		memstore.OpCheck, memstore.OpDeclare, memstore.OpBeat, memstore.OpTurn, memstore.OpBlocked, memstore.OpDue, memstore.OpMaintain,
	} {
		t.Run(string(op), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { hangOnce(t, op) })
		})
	}
}

// hangOnce has one call of a kind hang, until its caller gives it up, and wants all
// messages delivered and housekeeping done nevertheless.
func hangOnce(t *testing.T, op memstore.Op) {
	t.Helper()
	var hangs atomic.Bool
	var kept atomic.Int64
	hangs.Store(true)
	w := newWorld(t, memstore.Options{Fault: func(ctx context.Context, o memstore.Op) memstore.Fault {
		if o == op && hangs.CompareAndSwap(true, false) {
			<-ctx.Done()
			return memstore.Fault{Err: ctx.Err()}
		}
		if o == memstore.OpMaintain {
			kept.Add(1)
		}
		return memstore.Fault{}
	}}, membroker.Options{Decide: func(m broker.Delivery, try int) membroker.Act {
		if string(m.Payload) == "key-3/5" && try < 4 {
			return membroker.Fail(broker.Rejected, "bad")
		}
		return membroker.Act{}
	}})
	w.publish(100, 10)
	stop := w.run(w.relay(relay.Options{}))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	if err := w.to.WaitFor(ctx, 100); err != nil {
		t.Errorf("%v: %d of 100 delivered", err, w.to.Len())
	}
	for kept.Load() < 2 && ctx.Err() == nil {
		<-time.After(time.Second)
	}
	if ctx.Err() != nil {
		t.Errorf("housekeeping was done %d times in ten minutes", kept.Load())
	}
	if hangs.Load() {
		t.Error("the relay makes no such call")
	}
	stop()
}
