package engine

import "github.com/postbag/postbag/store"

// entry is one message in hand: of a window, or of the parking lot.
type entry struct {
	*store.Record

	size  int // in bytes
	shard *shard
	chain *chain      // nil for messages without order
	next  *entry      // behind it in its chain
	park  *store.Park // the row that rides in the settlement that passes it

	attempts int
	doubt    *doubt // answers got lost

	row  int64  // the draft that has its row, if that is written before its call
	held string // from the parking lot, and its row is Held for this topic, or this pause

	fate  store.Fate
	calls int32 // that have its bytes
	gates int32 // of chain.gate, those of rows that ride behind it: it need not wait for them
	state state

	// What it is, and not where: these are set as it is taken in hand, and stay. Any
	// state goes with each of them.
	alone  bool // a suspect, see call_count.go
	parked bool // from the parking lot, and not of a window
	try    bool // it is to find out whether its topic works

	retried bool // an operator has it tried, whatever its age
}

// hash is that of its row in the parking lot. Under strict order it is one
// constant, so that it survives a change of shards.
func (e *entry) hash() uint64 {
	if !e.parked && e.chain != nil && e.chain.strict {
		return strictHash
	}
	return e.Hash
}

// forget makes e gone, with what it counts for.
func (f *Flow) forget(e *entry) {
	if e.drafted() {
		return
	}
	f.move(e, onLeave)
	if !e.parked { // the doubt of a parked message is kept
		f.trust(e)
	}
	if e.park != nil && e.park.State == store.ParkHeld {
		f.countHeld(e.shard, e.park.Topic, -1)
	}
	f.untried(e)
}
