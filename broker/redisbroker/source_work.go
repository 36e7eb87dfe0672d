package redisbroker

import (
	"sync"
	"time"

	"github.com/postbag/postbag/source"
)

// spot is where an entry is: the number of its stream among the source's, and its id.
type spot struct {
	stream int
	id     string
}

// atWork are the messages that are at work. It is safe for concurrent use.
type atWork struct {
	ackWait time.Duration

	mu     sync.Mutex
	last   uint64 // the number of the last delivery
	work   map[uint64]working
	bySpot map[spot]uint64 // the latest delivery of an entry
	gone   map[uint64]bool // deliveries that were taken away
	fifo   []uint64        // the same, the oldest first
}

// working is one message at work.
type working struct {
	spot

	number uint64
	at     time.Time // when it was delivered, or extended last
}

const (
	// maxGone bounds what is remembered of messages that were taken away.
	maxGone = 100_000
	// sweepEvery is after how many deliveries those are looked for that nobody acks.
	sweepEvery = 10_000
	// workEpoch is that of all receipts: a loss is remembered of each message.
	workEpoch = 1
)

func newAtWork(ackWait time.Duration) *atWork {
	return &atWork{ackWait: ackWait, work: map[uint64]working{}, bySpot: map[spot]uint64{}, gone: map[uint64]bool{}}
}

// deliver notes that a message is handed out. If it was at work already, that one was
// taken away.
func (w *atWork) deliver(e spot, at time.Time) source.Receipt {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before, there := w.bySpot[e]; there {
		w.takeAway(before)
	}
	w.last++
	w.work[w.last] = working{spot: e, number: w.last, at: at}
	w.bySpot[e] = w.last
	if w.last%sweepEvery == 0 {
		w.sweep(at)
	}
	return source.Receipt{Epoch: workEpoch, Number: w.last}
}

// sweep takes those for lost that nobody has acked or extended for long: another member
// has them by then. Otherwise a caller that drops messages fills the memory.
func (w *atWork) sweep(now time.Time) {
	for number, d := range w.work {
		if now.Sub(d.at) > 2*w.ackWait+time.Minute {
			w.takeAway(number)
		}
	}
}

// takeAway notes a loss. The caller holds the lock.
func (w *atWork) takeAway(number uint64) {
	w.forget(number)
	if len(w.fifo) >= maxGone {
		delete(w.gone, w.fifo[0])
		w.fifo = w.fifo[1:]
	}
	w.gone[number] = true
	w.fifo = append(w.fifo, number)
}

// forget removes what is not at work any more. The caller holds the lock.
func (w *atWork) forget(number uint64) {
	if d, there := w.work[number]; there {
		delete(w.work, number)
		if w.bySpot[d.spot] == number {
			delete(w.bySpot, d.spot)
		}
	}
}

// find returns the deliveries of receipts that are at work, each once, and how many of
// the others were taken away.
func (w *atWork) find(receipts []source.Receipt) (found []working, lost int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := make(map[uint64]bool, len(receipts))
	for _, r := range receipts {
		d, there := w.work[r.Number]
		switch {
		case r.Epoch != workEpoch || r.Number < 1 || r.Number > w.last || w.gone[r.Number]:
			lost++
		case there && !seen[r.Number]:
			seen[r.Number] = true
			found = append(found, d)
		}
	}
	return found, lost
}

// acked notes that deliveries are over.
func (w *atWork) acked(all []working) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range all {
		w.forget(d.number)
	}
}

// taken notes that deliveries were taken away or given back.
func (w *atWork) taken(all []working) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range all {
		if _, there := w.work[d.number]; there {
			w.takeAway(d.number)
		}
	}
}

// lose notes that all of a stream were taken away, and says whether there were any.
func (w *atWork) lose(stream int) (were bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for number, d := range w.work {
		if d.stream == stream {
			w.takeAway(number)
			were = true
		}
	}
	return were
}

// extended notes that the ack wait of deliveries began again.
func (w *atWork) extended(all []working, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range all {
		if d, there := w.work[d.number]; there {
			d.at = now
			w.work[d.number] = d
		}
	}
}

// has says whether an entry is at work.
func (w *atWork) has(e spot) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, there := w.bySpot[e]
	return there
}

// spots returns what is at work.
func (w *atWork) spots() map[spot]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make(map[spot]bool, len(w.bySpot))
	for e := range w.bySpot {
		all[e] = true
	}
	return all
}
