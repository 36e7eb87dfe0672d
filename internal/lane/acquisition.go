package lane

import (
	"bytes"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/store"
)

// Do is what an Acquisition or a Transaction wants done next.
type Do uint8

// What may be wanted. Over: it has ended. Ask: ask the store whether the leases
// stand, and for their blocked keys; then Asked. Open: open the lane; then Opened.
// Commit: one transaction on the lane; then Committed. Drop: close the lane in
// hand, without which it goes on; then Dropped. Pause: wait a little longer each
// time; then Paused.
const (
	Over Do = iota
	Ask
	Open
	Commit
	Drop
	Pause
)

// Leases is what the store says of leases.
type Leases uint8

// What it may say. NoAnswer: nothing; it failed.
const (
	NoAnswer Leases = iota
	Valid
	Gone
)

// Acquisition enters a lane: it makes this relay the only one that can commit on it, and finds
// out what is in the broker and not settled. It is steps 2 to 5 of the protocol. If the
// relay holds the lane already, Acquisition only asks whether the leases still stand.
type Acquisition struct {
	// Leases are the leases of all shards.
	Leases []store.Lease
	// Known are the messages in the broker that may not be settled.
	Known Marks
	// Held says that a lane is in hand.
	Held bool
	// Behind: the database lost settlements.
	Behind bool
	// LostLeases: the try ended because the leases are no longer this relay's.
	LostLeases bool
	// Entered: the try ended well.
	Entered bool
	// Err is ErrRecord, if the try ended because of that.
	Err error

	asked    bool   // once more than was needed to open the lane
	expected []byte // the record of a transaction whose fate is unknown
	found    []byte // the record, as the lane was opened
	carrying []byte
}

// Enter begins a try. expected is the record of a transaction whose fate is unknown, or
// nil. If the lane has that record, the transaction was committed.
func (e *Acquisition) Enter(expected []byte) Do {
	e.expected, e.asked, e.LostLeases, e.Entered, e.Err = expected, e.Held, false, false, nil
	return Ask
}

// Asked takes the store's answer about the leases.
func (e *Acquisition) Asked(l Leases) Do {
	switch {
	case l != Valid:
		e.LostLeases = l == Gone
		return e.fail()
	case !e.Held:
		return Open
	case e.asked:
		e.Entered = true
		return Over
	}
	return e.learn()
}

// Opened takes the record of the lane. ok says whether the lane was opened.
func (e *Acquisition) Opened(record []byte, ok bool) Do {
	if !ok {
		return Over
	}
	e.Held, e.found = true, record
	return Ask // who takes the leases after this answer opens the lane after us
}

// learn reads the record. What is not settled as far as versions say is written into
// a record that holds whatever they say, before anything is settled.
func (e *Acquisition) learn() Do {
	r, err := Decode(e.found)
	if err != nil {
		e.Err = err
		return e.fail()
	}
	if e.Holds(e.expected) {
		e.Known, e.Entered = r.Carried, true
		return Over
	}
	known, carry, behind := r.Recall(e.Leases)
	known.trim()
	e.Known, e.Behind = known, behind
	if !carry {
		e.Entered = true
		return Over
	}
	carried := Record{Carried: known}
	e.carrying = carried.Encode()
	return Commit
}

// Holds says that the lane was opened with this record.
func (e *Acquisition) Holds(record []byte) bool {
	return record != nil && bytes.Equal(e.found, record)
}

// Record returns the record that Commit is to store, without any message.
func (e *Acquisition) Record() []byte { return e.carrying }

// Committed takes the outcome of the commit of that record.
func (e *Acquisition) Committed(o broker.TxOutcome) Do {
	if o != broker.Committed {
		return e.fail()
	}
	e.Entered = true
	return Over
}

// fail ends the try. A lane that was opened in it is dropped.
func (e *Acquisition) fail() Do {
	if e.Held && !e.asked {
		return Drop
	}
	return Over
}

// Dropped notes that the lane was closed.
func (e *Acquisition) Dropped() Do {
	e.Held, e.Known, e.found = false, nil, nil
	return Over
}
