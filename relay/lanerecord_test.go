package relay

import (
	"context"
	"errors"
	"maps"
	"sync/atomic"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

func item(seq int64, slot int) engine.Item {
	r := &store.Record{Message: postbag.Message{ID: postbag.ID{8: byte(seq), 15: 7}}, Seq: seq, Slot: slot}
	return engine.Item{Seq: seq, Tag: r}
}

func leaseOf(lo, hi int, version int64) store.Lease {
	return store.Lease{Shard: store.Shard{Slots: store.Slots{Lo: lo, Hi: hi}}, Version: version}
}

// written is the record of a call of messages 1 and 3 of one shard at version 5, 2 of
// another at version 9, with 4 and, in the call too, 3 known before.
func written(t *testing.T) laneRecord {
	t.Helper()
	leases := []engine.Lease{{Lo: 0, Hi: 2048, Version: 5}, {Lo: 2048, Hi: 4096, Version: 9}}
	known := marks{3: sumOf(item(3, 0).Tag.(*store.Record)), 4: 44} //nolint:errcheck // item made it
	r := newLaneRecord(leases, []engine.Item{item(1, 7), item(2, 4000), item(3, 2047)}, known)
	back, err := decodeLaneRecord(r.encode())
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestARecordTellsWhatIsNotSettledByTheVersionsOfItsShards(t *testing.T) {
	t.Parallel()
	r := written(t)
	for name, c := range map[string]struct {
		leases        []store.Lease
		want          []int64
		carry, behind bool
	}{
		"nothing is settled":       {leases: []store.Lease{leaseOf(0, 2048, 5), leaseOf(2048, 4096, 9)}, want: []int64{1, 2, 3, 4}, carry: true},
		"one shard is":             {leases: []store.Lease{leaseOf(0, 2048, 6), leaseOf(2048, 4096, 9)}, want: []int64{2, 4}, carry: true},
		"all of the call is":       {leases: []store.Lease{leaseOf(0, 2048, 6), leaseOf(2048, 4096, 11)}, want: []int64{4}},
		"the shards were reshaped": {leases: []store.Lease{leaseOf(0, 4096, 1)}, want: []int64{4}},
		"settlements are gone":     {leases: []store.Lease{leaseOf(0, 2048, 4), leaseOf(2048, 4096, 10)}, want: []int64{1, 3, 4}, carry: true, behind: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known, carry, behind := r.recall(c.leases)
			if got := known.seqs(); !equal(got, c.want) || carry != c.carry || behind != c.behind {
				t.Errorf("known %v, carry %v, behind %v; want %v, %v, %v", got, carry, behind, c.want, c.carry, c.behind)
			}
		})
	}
}

func equal(a, b []int64) bool {
	return maps.Equal(set(a), set(b))
}

func set(a []int64) map[int64]bool {
	m := map[int64]bool{}
	for _, n := range a {
		m[n] = true
	}
	return m
}

func TestWhatIsCarriedIsBounded(t *testing.T) {
	t.Parallel()
	m := marks{}
	for seq := range int64(maxCarried + 500) {
		m[seq] = 1
	}
	m.trim()
	if _, oldest := m[499]; len(m) != maxCarried || oldest {
		t.Errorf("%d are left, the oldest among them: %v", len(m), oldest)
	}
}

func TestTheRecordOfTheLargestTransactionFits(t *testing.T) {
	t.Parallel()
	leases := make([]engine.Lease, 4096)
	for i := range leases {
		leases[i] = engine.Lease{Lo: i, Hi: i + 1, Version: 1 << 40}
	}
	var items []engine.Item
	for i := range int64(maxTransaction) {
		items = append(items, item(1<<40+i*300, int(i)%4096))
	}
	known := marks{}
	for i := range int64(maxCarried) {
		known[1<<41+i*300] = 1
	}
	r := newLaneRecord(leases, items, known)
	if n := len(r.encode()); n > broker.MaxRecord {
		t.Errorf("it has %d bytes, %d may be", n, broker.MaxRecord)
	}
}

func FuzzDecodeLaneRecord(f *testing.F) {
	r := newLaneRecord([]engine.Lease{{Lo: 0, Hi: 4096, Version: 5}}, []engine.Item{item(1, 7)}, marks{4: 44})
	f.Add(r.encode())
	f.Add([]byte{})
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeLaneRecord(b)
		if err != nil {
			if !errors.Is(err, errLaneRecord) {
				t.Errorf("the error is %v", err)
			}
			return
		}
		again, err := decodeLaneRecord(r.encode())
		if err != nil || len(again.shards) != len(r.shards) || !maps.Equal(again.carried, r.carried) {
			t.Errorf("%x does not come back: %v", b, err)
		}
	})
}

// forgetful is a store whose leases are lost at the second question.
type forgetful struct {
	store.Store

	asked atomic.Int32
}

func (s *forgetful) Blocked(context.Context, store.Lease) ([]uint64, error) {
	if s.asked.Add(1) > 1 {
		return nil, store.ErrLeaseLost
	}
	return nil, nil
}

func TestALeaseThatIsLostWhileTheLaneIsOpenedEndsTheTryBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	to := membroker.New(membroker.Options{Transactions: true})
	name := broker.LaneName{Box: "outbox", Subscription: "default", Lane: "0"}
	owner, err := to.OpenLane(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	r := written(t)
	before := r.encode()
	if o, err := owner.Commit(t.Context(), nil, before, nil); o != broker.Committed {
		t.Fatal(o, err)
	}
	s := &forgetful{Store: memstore.New(memstore.Options{})}
	e := &entry{store: s, to: to, name: name, ctx: t.Context(), shards: []store.ShardState{{Lease: leaseOf(0, 2048, 5)}}}
	if err := e.enter(nil); !errors.Is(err, store.ErrLeaseLost) || e.lane != nil {
		t.Errorf("enter: %v, and a lane is in hand: %v", err, e.lane != nil)
	}
	next, err := to.OpenLane(t.Context(), name)
	if err != nil || string(next.Record()) != string(before) {
		t.Errorf("the record was written by one who has no lease (%v)", err)
	}
}
