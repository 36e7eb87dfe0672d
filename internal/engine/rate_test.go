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

// wakes checks when the flow wants to be asked again.
func (d *desk) wakes(at time.Duration) {
	d.t.Helper()
	equal(d.t, "the flow wakes at", d.f.Wake(d.now, false, false).Round(time.Microsecond), at)
}

// ofSizes makes messages without keys that have so many bytes of payload.
func ofSizes(first int64, sizes ...int) []store.Record {
	out := messages(first, make([]int, len(sizes))...)
	for i, n := range sizes {
		out[i].Payload = make([]byte, n)
	}
	return out
}

func TestABurstGoesAtOnceAndTheRestAtTheRate(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Rate: engine.Rate{Messages: 10, Burst: 3}})
	d.feed("1", messages(1, 1, 2, 3, 4, 5, 6)...)
	d.deliver(1, 2, 3)
	start := d.now
	d.noCall()
	d.wakes(start + 100*ms)
	d.now = start + 99*ms
	d.noCall()
	d.now = start + 101*ms
	d.deliver(4)
	d.noCall()
	d.now = start + 301*ms
	d.deliver(5, 6)
}

func TestWithoutABurstOneSecondsWorthGoesAtOnce(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Rate: engine.Rate{Messages: 4}})
	d.feed("1", messages(1, 1, 2, 3, 4, 5)...)
	d.deliver(1, 2, 3, 4)
	d.noCall()
}

func TestAHighRateDoesNotMakeCallsOfOneMessage(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Rate: engine.Rate{Messages: 500, Burst: 5}})
	d.feed("1", messages(1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)...)
	d.deliver(1, 2, 3, 4, 5)
	d.noCall()
	d.wakes(d.now + 10*ms)
	d.now += 3 * ms
	d.noCall() // there is enough for one
	d.now += 8 * ms
	d.deliver(6, 7, 8, 9, 10)
}

func TestAMessageLargerThanTheBurstGoesFromAFullBucketAndIsPaidFor(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Rate: engine.Rate{Bytes: 1000, BurstBytes: 100}})
	d.feed("1", ofSizes(1, 50, 600, 0, 10)...)
	d.deliver(1)
	d.noCall()
	d.wakes(d.now + 50*ms)
	d.now += 51 * ms
	d.deliver(2) // 500 bytes too much
	d.noCall()   // though the next one has no byte
	d.now += 490 * ms
	d.noCall()
	d.now += 25 * ms
	d.deliver(3, 4)
}

func TestSmallMessagesDoNotTakeWhatALargeOneWaitsFor(t *testing.T) {
	t.Parallel()
	for name, transactions := range map[string]bool{"calls": false, "transactions": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, engine.Config{Ordered: transactions, Transactions: transactions, Rate: engine.Rate{Bytes: 1000, BurstBytes: 100}})
			d.f.Add(lease(0, 2048, 1, 1), "a", store.Blocks{})
			d.feed("c", ofSizes(101, slices.Repeat([]int{40}, 30)...)...)
			d.f.Add(lease(2048, 4096, 1, 1), "b", store.Blocks{})
			large := message(100, 1)
			large.Payload = make([]byte, 100)
			turn := d.turn()
			var pages []store.Batch
			for _, r := range turn.Read {
				if r.From == "b" {
					pages = append(pages, page("d", large))
				} else {
					pages = append(pages, page(r.From))
				}
			}
			d.land(turn, pages...)
			equal(t, "groups", d.f.Groups(), 2)
			for range 20 {
				if c := d.f.Next(d.now); c != nil {
					if c.Items[len(c.Items)-1].Seq == 100 {
						return
					}
					d.answer(c, broker.Accepted)
				}
				d.now += 20 * ms
				if turn := d.f.Turn(d.now); !turn.Empty() {
					d.land(turn)
				}
			}
			t.Fatalf("the large message was not sent: %s", d.f.Describe())
		})
	}
}

