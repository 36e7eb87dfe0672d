package relay_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// heard is what OnError was called with.
type heard struct {
	mu   sync.Mutex
	errs []error
}

func (h *heard) hear(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.errs = append(h.errs, err)
}

// of counts the errors that are target.
func (h *heard) of(target error) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, err := range h.errs {
		if errors.Is(err, target) {
			n++
		}
	}
	return n
}

// with counts the errors that hold a text.
func (h *heard) with(text string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, err := range h.errs {
		if strings.Contains(err.Error(), text) {
			n++
		}
	}
	return n
}

var errAsked = errors.New("the fault that was asked for")

// Each call to the store fails some times in turn, and all other calls work.
func TestOnErrorHearsOfEachCallToTheStoreThatFails(t *testing.T) {
	t.Parallel()
	for _, op := range []memstore.Op{
		memstore.OpCheck, memstore.OpDeclare, memstore.OpBeat, memstore.OpTurn, memstore.OpBlocked, memstore.OpDue, memstore.OpMaintain,
	} {
		for name, fails := range map[string]error{
			"": errAsked, ", moved": store.ErrMoved, ", restarted": store.ErrRestarted, ", incurable": store.ErrSchema, ", lease lost": store.ErrLeaseLost,
		} {
			t.Run(string(op)+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { failThreeTimes(t, op, errors.Join(errAsked, fails)) })
			})
		}
	}
}

func failThreeTimes(t *testing.T, op memstore.Op, fails error) {
	t.Helper()
	var failed atomic.Int64
	w := newWorld(t, memstore.Options{Fault: func(_ context.Context, o memstore.Op) memstore.Fault {
		if o == op && failed.Load() < 3 {
			failed.Add(1)
			return memstore.Fault{Err: fails}
		}
		return memstore.Fault{}
	}}, membroker.Options{Decide: func(m broker.Delivery, n int) membroker.Act {
		if string(m.Payload) == "key-1/0" && n < 5 {
			return membroker.Fail(broker.Rejected, "bad")
		}
		return membroker.Act{}
	}})
	var h heard
	r := w.relay(relay.Options{
		Subscriptions: []relay.Subscription{{Retry: relay.Retry{Min: time.Second, Max: time.Second}}}, OnError: h.hear,
	})
	w.publish(20, 3)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := r.Run(ctx)
	if failed.Load() == 0 || errors.Is(fails, store.ErrSchema) && err == nil && (op == memstore.OpCheck || op == memstore.OpDeclare) {
		t.Fatalf("%d calls failed, and the run ended with: %v", failed.Load(), err)
	}
	if n := int64(h.of(errAsked)); n != failed.Load() {
		t.Errorf("%d calls failed, and OnError heard of %d", failed.Load(), n)
	}
}

// So it does of a check that ends the run, and of a turn that fails after the relay has begun again.
func TestOnErrorHearsOfAFailureBehindAnother(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, then memstore.Op
		fault       memstore.Fault // of then
	}{
		"the end":  {memstore.OpBeat, memstore.OpCheck, memstore.Fault{Err: errors.Join(errAsked, store.ErrSchema)}},
		"too late": {memstore.OpBeat, memstore.OpTurn, memstore.Fault{Err: errAsked, Hang: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var armed, first, then atomic.Bool
				w := newWorld(t, memstore.Options{Fault: func(_ context.Context, o memstore.Op) memstore.Fault {
					switch {
					case !armed.Load():
					case o == c.then && (first.Load() || c.fault.Hang) && then.CompareAndSwap(false, true):
						return c.fault
					case o == c.first && (then.Load() || !c.fault.Hang) && first.CompareAndSwap(false, true):
						return memstore.Fault{Err: store.ErrMoved}
					}
					return memstore.Fault{}
				}}, membroker.Options{})
				var h heard
				r := w.relay(relay.Options{OnError: h.hear})
				time.AfterFunc(time.Second, func() { armed.Store(true) })
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				if err := r.Run(ctx); (err != nil) != errors.Is(c.fault.Err, store.ErrSchema) {
					t.Errorf("the run ended with: %v", err)
				}
				if n := h.of(errAsked); n != 1 || !first.Load() {
					t.Errorf("OnError heard of it %d times: %v", n, h.errs)
				}
			})
		})
	}
}

