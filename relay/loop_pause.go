package relay

import (
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// Pauses counts the pauses that are in force for a subscription, by what they hold. Those of
// a destination count in each subscription that delivers to it.
type Pauses struct{ Subscription, Destination, Topic, Type, Key int }

// notePauses logs what operators hold of a flow, and what they do not hold any more.
func (l *loop) notePauses(f *flow) {
	for i := range f.Pauses {
		if p := &f.Pauses[i]; !isAmong(f.pauses, p) {
			l.log.pauseBegins(f, p)
		}
	}
	for i := range f.pauses {
		if p := &f.pauses[i]; !isAmong(f.Pauses, p) {
			l.log.pauseEnds(f, p)
		}
	}
	f.pauses = slices.Clone(f.Pauses)
	unsaid := f.Paused && !slices.ContainsFunc(f.pauses, func(p store.Pause) bool { return !p.Messages() })
	if f.paused != unsaid {
		f.paused = unsaid
		l.log.paused(f, unsaid)
	}
}

func isAmong(all []store.Pause, p *store.Pause) bool {
	return slices.ContainsFunc(all, func(o store.Pause) bool { return o.Same(p) })
}

// pausesOf counts what operators hold of a flow.
func pausesOf(f *flow) (n Pauses) {
	for i := range f.pauses {
		switch f.pauses[i].Scope {
		case store.PauseSubscription:
			n.Subscription++
		case store.PauseDestination:
			n.Destination++
		case store.PauseTopic:
			n.Topic++
		case store.PauseType:
			n.Type++
		case store.PauseKey:
			n.Key++
		}
	}
	if f.paused {
		n.Subscription++
	}
	return n
}

// pauseBegins says what an operator holds. The log has no keys.
func (j *journal) pauseBegins(f *flow, p *store.Pause) {
	said := append(between(f), held(p)...)
	said = append(said, "who", p.Who, "why", p.Why)
	if !p.Until.IsZero() {
		said = append(said, "until", p.Until.Format(time.RFC3339))
	}
	if p.Messages() {
		j.logger.Warn("relay: an operator holds some messages; they wait until the pause ends, and all others go on", said...)
		return
	}
	j.logger.Warn("relay: paused by an operator; nothing is sent until the pause ends", said...)
}

// pauseEnds says that a pause has ended, by hand or by its time.
func (j *journal) pauseEnds(f *flow, p *store.Pause) {
	j.logger.Info("relay: a pause has ended", append(between(f), held(p)...)...)
}

// held says what a pause is of.
func held(p *store.Pause) []any {
	switch p.Scope {
	case store.PauseTopic, store.PauseType, store.PauseDestination:
		return []any{"scope", string(p.Scope), string(p.Scope), p.Value}
	case store.PauseSubscription, store.PauseKey:
	}
	return []any{"scope", string(p.Scope)}
}

// paused says that an older version holds a subscription, or lets it go on. Who, and why,
// is in the audit log.
func (j *journal) paused(f *flow, paused bool) {
	if paused {
		j.logger.Warn("relay: paused by an operator; nothing is sent until it is resumed", between(f)...)
		return
	}
	j.logger.Info("relay: resumed by an operator", between(f)...)
}