func TestUnderARateNewMessagesAndRetriesShareAsRetryBatchSays(t *testing.T) {
	t.Parallel()
	for name, transactions := range map[string]bool{"calls": false, "transactions": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := oneShard(t, engine.Config{Batch: 40, RetryBatch: 10, Ordered: transactions, Transactions: transactions, Rate: engine.Rate{Messages: 10, Burst: 1}})
			var retries []store.Parked
			for seq := range int64(30) {
				p := parked(seq+1, 0, 1)
				p.Blocking = false
				retries = append(retries, p)
			}
			d.lot(retries...)
			var again, fresh int
			for seq := int64(100); again+fresh < 40; seq++ {
				if d.f.Stats().Unsent < 3 {
					d.feed("x", message(seq, 0))
				}
				d.now += 100 * ms
				c := d.f.Next(d.now)
				if c == nil {
					continue
				}
				equal(t, "messages", len(c.Items), 1)
				if c.Items[0].Seq < 100 {
					again++
				} else {
					fresh++
				}
				d.answer(c, broker.Accepted)
				for range 3 {
					d.now += ms
					if turn := d.f.Turn(d.now); !turn.Empty() {
						d.land(turn)
					}
				}
			}
			if again < 9 || again > 12 {
				t.Fatalf("%d retries and %d new ones, want a quarter", again, fresh)
			}
		})
	}
}

func TestWhatIsSentAgainCountsToo(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Rate: engine.Rate{Messages: 10, Burst: 1}, Retry: engine.Retry{Quick: 5}})
	d.feed("1", messages(1, 1, 2)...)
	d.answer(d.call(1), broker.Rejected)
	d.noCall()
	d.now += 101 * ms
	d.answer(d.call(1), broker.Accepted)
	d.noCall()
	d.now += 101 * ms
	d.deliver(2)
}

func TestATrialWaitsForTheRate(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Rate: engine.Rate{Messages: 1, Burst: 1}, CircuitMin: 10 * ms, CircuitMax: 5 * time.Second})
	d.feed("1", messages(1, 1, 2)...)
	start := d.now
	d.answer(d.call(1), broker.Unavailable)
	d.now += 20 * ms
	equal(t, "check", d.f.Check(d.now), engine.NoCheck)
	d.wakes(start + time.Second)
	d.now = start + 1001*ms
	equal(t, "check", d.f.Check(d.now), engine.TryOne)
	c := d.f.Trial(d.now)
	d.answer(c, broker.Accepted)
	equal(t, "circuit", d.f.Circuit(), engine.Closed)
	d.noCall()
	d.now += 1001 * ms
	d.deliver(2)
}

func TestTransactionsAreLimited(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Ordered: true, Transactions: true, Rate: engine.Rate{Messages: 10, Burst: 2}})
	d.feed("1", messages(1, 1, 1, 1)...)
	d.deliver(1, 2)
	d.settle()
	d.noCall()
	d.now += 101 * ms
	d.deliver(3)
}

func TestMessagesThatAreCountedFirstAreLimited(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1, CountFirst: true, Rate: engine.Rate{Messages: 10, Burst: 2}})
	d.feed("1", messages(1, 1, 2, 3)...)
	d.noCall() // their rows come first
	d.settle()
	d.call(1)
	d.call(2)
	d.noCall()
	d.now += 101 * ms
	d.noCall()
	d.settle()
	d.call(3)
}

func TestASuspectWaitsForTheRate(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1, CountFirst: true, Rate: engine.Rate{Messages: 10, Burst: 1}})
	d.feed("1", message(6, 2))
	d.noCall()
	d.settle()
	d.deliver(6)
	d.settle()
	p := parkedOf(message(5, 1), store.Park{State: store.ParkRetrying, Reason: engine.ReasonSuspect, Attempts: 1})
	d.lot(p)
	start := d.now
	d.now += 10 * ms
	d.noCall()
	equal(t, "messages in calls", d.f.Stats().Unsettled, 0)
	d.now = start + 101*ms
	d.noCall() // its row comes first
	d.settle()
	d.deliver(5)
}

