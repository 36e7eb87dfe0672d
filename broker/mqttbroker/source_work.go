package mqttbroker

import (
	"slices"
	"time"
)

// arrival is a message of a connection, as it came.
type arrival struct {
	frame  frame // without its body once it is acked
	id     uint16
	qos    byte
	before int // deliveries before the next one, as far as is known
	state  arrivalState
	number uint64    // of its receipt
	due    time.Time // when it may come again
}

// arrivalState is where a message is.
type arrivalState int

const (
	arrivedAhead  arrivalState = iota // read ahead, or to come again
	arrivedAtWork                     // the caller has it
	arrivedHeld                       // the caller gave it back for later
	arrivedDone                       // acked
)

// answer is a packet of an acknowledgement.
type answer struct {
	kind byte // PUBACK, PUBREC, PUBCOMP
	id   uint16
}

// work is what became of the messages of one connection, and what the broker has to be told of
// that. Acks go out in the sequence of arrival (MQTT 5, 4.6): one that is behind a message that
// is not acked waits. Source.mu guards it.
type work struct {
	all    []*arrival // in sequence; the first is not acked
	queue  []*arrival // to be handed out
	held   []*arrival // to come again at a time
	rest   time.Time  // nothing is handed out before
	out    map[uint64]*arrival
	last   uint64          // the highest number of a receipt
	gone   map[uint64]bool // numbers of what was given back
	fifo   []uint64        // the same, the oldest first
	plain  int             // of QoS 0, and not acked
	answer []answer        // to be written
}

// maxGiven bounds what is remembered of messages that were given back.
const maxGiven = 100_000

func newWork() work {
	return work{out: map[uint64]*arrival{}, gone: map[uint64]bool{}}
}

// arrive notes that a message came.
func (w *work) arrive(a *arrival) {
	w.all, w.queue = append(w.all, a), append(w.queue, a)
	if a.qos == 0 {
		w.plain++
	}
}

// next is the message to be handed out next, if there is one now. Otherwise wait is how long it
// takes until there is one by time alone, zero for never.
func (w *work) next(now time.Time, most int) (a *arrival, wait time.Duration) {
	if w.rest.After(now) {
		return nil, w.rest.Sub(now)
	}
	w.held = slices.DeleteFunc(w.held, func(a *arrival) bool {
		if left := a.due.Sub(now); left > 0 {
			if wait == 0 || left < wait {
				wait = left
			}
			return false
		}
		a.state = arrivedAhead
		w.queue = append(w.queue, a)
		return true
	})
	if len(w.queue) == 0 || len(w.out) >= most {
		return nil, wait
	}
	return w.queue[0], 0
}

// hand notes that the caller gets what next returned, and returns the number of its receipt.
func (w *work) hand() uint64 {
	a := w.queue[0]
	w.queue[0] = nil
	w.queue = w.queue[1:]
	w.last++
	a.state, a.number = arrivedAtWork, w.last
	a.before++
	w.out[a.number] = a
	return a.number
}

// ack notes that a message is done. It says whether it was taken away before.
func (w *work) ack(number uint64) (lost bool) {
	a := w.out[number]
	if a == nil {
		return number == 0 || number > w.last || w.gone[number]
	}
	delete(w.out, number)
	a.state, a.frame.body = arrivedDone, nil
	n := 0
	for ; n < len(w.all) && w.all[n].state == arrivedDone; n++ {
		w.acknowledge(w.all[n])
		w.all[n] = nil
	}
	w.all = w.all[n:]
	return false
}

// acknowledge has the broker told of a message.
func (w *work) acknowledge(a *arrival) {
	switch a.qos {
	case 0:
		w.plain--
	case 1:
		w.answer = append(w.answer, answer{puback, a.id})
	default:
		w.answer = append(w.answer, answer{pubrec, a.id})
	}
}

// release notes that a message comes again, no earlier than at a time. It says whether it was
// at work.
func (w *work) release(number uint64, at time.Time) bool {
	a := w.out[number]
	if a == nil {
		return false
	}
	delete(w.out, number)
	w.forget(number)
	a.state, a.due = arrivedHeld, at
	w.held = append(w.held, a)
	return true
}

// rewind has all that is not acked come again, in sequence, no earlier than at a time.
func (w *work) rewind(at time.Time) {
	clear(w.out)
	w.queue, w.held, w.rest = nil, nil, at
	for _, a := range w.all {
		if a.state != arrivedDone {
			a.state = arrivedAhead
			w.queue = append(w.queue, a)
		}
	}
}

// forget notes that a message was given back, for as long as there is room.
func (w *work) forget(number uint64) {
	if len(w.fifo) >= maxGiven {
		delete(w.gone, w.fifo[0])
		w.fifo = w.fifo[1:]
	}
	w.gone[number] = true
	w.fifo = append(w.fifo, number)
}

// take returns what is to be written now.
func (w *work) take() (all []answer) {
	all, w.answer = w.answer, nil
	return all
}
