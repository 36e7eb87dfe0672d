package core

import (
	"slices"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/internal/lane"
	"github.com/postbag/postbag/store"
)

// Flow is one subscription of a relay. The caller sets Ref, Destination, Engine and Lane.
type Flow struct {
	Ref    store.Ref
	Engine *engine.Flow
	// Destination is what its destination is called. Empty: it has no name.
	Destination string
	// Lane is nil unless the subscription is delivered exactly once.
	Lane *lane.Lifecycle
	// Owner is what is known of the shards beside what the Engine has.
	Owner engine.Owner
	// PollMax is the longest pause between its polls, if that is another one than
	// Options.PollMax. Zero: it is not.
	PollMax time.Duration
	// Policy returns what it works by when operators have set these settings, without a
	// side effect. Nil: it heeds no settings.
	Policy func([]store.Setting) Policy
	// Settings are what operators have set, by the last view.
	Settings []store.Setting
	// Gained: the last view had shards for it.
	Gained bool
	// Pauses are what operators hold of it, by the last view. Paused: they hold all of it.
	Pauses []store.Pause
	Paused bool

	name       string
	gone       bool          // the last view did not have the subscription, or not in a form that can be read
	gathering  bool          // all shards are here to be replaced, and that was not asked for yet
	unreadable error         // of its filter, by the last view
	calmAt     time.Duration // when no call made before the filter became unreadable is under way any more; zero: it can be read
	wanted     int           // shards, by the last view
	// No change of shards is asked for before reshapeAfter, see reshaping.
	reshapePause, reshapeAfter time.Duration
}

// Wanted is how many shards an operator wants, by the last view.
func (f *Flow) Wanted() int { return f.wanted }

// flowOf returns the flow of a subscription, if it is ours.
func (c *Core) flowOf(ref store.Ref) *Flow {
	if i := slices.IndexFunc(c.Flows, func(f *Flow) bool { return f.Ref == ref }); i >= 0 {
		return c.Flows[i]
	}
	return nil
}

// drop forgets all that a flow has in hand.
func (f *Flow) drop() {
	f.Engine.Reset()
	f.Engine.Quiesce(false)
	f.gathering = false
}
