package simulation

import (
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
)

// hangs says that a call is a heartbeat that the store cannot carry out in time: it asks for
// a change of shards, and there is too much to be done for that.
func (w *world) hangs(a *asking) bool {
	c, is := a.errand.(*beating)
	if !is || len(c.beat.Reshape) == 0 {
		return false
	}
	return w.unshaped || w.fault(Unshaped, 100)
}

// passReshape has another number of shards wanted that the store does not get done, until
// all is delivered; then it does.
func (w *world) passReshape() {
	if !w.plan.faults.has(Unshaped) || w.mixed || w.plan.cfg.Order == engine.ByShard {
		return // or nothing is left that could go on behind a message that waits
	}
	w.broker.topics = [maxTopics]broker.Outcome{}
	w.unshaped = true
	w.server.wanted = 1 + len(w.server.shards)%8
	w.server.epoch++
	w.shapes = append(w.shapes, w.server.wanted)
	w.run("going on without a reshape", deliverLimit+w.lingering(), w.sometimes(func() bool { return w.passedTopic(-1) }))
	w.unshaped = false
}
