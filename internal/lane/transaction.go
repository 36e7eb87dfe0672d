package lane

import "github.com/postbag/postbag/broker"

// End is how a transaction ended.
type End uint8

// The ends. Answered: all of it is in the broker. Refused: nothing of it is or will
// be, and the answers say why. Undone: it is known by now that nothing of it is in
// the broker. NotEntered: nothing was sent, since the lane could not be entered.
// Disowned: nothing was sent, since the leases are not ours any more. Lost: its fate
// is up to the owner of the leases now.
const (
	Answered End = iota + 1
	Refused
	Undone
	NotEntered
	Disowned
	Lost
)

// Transaction is one call to the destination, made as a transaction on a lane. While its
// fate is unknown it stays at work, so that nothing is settled. The relay enters the lane
// again, and its record shows the fate.
type Transaction struct {
	*Acquisition

	// End is how it ended, once it has.
	End End

	items   []Item
	record  Record
	encoded []byte
	state   txState
}

type txState uint8

const (
	entering  txState = iota
	sending           // the commit is under way
	leaving           // aborted: the lane is to be dropped
	fating            // not answered: the lane is to be dropped, and entered again
	resolving         // it is entered again
)

// NewTransaction returns the transaction of a call with items, on the lane that e has
// entered.
func NewTransaction(e *Acquisition, items []Item) *Transaction {
	return &Transaction{Acquisition: e, items: items}
}

// Start begins.
func (t *Transaction) Start() Do {
	if !t.Held {
		t.state = entering
		return t.on(t.Enter(nil))
	}
	return t.send()
}

// Sends says whether item i is to be sent: it is not known to be in the broker.
func (t *Transaction) Sends(i int) bool { return !t.Known.Has(t.items[i]) }

// Messages says whether the next commit is that of the messages. Otherwise it is that of a
// record alone.
func (t *Transaction) Messages() bool { return t.state == sending }

// Record returns the record that Commit is to store.
func (t *Transaction) Record() []byte {
	if t.state == sending {
		return t.encoded
	}
	return t.Acquisition.Record()
}

func (t *Transaction) send() Do {
	t.record = NewRecord(t.Leases, t.items, t.Known)
	t.encoded = t.record.Encode()
	t.state = sending
	return Commit
}

// Asked is the Asked of Acquisition.
func (t *Transaction) Asked(l Leases) Do { return t.on(t.Acquisition.Asked(l)) }

// Opened is the Opened of Acquisition.
func (t *Transaction) Opened(record []byte, ok bool) Do {
	return t.on(t.Acquisition.Opened(record, ok))
}

// Committed takes the outcome of a commit.
func (t *Transaction) Committed(o broker.TxOutcome) Do {
	if t.state != sending {
		return t.on(t.Acquisition.Committed(o))
	}
	switch o {
	case broker.Committed:
		return t.stored()
	case broker.Aborted:
		t.state = leaving
	default: // Unresolved, Fenced, or what no adapter should say: it is not known
		t.state = fating
	}
	return Drop
}

func (t *Transaction) stored() Do {
	t.Known = t.record.Carried
	return t.end(Answered)
}

func (t *Transaction) end(e End) Do {
	t.End = e
	return Over
}

// Dropped notes that the lane was closed.
func (t *Transaction) Dropped() Do {
	t.Acquisition.Dropped()
	switch t.state {
	case leaving:
		return t.end(Refused)
	case fating:
		return t.again()
	default:
		return t.on(Over)
	}
}

// Paused says to enter the lane again, after a pause. over: nobody waits any more.
func (t *Transaction) Paused(over bool) Do {
	if over {
		return t.end(Lost)
	}
	return t.again()
}

func (t *Transaction) again() Do {
	t.state = resolving
	return t.on(t.Enter(t.encoded))
}

// on goes on with what the entry wants, and beyond its end.
func (t *Transaction) on(do Do) Do {
	switch {
	case do != Over:
		return do
	case t.state == resolving:
		return t.resolved()
	case t.Entered:
		return t.send()
	case t.LostLeases:
		return t.end(Disowned)
	default:
		return t.end(NotEntered)
	}
}

func (t *Transaction) resolved() Do {
	switch {
	case t.LostLeases:
		return t.end(Lost)
	case !t.Entered:
		return Pause
	case t.Holds(t.encoded):
		return t.stored()
	default:
		return t.end(Undone)
	}
}

// Dropping says whether to drop everything in hand, because the lane is another relay's.
func (t *Transaction) Dropping() bool { return t.End == Disowned || t.End == Lost }
