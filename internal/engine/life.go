package engine

import "fmt"

// state is where an entry is on its way.
type state uint8

const (
	queued state = iota // behind another of its key, or about to be made ready
	ready               // in a queue of the flow
	sent                // in a call
	done                // resolved: its fate is set, and the position may pass it
	aside               // as done, parked as in flight: its call goes on
	past                // resolved, and in a draft or settled
	lain                // as past, and its call goes on: the answer resolves its row
	gone                // its shard left or was lost, or it is left to its row: neither sent nor settled
)

var stateNames = [...]string{"queued", "ready", "sent", "done", "aside", "past", "lain", "gone"}

func (s state) String() string { return stateNames[s] }

// states is a set of them.
type states uint8

func among(list ...state) (s states) {
	for _, one := range list {
		s |= 1 << one
	}
	return s
}

// life is where an entry may go from where it is, and by what. A message is read into a
// window, or fetched from the parking lot; both begin as queued.
//
//	from     to       when
//	queued   ready    it is its turn
//	         sent     a call takes it together with the one before it       (ordered destinations)
//	         done     filtered, discarded, or parked before it was sent        (window)
//	         past     its row was written again or removed                     (parked)
//	         gone     its shard left or was lost, or it is left to its row
//	ready    (stays)  its topic works again, or does not: another queue has it
//	         sent     a call takes it
//	         done, past, gone   as from queued
//	sent     queued   it is sent again
//	         done     accepted, or parked
//	         aside    it is slow: others that were sent later came through
//	         past, gone         as from queued
//	done     past     a draft has it
//	         gone     its shard was lost
//	aside    done     its answer came before its row was written
//	         lain     a draft has it
//	         gone     its shard was lost
//	lain     past     its answer came
//
// Nothing leaves past and gone. What is parked is never done, and goes to past at once.
var life = [...]states{
	queued: among(ready, sent, done, past, gone),
	ready:  among(ready, sent, done, past, gone),
	sent:   among(queued, done, aside, past, gone),
	done:   among(past, gone),
	aside:  among(done, lain, gone),
	past:   among(),
	lain:   among(past),
	gone:   among(),
}

// move brings e to its next state, and keeps the counts that depend on states: what is
// read and not sent, and the bytes in hand. A move that life does not know is kept for
// Audit.
func (f *Flow) move(e *entry, to state) {
	if life[e.state]&(1<<to) == 0 && f.stray == nil {
		f.stray = fmt.Errorf("message %d goes from %v to %v", e.Seq, e.state, to)
	}
	if to >= sent && e.waits() {
		f.unsent--
	}
	e.state = to
	f.lighten(e)
}

// waits: e was read into a window, and never sent.
func (e *entry) waits() bool { return e.state < sent && !e.parked && !e.counted }

// slow: it is parked as in flight while its call goes on.
func (e *entry) slow() bool { return e.state == aside || e.state == lain }

// drafted: nothing of its window waits for it any more.
func (e *entry) drafted() bool { return e.state >= past }

// resolved: the position may pass it.
func (e *entry) resolved() bool { return e.state >= done }
