package engine

import "github.com/postbag/postbag/store"

// Death is a message that became dead: by its attempts, by its age, at once by an answer, or
// since its handler ended the process. The settlement that says so may still be lost; then the
// message becomes dead again.
type Death struct {
	store.Record

	Attempts int
	Reason   string
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

// dies keeps a death for the caller.
func (f *Flow) dies(e *entry, reason string) {
	if len(f.deaths) >= mostDeaths {
		f.moreDeaths++
		return
	}
	f.deaths = append(f.deaths, Death{Record: *e.Record, Attempts: e.attempts, Reason: reason})
}
