package inbox

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag/source"
)

// queueName says which messages wait for each other: those of one key. A message without a
// key waits only for itself, when it comes again while it is at work.
type queueName struct {
	key string
	id  MessageID // only without a key
}

// task is a message in hand: from the Fetch that returned it to its ack.
type task struct {
	item

	name     queueName
	size     int
	attempts int  // that failed, and count
	again    int  // in a row that do not count
	failures int  // of the store, in a row
	skipped  bool // by the last attempt

	// What follows is guarded by hand.mu.
	lost bool // its partition was lost while it was at work
}

// queue has the messages of one name, in the sequence in which they came.
type queue struct {
	name  queueName
	tasks []*task
	busy  bool      // the first is at work
	at    time.Time // when the first may be tried
}

// hand has all messages that a Consumer has fetched and not acknowledged. A queue stays
// when its partition is lost and comes back. So a message begins only when the work on the
// one before it of its name is over, whatever assignment that was of. It is safe for
// concurrent use.
type hand struct {
	maxMessages, maxBytes int

	mu       sync.Mutex
	queues   map[queueName]*queue
	ready    []*queue          // whose first message can begin; some may be empty meanwhile
	resting  []*queue          // whose first message has to wait
	failed   map[MessageID]int // attempts of messages that were lost
	messages int
	bytes    int
	change   chan struct{} // closed when any of this changes
}

// maxFailed is of how many messages that were lost the attempts are remembered.
const maxFailed = 1000

func newHand(messages, bytes int) *hand {
	return &hand{
		maxMessages: messages, maxBytes: bytes,
		queues: map[queueName]*queue{}, failed: map[MessageID]int{}, change: make(chan struct{}),
	}
}

// changed wakes all who wait. The caller holds the lock.
func (h *hand) changed() {
	close(h.change)
	h.change = make(chan struct{})
}

// room waits until there is room for a message, and returns how much. It returns false if
// ctx ends before.
func (h *hand) room(ctx context.Context) (source.Limits, bool) {
	for {
		h.mu.Lock()
		left := source.Limits{Messages: h.maxMessages - h.messages, Bytes: h.maxBytes - h.bytes}
		change := h.change
		h.mu.Unlock()
		if ctx.Err() != nil {
			return left, false
		}
		if left.Messages > 0 && left.Bytes > 0 {
			return left, true
		}
		select {
		case <-change:
		case <-ctx.Done():
		}
	}
}

// empty says whether no message is in hand.
func (h *hand) empty() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.messages == 0
}

// take takes in what a Fetch returned: first what was lost, then what came. It returns how
// many messages it gave up.
func (h *hand) take(lost []source.Partition, tasks []*task) (dropped int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(lost) > 0 {
		dropped = h.lose(lost)
	}
	for _, t := range tasks {
		q := h.queues[t.name]
		if q == nil {
			q = &queue{name: t.name}
			h.queues[t.name] = q
			h.ready = append(h.ready, q)
		}
		q.tasks = append(q.tasks, t)
		h.messages++
		h.bytes += t.size
	}
	h.changed()
	return dropped
}

// lose drops what is in hand of partitions that were lost, but for what is at work.
func (h *hand) lose(lost []source.Partition) (dropped int) {
	for _, q := range h.queues {
		busy := q.busy
		q.tasks = slices.DeleteFunc(q.tasks, func(t *task) bool {
			atWork := busy
			busy = false // only the first is
			switch {
			case !slices.Contains(lost, t.from.Partition):
				return false
			case atWork:
				t.lost = true
				return false
			}
			h.drop(t)
			dropped++
			return true
		})
		h.tidy(q)
	}
	return dropped
}

// drop forgets a message, but how often it failed. The caller holds the lock.
func (h *hand) drop(t *task) {
	h.messages--
	h.bytes -= t.size
	if t.attempts == 0 {
		return
	}
	for id := range h.failed { // any of them
		if len(h.failed) < maxFailed {
			break
		}
		delete(h.failed, id)
	}
	h.failed[t.mark.ID] = t.attempts
}

// tidy forgets a queue that is empty. The caller holds the lock.
func (h *hand) tidy(q *queue) {
	if len(q.tasks) == 0 && h.queues[q.name] == q {
		delete(h.queues, q.name)
	}
}

// next waits for a message that can begin, and returns its queue. It returns nil if ctx has
// ended, or ends before there is one.
func (h *hand) next(ctx context.Context) (*queue, *task) {
	for ctx.Err() == nil {
		q, t, wait, change := h.pick(time.Now())
		if t != nil {
			return q, t
		}
		var timer <-chan time.Time
		if wait > 0 {
			timer = time.After(wait)
		}
		select {
		case <-change:
		case <-timer:
		case <-ctx.Done():
		}
	}
	return nil, nil
}

// pick returns a message that can begin. If there is none, it says when to look again: when
// change is closed, or after wait, unless that is zero.
func (h *hand) pick(now time.Time) (q *queue, t *task, wait time.Duration, change <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.resting = slices.DeleteFunc(h.resting, func(q *queue) bool {
		left := q.at.Sub(now)
		if left <= 0 || len(q.tasks) == 0 {
			h.ready = append(h.ready, q)
			return true
		}
		if wait == 0 || left < wait {
			wait = left
		}
		return false
	})
	for len(h.ready) > 0 {
		q, h.ready = h.ready[0], h.ready[1:]
		if len(q.tasks) > 0 {
			q.busy, t = true, q.tasks[0]
			t.attempts = max(t.attempts, h.failed[t.mark.ID]) // of an assignment that was lost
			delete(h.failed, t.mark.ID)
			return q, t, 0, nil
		}
	}
	return nil, nil, wait, h.change
}

// done ends the work on the first message of a queue: it is committed. It stays in hand
// until it is acknowledged.
func (h *hand) done(q *queue) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shift(q)
	h.changed()
}

// shift takes the first message out of a queue. The caller holds the lock.
func (h *hand) shift(q *queue) {
	q.busy = false
	q.tasks = slices.Delete(q.tasks, 0, 1)
	if len(q.tasks) > 0 {
		h.ready = append(h.ready, q)
	}
	h.tidy(q)
}

// rest ends an attempt that failed: the message is tried again after wait. If its partition
// was lost meanwhile it is dropped, which is the answer.
func (h *hand) rest(q *queue, wait time.Duration) (dropped bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.changed()
	if t := q.tasks[0]; t.lost {
		h.drop(t)
		h.shift(q)
		return true
	}
	q.busy = false
	if wait <= 0 {
		h.ready = append(h.ready, q)
		return false
	}
	q.at = time.Now().Add(wait)
	h.resting = append(h.resting, q)
	return false
}

// free gives back the room of messages that are acknowledged.
func (h *hand) free(tasks []*task) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range tasks {
		h.messages--
		h.bytes -= t.size
	}
	h.changed()
}

// receipts returns those of all messages that are not yet committed.
func (h *hand) receipts() (all []source.Receipt) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, q := range h.queues {
		for _, t := range q.tasks {
			if !t.lost {
				all = append(all, t.from.Receipt)
			}
		}
	}
	return all
}
