package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// Messages that waited for others of their key went behind all that was read after
// them. What was accepted ahead of them filled InFlight, and each settlement made room
// for two or three.
func TestAMessageThatWaitedForItsKeyKeepsItsPlace(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{InFlight: 12, Batch: 3})
	d.feed("1", messages(1, 1, 2, 1, 2, 3, 4, 5, 6, 7)...)
	c := d.call(1, 2, 5)
	d.answer(c, broker.Accepted)
	c = d.call(3, 4, 6)
	d.answer(c, broker.Accepted)
	d.deliver(7, 8, 9)
}

// In each round trip every call is answered, and one turn is made. The destination
// takes 200 messages a call and one of each key.
func TestABacklogOfFewKeysIsDrainedInFewRoundTrips(t *testing.T) {
	t.Parallel()
	const total, page, keys = 20_000, 500, 240
	r := rand.New(rand.NewPCG(1, 2))
	f := engine.NewFlow(engine.Config{InFlight: 1000, Batch: 100, Calls: 2})
	f.Expire(1 << 60)
	f.Add(lease(0, 4096, 1, 1), "0", store.Blocks{})
	seq, delivered, rounds := int64(0), 0, 0
	at := func(int) store.Position { return "x" }
	answers := slices.Repeat([]engine.Answer{{Outcome: broker.Accepted}}, 100)
	for now := time.Duration(0); delivered < total; now += time.Millisecond {
		rounds++
		if rounds > total {
			t.Fatalf("after %d rounds %d of %d are delivered", rounds, delivered, total)
		}
		turn := f.Turn(now)
		var calls []*engine.Call
		for c := f.Next(now); c != nil; c = f.Next(now) {
			calls = append(calls, c)
		}
		for _, c := range calls {
			f.Answered(now, c.ID, answers[:len(c.Items)])
			delivered += len(c.Items)
		}
		if turn.Empty() {
			continue
		}
		var pages []store.Batch
		for range turn.Read {
			p := store.Batch{At: at, Next: store.Position(rune('a' + rounds%20)), More: true}
			for range page {
				seq++
				key := r.IntN(keys) + 1
				p.Records = append(p.Records, message(seq, key))
			}
			pages = append(pages, p)
		}
		verdicts := make([]store.Verdict, len(turn.Settle))
		for i := range verdicts {
			verdicts[i].Applied = true
		}
		f.Landed(now, verdicts, pages)
		f.Absorb(now)
	}
	if rounds > 300 { // 207; and 4086 when those that waited went behind all others
		t.Errorf("%d messages took %d rounds, of which each could take 200", total, rounds)
	}
}
