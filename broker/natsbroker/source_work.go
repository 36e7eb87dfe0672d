package natsbroker

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag/source"
)

// atWork are the messages that are at work, of one assignment after the other. It is safe
// for concurrent use.
type atWork struct {
	ackWait time.Duration

	mu    sync.Mutex
	epoch uint64
	last  uint64 // the number of the last delivery, over all epochs
	first uint64 // the number of the first of this epoch
	work  map[uint64]delivery
	bySeq map[uint64]uint64 // the latest delivery of a message, by its sequence in the stream
	gone  map[uint64]bool   // those that were taken away one by one
	fifo  []uint64          // the same, the oldest first
}

// delivery is one message at work.
type delivery struct {
	number uint64
	reply  string // where to ack it
	seq    uint64 // in the stream
	at     time.Time
}

const (
	// maxGone bounds what is remembered of messages that were taken away one by one.
	maxGone = 100_000
	// sweepEvery is after how many deliveries those are looked for that nobody acks.
	sweepEvery = 10_000
)

func newAtWork() *atWork {
	w := &atWork{}
	w.begin()
	return w
}

// begin ends the assignment, if any, and says whether a message of it was delivered. It
// begins another.
func (w *atWork) begin() (told bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	told = w.epoch > 0 && w.last >= w.first
	w.epoch++
	w.first = w.last + 1
	w.work, w.bySeq, w.gone, w.fifo = map[uint64]delivery{}, map[uint64]uint64{}, map[uint64]bool{}, nil
	return told
}

// deliver notes that a message is handed out. If it was at work already, that one was
// taken away.
func (w *atWork) deliver(seq uint64, reply string, at time.Time) source.Receipt {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before, there := w.bySeq[seq]; there {
		w.takeAway(before)
	}
	w.last++
	w.work[w.last] = delivery{number: w.last, reply: reply, seq: seq, at: at}
	w.bySeq[seq] = w.last
	if w.last%sweepEvery == 0 {
		w.sweep(at)
	}
	return source.Receipt{Epoch: w.epoch, Number: w.last}
}

// sweep takes those for lost that nobody has acked or extended for long: the server has
// given them to somebody else by then. Otherwise a caller that drops messages fills the
// memory.
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
		if w.bySeq[d.seq] == number {
			delete(w.bySeq, d.seq)
		}
	}
}

// find returns the deliveries of receipts that are at work, each once, and how many of
// the others were taken away.
func (w *atWork) find(receipts []source.Receipt) (found []delivery, lost int) {
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

// acked notes that deliveries are over.
func (w *atWork) acked(all []delivery) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range all {
		w.forget(d.number)
	}
}

// released notes that deliveries were given back.
func (w *atWork) released(all []delivery) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range all {
		if _, there := w.work[d.number]; there {
			w.takeAway(d.number)
		}
	}
}

// extended notes that the ack wait of deliveries began again.
func (w *atWork) extended(all []delivery, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range all {
		if d, there := w.work[d.number]; there {
			d.at = now
			w.work[d.number] = d
		}
	}
}

// all returns what is at work, the earliest first.
func (w *atWork) all() []delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]delivery, 0, len(w.work))
	for _, d := range w.work {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b delivery) int { return cmp.Compare(a.number, b.number) })
	return all
}
