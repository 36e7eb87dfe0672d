package simulation

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// Under Settings an operator sets parts of the policy while relays run, and resets them. Bounds
// are never set above those of the run, so that what judges by those stays right. Each relay
// is judged by what it has heard, too.

// tune has an operator set something, or reset all.
func (w *world) tune() {
	s := w.server
	s.epoch++
	if w.below(5) == 0 {
		s.settings = nil
		return
	}
	set := w.drawSetting()
	// Copies of the store have the slice before.
	s.settings = slices.DeleteFunc(slices.Clone(s.settings), func(o store.Setting) bool { return o.Name == set.Name })
	s.settings = append(s.settings, set)
}

func (w *world) drawSetting() store.Setting {
	c := &w.plan.cfg
	least := func(most int, of ...int) string { return strconv.Itoa(max(min(most, w.of(of...)), 1)) }
	switch w.below(7) {
	case 0:
		return store.Setting{Name: store.SettingInFlight, Value: least(c.InFlight, 1, 2, 20)}
	case 1:
		return store.Setting{Name: store.SettingRetryBatch, Value: least(c.RetryBatch, 1, 3, 20)}
	case 2:
		return store.Setting{Name: store.SettingConcurrency, Value: least(100, 1, 2, 4)}
	case 3:
		if c.CountFirst { // see drawPlan
			break
		}
		n := w.of(2, 5, 20)
		w.leastAttempts = min(cmp.Or(w.leastAttempts, n), n)
		return store.Setting{Name: store.SettingMaxAttempts, Value: strconv.Itoa(n)}
	case 4:
		return store.Setting{Name: store.SettingRate, Value: w.drawTunedRate().String()}
	case 5:
		return store.Setting{Name: store.SettingCadence, Value: [...]string{"latency", "balanced", "background"}[w.below(3)]}
	case 6: // of a newer version
		return store.Setting{Name: "colour", Value: "red"}
	}
	return store.Setting{Name: store.SettingBatch, Value: least(c.Batch, 1, 3, 20)}
}

// drawTunedRate is a part of the rate of the run, one where there was none, or none where there was one.
func (w *world) drawTunedRate() store.Rate {
	r := w.plan.cfg.Rate
	part := float64(w.of(1, 2, 4))
	switch {
	case r.Messages <= 0 && r.Bytes <= 0:
		return store.Rate{Messages: float64(w.of(200, 100, 1000)), Burst: w.of(0, 1, 20)}
	case w.below(6) == 0:
		w.unbound = true
		return store.Rate{}
	}
	rate := store.Rate{Messages: r.Messages / part, Bytes: float64(int(r.Bytes / part)), Burst: r.Burst, BurstBytes: r.BurstBytes}
	if rate.Messages == 0 {
		rate.Burst = 0
	}
	if rate.Bytes == 0 {
		rate.BurstBytes = 0
	}
	return rate
}

// lingers are what the cadences of a run set.
var lingers = map[string]time.Duration{"latency": time.Millisecond, "balanced": 4 * time.Millisecond, "background": 20 * time.Millisecond}

// policy is what a relay works by that was started with a configuration.
func (r *relay) policy(settings []store.Setting) core.Policy {
	var p store.Policy
	for i := range settings {
		_ = p.Set(settings[i].Name, settings[i].Value) // an error where it is of a newer version
	}
	c := r.cfg
	overlay(&c.InFlight, p.InFlight)
	overlay(&c.Batch, p.Batch)
	overlay(&c.RetryBatch, p.RetryBatch)
	overlay(&c.Calls, p.Concurrency)
	overlay(&c.Retry.MaxAttempts, p.MaxAttempts)
	if p.Rate != nil {
		c.Rate = engine.Rate{Messages: p.Rate.Messages, Bytes: p.Rate.Bytes, Burst: p.Rate.Burst, BurstBytes: p.Rate.BurstBytes, Shared: true} // as package relay does
	}
	if p.Cadence != nil {
		c.Linger = lingers[*p.Cadence]
	}
	if r.tuned = c.Normal(); r.tuned.Rate != r.sends.rate { // what was before is of another rate
		r.sends = sends{}
	}
	return core.Policy{Engine: c}
}

func overlay[T any](to, said *T) {
	if said != nil {
		*to = *said
	}
}

// checkTuned: a call goes by what its relay has heard.
func (r *relay) checkTuned(c *engine.Call) {
	if most := r.tuned.Batch; len(c.Items) > most && !r.tuned.CountFirst {
		r.w.failf("engine", "relay %d: a call of %d messages, an operator lets it have %d", r.number, len(c.Items), most)
	}
}

// deadAfter is after how many attempts a message may be dead that no rule is for.
func (w *world) deadAfter(c *engine.Retry) int {
	return min(cmp.Or(w.leastAttempts, c.MaxAttempts), c.MaxAttempts)
}
