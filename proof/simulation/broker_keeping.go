package simulation

import (
	"slices"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
)

// numbers are what a broker knows of a producer whose messages are numbered, as a
// Kafka topic does for idempotent ones. A call comes in its turn or not at all; what
// comes again is answered as it was and not stored; and what is of an earlier epoch of
// the producer is refused.
type numbers struct{ epoch, next int }

// producer is the relay's side: the numbers that it gives out. It sends a request
// again as long as the call lasts, under the same numbers. When it gives one up, it
// goes on in another epoch, in which nothing is known of the one before.
type producer struct{ epoch, next int }

// Pauses of a producer before it sends again: after a request that was not taken, and
// after silence.
const (
	sentAgainAfter = 20 * time.Millisecond
	silentFor      = 500 * time.Millisecond
)

// numbered gives a call its numbers.
func (r *relay) numbered(d *delivery) {
	d.epoch, d.first = r.producer.epoch, r.producer.next
	r.producer.next += len(d.call.Items)
}

// newEpoch ends what a producer has in flight: its numbers are worth nothing now.
func (r *relay) newEpoch() {
	r.producer = producer{epoch: r.producer.epoch + 1}
	for _, d := range slices.Clone(r.calls) {
		if d.epoch < r.producer.epoch {
			r.w.schedule(0, r, d, callGivenUp)
		}
	}
}

// inSequence says whether a call is taken now, and if not, whether it may be sent again.
func (b *destination) inSequence(d *delivery) (now, later bool) {
	n := b.numbers[d.r.number]
	if d.epoch > n.epoch {
		n = numbers{epoch: d.epoch}
	}
	switch {
	case d.epoch < n.epoch:
		return false, false
	case d.arrived: // a repeat
		return true, true
	case d.first != n.next:
		return false, true
	}
	n.next += len(d.call.Items)
	b.numbers[d.r.number] = n
	return true, true
}

// arriveInSequence brings a call whose messages are numbered to the broker.
func (d *delivery) arriveInSequence() {
	r, w := d.r, d.r.w
	now, later := w.broker.inSequence(d)
	switch {
	case now && !d.arrived:
		d.arrived = true
		w.broker.receive(d)
	case !now:
		if later {
			d.again(sentAgainAfter)
		}
		return
	}
	if w.fault(Lies, 30) { // the answer is lost, and the request sent again
		d.again(0)
		return
	}
	w.schedule(w.slowness(), r, d, callAnswered)
}

// again has the request sent once more after a pause, by the process that the call is
// of: one that has ended sends nothing, and one that is stopped waits.
func (d *delivery) again(pause time.Duration) {
	if d.repeats {
		return
	}
	d.repeats = true
	d.r.w.schedule(pause, d.r, d, callSentAgain)
}

// sendAgain sends the request once more, unless nobody waits for it any more.
func (d *delivery) sendAgain() {
	d.repeats = false
	if !d.over {
		d.r.w.schedule(d.r.w.lag(), nil, d, callArrives)
	}
}

// interrupted says that the producer has to begin a new epoch: the numbers of what
// was not taken are missing.
func (d *delivery) interrupted() bool {
	return slices.ContainsFunc(d.answers, func(a engine.Answer) bool { return a.Outcome != broker.Accepted && a.Outcome != broker.Rejected })
}

// streamID is the id of an entry in a Redis stream: the life of the database, and the seq.
type streamID struct{ life, seq int64 }

func (i streamID) above(o streamID) bool { return i.life > o.life || i.life == o.life && i.seq > o.seq }

// stream is what the broker has of a key under GrowingIDs: the last id, and what lies
// under each.
type stream struct {
	last streamID
	held map[streamID]*message
}

// grows says whether a message may be added to its key's stream, and if not, what is
// answered: it is there, or it can never be stored.
func (b *destination) grows(d *delivery, m *message) (bool, engine.Answer) {
	if !b.w.plan.growing || m.key == 0 {
		return true, engine.Answer{}
	}
	s, id := b.streams[m.key], streamID{d.life, m.seq}
	switch {
	case s == nil:
		s = &stream{held: map[streamID]*message{}}
		b.streams[m.key] = s
	case id.above(s.last):
	case s.held[id] == m:
		return false, engine.Answer{Outcome: broker.Accepted}
	case m.leftOut: // a filter that was widened let later ones pass it: it could never be stored here
		return true, engine.Answer{}
	default:
		m.rejections++
		b.w.refused(m)
		return false, engine.Answer{Outcome: broker.Rejected, Reason: "the stream is past its id"}
	}
	s.last, s.held[id] = id, m
	return true, engine.Answer{}
}
