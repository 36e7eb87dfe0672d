package core_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/internal/lane"
	"github.com/postbag/postbag/store"
)

// newLaneDesk is a core with one exactly-once flow.
func newLaneDesk() (*core.Core, *core.Flow) {
	f := &core.Flow{Ref: ref, Engine: engine.NewFlow(engine.Config{Ref: ref, Transactions: true}), Lane: &lane.Lifecycle{}}
	o := core.Options{TTL: ttl, Grace: grace, NewID: func() string { return "relay" }, Rand: func() float64 { return 0.5 }}
	return core.New(o, []*core.Flow{f}), f
}

// called is a call of two messages, whose lane is open, as its commit is due.
func called(t *testing.T, f *core.Flow) *core.Course {
	t.Helper()
	items := make([]engine.Item, 2)
	for i := range items {
		items[i].Record = &store.Record{Seq: int64(i + 1)}
		items[i].ID = postbag.ID{15: byte(i + 1)}
	}
	w := core.NewTransaction(f, &engine.Call{ID: 1, Items: items}, true)
	if do := w.Start(); do != lane.Commit || !w.Messages() {
		t.Fatalf("a call on an open lane begins with %d", do)
	}
	return w
}

func TestACallSendsOnlyWhatIsNotKnownToBeInTheBroker(t *testing.T) {
	t.Parallel()
	_, f := newLaneDesk()
	f.Lane.Known = lane.Marks{1: 1, 2: 7} // the second is of another message
	if sends := called(t, f).Sends(); !slices.Equal(sends, []int{1}) {
		t.Errorf("it sends %v", sends)
	}
}

func TestOnlyOfARefusedTransactionMessagesHaveResultsOfTheirOwn(t *testing.T) {
	t.Parallel()
	_, f := newLaneDesk()
	w := called(t, f)
	if do := w.Committed(broker.Aborted); do != lane.Drop || w.Dropped() != lane.Over {
		t.Fatalf("a refused transaction goes on with %d", do)
	}
	if got := w.Outcome(nil); got != broker.NotSent || !w.Sent() {
		t.Errorf("the rest of a refused transaction is %v", got)
	}
	for o, own := range map[broker.Outcome]bool{
		broker.Rejected: true, broker.Misconfigured: true, broker.Unavailable: true,
		broker.Unknown: false, broker.Accepted: false, broker.NotSent: false,
	} {
		if w.Own(o) != own {
			t.Errorf("a result %v stands: %v", o, !own)
		}
	}
	w = called(t, f)
	if do := w.Committed(broker.Committed); do != lane.Over || w.Outcome(nil) != broker.Accepted || w.Own(broker.Rejected) {
		t.Errorf("a stored transaction: %d, %v", do, w.Outcome(nil))
	}
}

func TestACallWhoseLaneCannotBeOpenedIsNotSent(t *testing.T) {
	t.Parallel()
	_, f := newLaneDesk()
	w := core.NewTransaction(f, &engine.Call{}, false)
	if do := w.Start(); do != lane.Ask || w.Asked(nil) != lane.Open || w.Opened(nil, false) != lane.Over || w.Sent() {
		t.Fatal("a lane that does not open ends the call, of which nothing was sent")
	}
	down := errors.New("down")
	if got := w.Outcome(w.Why(down)); got != broker.Unavailable {
		t.Errorf("while the destination is down it is %v", got)
	}
	if got := w.Outcome(w.Why(&broker.Error{Outcome: broker.Misconfigured, Err: down})); got != broker.Misconfigured {
		t.Errorf("if the destination is misconfigured it is %v", got)
	}
}

func TestAnEntryThatFailsSaysWhatStoodInItsWay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asked   error
		givenUp bool
		stale   int
		why     core.Obstacle
	}{
		"the lease is another's": {asked: store.ErrLeaseLost, why: core.NoLease},
		"the store is silent":    {asked: context.DeadlineExceeded, why: core.NoStore},
		"the lane does not open": {why: core.NoLane},
		"nobody waits":           {asked: context.Canceled, givenUp: true, why: core.GivenUp},
		"the relay began again":  {asked: store.ErrLeaseLost, stale: 1, why: core.Stale},
	} {
		d, f := newLaneDesk()
		w := core.NewAcquisition(&core.Loading{Flow: f, Generation: c.stale}, false)
		w.Start()
		do := w.Asked(c.asked)
		if do == lane.Open {
			do = w.Opened(nil, false)
		}
		keeps, why := d.AcquisitionEnded(0, w, c.givenUp, nil)
		if do != lane.Over || !keeps || why != c.why {
			t.Errorf("%s: %d, the obstacle is %d, not %d", name, do, why, c.why)
		}
	}
}
