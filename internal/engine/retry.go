package engine

import (
	"time"

	"github.com/postbag/postbag/store"
)

// Retry is the back-off of rejected messages: Min, then Factor times as long at
// each attempt, up to Max. The upper half of each wait is left to chance. The type that
// users set, and its documentation, is relay.Retry. It is of this form, so its values are
// taken as they are, and the compiler says so if a field differs.
type Retry = struct {
	Min, Max    time.Duration
	Factor      float64
	MaxAttempts int // before a message is dead
	Quick       int // that follow one another in memory before the first parking
}

// normalRetry returns r with its zero fields filled.
func normalRetry(r Retry) Retry {
	if r.Min <= 0 {
		r.Min = 10 * time.Second
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

// failed counts an attempt.
func (f *Flow) failed(e *entry, a Answer, now time.Duration) {
	f.stats.Rejected++
	e.attempts++
	f.reject(e, a, now)
}

// reject parks an entry whose attempt failed, or tries it again at once. Here a message becomes
// dead.
func (f *Flow) reject(e *entry, a Answer, now time.Duration) {
	r := f.cfg.Retry
	quick := e.attempts <= r.Quick && e.attempts < r.MaxAttempts
	if quick && !e.parked && !e.slow() && e.Err == nil { // at once such a row reads no better
		f.requeue(e)
		return
	}
	p := store.Park{State: store.ParkRetrying, Reason: a.Reason, Blocking: f.cfg.OnReject == Block}
	if e.attempts >= r.MaxAttempts {
		p.State = store.ParkDead
	} else {
		p.Delay = max(backoff(r.Min, r.Max, r.Factor, e.attempts, f.cfg.Rand()), min(a.After, f.cfg.AfterMax))
	}
	f.park(e, p, now)
}
