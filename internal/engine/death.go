package engine

import (
	"time"

	"github.com/postbag/postbag/store"
)

// Death is a message that became dead: by its attempts, by its age, at once by an answer, or
// since its handler ended the process. The settlement that says so may still be lost; then the
// message becomes dead again.
type Death struct {
	store.Record

	Attempts int
	Reason   string
	Cause    store.DeathCause
}

// mostDeaths bounds the deaths that are kept for the caller.
const mostDeaths = 1000

// Deaths returns the messages that became dead since it was last called, and how many more
// there were. A caller asks after each step: until then they weigh what they did in hand.
func (f *Flow) Deaths() (deaths []Death, more int) {
	deaths, more = f.deaths, f.moreDeaths
	f.deaths, f.moreDeaths = nil, 0
	return deaths, more
}

// kill parks a message as dead. Where Config.DeadTo says so, the settlement that says that it
// is dead leaves a dead letter.
func (f *Flow) kill(e *entry, cause store.DeathCause, reason string, now time.Duration) {
	f.dies(e, cause, reason)
	f.park(e, store.Park{
		State: store.ParkDead, Reason: reason, Blocking: f.cfg.OnReject == Block, Cause: cause, DeadTo: f.cfg.DeadTo, DeadTopic: f.cfg.DeadTopic,
	}, now)
}

// died counts a death that is drafted.
func (f *Flow) died(p *store.Park) {
	f.stats.Dead++
	if c := int(p.Cause); c > 0 && c < len(f.stats.DeadBy) {
		f.stats.DeadBy[c]++
	}
}

// dies keeps a death for the caller.
func (f *Flow) dies(e *entry, cause store.DeathCause, reason string) {
	if len(f.deaths) >= mostDeaths {
		f.moreDeaths++
		return
	}
	f.deaths = append(f.deaths, Death{Record: *e.Record, Attempts: e.attempts, Reason: reason, Cause: cause})
}
