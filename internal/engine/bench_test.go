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
// message.
func BenchmarkDrain(b *testing.B) {
	for _, order := range []engine.Order{engine.ByKey, engine.Unordered} {
		for _, ordered := range []bool{false, true} {
			for _, keys := range []int{1000, 500, 10} {
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
		f.Add(engine.Lease{Lo: i * 1024, Hi: (i + 1) * 1024, Token: int64(i), Version: 1}, "0", nil)
	}
	msgs := make([]engine.Message, size)
	for i := range msgs {
		key := i % keys
		msgs[i] = engine.Message{
			Seq: int64(i + 1 - size), Slot: key * 613 % 4096, Key: uint64(key)*0x9e3779b97f4a7c15 + 2, Size: 700, Sum: uint64(i), Tag: &msgs[i],
		}
	}
	accepted := make([]engine.Answer, size)
	for i := range accepted {
		accepted[i].Outcome = broker.Accepted
	}
	verdicts := make([]store.Verdict, 4)
	for i := range verdicts {
		verdicts[i].Applied = true
	}
	at := func(i int) string { return positions[i%2] }
	now, pages := time.Duration(0), 0
	b.ReportAllocs()
	b.ResetTimer()
	for delivered := 0; delivered < b.N; now += time.Millisecond {
		turn := f.Turn(now)
		for c := f.Next(now); c != nil; c = f.Next(now) {
			f.Answered(now, c.ID, accepted[:len(c.Items)])
			delivered += len(c.Items)
		}
		if !turn.Empty() {
			var p []engine.Page
			for range turn.Read {
				pages++
				for i := range msgs {
					msgs[i].Seq += size
				}
				p = append(p, engine.Page{Messages: msgs, At: at, Next: positions[pages%2], More: true})
			}
			f.Landed(now, verdicts[:len(turn.Settle)], p)
		}
		f.Absorb(now)
		f.Slow(now)
		f.Wake(now, true, true)
	}
}

var positions = [2]string{"a position of some length, as stores have them", "another one, which is just as long as the first"}
