package simulation

import (
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit/snapshots"
)

// written is what producers' transactions do to a log.
type written interface {
	// touch gives the transaction what a first write gives it.
	touch(t *transaction)
	// draw gives a message its seq, and write its row; between the two the seq may be taken.
	draw(t *transaction, m *message)
	write(m *message) bool
	// prepare makes a transaction one that outlives the server; false: it has none of these.
	prepare(t *transaction) bool
	// end ends a transaction that holds anything.
	end(t *transaction, commit bool)
}

// log is the log of the simulated store: it hands out seqs before commits, as
// databases do, and answers reads.
type log interface {
	written

	// last is the last seq given out.
	lastSeq() int64
	at(seq int64) *message
	// reading begins to answer a request: step goes on until page is there.
	reading(q *store.Request, v *view) reading
	positions
	// save returns all counters, and restore sets the log back to them.
	save() logState
	restore(s logState)
	// empty takes all rows away, and has the numbering begin again.
	empty()
	// otherNumbering says that a position is not of the log that is there now.
	otherNumbering(position store.Position, v *view) bool
}

// positions says what the positions of a log mean.
type positions interface {
	// check says whether a position may be used by one who speaks with this life of the server, stored or not.
	life(position store.Position) (life int64, bound bool)
	// lens decodes a position, to ask what it has passed.
	lens(position store.Position) lens
	// passes are the messages of a shard that a position has passed, and the shard's
	// own has not; back is one of which it is the other way round.
	passes(sh *shard, position store.Position) (t store.Tally, back *message)
	// floor is the seq up to which a position has passed everything, now and ever: store.Replayer's.
	floor(position store.Position) int64
	// behind is where a subscription begins that wants what is behind a seq.
	behind(seq int64) store.Position
}

// lens says what a position has passed.
type lens interface {
	passed(m *message) bool
	// lowest is lower than every seq that it has not passed.
	lowest() int64
}

// view is what one relay's connections know of the server.
type view struct {
	life     int64
	identity int
	file     int // of the sequence, as the catalog says
	bounds   *snapshots.Bounds
	graves   *graves
}

// rows are the messages of a log by seq.
type rows struct {
	bySeq []*message // at seq-1
	last  int64
}

func (r *rows) lastSeq() int64 { return r.last }

func (r *rows) at(seq int64) *message {
	if seq < 1 || seq > int64(len(r.bySeq)) {
		return nil
	}
	return r.bySeq[seq-1]
}

// between are the rows behind a seq, up to another.
func (r *rows) between(first, last int64) []*message {
	n := int64(len(r.bySeq))
	first = min(first, n)
	return r.bySeq[first:max(min(last, n), first)]
}

// differs adds m to t if a position has passed it and the one before has not, and
// keeps it if it is the other way round.
func differs(t *store.Tally, back **message, m *message, was, is bool) {
	switch {
	case was == is:
	case is:
		*t = sum(*t, 1, uint64(m.seq), m.sum)
	case *back == nil:
		*back = m
	}
}

func (r *rows) put(seq int64, m *message) {
	for int64(len(r.bySeq)) < seq {
		r.bySeq = append(r.bySeq, nil)
	}
	r.bySeq[seq-1] = m
}

// cut forgets the rows that are neither committed nor prepared.
func (r *rows) cut() {
	for i, m := range r.bySeq {
		if m != nil && !m.durable() {
			r.bySeq[i] = nil
		}
	}
}

// logState is what a log's counters say.
type logState struct {
	seq int64
	xid uint64
}

// reading is one read at work. A store that reads in several statements answers
// in several steps.
type reading interface {
	// step goes on, and says that the page is there.
	step() bool
	// page is there until the end of the run.
	page() *store.Batch
}

// wants says that a row is of the slots.
func wants(slots []store.Slots, slot int) bool {
	for _, s := range slots {
		if slot >= s.Lo && slot < s.Hi {
			return true
		}
	}
	return false
}
