package inbox

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Retry is the back-off of messages whose handler fails. It has the words of a relay's
// back-off. Its defaults are shorter, because a message that waits here holds up the
// position of its partition at the broker.
type Retry struct {
	// Min is the wait before the second attempt. Defaults to 1 s.
	Min time.Duration
	// Max bounds the wait. Defaults to 1 min, or to Min if that is longer.
	Max time.Duration
	// Factor is what each wait is multiplied by, 1 or more. Defaults to 2.
	Factor float64
	// MaxAttempts is how many attempts a message has before it is parked. Outages of the
	// store, and transactions that met another one, are not counted. Defaults to 10.
	MaxAttempts int
}

// Defaults of Retry.
const (
	defaultFirstRetry    = time.Second
	defaultLastRetry     = time.Minute
	defaultRetryFactor   = 2
	defaultRetryAttempts = 10
)

// fill puts the defaults in, and returns what is wrong.
func (r *Retry) fill() (errs []error) {
	if r.Min < 0 {
		errs = append(errs, fmt.Errorf("inbox: ConsumerOptions.Retry.Min is %s; give a time, or zero for %s", r.Min, defaultFirstRetry))
	}
	if r.Max < 0 || r.Max > 0 && r.Max < r.Min {
		errs = append(errs, fmt.Errorf("inbox: ConsumerOptions.Retry.Max is %s; give at least Min (%s), or zero for %s", r.Max, r.Min, defaultLastRetry))
	}
	if !(r.Factor == 0 || r.Factor >= 1) {
		errs = append(errs, fmt.Errorf("inbox: ConsumerOptions.Retry.Factor is %v; give 1 or more, or zero for %d", r.Factor, defaultRetryFactor))
	}
	if r.MaxAttempts < 0 {
		errs = append(errs, errors.New("inbox: ConsumerOptions.Retry.MaxAttempts is negative; give 1 or more, or zero for 10"))
	}
	if r.Min == 0 {
		r.Min = defaultFirstRetry
	}
	if r.Max == 0 {
		r.Max = max(defaultLastRetry, r.Min)
	}
	if r.Factor == 0 {
		r.Factor = defaultRetryFactor
	}
	if r.MaxAttempts == 0 {
		r.MaxAttempts = defaultRetryAttempts
	}
	return errs
}

// after returns the wait after attempt n, from one. The upper half of it is left to chance,
// so that messages that failed together do not come back together.
func (r *Retry) after(n int) time.Duration {
	d := float64(r.Min)
	for range min(n, 64) - 1 {
		if d *= r.Factor; d >= float64(r.Max) {
			break
		}
	}
	d = min(d, float64(r.Max))
	return time.Duration(d/2 + d/2*rand.Float64())
}
