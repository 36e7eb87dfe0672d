package chaos

import (
	"fmt"
	"time"

	"github.com/postbag/postbag/proof/history"
)

// Sample is what happened in a part of a run.
type Sample struct {
	At        time.Duration `json:"at"`        // its end, since the run's beginning
	Committed int           `json:"committed"` // messages in it
	Arrived   int           `json:"arrived"`   // for the first time
	Backlog   int           `json:"backlog"`   // committed and not arrived, at its end
}

// SampleEvery is the length of a part.
const SampleEvery = 500 * time.Millisecond

// tally counts what files of a history hold.
type tally struct {
	file     int // the number of the one that is read
	sizes    map[history.Tx]size
	fates    map[history.Tx]fate
	arrived  map[history.ID]time.Duration
	arrivals int
	applied  map[history.ID]time.Duration
	effects  int
	removed  map[history.ID]time.Duration // by operators and by cancelling
}

// size is how many messages a transaction has, and in which file they are.
type size struct{ messages, file int }

// fate is what became of a transaction, and which file says so.
type fate struct {
	history.Outcome

	file int
}

func newTally() *tally {
	return &tally{
		sizes: map[history.Tx]size{}, fates: map[history.Tx]fate{}, arrived: map[history.ID]time.Duration{},
		removed: map[history.ID]time.Duration{}, applied: map[history.ID]time.Duration{},
	}
}

// Intend counts a transaction's messages.
func (t *tally) Intend(r history.Intent) {
	t.sizes[r.Tx] = size{messages: t.sizes[r.Tx].messages + 1, file: t.file}
}

// End takes a transaction's fate: what is certain stands before what is not.
func (t *tally) End(r history.Outcome) {
	if r.Fate != history.Unknown || t.fates[r.Tx].Fate == history.Unknown {
		t.fates[r.Tx] = fate{Outcome: r, file: t.file}
	}
}

// Deliver takes a message's first arrival.
func (t *tally) Deliver(r history.Delivery) {
	if isReplay(&r) {
		return
	}
	t.arrivals++
	if _, again := t.arrived[r.ID]; !again {
		t.arrived[r.ID] = r.To
	}
}

// Apply takes a message's first effect.
func (t *tally) Apply(r history.Effect) {
	t.effects++
	if _, again := t.applied[r.ID]; !again {
		t.applied[r.ID] = r.At
	}
}

// Refuse implements history.Recorder, as what follows does: it is of no interest here.
func (*tally) Refuse(history.Refusal) {}

// Hold is of no interest here.
func (*tally) Hold(history.Stored) {}

// Order takes what need not arrive any more.
func (t *tally) Order(r history.Command) {
	if r.What != history.Retry {
		t.removed[r.ID] = r.End
	}
}

// Break is of no interest here.
func (*tally) Break(history.Fault) {}

// Wait is of no interest here.
func (*tally) Wait(history.Gap) {}

// Look is of no interest here.
func (*tally) Look(history.Watch) {}

// measure fills the report's load and samples from the files.
func (r *Report) measure(files []string, began time.Duration) error {
	t := newTally()
	for _, name := range files {
		if _, err := history.ReadFile(name, t); err != nil {
			return fmt.Errorf("chaos: %w", err)
		}
		t.file++
	}
	r.Load.Effects = t.effects
	if r.Inbox {
		t.arrived, t.arrivals = t.applied, t.effects
	}
	last := time.Duration(0)
	committed, arrived, removed := map[int]int{}, map[int]int{}, map[int]int{}
	part := func(at time.Duration) int {
		last = max(last, at)
		return int(max(0, at-began) / SampleEvery)
	}
	for tx, o := range t.fates {
		r.Load.Transactions++
		own := t.sizes[tx]
		if own.messages > 0 && own.file != o.file {
			r.Load.Inherited++
		}
		switch o.Fate {
		case history.Committed:
			r.Load.Committed += own.messages
			committed[part(o.End)] += own.messages
		case history.RolledBack:
			r.Load.RolledBack += own.messages
		case history.Unknown:
			r.Load.Unknown++
		}
	}
	for _, at := range t.arrived {
		arrived[part(at)]++
	}
	for id, at := range t.removed {
		if _, came := t.arrived[id]; !came {
			removed[part(at)]++
		}
	}
	r.Load.Arrived = t.arrivals
	backlog := 0
	for i := range part(last) + 1 {
		backlog += committed[i] - arrived[i] - removed[i]
		r.Samples = append(r.Samples, Sample{
			At: time.Duration(i+1) * SampleEvery, Committed: committed[i], Arrived: arrived[i], Backlog: max(0, backlog),
		})
	}
	return nil
}
