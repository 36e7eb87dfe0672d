package relay_test

import (
	"context"
	"errors"
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

// ailing is a store of which one thing does not work while ill is set.
type ailing struct {
	store.Store

	ill    *atomic.Bool
	reads  bool // pages fail
	faults bool // housekeeping reports something
}

func (s *ailing) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	out, err := s.Store.Turn(ctx, t)
	if s.reads && s.ill.Load() {
		for i := range out.Batches {
			out.Batches[i] = store.Batch{Err: errors.New("there is no such table")}
		}
	}
	return out, err
}

func (s *ailing) Maintain(ctx context.Context, r store.Retention) (store.Report, error) {
	out, err := s.Store.Maintain(ctx, r)
	if s.faults && s.ill.Load() {
		out.Faults = append(out.Faults, "something is wrong")
	}
	return out, err
}

// The log said when reading or housekeeping failed, and never when it worked again. Of
// reading parked messages it said with each try that the store is away, and with the next
// heartbeat that it is back.
func TestEachLoggedFailureIsFollowedByARecoveryLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, begins, ends string
		op                 memstore.Op
		reads, faults      bool
	}{
		{name: "turn", op: memstore.OpTurn, begins: "does not answer; trying", ends: "answers again"},
		{name: "beat", op: memstore.OpBeat, begins: "does not answer; trying", ends: "answers again"},
		{name: "due", op: memstore.OpDue, begins: "does not answer; trying", ends: "answers again"},
		{name: "blocked", op: memstore.OpBlocked, begins: "does not answer; trying", ends: "answers again"},
		{name: "maintain", op: memstore.OpMaintain, begins: "housekeeping of box outbox failed", ends: "housekeeping works again"},
		{name: "reads", reads: true, begins: "reading failed", ends: "reading works again"},
		{name: "faults", faults: true, begins: "something is wrong", ends: "housekeeping reports nothing any more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var ill atomic.Bool
				w := newWorld(t, memstore.Options{Fault: func(_ context.Context, o memstore.Op) memstore.Fault {
					if o == c.op && ill.Load() {
						return memstore.Fault{Err: errors.New("no right to read")}
					}
					return memstore.Fault{}
				}}, membroker.Options{Decide: func(m broker.Delivery, _ int) membroker.Act {
					if string(m.Payload) == "key-1/0" {
						return membroker.Fail(broker.Rejected, "bad")
					}
					return membroker.Act{}
				}})
				ill.Store(c.op == memstore.OpBlocked) // asked for in the beginning
				log, _, stop := w.logged(&ailing{Store: w.store, ill: &ill, reads: c.reads, faults: c.faults}, relay.Options{
					Subscriptions: []relay.Subscription{{To: w.to, Retry: relay.Retry{Min: time.Second, Max: time.Second, MaxAttempts: 1000}}},
				})
				w.publish(20, 3)
				<-time.After(5 * time.Second)
				ill.Store(true)
				w.publish(20, 3)
				<-time.After(40 * time.Second)
				if n := log.count(c.ends); n > 0 {
					t.Errorf("it is said to be over %d times, while it lasts:\n%s", n, log)
				}
				ill.Store(false)
				<-time.After(10 * time.Minute)
				stop()
				if b, e := log.count(c.begins), log.count(c.ends); b != 1 || e != 1 {
					t.Errorf("%d lines say that it begins, and %d that it is over:\n%s", b, e, log)
				}
			})
		})
	}
}
