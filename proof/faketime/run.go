package faketime

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// The course of a run.
const (
	troubleFor = 30 * time.Second
	// hangs is the longest that a call to the store hangs: a relay gives it up then.
	hangs = 31 * time.Second
	// patience is how long everything may take to be delivered after the last fault.
	patience = 30 * time.Minute
)

// Run plays a run in a bubble of its own. t is only lent to that: what went wrong is in the result.
func Run(t *testing.T, o Options) (result Result) {
	t.Helper()
	if err := o.Validate(); err != nil {
		return Result{Failures: []string{err.Error()}}
	}
	stuck := inBubble(t, func(ctx context.Context) {
		w := newWorld(o)
		w.play(ctx)
		result = w.result()
	})
	if stuck != nil {
		result.Failures = append(result.Failures, fmt.Sprint("the run cannot end: ", stuck))
	}
	return result
}

// inBubble does something in a bubble, and returns what testing/synctest says of goroutines that wait for ever; nil: there are none.
func inBubble(t *testing.T, do func(context.Context)) (stuck any) {
	t.Helper()
	defer func() { stuck = recover() }()
	synctest.Test(t, func(t *testing.T) { do(t.Context()) })
	return nil
}

// play is a run: half a minute of trouble, then calm until all is delivered, then a drain of what comes after that.
func (w *world) play(ctx context.Context) {
	w.open(ctx)
	if w.kind == Faults {
		w.set(func() { w.rough, w.away = true, w.chance.one(5) })
	}
	w.set(func() { w.calm = w.kind == Restarts })
	for i := range 1 + w.chance.n(4) {
		w.relays = append(w.relays, w.start(w.kind == Faults && i > 0))
	}
	w.disturb(ctx)
	w.set(func() { w.rough, w.away, w.moves = false, false, false })
	w.end(w.relays[0])
	w.replace(0, w.start(false)) // one at least works all there is
	w.resumeReplays(ctx)
	w.awaitRest()
	w.set(func() { w.calm = true })
	for _, r := range w.relays {
		w.end(r)
	}
	w.ends.Wait()
	if w.holds() && w.chance.coin() {
		w.drain()
	}
	w.judge(ctx)
	w.clean()
}

// disturb is the part of a run in which things go wrong while producers are at work.
func (w *world) disturb(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, troubleFor)
	defer cancel()
	var producers sync.WaitGroup
	for i := range 3 {
		p := w.newProducer(i + 1)
		producers.Go(func() { p.run(ctx) })
	}
	producers.Go(func() {
		lasts(ctx, newChance(w.seed, 3), 10*time.Second)
		w.set(func() { w.away = false }) // if it was at the beginning
	})
	w.trouble(ctx)
	<-ctx.Done()
	producers.Wait()
}

// awaitRest waits until everything is delivered and the relays are as they should be.
func (w *world) awaitRest() {
	pause(hangs) // what has begun to hang before is over then
	what := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); pause(time.Second) {
		w.revive()
		if what = w.restless(); what == "" {
			return
		}
	}
	w.failf("%v after the last fault %s", patience, what)
}

// drain has one relay deliver what comes while there is none.
func (w *world) drain() {
	p := w.newProducer(60)
	p.plain = true
	for range 1 + p.chance.n(10) {
		p.transaction()
	}
	r := w.newRunner(false, nil)
	w.begin(r, r.relay.Drain)
	select {
	case <-r.done:
		w.must("a drain with nobody beside it", r.err)
		w.count(func(c *Counts) { c.Drains++ })
	case <-time.After(patience):
		w.failf("a drain does not end in %v", patience)
		w.die(r)
	}
	w.ends.Wait()
	if what := w.undelivered(); what != "" {
		w.failf("a drain has ended, and %s", what)
	}
}

// clean lets what is on its way come to its end, and looks for goroutines that stay.
func (w *world) clean() {
	pause(2 * time.Minute)
	synctest.Wait()
	if left := others(); left != "" {
		w.failf("goroutines are left when everything has ended:\n%s", left)
	}
}

// others are the stacks of the goroutines of the caller's bubble, but for the caller and what runs the bubble.
func others() string {
	room := make([]byte, 1<<20)
	all := strings.Split(string(room[:runtime.Stack(room, true)]), "\n\n")
	_, bubble, found := strings.Cut(all[0], "synctest bubble ")
	if !found {
		return ""
	}
	bubble, _, _ = strings.Cut(bubble, "]")
	var left []string
	for _, stack := range all[1:] {
		head, _, _ := strings.Cut(stack, "\n")
		if strings.Contains(head, "synctest bubble "+bubble+"]") && !strings.Contains(stack, "testing/synctest.Test") {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}

// result is what came of the run.
func (w *world) result() Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Result{Failures: w.failures, Drawn: w.drawn(), Counts: w.counts}
}
