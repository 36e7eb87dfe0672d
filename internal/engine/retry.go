package engine

import (
	"cmp"
	"time"

	"github.com/postbag/postbag/store"
)

// Retry is what becomes of a message whose attempt failed. The waits are Pauses, one for
// each attempt, of which the last is repeated. Without, they are Min, then Factor times as
// long at each attempt, up to Max, with the upper half of each left to chance. The type
// that users set, and its documentation, is relay.Retry. It is of this form, so its values
// are taken as they are, and the compiler says so if a field differs.
type Retry = struct {
	Min, Max    time.Duration
	Factor      float64
	Pauses      []time.Duration
	MaxAttempts int           // before a message is dead
	MaxAge      time.Duration // since it was stored, before it is dead; zero: none
	Quick       int           // that follow one another in memory before the first parking
}

// normalRetry returns r with its zero fields filled.
func normalRetry(r Retry) Retry {
	if r.Min <= 0 {
		r.Min = 10 * time.Second
		if r.Max > 0 { // it bounds the default, too
			r.Min = min(r.Min, r.Max)
		}
	}
	if r.Max <= 0 {
		r.Max = 10 * time.Minute
	}
	r.Max = max(r.Max, r.Min)
	if r.Factor < 1 {
		r.Factor = 2
	}
	if r.MaxAttempts <= 0 {
		r.MaxAttempts = 20
	}
	return r
}

// backoff returns the wait before attempt n+1, n ≥ 1: exponential, bounded,
// the upper half of it by chance ("equal jitter", AWS Architecture Blog 2015).
func backoff(least, most time.Duration, factor float64, n int, chance float64) time.Duration {
	d := float64(least)
	for range min(n, 64) - 1 {
		if d *= factor; d >= float64(most) {
			d = float64(most)
			break
		}
	}
	return time.Duration(d/2 + d/2*chance)
}

// pause returns the wait of a message that failed n times, n ≥ 1.
func (f *Flow) pause(r *Retry, n int) time.Duration {
	if len(r.Pauses) > 0 {
		return r.Pauses[min(n, len(r.Pauses))-1]
	}
	return backoff(r.Min, r.Max, r.Factor, n, f.cfg.Rand())
}

// retryBy returns the retry of a rule, see Config.Rules.
func (f *Flow) retryBy(rule int) *Retry {
	if rule < 1 || rule > len(f.cfg.Rules) {
		return &f.cfg.Retry
	}
	return &f.cfg.Rules[rule-1]
}

// ruleOf returns the rule of a message, whatever it fails with.
func (f *Flow) ruleOf(e *entry) int {
	if len(f.cfg.Rules) == 0 {
		return 0
	}
	return f.cfg.RuleOf(e.Type)
}

// failed counts an attempt.
func (f *Flow) failed(e *entry, a Answer, now time.Duration) {
	f.stats.Rejected++
	e.attempts++
	f.reject(e, a, now)
}

// reject parks an entry whose attempt failed, or tries it again at once. Here a message becomes
// dead, and in expire.
func (f *Flow) reject(e *entry, a Answer, now time.Duration) {
	r := f.retryBy(cmp.Or(a.Rule, f.ruleOf(e)))
	last := a.Dead || e.attempts >= r.MaxAttempts
	left, ages := f.timeLeft(e, r, now)
	expired := ages && left <= 0
	quick := e.attempts <= r.Quick && !last && !expired
	if quick && !e.parked && !e.slow() && e.Err == nil { // at once such a row reads no better
		f.requeue(e)
		return
	}
	e.retried = false
	switch {
	case a.Dead:
		f.kill(e, store.CauseRejected, a.Reason, now)
	case last:
		f.kill(e, store.CauseAttempts, a.Reason, now)
	case expired:
		f.kill(e, store.CauseExpired, reasonExpired+": "+a.Reason, now)
	default:
		p := store.Park{State: store.ParkRetrying, Reason: a.Reason, Blocking: f.cfg.OnReject == Block}
		p.Delay = max(f.pause(r, e.attempts), min(a.After, f.cfg.AfterMax))
		if ages { // it is dead then, and not later
			p.Delay = min(p.Delay, left)
		}
		f.park(e, p, now)
	}
}
