package outagelog

import "time"

// Flicker is how soon after its end an outage that begins again counts as the same one. It is
// longer than those who try again wait between two attempts.
const Flicker = 10 * time.Second

// Line is what the log is to tell of an outage now.
type Line int

const (
	// Nothing is to be told.
	Nothing Line = iota
	// Begins: it fails. The outage may have begun up to Flicker ago.
	Begins
	// Lasts: it still fails, and that was not told for the time Again.
	Lasts
)

// Outage is something that fails and works again.
//
// Where a disk is full under one table, or one message asks for too much, an outage ends and
// begins with every other message. So one that begins again within Flicker, for a reason that
// was told within Again, is told of only if it lasts for Flicker. Its end is told of if its
// beginning was. The zero value works. It is not safe for concurrent use.
type Outage struct {
	kinds Kinds
	fails bool
	quiet bool // what fails is not told of
	since time.Time
	ended time.Time // the last one
}

// Fails notes that it fails, and for which reason, and says what the log is to tell of that. An
// empty reason is one that is not known.
func (o *Outage) Fails(now time.Time, reason string) Line {
	if o.fails && !o.quiet {
		if !o.kinds.areOld(now) {
			return Nothing
		}
		o.kinds.note(now, reason)
		return Lasts
	}
	anew := now.Sub(o.since) >= Flicker // it did not go away again
	if !o.fails {
		anew = now.Sub(o.ended) >= Flicker
		o.fails, o.since = true, now
	}
	o.quiet = !anew && !o.kinds.isNews(now, reason)
	if o.quiet {
		return Nothing
	}
	if anew {
		o.kinds.forget(now)
	}
	o.kinds.note(now, reason)
	return Begins
}

// Changes says whether the log is to tell that what was told to fail now fails for another
// reason, and notes that it does. What makes something fail may change while it lasts, and so
// does what ends it.
func (o *Outage) Changes(now time.Time, reason string) bool {
	return o.fails && !o.quiet && o.kinds.News(now, reason)
}

// Works notes that it works, or that nothing waits for that any more. It returns how long it
// failed, to the millisecond, and whether the log is to tell of that.
func (o *Outage) Works(now time.Time) (after time.Duration, tell bool) {
	if !o.fails {
		return 0, false
	}
	o.fails, o.ended = false, now
	return o.For(now).Round(time.Millisecond), !o.quiet
}

// Failing says whether it fails now.
func (o *Outage) Failing() bool { return o.fails }

// For is how long it has failed at now, if it fails.
func (o *Outage) For(now time.Time) time.Duration { return now.Sub(o.since) }
