package engine

import (
	"slices"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/store"
)

// Answer is the outcome of one message.
type Answer struct {
	Outcome broker.Outcome
	// Scope is that of a Misconfigured or Unavailable.
	Scope broker.Scope
	// After is the wait that the destination asks for.
	After time.Duration
	// Reason is kept with a parked message.
	Reason string
	// Rule says which of Config.Rules the message has, with this error: n for Rules[n-1].
	// Zero: the one that it has by its type.
	Rule int
	// Dead: the message gets no other attempt. The outcome is Rejected.
	Dead bool
	// Broken: the call broke off at a message that nobody knows, such as one at which a
	// handler panicked. It says nothing of the destination. The outcome is Unknown.
	Broken bool
}

// Answered takes the answers to a call, one an item in their order. Missing ones
// are Unknown; those of items that were Reported are ignored. It ends the call.
func (f *Flow) Answered(now time.Duration, id int64, answers []Answer) {
	c := f.call(id)
	if c == nil {
		return
	}
	var unanswered Answer
	f.calls = slices.DeleteFunc(f.calls, func(o *Call) bool { return o == c })
	for i, e := range c.entries {
		if e == nil {
			continue
		}
		a := &unanswered
		if i < len(answers) {
			a = &answers[i]
		}
		f.count(c, e, a, now)
		f.answered(e, a, len(c.entries) == 1, now)
	}
	f.longest -= f.longest / 16
	for _, e := range c.entries {
		f.resume(e, now)
	}
	f.returned(c)
	f.breaker(now, c)
	if f.cfg.Transactions && f.dirty { // the next one waits for it
		f.urgent = true
	}
}

// Reported takes the answer to one item of a call that goes on, from a
// destination that learns of them one by one.
func (f *Flow) Reported(now time.Duration, id int64, item int, a Answer) {
	c := f.call(id)
	if c == nil || item < 0 || item >= len(c.entries) || c.entries[item] == nil {
		return
	}
	e := c.take(item)
	f.count(c, e, &a, now)
	f.answered(e, &a, len(c.entries) == 1, now)
	f.resume(e, now)
	if c.tally.down > 0 {
		f.breaker(now, c)
	}
}

// take returns an entry of the call, whose answer is not waited for any more. The caller
// of the destination still has its bytes.
func (c *Call) take(item int) *entry {
	if c.lent == nil {
		c.lent = slices.Clone(c.entries)
	}
	e := c.entries[item]
	c.entries[item] = nil
	return e
}

func (f *Flow) call(id int64) *Call {
	for _, c := range f.calls {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// count notes what an answer says about the destination and about other calls.
func (f *Flow) count(c *Call, e *entry, a *Answer, now time.Duration) {
	if a.Outcome != broker.Accepted {
		c.tally.add(e, a, f.ofTopic(a), e.suspected() || f.outlived(e))
		return
	}
	c.tally.works++
	f.accepted++
	f.pass(e)
	f.stats.Accepted++
	f.longest = max(f.longest, now-c.sentAt)
	f.countOvertaken(c)
}

// answered applies one answer to its entry, which was alone in its call or not. The
// chain moves on in resume.
func (f *Flow) answered(e *entry, a *Answer, alone bool, now time.Duration) {
	if e.shard.lost {
		return
	}
	if e.chain != nil {
		e.chain.out--
	}
	outcome := a.Outcome
	if f.ofTopic(a) {
		if e.Topic != "" {
			f.trust(e)
			f.topicFailed(e, *a, now)
			return
		}
		outcome = broker.Rejected // to no topic nothing can ever be sent
	}
	if e.try && (outcome == broker.Accepted || outcome == broker.Rejected) {
		f.topicWorks(e, now)
	}
	switch outcome {
	case broker.Accepted:
		f.deliver(e, now)
	case broker.Rejected:
		f.trust(e)
		f.failed(e, *a, now)
	case broker.Misconfigured, broker.Unavailable, broker.NotSent:
		f.postpone(e, *a, now)
	default:
		f.stats.Unknown++
		f.lost(e, *a, alone, now)
	}
}

// deliver resolves an accepted entry.
func (f *Flow) deliver(e *entry, now time.Duration) {
	f.trust(e)
	switch {
	case e.parked, e.state == slowDrafted:
		f.endRow(e, store.TallyDelivered, now)
		return
	case e.state == slow: // the row was not written yet, and need not be
		f.cancelPark(e)
	case e.chain != nil:
		e.chain.remove(e)
	}
	e.shard.passedBy(e)
	f.finish(onDone, e, store.TallyDelivered, now)
}

// postpone has e sent again: when the circuit allows; or later, as a parked
// message, when it was slow, when its own answers keep getting lost while
// others come through, or when none can be read before it is parked.
func (f *Flow) postpone(e *entry, a Answer, now time.Duration) {
	if !f.counting() && !e.slow() && !f.cramped(e) && (e.lost() < 3 || a.Broken || f.accepted == e.doubt.accepted) {
		f.requeue(e)
		return
	}
	reason := a.Reason
	if e.retried { // this was no attempt
		reason = reasonRetried
	}
	r := f.cfg.Retry
	most := r.Max
	if e.doubt != nil && e.doubt.others { // it is the culprit, or will soon be cleared
		most = min(most, doubtPause)
	}
	f.park(e, store.Park{
		State: store.ParkRetrying, Reason: reason, Blocking: true,
		Delay: backoff(min(r.Min, time.Second), most, r.Factor, max(e.lost(), 1), f.cfg.Rand()),
	}, now)
}

// requeue makes e wait for its next call, at its place in its chain. A parked
// message is left to its row when it is another's turn, or another owner's.
func (f *Flow) requeue(e *entry) {
	f.move(e, onAgain)
	switch {
	case e.parked && (f.quiet || e.shard.leaving != nil || e.chain != nil && e.chain.cut):
		f.leaveAlone(e)
	case e.chain == nil:
		f.enqueue(e, false)
	}
}

// resume lets the chain of e go on after a call: its next message is made ready,
// or, when it was blocked meanwhile, what is queued behind goes to the parking
// lot.
func (f *Flow) resume(e *entry, now time.Duration) {
	if e == nil || e.chain == nil || e.shard.lost || e.chain.out > 0 {
		return
	}
	c := e.chain
	if c.cut {
		c.cut = false
		f.due.wake(now)
	}
	if c.blocked() {
		f.parkBehind(c, now)
	}
	f.advance(c)
}
