package engine

import "fmt"

// state is where an entry is on its way.
type state uint8

const (
	queued      state = iota // behind another of its key, or about to be made ready
	ready                    // in a queue of the flow
	requeued                 // as queued, and it was sent before
	readyAgain               // as ready, and it was sent before
	sent                     // in a call
	slow                     // resolved, parked as in flight: its call goes on
	done                     // resolved after it was sent: the position may pass it
	skipped                  // resolved, and never sent
	slowDrafted              // as drafted, and its call goes on: the answer resolves its row
	drafted                  // resolved, and in a draft or settled
	gone                     // its shard left or was lost, or it is left to its row: neither sent nor settled
)

var stateNames = [...]string{
	"queued", "ready", "requeued", "readyAgain", "sent", "slow", "done", "skipped", "slowDrafted", "drafted", "gone",
}

func (s state) String() string { return stateNames[s] }

// event is what happens to an entry.
type event uint8

const (
	onTurn  event = iota // a queue of the flow has it; or another one, since its topic failed or works again
	onCall               // a call takes it, by itself or behind another of its key
	onAgain              // it is to be sent again
	onDone               // accepted, filtered, discarded, or parked by the settlement that passes it
	onSlow               // it is slow: others that were sent later came through
	onDraft              // a draft has what is settled of it
	onRow                // its row in the parking lot is written again, or removed
	onLeave              // its shard left or was lost, or it is left to its row
)

var eventNames = [...]string{"onTurn", "onCall", "onAgain", "onDone", "onSlow", "onDraft", "onRow", "onLeave"}

func (v event) String() string { return eventNames[v] }

// life is where each event brings an entry from where it is. A message is read into a
// window, or fetched from the parking lot; both begin as queued. Nothing leaves drafted and
// gone. Of the messages of the parking lot none is resolved: onRow brings them to drafted.
var life = [...][8]state{
	//            onTurn onCall onAgain onDone onSlow onDraft onRow onLeave
	queued:      {ready, sent, nowhere, skipped, nowhere, nowhere, drafted, gone},
	ready:       {ready, sent, nowhere, skipped, nowhere, nowhere, drafted, gone},
	requeued:    {readyAgain, sent, nowhere, done, nowhere, nowhere, drafted, gone},
	readyAgain:  {readyAgain, sent, nowhere, done, nowhere, nowhere, drafted, gone},
	sent:        {nowhere, nowhere, requeued, done, slow, nowhere, drafted, gone},
	slow:        {nowhere, nowhere, nowhere, done, nowhere, slowDrafted, nowhere, gone},
	done:        {nowhere, nowhere, nowhere, nowhere, nowhere, drafted, nowhere, gone},
	skipped:     {nowhere, nowhere, nowhere, nowhere, nowhere, drafted, nowhere, gone},
	slowDrafted: {nowhere, nowhere, nowhere, nowhere, nowhere, nowhere, drafted, gone},
	drafted:     {nowhere, nowhere, nowhere, nowhere, nowhere, nowhere, nowhere, nowhere},
	gone:        {nowhere, nowhere, nowhere, nowhere, nowhere, nowhere, nowhere, nowhere},
}

// nowhere is where an event leads that cannot happen.
const nowhere = gone + 1

// move brings e to its next state, and keeps the counts that depend on states: what is
// read and not sent, what was sent and is not settled, and the bytes in hand. An event
// that cannot happen changes nothing, and is kept for Audit.
func (f *Flow) move(e *entry, by event) {
	to := life[e.state][by]
	if to == nowhere {
		f.strayed(e, by)
		return
	}
	if e.waits() && to > ready {
		f.unsent--
	}
	switch counts := to.counts(); {
	case counts == e.state.counts():
	case counts:
		f.out++
	case by == onLeave:
		f.out--
	default: // once the settlement that is being drafted stands
		e.shard.draft.sent++
	}
	resolves := to >= slow && !e.resolved()
	e.state = to
	if resolves && e.calls == 0 {
		f.lighten(e)
	}
}

// strayed keeps the first event that could not happen.
func (f *Flow) strayed(e *entry, by event) {
	if f.stray == nil {
		f.stray = fmt.Errorf("message %d is %v, and then %v", e.Seq, e.state, by)
	}
}

// counts: it is in Flow.out, which bounds what was sent and is not answered or not settled.
func (s state) counts() bool { return s >= requeued && s <= done || s == slowDrafted }

// counted: it was sent, and counts for that.
func (e *entry) counted() bool { return e.state.counts() }

// waits: e was read into a window, and never sent.
func (e *entry) waits() bool { return e.state <= ready && !e.parked }

// queued: it waits for another of its key, or is about to be made ready.
func (e *entry) queued() bool { return e.state == queued || e.state == requeued }

// ready: a queue of the flow has it.
func (e *entry) ready() bool { return e.state == ready || e.state == readyAgain }

// slow: it is parked as in flight while its call goes on.
func (e *entry) slow() bool { return e.state == slow || e.state == slowDrafted }

// drafted: nothing of its window waits for it any more.
func (e *entry) drafted() bool { return e.state >= slowDrafted }

// resolved: the position may pass it.
func (e *entry) resolved() bool { return e.state >= slow }
