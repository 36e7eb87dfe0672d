package engine

import (
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// A message has an age where Retry.MaxAge says so. It counts by the clock of the database,
// from when the message was stored. One that is too old when its turn comes is dead, and is
// not sent. What is queued behind others, or held for a topic, comes to its turn later. One
// that an operator has retried is sent once, whatever its age.
//
// With Config.Transactions a message is tried before it can be dead: the transaction tells
// whether an earlier owner of its shard has delivered it.

// reasonExpired is how the reason of a message begins that is dead by its age.
const reasonExpired = "expired, older than max_age"

// reasonRetried is that of a row that an operator has retried, until its attempt has failed. No other row has
// it: one without a reason may be of a message in flight whose owner is gone, or of a call that was not made.
const reasonRetried = "an operator had it retried"

// retriedHeld is the reason of a row that is held for a topic, of a message that an operator has retried: it
// was not tried yet, and is tried whatever its age once its topic works.
func retriedHeld(reason string) string { return reasonRetried + "; " + reason }

// isRetried says whether a row is of a message that an operator has retried and that was not tried since.
func isRetried(p *store.Park) bool {
	switch p.State {
	case store.ParkRetrying:
		return p.Attempts == 0 && p.Reason == reasonRetried
	case store.ParkHeld:
		return p.Attempts == 0 && strings.HasPrefix(p.Reason, retriedHeld(""))
	default:
		return false
	}
}

// Clock tells the flow what the time of the database is. Without, no message ages.
func (f *Flow) Clock(now time.Duration, at time.Time) { f.zero = at.Add(-now) }

// timeLeft returns how long e may still be tried. ok is false if it does not age.
func (f *Flow) timeLeft(e *entry, r *Retry, now time.Duration) (left time.Duration, ok bool) {
	if r.MaxAge <= 0 || f.zero.IsZero() || e.At.IsZero() {
		return 0, false
	}
	age := max(f.zero.Add(now).Sub(e.At), 0) // the clock may have been set back
	return r.MaxAge - age, true
}

// meetsOld says that a call being made meets a message that is too old. It ends before it.
func (f *Flow) meetsOld(e *entry, now time.Duration) bool {
	if !f.tooOld(e, now) {
		return false
	}
	f.old = true
	return true
}

// tooOld says that e, whose turn has come, is not to be sent any more.
func (f *Flow) tooOld(e *entry, now time.Duration) bool {
	if !f.cfg.ages || e.retried {
		return false
	}
	left, ages := f.timeLeft(e, f.retryBy(f.ruleOf(e)), now)
	return ages && left <= 0
}

// expireOld makes messages dead that are too old, of those that a call could take next. It looks
// at all of them only if one stands first, or a call met one.
func (f *Flow) expireOld(now time.Duration) {
	if !f.cfg.ages {
		return
	}
	found := f.old
	f.old = false
	for _, q := range [...]source{&f.again, &f.suspects, &f.retry, &f.ready} {
		e := q.peek()
		found = found || e != nil && f.tooOld(e, now)
	}
	for _, l := range f.groups {
		e := l.pin()
		found = found || e != nil && e.ready() && f.tooOld(e, now)
	}
	if found {
		f.expireAll(now)
	}
}

// expireAll makes all messages dead that could be sent and are too old, and then those of their
// keys that could be sent without them. Rows that cannot be read may be next.
func (f *Flow) expireAll(now time.Duration) {
	old := func(e *entry) bool { return f.tooOld(e, now) }
	for all := f.sendable(old); len(all) > 0; all = f.sendable(old) {
		for _, e := range all {
			if e.ready() { // or it was left to its row with another of its key
				f.expire(e, now)
			}
		}
		f.refuseUnreadable(now)
	}
}

// expire makes a message dead that is too old. Its key waits for it or goes on, as for any
// dead message.
func (f *Flow) expire(e *entry, now time.Duration) {
	f.trust(e)
	f.kill(e, store.CauseExpired, reasonExpired, now)
	f.resume(e, now)
}
