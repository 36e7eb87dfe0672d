package core

import (
	"strconv"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

var ref = store.Ref{Box: "outbox", Subscription: "default"}

// newCore returns the core of a relay with one flow.
func newCore(change func(*Options)) *Core {
	ids := 0
	o := Options{
		Name: "r", TTL: 15 * time.Second, PollMax: time.Second, Grace: 10 * time.Second, Upkeep: true,
		NewID: func() string { ids++; return "relay-" + strconv.Itoa(ids) },
		Rand:  func() float64 { return 0.5 },
	}
	if change != nil {
		change(&o)
	}
	return New(o, []*Flow{{Ref: ref, Engine: engine.NewFlow(engine.Config{Ref: ref})}})
}

// step makes a step and returns what is to be carried out.
func (c *Core) step(now time.Duration) []Operation {
	c.Step(now)
	return append([]Operation(nil), c.Operations()...)
}

// only is the one operation of a kind.
func only(t *testing.T, all []Operation, kind Kind) *Operation {
	t.Helper()
	var found *Operation
	for i := range all {
		if all[i].Kind == kind {
			if found != nil {
				t.Fatalf("there are two operations of kind %d", kind)
			}
			found = &all[i]
		}
	}
	if found == nil {
		t.Fatalf("there is no operation of kind %d", kind)
	}
	return found
}

func none(t *testing.T, all []Operation, kind Kind) {
	t.Helper()
	for i := range all {
		if all[i].Kind == kind {
			t.Fatalf("there is an operation of kind %d", kind)
		}
	}
}

// What is due and cannot be done now is no reason to wake up.
func TestALoopThatWaitsForItsStoreDoesNotSpin(t *testing.T) {
	t.Parallel()
	const now = time.Minute
	for name, trouble := range map[string]func(*Core){
		"a heartbeat failed":             func(c *Core) { c.beatFailed(now, Failed) },
		"a turn failed":                  func(c *Core) { c.storeFailed(askTurn, now) },
		"the store is being verified":    func(c *Core) { c.storeFailed(askTurn, now); c.retry, c.checking = 0, true },
		"the heartbeat expired":          func(c *Core) { c.dying, c.turning.out = true, true },
		"housekeeping is due meanwhile":  func(c *Core) { c.keeps[0].held = true; c.storeFailed(askTurn, now) },
		"the relay has said its goodbye": func(c *Core) { c.left, c.turning.out = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCore(nil)
			trouble(c)
			if d := c.wake(now) - now; d < 20*time.Millisecond {
				t.Errorf("it would wake after %v", d)
			}
		})
	}
}

// The answer to the heartbeat of the identity before says nothing about its own. Two at a
// time took back twice what was to be given, and the relay panicked.
func TestOnlyOneHeartbeatOfAnIdentityIsInFlight(t *testing.T) {
	t.Parallel()
	c := newCore(nil)
	first := only(t, c.step(0), Beat).Beat
	c.restart(0)
	second := only(t, c.step(0), Beat).Beat
	if first.Relay == second.Relay {
		t.Fatalf("both are of %s", first.Relay)
	}
	if c.Beaten(0, first, Fine, &store.View{Alive: true}) {
		t.Error("the answer to the first one is taken")
	}
	none(t, c.step(time.Minute), Beat)
	if !c.Beaten(time.Minute, second, Fine, &store.View{Alive: true}) {
		t.Error("its own answer is not taken")
	}
	only(t, c.step(2*time.Minute), Beat)
}

// Nothing is sent until a heartbeat has told what is still ours, and the next one by the
// clock may be far away.
func TestALostSettlementIsFollowedByAHeartbeat(t *testing.T) {
	t.Parallel()
	c := newCore(nil)
	c.nextBeat = time.Minute
	r := &Round{Parts: []Part{{Flow: c.Flows[0], Turn: store.Turn{Settle: make([]store.Settlement, 1)}}}}
	c.Landed(0, r, Fine, &store.TurnResult{Verdicts: []store.Verdict{{}}, Epoch: c.epoch})
	if c.nextBeat > 0 {
		t.Errorf("the next heartbeat is due at %v", c.nextBeat)
	}
}

// nothing is the answer to a round that settles all it was to, and finds nothing.
func (c *Core) nothing(r *Round) *store.TurnResult {
	l := &store.TurnResult{Epoch: c.epoch, NextDue: -1}
	for i := range r.Parts {
		for range r.Parts[i].Turn.Settle {
			l.Verdicts = append(l.Verdicts, store.Verdict{Applied: true})
		}
		for _, q := range r.Parts[i].Turn.Read {
			l.Batches = append(l.Batches, store.Batch{Next: q.From, Whole: true})
		}
	}
	return l
}

// loads is the load that the last answer has brought about.
func (c *Core) loads(t *testing.T) *Loading {
	t.Helper()
	return only(t, append([]Operation(nil), c.Operations()...), Load).Loading
}
