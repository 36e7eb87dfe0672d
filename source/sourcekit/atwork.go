package sourcekit

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag/source"
)

const (
	// maxGone bounds what is remembered of messages that were taken away one by one.
	maxGone = 100_000
	// sweepEvery is after how many deliveries those are looked for that nobody acks.
	sweepEvery = 10_000
)

// Delivery is one message at work.
type Delivery[K comparable, D any] struct {
	// Number is that of its receipt.
	Number uint64
	// Key is how the broker knows the message, the same each time that it comes.
	Key K
	// Data is what else its ack needs.
	Data D

	at time.Time // when it was delivered, or extended last
}

// AtWork are the messages that are at work, of one assignment after the other, for a broker
// that has each of them acked by itself and gives it to somebody else when its ack wait is
// over. A receipt of an assignment that is over, or of a message that was taken away, changes
// nothing. Make it with [NewAtWork]. It is safe for concurrent use.
type AtWork[K comparable, D any] struct {
	// AckWait is how long the broker waits for an ack. Set it before the first Deliver.
	AckWait time.Duration

	mu    sync.Mutex
	epoch uint64
	last  uint64 // the number of the last delivery, over all epochs
	first uint64 // the number of the first of this epoch
	work  map[uint64]Delivery[K, D]
	byKey map[K]uint64    // the latest delivery of a message
	gone  map[uint64]bool // those that were taken away one by one
	fifo  []uint64        // the same, the oldest first
}

// NewAtWork begins the first assignment, which is epoch 1.
func NewAtWork[K comparable, D any]() *AtWork[K, D] {
	w := &AtWork[K, D]{}
	w.Begin()
	return w
}

// Begin ends the assignment, if any, and says whether a message of it was delivered. It
// begins another.
func (w *AtWork[K, D]) Begin() (told bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	told = w.epoch > 0 && w.last >= w.first
	w.epoch++
	w.first = w.last + 1
	w.work, w.byKey, w.gone, w.fifo = map[uint64]Delivery[K, D]{}, map[K]uint64{}, map[uint64]bool{}, nil
	return told
}

// Deliver notes that a message is handed out. If it was at work already, that one was
// taken away.
func (w *AtWork[K, D]) Deliver(key K, data D, at time.Time) source.Receipt {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before, there := w.byKey[key]; there {
		w.takeAway(before)
	}
	w.last++
	w.work[w.last] = Delivery[K, D]{Number: w.last, Key: key, Data: data, at: at}
	w.byKey[key] = w.last
	if w.last%sweepEvery == 0 {
		w.sweep(at)
	}
	return source.Receipt{Epoch: w.epoch, Number: w.last}
}

// sweep takes those for lost that nobody has acked or extended for long: the broker has
// given them to somebody else by then. Otherwise a caller that drops messages fills the
// memory.
func (w *AtWork[K, D]) sweep(now time.Time) {
	for number, d := range w.work {
		if now.Sub(d.at) > 2*w.AckWait+time.Minute {
			w.takeAway(number)
		}
	}
}

// takeAway notes a loss. The caller holds the lock.
func (w *AtWork[K, D]) takeAway(number uint64) {
	w.forget(number)
	if len(w.fifo) >= maxGone {
		delete(w.gone, w.fifo[0])
		w.fifo = w.fifo[1:]
	}
	w.gone[number] = true
	w.fifo = append(w.fifo, number)
}

// forget removes what is not at work any more. The caller holds the lock.
func (w *AtWork[K, D]) forget(number uint64) {
	if d, there := w.work[number]; there {
		delete(w.work, number)
		if w.byKey[d.Key] == number {
			delete(w.byKey, d.Key)
		}
	}
}

// Find returns the deliveries of receipts that are at work, each once, and how many of
// the others were taken away.
func (w *AtWork[K, D]) Find(receipts []source.Receipt) (found []Delivery[K, D], lost int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := make(map[uint64]bool, len(receipts))
	for _, r := range receipts {
		d, there := w.work[r.Number]
		switch {
		case r.Epoch != w.epoch || r.Number < w.first || r.Number > w.last || w.gone[r.Number]:
			lost++
		case there && !seen[r.Number]:
			seen[r.Number] = true
			found = append(found, d)
		}
	}
	return found, lost
}

// Acked notes that deliveries are over.
func (w *AtWork[K, D]) Acked(all []Delivery[K, D]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range all {
		w.forget(d.Number)
	}
}

// Taken notes that deliveries were taken away or given back.
func (w *AtWork[K, D]) Taken(all []Delivery[K, D]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range all {
		if _, there := w.work[d.Number]; there {
			w.takeAway(d.Number)
		}
	}
}

// Lose notes that all messages whose key is one of these were taken away, and says whether
// there were any.
func (w *AtWork[K, D]) Lose(these func(K) bool) (were bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for number, d := range w.work {
		if these(d.Key) {
			w.takeAway(number)
			were = true
		}
	}
	return were
}

// Extended notes that the ack wait of deliveries began again.
func (w *AtWork[K, D]) Extended(all []Delivery[K, D], now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range all {
		if d, there := w.work[d.Number]; there {
			d.at = now
			w.work[d.Number] = d
		}
	}
}

// Has says whether a message is at work.
func (w *AtWork[K, D]) Has(key K) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, there := w.byKey[key]
	return there
}

// All returns what is at work, the earliest first.
func (w *AtWork[K, D]) All() []Delivery[K, D] {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]Delivery[K, D], 0, len(w.work))
	for _, d := range w.work {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b Delivery[K, D]) int { return cmp.Compare(a.Number, b.Number) })
	return all
}
