package core

import (
	"cmp"
	"slices"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// Policy is what a flow works by.
type Policy struct {
	// Engine is what the flow's engine takes, see engine.Flow.Tune.
	Engine engine.Config
	// PollMax is that of the Flow.
	PollMax time.Duration
}

// viewSettings has a flow work by what operators have set of its policy, if that has changed.
func (c *Core) viewSettings(now time.Duration, f *Flow, s *store.SubscriptionState) {
	if f.Policy == nil || slices.EqualFunc(f.Settings, s.Settings, sameSetting) {
		return
	}
	f.Settings = slices.Clone(s.Settings)
	p := f.Policy(f.Settings)
	f.PollMax = p.PollMax
	f.Engine.Tune(now, p.Engine)
	f.Engine.PollMax(cmp.Or(f.PollMax, c.pollMax()))
}

// sameSetting says that two settings are one, whenever it was set.
func sameSetting(a, b store.Setting) bool {
	return a.Name == b.Name && a.Value == b.Value && a.Who == b.Who && a.Why == b.Why
}
