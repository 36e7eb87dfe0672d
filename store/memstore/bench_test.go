package memstore

import (
	"context"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// filled is a store with n messages of many keys, and its lease.
func filled(b *testing.B, n int) (*Store, store.Lease) {
	b.Helper()
	ctx := context.Background()
	s := New(Options{})
	must(b, s.CreateBox(ctx, "outbox"))
	ref := store.Ref{Box: "outbox", Subscription: "default"}
	must(b, s.Declare(ctx, []store.Spec{{Ref: ref, Shards: 1}}))
	msgs := make([]postbag.Message, 1000)
	for i := range msgs {
		msgs[i] = postbag.Message{
			ID: postbag.ID{1, byte(i), byte(i >> 8)}, Topic: "orders", Key: string(rune('a' + i%500)),
			Headers: map[string]string{"a": "1", "b": "2"}, Payload: make([]byte, 512),
		}
	}
	for range n / len(msgs) {
		must(b, s.InTx(ctx, func(ctx context.Context, tx *Tx) error { return s.Append(ctx, tx, "outbox", msgs) }))
	}
	v, err := s.Beat(ctx, store.Beat{
		Relay: "r", New: true, TTL: time.Hour, Works: []store.Ref{ref}, Take: []store.Shard{{Ref: ref, Slots: store.AllSlots}},
	})
	must(b, err)
	return s, v.Subscriptions[0].Shards[0].Lease
}

// BenchmarkDrain settles and reads 1,000 messages a turn: the null reference.
func BenchmarkDrain(b *testing.B) {
	const backlog = 200_000
	s, lease := filled(b, backlog)
	ctx := context.Background()
	var from store.Position
	done := 0
	b.ReportAllocs()
	for b.Loop() {
		t := store.Turn{
			Settle: []store.Settlement{{Lease: lease, To: from}},
			Read:   []store.Request{{Ref: lease.Ref, Slots: []store.Slots{store.AllSlots}, From: from, Limit: 1000, Bytes: 1 << 30}},
		}
		res, err := s.Turn(ctx, t)
		must(b, err)
		lease.Version++
		from = res.Batches[0].Next
		done += len(res.Batches[0].Records)
		if !res.Batches[0].More {
			from = ""
		}
	}
	b.ReportMetric(float64(done)/b.Elapsed().Seconds(), "msg/s")
}

// BenchmarkIdleTurnWithALotParked asks a shard that has 100,000 messages parked,
// none of them due.
func BenchmarkIdleTurnWithALotParked(b *testing.B) {
	s, lease := filled(b, 100_000)
	ctx := context.Background()
	st := store.Settlement{Lease: lease}
	for seq := range int64(100_000) {
		st.Park = append(st.Park, store.Park{
			Seq: seq + 1, Slot: int(seq%5000) % store.SlotCount, Hash: uint64(seq % 5000), State: store.ParkRetrying, Blocking: true, Delay: time.Hour,
		})
	}
	_, err := s.Turn(ctx, store.Turn{Settle: []store.Settlement{st}})
	must(b, err)
	end, err := s.Turn(ctx, store.Turn{Read: []store.Request{
		{Ref: lease.Ref, Slots: []store.Slots{store.AllSlots}, Limit: 1_000_000, Bytes: 1 << 40},
	}})
	must(b, err)
	q := store.Request{Ref: lease.Ref, Slots: []store.Slots{store.AllSlots}, From: end.Batches[0].Next, Limit: 1000, Bytes: 1 << 20}
	b.ReportAllocs()
	for b.Loop() {
		_, err := s.Turn(ctx, store.Turn{Read: []store.Request{q}})
		must(b, err)
	}
}

func BenchmarkPublish(b *testing.B) {
	s, _ := filled(b, 0)
	ctx := context.Background()
	m := []postbag.Message{{ID: postbag.ID{1}, Topic: "orders", Key: "k", Payload: make([]byte, 512)}}
	b.ReportAllocs()
	for b.Loop() {
		must(b, s.InTx(ctx, func(ctx context.Context, tx *Tx) error { return s.Append(ctx, tx, "outbox", m) }))
	}
}
