package history

import "fmt"

// ending is what all outcomes of a transaction say together.
type ending struct {
	Outcome

	both  bool // one says committed, another one rolled back
	known bool // there is one at all
}

// add takes an outcome of the same transaction. What is certain stands before what is unknown, and what was known earlier
// before what was known later.
func (e *ending) add(o *Outcome) {
	switch {
	case !e.known:
		e.Outcome, e.known = *o, true
	case o.Fate == Unknown:
	case e.Fate == Unknown:
		e.Outcome = *o
	case e.Fate != o.Fate:
		e.both = true
	default:
		e.End = min(e.End, o.End)
		e.Begin = min(e.Begin, o.Begin)
	}
}

// countEnd counts a transaction's end.
func (j *judge) countEnd(e *ending) {
	j.saw(Sound)
	switch {
	case e.both:
		if x := j.breach(Sound); x != nil {
			x.Why = fmt.Sprintf("tx %d both committed and rolled back", e.Tx)
		}
	case e.Fate == Unknown:
		j.counts[Sound][unended]++
	case e.Fate == Committed && len(j.faults.rewinds) > 0 && j.faults.undid(e.End):
		j.counts[Sound][undone]++
	}
}

// fate tells a message what became of its transaction.
func (j *judge) fate(m *Message, e *ending) {
	if !e.known || e.both {
		return
	}
	m.Fate, m.CommitBegin, m.CommitEnd = e.Fate, e.Outcome.Begin, e.Outcome.End
	if e.Fate == Committed && len(j.faults.rewinds) > 0 && j.faults.undid(e.Outcome.End) {
		m.Fate = Unknown
	}
	if e.Fate == Committed && e.Outcome.End < m.Begin {
		if x := j.breach(Sound); x != nil {
			x.Why, x.Messages = "a message was published after its transaction had committed", []Message{*m}
		}
		m.Fate = Unknown
	}
}