// An error of one page, or of one row, is an error of the store, too.
func TestOnErrorHearsOfPagesAndRowsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for text, open := range map[string]func(*memstore.Store) (sick store.Store, ill func(bool)){
		"relay: reading failed": func(s *memstore.Store) (store.Store, func(bool)) {
			var ill atomic.Bool
			return &ailing{Store: s, ill: &ill, reads: true}, ill.Store
		},
		"the row cannot be read: headers are no JSON object": func(s *memstore.Store) (store.Store, func(bool)) {
			d := &damaged{Store: s, payload: "key-1/0"}
			return d, func(ill bool) { d.repaired.Store(!ill) }
		},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, memstore.Options{}, membroker.Options{})
				var h heard
				sick, ill := open(w.store)
				_, _, stop := w.logged(sick, relay.Options{
					Subscriptions: []relay.Subscription{{To: w.to, Retry: relay.Retry{Min: time.Second, Max: time.Second}}}, OnError: h.hear,
				})
				ill(true)
				w.publish(3, 3)
				<-time.After(5 * time.Second)
				ill(false)
				<-time.After(5 * time.Second)
				stop()
				w.inOrder()
				if n := h.with(text); n < 2 {
					t.Errorf("it was told %d times of what went wrong again and again: %v", n, h.errs)
				}
			})
		})
	}
}

// One error of each call in which anything failed, whatever failed.
func TestOnErrorHearsOnceOfEachCallThatFails(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]membroker.Act{
		"rejected":      membroker.Fail(broker.Rejected, "the fault that was asked for"),
		"unavailable":   membroker.Fail(broker.Unavailable, "the fault that was asked for"),
		"misconfigured": membroker.Fail(broker.Misconfigured, "the fault that was asked for"),
		"unknown":       membroker.Fail(broker.Unknown, "the fault that was asked for"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var failed atomic.Int64
				w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(m broker.Delivery, _ int) membroker.Act {
					if string(m.Payload) == "key-1/0" && failed.Load() < 3 {
						failed.Add(1)
						return act
					}
					return membroker.Act{}
				}})
				var h heard
				_, _, stop := w.logged(w.store, relay.Options{
					Subscriptions: []relay.Subscription{{To: w.to, Retry: relay.Retry{Min: time.Second, Max: time.Second}}}, OnError: h.hear,
				})
				w.publish(20, 3)
				<-time.After(time.Minute)
				stop()
				w.inOrder()
				if n := h.with("the fault that was asked for"); int64(n) != failed.Load() || n != 3 {
					t.Errorf("%d calls failed, and OnError heard of %d: %v", failed.Load(), n, h.errs)
				}
			})
		})
	}
}

// A call that goes on for long says what failed in it before it is over. That was told twice.
func TestOnErrorHearsOnceOfACallThatGoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var failed atomic.Bool
		w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(m broker.Delivery, _ int) membroker.Act {
			if string(m.Payload) == "key-1/0" && failed.CompareAndSwap(false, true) {
				return membroker.Fail(broker.Rejected, "the fault that was asked for")
			}
			return membroker.Act{Delay: 3 * time.Second}
		}})
		w.publish(20, 20)
		var h heard
		_, r, stop := w.logged(w.store, relay.Options{
			Subscriptions: []relay.Subscription{{To: w.to, Retry: relay.Retry{Min: time.Minute, Max: time.Minute}}}, OnError: h.hear,
		})
		<-time.After(2 * time.Second)
		if n := h.with("the fault that was asked for"); n != 1 || of(r).Accepted > 0 {
			t.Errorf("while the call goes on OnError was told %d times, and %d are accepted", n, of(r).Accepted)
		}
		<-time.After(10 * time.Second)
		stop()
		if n := h.with("the fault that was asked for"); n != 1 {
			t.Errorf("OnError was told %d times of one call", n)
		}
	})
}

// A panic fails a call, too.
func TestOnErrorHearsOfEachPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, to, s := newBreaking(t, true)
		var h heard
		_, _, stop := w.logged(w.store, relay.Options{Subscriptions: []relay.Subscription{s}, OnError: h.hear})
		w.publish(100, 5)
		<-time.After(time.Minute)
		stop()
		if n := int64(h.with("the destination panicked (string)")); n == 0 || n != to.broke.Load() {
			t.Errorf("it panicked %d times, and OnError heard of %d", to.broke.Load(), n)
		}
		if h.with("nobody expected") > 0 {
			t.Error("it hears what the destination panicked with, which may be anything")
		}
	})
}
