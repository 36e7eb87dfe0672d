package core

import (
	"encoding/binary"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/internal/lane"
	"github.com/postbag/postbag/store"
)

// Course is an entry into the lane of a flow, or a transaction on it, from its start to its
// end. It says what is to be done next, and is told what came of that; package lane says what
// each step is. A course that is at work belongs to the goroutine that makes its steps. The
// [Core] gets it back with AcquisitionEnded or TransactionEnded.
type Course struct {
	flow    *Flow
	loading *Loading          // of an entry alone
	tx      *lane.Transaction // of a call
	way     lane.Acquisition
	life    int
	items   int  // messages of the call
	noStore bool // what failed last was the store
	pauses  int
}

// NewAcquisition begins an entry for an Enter. held says whether the lane is open.
func NewAcquisition(o *Loading, held bool) *Course {
	leases := make([]store.Lease, len(o.Shards))
	for i := range o.Shards {
		leases[i] = o.Shards[i].Lease
	}
	w := newCourse(o.Flow, leases, held)
	w.loading = o
	return w
}

// NewTransaction begins the transaction of a call.
func NewTransaction(f *Flow, call *engine.Call, held bool) *Course {
	w := newCourse(f, f.Engine.Leases(), held)
	items := make([]lane.Item, len(call.Items))
	for i, item := range call.Items {
		items[i] = lane.Item{Seq: item.Seq, Slot: item.Slot, Sum: binary.BigEndian.Uint64(item.ID[8:])}
	}
	w.items = len(items)
	w.tx = lane.NewTransaction(&w.way, items)
	return w
}

func newCourse(f *Flow, leases []store.Lease, held bool) *Course {
	w := &Course{flow: f}
	w.way.Leases, w.way.Held = leases, held
	w.way.Known, w.life = f.Lane.Take()
	return w
}

// Start begins it.
func (w *Course) Start() lane.Do {
	if w.tx != nil {
		return w.tx.Start()
	}
	return w.way.Enter(nil)
}

// Leases are those to ask the store about.
func (w *Course) Leases() []store.Lease { return w.way.Leases }

// Asked takes what the store said of the leases: nil says that all stand.
func (w *Course) Asked(err error) lane.Do {
	answer := lane.NoAnswer
	switch FaultOf(err) {
	case Fine:
		answer = lane.Valid
	case LeaseLost:
		answer = lane.Gone
	case Failed, TimedOut, Moved, Incurable:
	}
	w.noStore = answer == lane.NoAnswer
	if w.tx != nil {
		return w.tx.Asked(answer)
	}
	return w.way.Asked(answer)
}

// Opened takes the record of the lane. ok says whether the lane was opened.
func (w *Course) Opened(record []byte, ok bool) lane.Do {
	w.noStore = false
	if w.tx != nil {
		return w.tx.Opened(record, ok)
	}
	return w.way.Opened(record, ok)
}

// Messages says whether the next commit has messages, those of Sends. Otherwise it has a
// record alone.
func (w *Course) Messages() bool { return w.tx != nil && w.tx.Messages() }

// Sends returns which messages of the call the next commit has: those that are not known to
// be in the broker.
func (w *Course) Sends() []int {
	var places []int
	for i := range w.items {
		if w.tx.Sends(i) {
			places = append(places, i)
		}
	}
	return places
}

// Record returns the record that the next commit stores.
func (w *Course) Record() []byte {
	if w.tx != nil {
		return w.tx.Record()
	}
	return w.way.Record()
}

// Committed takes the outcome of a commit.
func (w *Course) Committed(o broker.TxOutcome) lane.Do {
	w.noStore = false
	if w.tx != nil {
		return w.tx.Committed(o)
	}
	return w.way.Committed(o)
}

// Dropped notes that the lane was closed.
func (w *Course) Dropped() lane.Do {
	if w.tx != nil {
		return w.tx.Dropped()
	}
	return w.way.Dropped()
}

// Pause returns how long to wait before the lane is entered again. chance is a number in
// [0, 1).
func (w *Course) Pause(chance float64) time.Duration {
	w.pauses++
	return Backoff(w.pauses, chance)
}

// Paused goes on after a pause. over: nobody waits any more.
func (w *Course) Paused(over bool) lane.Do {
	if w.tx == nil {
		return lane.Over // an entry makes no pause
	}
	return w.tx.Paused(over)
}

// Why is why the lane was not entered: the record that cannot be read, or else err, with
// which the last step failed.
func (w *Course) Why(err error) error {
	if w.way.Err != nil {
		return &broker.Error{Outcome: broker.Misconfigured, Err: w.way.Err}
	}
	return err
}

// Sent says that the call's fate is that of a commit; otherwise nothing was sent.
func (w *Course) Sent() bool { return w.tx.End != lane.NotEntered && w.tx.End != lane.Disowned }

// Outcome is what the messages of a call that is over came to, but for those whose own result
// says more: see Own. why is the error that ended it.
func (w *Course) Outcome(why error) broker.Outcome {
	switch w.tx.End {
	case lane.Answered:
		return broker.Accepted
	case lane.Undone:
		return broker.Unavailable
	case lane.NotEntered:
		if broker.OutcomeOf(why) == broker.Misconfigured {
			return broker.Misconfigured
		}
		return broker.Unavailable
	case lane.Refused, lane.Disowned:
		return broker.NotSent
	case lane.Lost:
	}
	return broker.Unknown
}

// Own says whether a result of the last commit stands for its message: the transaction was
// refused, and the result says why.
func (w *Course) Own(o broker.Outcome) bool {
	return w.tx.End == lane.Refused && (o == broker.Rejected || o == broker.Misconfigured || o == broker.Unavailable)
}

// Behind says that the database lost settlements.
func (w *Course) Behind() bool { return w.way.Behind }

// Entered says that an entry ended well.
func (w *Course) Entered() bool { return w.way.Entered }

// obstacle is why an entry did not end well.
func (w *Course) obstacle(givenUp bool) Obstacle {
	switch {
	case givenUp:
		return GivenUp
	case w.way.LostLeases:
		return NoLease
	case w.noStore:
		return NoStore
	default:
		return NoLane
	}
}
