package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/store"
)

// Under Config.CountFirst an attempt is counted before its call: a handler that ends its
// process runs out of attempts, too. Each message of a new call is made slow at once, with
// a row that has one attempt more, and the call is held until the rows have landed. The
// entry keeps the attempts that failed, so each answer but a rejection gives the one back.
// A row that is there after its owner is gone says by its reason what happened.
// docs/design/080-handlers.md has the reasoning.

// Reasons of rows that were written before a call, and of what becomes of them.
const (
	reasonBegun   = "a handler began it, and has not answered"
	reasonSuspect = "its process ended while its handler was at work; it is tried alone"
	reasonAlone   = "a handler began it alone, and has not answered"
	reasonKilled  = "its process ended each time while its handler was at work, at last alone; fix the handler, then retry"
)

// suspectHeld is the reason of a row that is held, of a message that is tried alone.
func suspectHeld(reason string) string { return reasonSuspect + "; " + reason }

// counting says that attempts are counted before calls. Transactions have no rows to do so.
func (f *Flow) counting() bool { return f.cfg.CountFirst && !f.cfg.Transactions }

// failing is one for a row of Stats.Parked: it was not only written before a call.
func (f *Flow) failing(p *store.Park) int64 {
	if f.counting() && p.State == store.ParkInFlight {
		return 0
	}
	return 1
}

// nextCounted is Next where attempts are counted first. As many calls are held as may run.
func (f *Flow) nextCounted(now time.Duration) *Call {
	f.callOffSpoilt(now)
	f.callOffPinned(now)
	f.callOffOld(now)
	running, held := 0, 0
	for _, c := range f.calls {
		switch {
		case c.held:
			held++
		case !c.slow:
			running++
		}
	}
	for ; held < f.cfg.Calls; held++ {
		c := f.compose(now)
		if c == nil {
			break
		}
		f.countFirst(c, now)
	}
	if f.heldUp() {
		if c := f.composePins(now); c != nil {
			f.countFirst(c, now)
		}
	}
	if running >= f.cfg.Calls {
		return nil
	}
	return f.begin(now)
}

// compose makes a call that is to be held: of a suspect alone, once nothing else is out, or
// of whatever comes next. Suspects go first. Later messages of their keys may be in windows,
// behind them, and then calls that were made before a suspect could wait for it.
func (f *Flow) compose(now time.Duration) *Call {
	if f.outAlone() {
		return nil
	}
	e := f.nextSuspect()
	if e == nil {
		return f.fillCall(now)
	}
	if len(f.calls) > 0 || !e.counted() && f.out >= f.places() || f.throttled() || f.meetsOld(e, now) {
		return nil
	}
	if f.rate != nil && !f.rate.may(e) {
		return f.start(now)
	}
	f.suspects.drop()
	f.include(e)
	c := f.start(now)
	c.alone = true
	return c
}

// nextSuspect returns the first suspect, or nil. One that an operator had retried is none any more.
func (f *Flow) nextSuspect() *entry {
	e := f.suspects.peek()
	for ; e != nil && !e.alone; e = f.suspects.peek() {
		f.suspects.drop()
		f.enqueue(e, false)
	}
	return e
}

// heldUp says that the row of a held call cannot be written, because a message before it in
// its window is not resolved.
func (f *Flow) heldUp() bool {
	f.collect()
	return slices.ContainsFunc(f.calls, func(c *Call) bool {
		return c.held && slices.ContainsFunc(c.entries, func(e *entry) bool { return e != nil && e.state == slow })
	})
}

// composePins makes a call of what keeps windows from moving, however many are held: their
// rows cannot be written before it is resolved.
func (f *Flow) composePins(now time.Duration) *Call {
	if f.outAlone() || f.throttled() {
		return nil
	}
	b := f.newFilling(f.cfg.Batch, now)
	b.pins()
	return f.start(now)
}

// outAlone says that a suspect is out, or about to be.
func (f *Flow) outAlone() bool {
	return slices.ContainsFunc(f.calls, func(c *Call) bool { return c.alone })
}

