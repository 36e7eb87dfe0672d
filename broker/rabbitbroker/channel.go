package rabbitbroker

import (
	"context"
	"sync"
	"time"

	"github.com/postbag/postbag/broker"
)

// pipeline is messages on their way: those that wait, and those that were
// sent and are not answered. At any time one channel at most works it; the pipeline
// outlives channels and connections.
type pipeline struct {
	link    *link
	room    int  // the most messages in flight
	anySize bool // the largest size is known from Options
	retries int
	next    chan *line    // the connection to work over
	wake    chan struct{} // something changed that take may wait for

	mu      sync.Mutex
	queue   queue
	refusal *broker.Error // why nothing is taken at present
	flight  []*item       // sent, not answered, in the order of sending
	left    int           // of those, how many nobody waits for any more
	window  int           // how many may be in flight, fewer than room while a culprit is looked for
	calm    int           // answers since the window changed
	alone   bool          // what is in flight, or next, must be alone
	patient bool          // the next need not be alone: what it would wait for is late
}

func newPipeline(o Options) *pipeline {
	room := max(1, o.MaxPending/o.Channels)
	return &pipeline{
		room: room, window: room, retries: o.Retries, anySize: o.MaxBytes > 0,
		next: make(chan *line, 1), wake: make(chan struct{}, 1),
		refusal: adapter.Failure(broker.Unavailable, "the first connection is not yet made", "wait, or look whether the server runs"),
	}
}

// run works the pipeline over one connection after the other.
func (l *pipeline) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case line := <-l.next:
			l.work(ctx, line)
		}
	}
}

// push takes items in, or refuses them.
func (l *pipeline) push(items []*item) {
	l.mu.Lock()
	refusal := l.refusal
	if refusal == nil {
		l.queue.append(items)
	}
	l.mu.Unlock()
	if refusal == nil {
		l.signal()
		return
	}
	for _, it := range items {
		it.call.refuse(it, refusal)
	}
	l.link.askForRetry()
}

// pushFirst puts items that went out before in front of all others.
func (l *pipeline) pushFirst(items ...*item) {
	l.mu.Lock()
	refusal := l.refusal
	if refusal == nil {
		l.queue.prepend(items)
	}
	l.mu.Unlock()
	if refusal == nil {
		l.signal()
		return
	}
	for _, it := range items {
		it.call.refuse(it, refusal)
	}
}

// refuse lets nothing in from now on, and gives what waits its fate.
func (l *pipeline) refuse(f *broker.Error) {
	l.mu.Lock()
	l.refusal = f
	waiting := l.queue.take()
	l.mu.Unlock()
	for _, it := range waiting {
		it.call.refuse(it, f)
	}
}

// accept ends refuse.
func (l *pipeline) accept() {
	l.mu.Lock()
	l.refusal = nil
	l.mu.Unlock()
	l.signal()
}

func (l *pipeline) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// take returns the next item to send, already in flight; nil when there is none
// or no room for it.
func (l *pipeline) take() *item {
	l.mu.Lock()
	defer l.mu.Unlock()
	inFlight := len(l.flight) - l.left
	it := l.queue.peek()
	switch {
	case it == nil, inFlight >= l.window, inFlight > 0 && l.alone:
		return nil
	}
	l.alone = !l.patient && !l.link.known.covers(it, l.anySize)
	if l.alone && inFlight > 0 {
		return nil
	}
	l.queue.pop()
	l.patient = false
	it.confirm, it.back, it.left, it.flying = nil, false, false, true
	l.flight = append(l.flight, it)
	return it
}

// waitsAlone says whether something waits because it, or what is in flight, must be
// alone.
func (l *pipeline) waitsAlone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.alone && l.queue.peek() != nil
}

// endAlone ends such a wait: the server ends a channel at once or not at all, and a
// queue that does not answer must not hold up the others.
func (l *pipeline) endAlone() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, it := range l.flight {
		l.link.known.took(it)
	}
	l.alone, l.patient = false, true
}

// drop takes the item that was taken last out of flight: it was not sent.
func (l *pipeline) drop(it *item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.landedLocked(it)
	l.flight = l.flight[:len(l.flight)-1]
}

func (l *pipeline) landedLocked(it *item) {
	it.flying = false
	if it.left {
		l.left--
	}
}

// leave says that nobody waits for an item's answer any more.
func (l *pipeline) leave(it *item) {
	l.mu.Lock()
	if it.flying && !it.left {
		it.left = true
		l.left++
	}
	l.mu.Unlock()
	l.signal()
}

// forsaken says whether so many answers are missing for good that the channel had
// better be closed: the client remembers each.
func (l *pipeline) forsaken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left >= 2*l.room
}

// again sends a message once more after a pause, because it was refused with nack.
func (l *pipeline) again(it *item, answer *broker.Error) {
	if !it.call.again(it, answer) {
		return
	}
	time.AfterFunc(retryPause<<min(it.nacks-1, 6), func() { l.pushFirst(it) })
}

// retryPause comes before the first retry, and doubles with each.
const retryPause = 10 * time.Millisecond

// answered counts answers, and widens the window again when there was no trouble
// for the length of it.
func (l *pipeline) answered(n int) {
	l.mu.Lock()
	if l.window < l.room {
		if l.calm += n; l.calm >= l.window {
			l.window, l.calm = min(l.room, 2*l.window), 0
		}
	}
	l.mu.Unlock()
	l.signal()
}

// narrow makes the window half of what was in flight when the channel was closed.
func (l *pipeline) narrow(inFlight int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.window, l.calm = max(1, inFlight/2), 0
}

// landAll empties the flight and returns what somebody still waits for.
func (l *pipeline) landAll() (rest []*item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, it := range l.flight {
		if !it.left {
			rest = append(rest, it)
		}
		l.landedLocked(it)
	}
	l.flight = l.flight[:0]
	return rest
}
