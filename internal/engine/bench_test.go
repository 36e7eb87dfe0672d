package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// BenchmarkDrain is the engine's own cost of a message in a drain: pages of
// 1,000, all accepted, in the order of the relay's loop. One operation is one
// message. With 10,000 keys no key is in hand twice, as in the drains of make bench.
func BenchmarkDrain(b *testing.B) {
	for _, order := range []engine.Order{engine.ByKey, engine.Unordered} {
		for _, ordered := range []bool{false, true} {
			for _, keys := range []int{10_000, 1000, 500, 10} {
				name := fmt.Sprintf("order=%d/ordered=%v/keys=%d", order, ordered, keys)
				b.Run(name, func(b *testing.B) { drain(b, engine.Config{Order: order, Ordered: ordered}, keys) })
			}
		}
	}
}

func drain(b *testing.B, c engine.Config, keys int) {
	b.Helper()
	const size = 1000
	f := engine.NewFlow(c)
	f.Expire(1 << 60)
	for i := range 4 {
		f.Add(lease(i*1024, (i+1)*1024, int64(i), 1), "0", store.Blocks{})
	}
	pages := newRing(size, keys)
	accepted := make([]engine.Answer, size)
	for i := range accepted {
		accepted[i].Outcome = broker.Accepted
	}
	verdicts := make([]store.Verdict, 4)
	for i := range verdicts {
		verdicts[i].Applied = true
	}
	now := time.Duration(0)
	b.ReportAllocs()
	b.ResetTimer()
	for delivered := 0; delivered < b.N; now += time.Millisecond {
		turn := f.Turn(now)
		for c := f.Next(now); c != nil; c = f.Next(now) {
			f.Answered(now, c.ID, accepted[:len(c.Items)])
			delivered += len(c.Items)
		}
		if !turn.Empty() {
			var batches []store.Batch
			for range turn.Read {
				batches = append(batches, pages.next())
			}
			f.Landed(now, verdicts[:len(turn.Settle)], batches)
		}
		f.Absorb(now)
		f.Slow(now)
		f.Wake(now, true, true)
	}
}

// ring gives out the same pages again and again. It has more than a flow has in hand.
type ring struct {
	pages [16][]store.Record
	n     int
}

func newRing(size, keys int) *ring {
	r := new(ring)
	payload := make([]byte, 500)
	for p := range r.pages {
		r.pages[p] = make([]store.Record, size)
		for i := range r.pages[p] {
			key := (p*size + i) % keys
			m := &r.pages[p][i]
			m.Seq, m.Slot, m.Hash = int64((p-len(r.pages))*size+i+1), key*613%4096, uint64(key)*0x9e3779b97f4a7c15+2
			m.ID, m.Payload = idOf(m.Seq), payload
		}
	}
	return r
}

func (r *ring) next() store.Batch {
	p := r.pages[r.n%len(r.pages)]
	r.n++
	for i := range p {
		p[i].Seq += int64(len(r.pages) * len(p))
	}
	at := func(i int) store.Position { return positions[i%2] }
	return store.Batch{Records: p, At: at, Next: positions[r.n%2], More: true}
}

var positions = [2]store.Position{"a position of some length, as stores have them", "another one, which is just as long as the first"}