func TestThrottledIsHowLongTheRateAloneHeldMessagesBack(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Calls: 1, Rate: engine.Rate{Messages: 10, Burst: 1}})
	throttled := func(want time.Duration) {
		t.Helper()
		d.f.Next(d.now)
		equal(t, "throttled", d.f.Stats().Throttled, want)
	}
	d.feed("1", messages(1, 1)...)
	d.deliver(1)
	throttled(0)
	d.now += 10 * ms
	throttled(0) // there was nothing to send
	d.feed("2", messages(2, 1)...)
	d.noCall()
	d.now += 20 * ms
	throttled(20 * ms)
	d.f.Pause(true)
	throttled(20 * ms)
	d.now += 30 * ms
	throttled(20 * ms) // it was paused
}

func TestASharedRateIsThatOfTheSlotsThatARelayHas(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{Rate: engine.Rate{Messages: 40, Burst: 8, Shared: true}})
	d.f.Add(lease(0, 1024, 1, 1), "0", store.Blocks{})
	d.noCall()
	d.feed("1", messages(1, 2, 4, 6, 8, 10, 12, 14, 16)...)
	d.noCall() // the owner before may have sent a burst
	d.now += time.Minute
	d.deliver(1, 2) // a quarter of the burst
	d.noCall()
	d.now += 101 * ms
	d.deliver(3) // a quarter of the rate
	d.f.Add(lease(2048, 4096, 1, 1), "1", store.Blocks{})
	d.noCall()
	d.now += 101 * ms
	d.deliver(4, 5, 6) // three quarters of it
	d.noCall()
	d.now += time.Minute
	d.deliverOnly(7, 8)
}

// deliverOnly delivers these, and sees that no more goes.
func (d *desk) deliverOnly(seqs ...int64) {
	d.t.Helper()
	d.deliver(seqs...)
	d.noCall()
}

func TestAShardThatGoesTakesItsPartOfTheBurstAlong(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{Rate: engine.Rate{Messages: 1, Burst: 8, Shared: true}})
	d.f.Add(lease(0, 2048, 1, 1), "0", store.Blocks{})
	d.f.Add(lease(2048, 4096, 1, 1), "0", store.Blocks{})
	d.noCall()
	d.now += time.Minute
	d.noCall()
	d.f.Lost(2048)
	d.f.Add(lease(2048, 4096, 2, 2), "0", store.Blocks{}) // in one moment
	d.feed("1", messages(1, 2, 4, 6, 8, 10, 12, 14, 16)...)
	d.deliver(1, 2, 3, 4)
	d.noCall()
}

func TestAFlowThatGetsShardsDoesNotWaitAsWithFewer(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{SlowAfter: time.Minute, Rate: engine.Rate{Messages: 1, Burst: 1, Shared: true}})
	d.f.Add(lease(0, 1024, 1, 1), "0", store.Blocks{})
	d.noCall()
	d.now += time.Minute
	d.feed("1", messages(1, 2, 4)...)
	d.deliver(1)
	d.noCall()
	d.wakes(d.now + 4*time.Second)
	d.f.Add(lease(1024, 4096, 1, 1), "1", store.Blocks{})
	d.noCall()
	d.wakes(d.now + 1750*ms) // it begins with a debt of three quarters
}

func TestADebtIsPaidWhileOthersHaveTheShards(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{Rate: engine.Rate{Bytes: 1000, BurstBytes: 100, Shared: true}})
	d.f.Add(lease(0, 4096, 1, 1), "0", store.Blocks{})
	d.noCall()
	d.now += time.Second
	d.feed("1", ofSizes(1, 600)...)
	d.deliver(1) // 500 bytes too much
	d.f.Lost(0)
	d.noCall()
	d.now += 200 * ms
	d.f.Add(lease(0, 4096, 2, 2), "0", store.Blocks{})
	d.noCall()
	d.feed("1", ofSizes(1, 10)...)
	d.now += 280 * ms
	d.noCall()
	d.now += 40 * ms
	d.deliver(1)
}