// countFirst has a row written for each message of a call, and holds the call until then.
func (f *Flow) countFirst(c *Call, now time.Duration) {
	c.held = true
	reason := reasonBegun
	if c.alone {
		reason = reasonAlone
	}
	for _, e := range c.entries {
		if !e.parked {
			f.slowDown(e, now)
			e.park.Attempts++
			e.park.Reason = reason
			continue
		}
		p := store.Park{State: store.ParkInFlight, Reason: reason, Blocking: f.cfg.OnReject == Block || f.supersedes()}
		f.fill(e, &p)
		p.Attempts++
		f.unhold(e)
		e.held = "" // its row does not say so any more
		f.draftRow(e.shard, p)
		e.row = e.shard.drafting()
	}
	f.resolve(now, true)
}

// drafting is the number of the draft that is being filled. It is settled when drafts is
// greater.
func (s *shard) drafting() int64 {
	if s.turn != nil {
		return s.drafts + 1
	}
	return s.drafts
}

// begin returns a held call whose rows have landed, or nil.
func (f *Flow) begin(now time.Duration) *Call {
	for _, c := range f.calls {
		if c.held && c.landed() {
			c.held, c.slow, c.behind, c.sentAt = false, false, 0, now
			f.watch(now + f.cfg.SlowAfter)
			return c
		}
	}
	return nil
}

// landed says that the rows of all its messages are written.
func (c *Call) landed() bool {
	return !slices.ContainsFunc(c.entries, func(e *entry) bool { return e.state == slow || e.shard.drafts <= e.row })
}

// callOffSpoilt ends held calls that can not be made as they are: a shard was lost, or one
// of their messages has gone.
func (f *Flow) callOffSpoilt(now time.Duration) {
	f.callOff(now, func(e *entry) bool { return e == nil || e.shard.lost })
}

// callOffPinned ends held calls that wait for a message, which waits for them. It keeps their window
// from moving, or a later one of its key does. It is a suspect, or there is no place for it in what may be
// in flight. They were made while another message of its key was before it.
func (f *Flow) callOffPinned(now time.Duration) {
	full := f.out >= f.places()
	pinned := func(l *group) bool {
		e := l.pin()
		return e != nil && e.ready() && (e.alone || full && !e.counted())
	}
	if f.suspects.empty() && !full || !slices.ContainsFunc(f.groups, pinned) || !f.heldUp() {
		return
	}
	f.callOff(now, func(e *entry) bool { return e != nil && e.state == slow })
}

// callOffOld ends held calls with a message that got too old meanwhile, in an outage or a pause. Its
// row is tried again soon, and it is dead then.
func (f *Flow) callOffOld(now time.Duration) {
	if f.cfg.ages {
		f.callOff(now, func(e *entry) bool { return e != nil && f.tooOld(e, now) })
	}
}

// callOff ends held calls with an entry of that kind as not sent, without a word to the
// circuit.
func (f *Flow) callOff(now time.Duration, which func(*entry) bool) {
	for _, c := range slices.Clone(f.calls) {
		if !c.held || !slices.ContainsFunc(c.entries, which) {
			continue
		}
		f.calls = without(f.calls, c)
		for _, e := range c.entries {
			if e != nil {
				f.answered(e, &Answer{Outcome: broker.NotSent}, false, now)
			}
		}
		for _, e := range c.entries {
			f.resume(e, now)
		}
		f.returned(c)
	}
}

// forgetHeld ends held calls of which nothing is left: their shards are lost.
func (f *Flow) forgetHeld() {
	for _, c := range slices.Clone(f.calls) {
		if c.held && !slices.ContainsFunc(c.entries, func(e *entry) bool { return e != nil && !e.shard.lost }) {
			f.calls = without(f.calls, c)
			f.returned(c)
		}
	}
}

// accuse takes a row that was written before a call whose process is gone: the message is
// tried again later and alone, or is dead if that was its last attempt, and alone. It
// returns false for another row.
func (f *Flow) accuse(e *entry, reason string, now time.Duration) bool {
	r := f.retryBy(f.ruleOf(e))
	p := store.Park{State: store.ParkRetrying, Reason: reasonSuspect, Blocking: f.cfg.OnReject == Block}
	switch {
	case !f.counting() || reason != reasonBegun && reason != reasonAlone:
		e.alone = f.counting() && (reason == reasonSuspect || strings.HasPrefix(reason, suspectHeld("")))
		return false
	case reason == reasonAlone && e.attempts >= r.MaxAttempts:
		f.kill(e, store.CauseAttempts, reasonKilled, now)
		return true
	default:
		p.Delay = f.pause(r, max(e.attempts, 1))
		p.Blocking = p.Blocking || f.supersedes() // its handler may be at work yet
	}
	f.park(e, p, now)
	return true
}
