package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// FuzzFlow does anything to a flow, in any order, whether a store or a broker
// would or not: it must not panic, keep its counts right, stay within InFlight,
// and not ask to be woken without end.
func FuzzFlow(f *testing.F) {
	for n := range 16 {
		script := make([]byte, 400)
		chance := rand.New(rand.NewPCG(uint64(n), 1))
		for i := range script {
			script[i] = byte(chance.Uint32())
		}
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		if err := misuse(script); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAFlowHandlesRandomEventsWithoutPanic(t *testing.T) {
	t.Parallel()
	runs := 1000
	if testing.Short() {
		runs = 100
	}
	for seed := range uint64(runs) {
		chance := rand.New(rand.NewPCG(seed, 2))
		script := make([]byte, 1500+seed%12)
		for i := range script {
			script[i] = byte(chance.Uint32())
		}
		if err := misuse(script); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

func misuse(script []byte) error {
	g := newGremlin(script)
	for len(g.script) > 0 {
		g.act()
		if err := g.f.Audit(); err != nil {
			return err
		}
		if out := g.f.Stats().Unsettled; out > g.cfg.InFlight {
			return fmt.Errorf("%d messages are out, %d may be", out, g.cfg.InFlight)
		}
	}
	return g.finish()
}

// gremlin misuses a flow as a script tells.
type gremlin struct {
	script []byte
	f      *engine.Flow
	cfg    engine.Config
	now    time.Duration
	turn   store.Turn
	asked  bool
	calls  []*engine.Call
	seq    int64
	token  int64
	places int
}

func newGremlin(script []byte) *gremlin {
	g := &gremlin{script: script}
	g.cfg = engine.Config{
		Order: engine.Order(g.n(3)), OnReject: engine.OnReject(g.n(2)), Ordered: g.n(2) == 0, CountFirst: g.n(3) == 0, Prober: g.n(2) == 0,
		InFlight: 1 + g.n(8), Batch: 1 + g.n(5), Calls: 1 + g.n(3), Page: 1 + g.n(20), RetryBatch: g.n(3), SlowBehind: g.n(4),
		Retry:  engine.Retry{Quick: g.n(2), MaxAttempts: 1 + g.n(4)},
		Buffer: []int{0, 9 * weight / 2, 1}[len(script)%3], Rows: []int{0, 10}[len(script)%2],
		Rate: []engine.Rate{{}, {Messages: 20, Burst: 2}, {}, {Messages: 50, Bytes: 20_000, BurstBytes: 3000, Shared: true}}[len(script)%4],
	}.Normal()
	g.f = engine.NewFlow(g.cfg)
	g.f.Expire(time.Hour)
	return g
}

// n returns a number below most.
func (g *gremlin) n(most int) int {
	if len(g.script) == 0 {
		return 0
	}
	b := g.script[0]
	g.script = g.script[1:]
	return int(b) % most
}

func (g *gremlin) act() {
	switch g.n(16) {
	case 0:
		g.add()
	case 1:
		g.f.Lost(1024 * g.n(4))
	case 2, 3:
		g.now += time.Duration(g.n(256)) * 5 * time.Millisecond
		g.f.Slow(g.now)
	case 4, 5:
		if t := g.f.Turn(g.now); !t.Empty() {
			g.turn = t
		}
	case 6, 7:
		g.land()
	case 8:
		g.f.Absorb(g.now)
	case 9, 10:
		g.call(g.f.Next(g.now))
	case 11, 12:
		g.answer()
	case 13:
		g.lot()
	case 14:
		g.order()
	default:
		g.whim()
	}
}

func (g *gremlin) add() {
	lo := 1024 * g.n(4)
	for _, l := range g.f.Leases() {
		if l.Lo == lo {
			return
		}
	}
	g.token++
	var blocked store.Blocks
	for range g.n(3) {
		blocked.Keys = append(blocked.Keys, uint64(1+g.n(4)))
	}
	g.f.Add(lease(lo, lo+1024, g.token, 1), position("p%d", g.n(4)), blocked)
}

func (g *gremlin) message() store.Record {
	g.seq++
	key := g.n(5)
	m := store.Record{Seq: g.seq, Slot: 1024*(key%4) + key, Hash: uint64(key)}
	m.ID, m.Payload, m.Filtered = idOf(g.seq), make([]byte, 20*g.n(200)), g.n(8) == 0
	m.Topic, m.Key = []string{"a", "b"}[key%2], fmt.Sprint(key)
	return m
}

func position(format string, n int) store.Position { return store.Position(fmt.Sprintf(format, n)) }

func (g *gremlin) land() {
	var verdicts []store.Verdict
	for range g.turn.Settle {
		v := store.Verdict{Applied: g.n(8) > 0}
		for range g.n(3) {
			v.Cleared = append(v.Cleared, uint64(g.n(5)))
		}
		verdicts = append(verdicts, v)
	}
	var pages []store.Batch
	for _, r := range g.turn.Read {
		g.places++
		p := store.Batch{Next: position("q%d", g.places), Whole: g.n(2) == 0, More: g.n(3) == 0}
		switch g.n(6) {
		case 0:
			p = store.Batch{Ahead: true}
		case 1:
			p = store.Batch{Err: errRead}
		case 2:
			p.Next = r.From
		case 3:
			p.Next = r.Until
		default:
			for range g.n(6) {
				p.Records = append(p.Records, g.message())
			}
			p.At = func(i int) store.Position { return p.Next + position("@%d", i) }
		}
		pages = append(pages, p)
	}
	g.turn = store.Turn{}
	g.f.Landed(g.now, verdicts, pages)
	g.f.NextDue(g.now, time.Duration(g.n(5)-1)*time.Second)
}

func (g *gremlin) call(c *engine.Call) {
	if c != nil {
		g.calls = append(g.calls, c)
	}
}

func (g *gremlin) answer() {
	if len(g.calls) == 0 {
		g.f.Answered(g.now, int64(g.n(9)), nil)
		return
	}
	i := g.n(len(g.calls))
	c := g.calls[i]
	if g.n(3) == 0 {
		g.f.Reported(g.now, c.ID, g.n(6), engine.Answer{Outcome: broker.Outcome(g.n(7))})
		return
	}
	g.calls = append(g.calls[:i:i], g.calls[i+1:]...)
	var answers []engine.Answer
	for range g.n(7) {
		answers = append(answers, engine.Answer{Outcome: broker.Outcome(g.n(7)), After: time.Duration(g.n(4)) * time.Second})
	}
	g.f.Answered(g.now, c.ID, answers)
}

func (g *gremlin) lot() {
	if _, ok := g.f.Due(g.now); ok {
		g.asked = true
	}
	if !g.asked || g.n(2) == 0 {
		return
	}
	g.asked = false
	if g.n(6) == 0 {
		g.f.DueFailed(g.now)
		return
	}
	var msgs []store.Parked
	for range g.n(5) {
		m := g.message()
		msgs = append(msgs, parkedOf(m, store.Park{State: store.ParkRetrying, Attempts: g.n(3), Blocking: m.Hash != 0 && g.n(4) > 0, Reason: engine.CountReasons[g.n(6)]}))
	}
	g.f.DueLanded(g.now, msgs)
}

func (g *gremlin) order() {
	m := g.message()
	m.Seq = int64(1 + g.n(30))
	g.f.Commands(g.now, []store.Command{{
		ID: store.CommandID(g.n(9)), Kind: store.CommandKind(1 + g.n(2)), Message: m.ID,
		Park: store.Park{Seq: m.Seq, Slot: m.Slot, Hash: m.Hash, State: store.ParkState(g.n(5)), Blocking: m.Hash != 0},
	}})
}

func (g *gremlin) whim() {
	switch g.n(9) {
	case 8:
		g.f.Hold(g.now, holds[:g.n(len(holds)+1)])
	case 0:
		g.f.Leave(1024 * g.n(4))
	case 1:
		g.f.Left()
	case 2:
		g.f.Quiesce(g.n(2) == 0)
		g.f.Quiet()
	case 3:
		g.f.Pause(g.n(2) == 0)
	case 4:
		g.f.Expire(g.now + time.Duration(g.n(9))*time.Second)
	case 5:
		if g.f.Check(g.now) == engine.TryOne {
			g.call(g.f.Trial(g.now))
		}
	case 6:
		g.f.Probed(g.now, broker.Outcome(g.n(6)))
	default:
		if g.n(4) == 0 {
			g.f.Reset()
		}
		g.f.Hurry()
		g.f.Urgent()
		g.f.Drained(g.now)
		g.f.Woken()
	}
}

// finish answers everything that is out, then resets the flow: nothing may be
// left.
func (g *gremlin) finish() error {
	for _, c := range g.calls {
		g.f.Answered(g.now, c.ID, nil)
	}
	g.f.Landed(g.now, nil, nil)
	g.f.Reset()
	if err := g.f.Audit(); err != nil {
		return err
	}
	if n := g.f.Held(); n != 0 {
		return fmt.Errorf("%d things are kept of what is over: %s", n, g.f.Describe())
	}
	g.f.Slow(g.now + time.Hour)
	if at := g.f.Wake(g.now+time.Hour, true, true); at <= g.now+time.Hour {
		return fmt.Errorf("now is %v, wakes at %v with nothing to do", g.now+time.Hour, at)
	}
	return nil
}
