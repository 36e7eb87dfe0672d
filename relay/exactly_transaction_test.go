package relay

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/lane"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// written is a record that names messages of the first half of the slots, at version 5.
func written() []byte {
	r := lane.NewRecord([]store.Lease{{Shard: store.Shard{Slots: store.Slots{Lo: 0, Hi: 2048}}, Version: 5}}, []lane.Item{{Seq: 1, Slot: 7, Sum: 70}}, nil)
	return r.Encode()
}

// forgetful is a store whose leases are lost at the second question.
type forgetful struct {
	store.Store

	asked atomic.Int32
}

func (s *forgetful) Blocked(context.Context, store.Lease) (store.Blocks, error) {
	if s.asked.Add(1) > 1 {
		return store.Blocks{}, store.ErrLeaseLost
	}
	return store.Blocks{}, nil
}

func TestALeaseLostWhileOpeningALaneStopsItBeforeAnyWrite(t *testing.T) {
	t.Parallel()
	to := membroker.New(membroker.Options{Transactions: true})
	name := broker.LaneName{Box: "outbox", Subscription: "default", Lane: "0"}
	owner, err := to.OpenLane(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	before := written()
	if o, err := owner.Commit(t.Context(), nil, before, nil); o != broker.Committed {
		t.Fatal(o, err)
	}
	s := &forgetful{Store: memstore.New(memstore.Options{})}
	mine := store.Lease{Shard: store.Shard{Slots: store.Slots{Lo: 0, Hi: 2048}}, Version: 5}
	course := core.NewAcquisition(&core.Loading{Flow: &core.Flow{Lane: &lane.Lifecycle{}}, Shards: []store.ShardState{{Lease: mine}}}, false)
	w := (&exactly{to: to, name: name, ctx: t.Context()}).work(s, course)
	if w.run(); course.Entered() || !errors.Is(w.err, store.ErrLeaseLost) || w.lane != nil {
		t.Errorf("enter: %v, and a lane is in hand: %v", w.err, w.lane != nil)
	}
	next, err := to.OpenLane(t.Context(), name)
	if err != nil || string(next.Record()) != string(before) {
		t.Errorf("the record was written by one who has no lease (%v)", err)
	}
}
