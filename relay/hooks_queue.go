package relay

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// hookQueue gives events to the hooks, from a goroutine of its own. Its put methods belong to
// the loop. Nil: there is no hook.
type hookQueue struct {
	page    []func(PageEvent)
	call    []func(CallEvent)
	message []func(MessageEvent)
	settled []func(ProgressEvent)
	parked  []func(ParkEvent)
	died    []func(DeathEvent)
	circuit []func(CircuitEvent)
	lease   []func(LeaseEvent)
	kept    []func(MaintenanceEvent)

	logger *slog.Logger
	events chan func()
	ended  chan struct{} // the goroutine has

	waiting atomic.Int64 // events that were not given to the hooks yet
	givenUp atomic.Bool  // nothing more is given to them
	dropped atomic.Int64
	panics  atomic.Int64

	said     loggedState     // that events are dropped
	panicked map[string]bool // kinds of hooks whose panic is in the log
}

const (
	// mostWaiting bounds the events that wait for hooks, and roomForBatches the batches of them.
	mostWaiting    = 50_000
	roomForBatches = 4096
)

// newHookQueue joins hooks. Without any it returns nil.
func newHookQueue(all []Hooks, logger *slog.Logger) *hookQueue {
	q := &hookQueue{logger: logger, ended: make(chan struct{}), panicked: make(map[string]bool)}
	n := 0
	for _, h := range all {
		n += join(&q.page, h.PageRead) + join(&q.call, h.Call) + join(&q.message, h.Message) + join(&q.settled, h.Settled) +
			join(&q.parked, h.Parked) + join(&q.died, h.Died) + join(&q.circuit, h.Circuit) + join(&q.lease, h.Lease) + join(&q.kept, h.Maintained)
	}
	if n == 0 {
		return nil
	}
	q.events = make(chan func(), roomForBatches)
	return q
}

// join adds a hook to those of its kind, if it is there, and returns how many it added.
func join[E any](all *[]func(E), one func(E)) int {
	if one == nil {
		return 0
	}
	*all = append(*all, one)
	return 1
}

// start begins to call the hooks, until end.
func (q *hookQueue) start() {
	if q == nil {
		return
	}
	go func() {
		defer close(q.ended)
		for give := range q.events {
			give()
		}
	}()
}

// end gives the hooks what waits, for so long, and then nothing more. It is called once, after
// the last put. A hook that hangs leaves the goroutine behind.
func (q *hookQueue) end(grace time.Duration) {
	if q == nil {
		return
	}
	close(q.events)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-q.ended:
		return
	case <-timer.C:
	}
	q.givenUp.Store(true)
	left := q.waiting.Load()
	q.dropped.Add(left)
	q.logger.Warn("relay: hooks did not end in time; events were dropped", "events", left)
}

// hearsCalls says whether a hook hears of calls to destinations.
func (q *hookQueue) hearsCalls() bool { return q != nil && len(q.call)+len(q.message) > 0 }

// counts returns how many events were dropped, and how often hooks panicked.
func (q *hookQueue) counts() (dropped, panics int64) {
	if q == nil {
		return 0, 0
	}
	return q.dropped.Load(), q.panics.Load()
}

// put has events of a kind given to its hooks, or drops them if too many wait.
func put[E any](q *hookQueue, kind string, to []func(E), events ...E) {
	n := int64(len(events))
	if n == 0 || len(to) == 0 {
		return
	}
	if q.waiting.Load() >= mostWaiting || !q.offer(n, func() { giveAll(q, kind, to, events) }) {
		q.drop(n)
	}
}

// offer puts a batch of n events into the queue, if there is room.
func (q *hookQueue) offer(n int64, give func()) bool {
	q.waiting.Add(n)
	select {
	case q.events <- give:
		return true
	default:
		q.waiting.Add(-n)
		return false
	}
}

func (q *hookQueue) drop(n int64) {
	q.dropped.Add(n)
	if _, say := q.said.goesOn(); say {
		q.logger.Warn("relay: hooks are too slow; events are dropped", "dropped", q.dropped.Load())
	}
}

// giveAll gives events to the hooks of their kind. It runs in the goroutine.
func giveAll[E any](q *hookQueue, kind string, to []func(E), events []E) {
	for i := range events {
		for _, hook := range to {
			if q.givenUp.Load() {
				return
			}
			give(q, kind, hook, events[i])
		}
		q.waiting.Add(-1)
	}
}

// give calls a hook. A panic of it does no more harm.
func give[E any](q *hookQueue, kind string, hook func(E), event E) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		q.panics.Add(1)
		if !q.panicked[kind] {
			q.panicked[kind] = true
			q.logger.Error("relay: a hook panicked; its events go on, and this is not said again", "hook", kind, "panic", fmt.Sprintf("%T", v))
		}
	}()
	hook(event)
}
