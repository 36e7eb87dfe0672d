package relay

import (
	"strings"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/lane"
	"github.com/postbag/postbag/store"
)

// tuned returns the subscription with what operators have set of its policy, and the names of
// settings that this version does not know, or cannot take. A setting of Retry holds where
// no rule of Retries says its own.
func (s *Subscription) tuned(settings []store.Setting) (t Subscription, unknown []string) {
	var p store.Policy
	for i := range settings {
		if p.Set(settings[i].Name, settings[i].Value) != nil {
			unknown = append(unknown, settings[i].Name)
		}
	}
	t = *s
	if r := p.Rate; r != nil {
		t.Rate = Rate{Messages: r.Messages, Bytes: r.Bytes, Burst: r.Burst, BurstBytes: r.BurstBytes, Shared: true}
	}
	overlay(&t.Batch, p.Batch)
	overlay(&t.RetryBatch, p.RetryBatch)
	overlay(&t.Concurrency, p.Concurrency)
	overlay(&t.Retry.MaxAttempts, p.MaxAttempts)
	overlay(&t.Retry.MaxAge, p.MaxAge)
	overlay(&t.Timeout, p.Timeout)
	if s.ExactlyOnce && p.Batch != nil {
		t.Batch = min(t.Batch, lane.MaxItems)
		t.InFlight = max(t.InFlight, t.Batch) // a transaction holds no more than may be in flight
	}
	overlay(&t.InFlight, p.InFlight)
	if p.Cadence != nil {
		t.Cadence = cadences[*p.Cadence]
	}
	return t, unknown
}

// overlay sets what is said.
func overlay[T any](to, said *T) {
	if said != nil {
		*to = *said
	}
}

// policy is what the core works by when operators have set these.
func (s *Subscription) policy(o *Options, rules *retryRules) func([]store.Setting) core.Policy {
	return func(settings []store.Setting) core.Policy {
		t, _ := s.tuned(settings)
		return core.Policy{Engine: t.engine(o, rules), PollMax: paces[t.Cadence].pollMax}
	}
}

// noteSettings takes what the engine does not: the time of calls. It logs what operators have
// set when that has changed.
func (l *loop) noteSettings(f *flow) {
	now := settingsText(f.Settings)
	if f.settings == now {
		return
	}
	f.settings = now
	t, unknown := f.subscription.tuned(f.Settings)
	f.timeout = t.Timeout
	l.log.tuned(f, now, unknown)
}

// settingsText says what is set, such as "batch=7, rate=100/s".
func settingsText(settings []store.Setting) string {
	words := make([]string, len(settings))
	for i := range settings {
		words[i] = settings[i].Name + "=" + settings[i].Value
	}
	return strings.Join(words, ", ")
}

// tuned says what operators have set. Who, and why, is in the audit log.
func (j *journal) tuned(f *flow, settings string, unknown []string) {
	if settings == "" {
		j.logger.Info("relay: no setting is an operator's any more; those of this relay hold", between(f)...)
		return
	}
	j.logger.Info("relay: an operator has set some settings; they take the place of this relay's own", append(between(f), "settings", settings)...)
	if len(unknown) > 0 {
		j.logger.Warn("relay: an operator has set what this version does not know; it is left out", append(between(f), "settings", strings.Join(unknown, ", "))...)
	}
}