func TestARateBoundsWhatIsReadAhead(t *testing.T) {
	t.Parallel()
	c := engine.Config{Rate: engine.Rate{Messages: 50, Bytes: 100_000}}.Normal()
	equal(t, "page", c.Page, 50)
	equal(t, "bytes of a page", c.PageBytes, 100_000)
	c = engine.Config{Rate: engine.Rate{Messages: 0.01, Bytes: 1}}.Normal()
	equal(t, "page", c.Page, 10)
	equal(t, "bytes of a page", c.PageBytes, 8<<10)
}

func TestNothingIsReadWhileWhatIsInHandWaitsForTheRate(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Rate: engine.Rate{Messages: 1, Burst: 1}})
	d.land(d.turn(), part("1", messages(1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)...))
	d.land(d.turn(), part("2", messages(11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)...))
	d.deliverOnly(1)
	for range 5 { // each second one goes
		d.now += 60 * ms
		if turn := d.f.Turn(d.now); len(turn.Read) > 0 && turn.Read[0].Limit > 0 {
			t.Fatalf("more is read: %+v", turn)
		} else if !turn.Empty() {
			d.land(turn)
		}
	}
}

// TestInNoTimeMoreGoesThanBurstAndRate sends at random, and looks at all windows.
func TestInNoTimeMoreGoesThanBurstAndRate(t *testing.T) {
	t.Parallel()
	type send struct {
		at    time.Duration
		bytes int
	}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		rate := engine.Rate{Messages: 1 + 300*r.Float64(), Burst: 1 + r.IntN(20), Bytes: 100 + 20_000*r.Float64(), BurstBytes: 1 + r.IntN(500)}
		d := oneShard(t, engine.Config{Rate: rate, Batch: 1 + r.IntN(10), BatchBytes: 1 << 20})
		var sends []send
		seq := int64(1)
		for rounds := 0; len(sends) < 60; rounds++ {
			if rounds > 10_000 {
				t.Fatalf("seed %d: %d messages were sent at %+v", seed, len(sends), rate)
			}
			if d.f.Stats().Unsent == 0 {
				d.feed("x", ofSizes(seq, r.IntN(100), r.IntN(1000), r.IntN(10))...)
				seq += 3
			}
			for c := d.f.Next(d.now); c != nil; c = d.f.Next(d.now) {
				for i := range c.Items {
					sends = append(sends, send{d.now, len(c.Items[i].Payload)})
				}
				d.answer(c, broker.Accepted)
			}
			d.now = max(d.f.Wake(d.now, false, false), d.now+time.Duration(r.IntN(int(20*ms))))
		}
		for i := range sends {
			bytes := 0
			for k, s := range sends[i:] {
				bytes += s.bytes
				took := (s.at - sends[i].at).Seconds()
				if float64(k+1) > float64(rate.Burst)+rate.Messages*took+0.01 {
					t.Fatalf("seed %d: %d messages in %vs at %+v", seed, k+1, took, rate)
				}
				if float64(bytes) > float64(max(rate.BurstBytes, 1000))+rate.Bytes*took+0.01 {
					t.Fatalf("seed %d: %d bytes in %vs at %+v", seed, bytes, took, rate)
				}
			}
		}
	}
}

func TestACircuitThatWaitsWithoutShardsForTheRateIsCheckedOnceTheyAreBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{Rate: engine.Rate{Bytes: 1000, BurstBytes: 100, Shared: true}, CircuitMin: 10 * ms, CircuitMax: 20 * ms})
	d.f.Add(lease(0, 4096, 1, 1), "0", store.Blocks{})
	d.noCall()
	d.now += time.Second
	d.feed("1", ofSizes(1, 600)...)
	d.answer(d.call(1), broker.Unavailable) // 500 bytes too much
	d.f.Lost(0)
	d.now += 20 * ms
	equal(t, "check", d.f.Check(d.now), engine.NoCheck)
	d.f.Add(lease(0, 4096, 2, 2), "0", store.Blocks{})
	d.now += time.Second
	equal(t, "check", d.f.Check(d.now), engine.NoCheck) // it comes with nothing
	d.now += 20 * ms
	for range 20 {
		if d.f.Check(d.now) != engine.NoCheck {
			return
		}
		d.now += 20 * ms
	}
	t.Fatal("the circuit stays open")
}
