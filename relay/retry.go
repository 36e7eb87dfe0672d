package relay

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store/storekit"
)

// Retry is the back-off of rejected messages, and its end.
type Retry struct {
	// Min is the wait before the second attempt. Defaults to 10 s.
	Min time.Duration
	// Max bounds the wait. Defaults to 10 min.
	Max time.Duration
	// Factor is what each wait is multiplied by. Defaults to 2.
	Factor float64
	// Pauses are the waits themselves: the first is before the second attempt, and the
	// last is repeated. One pause is a fixed back-off, and one of zero is none. They take
	// the place of Min, Max and Factor. Zero: none.
	Pauses []time.Duration
	// MaxAttempts is how many attempts a message has before it is dead. Outages
	// are not counted. Defaults to 20.
	MaxAttempts int
	// MaxAge is how old a message may get. One that is older is not sent any more: it is
	// dead, its error says "expired", and it is kept as any dead message. Age counts from
	// when the message was stored, or from when a relay found a scheduled message due, by the
	// database's clock. Outages count. A message that an operator retries has one attempt,
	// whatever its age. Zero: no limit.
	MaxAge time.Duration
	// Quick is how many attempts follow one another at once before the message
	// is parked. Zero: none.
	Quick int
}

// RetryRule is the Retry of some messages, or of some errors.
type RetryRule struct {
	// Types are those of the messages that the rule is for: exact, or a prefix and ".*".
	// Empty: all.
	Types []string
	// Errors says whether the rule is for a message that failed with err. It is called
	// from many goroutines. Nil: for all errors. Before a message has failed, a rule with
	// Errors is for none, so its MaxAge has an effect only at such an error.
	Errors func(err error) bool
	// Retry is what holds. Fields that are zero are those of Subscription.Retry.
	Retry Retry
}

// mostPauses bounds Retry.Pauses, and mostRules the rules of a subscription.
const (
	mostPauses = 100
	mostRules  = 100
	longest    = 100 * 365 * 24 * time.Hour
)

// validate says what is wrong with r. where names it.
func (r *Retry) validate(where string) []error {
	var errs []error
	if r.Min < 0 || r.Max < 0 || r.Max > 0 && r.Min > r.Max {
		errs = append(errs, fmt.Errorf("%s waits from %v to %v; Min must not be negative nor above Max", where, r.Min, r.Max))
	}
	if r.Factor != 0 && !(r.Factor >= 1 && r.Factor <= 100) { // not a number is out of every range
		errs = append(errs, fmt.Errorf("%s.Factor is %v; choose between 1 and 100", where, r.Factor))
	}
	if len(r.Pauses) > 0 && (r.Min != 0 || r.Max != 0 || r.Factor != 0) {
		errs = append(errs, fmt.Errorf("%s has Pauses and Min, Max or Factor; Pauses take their place, so leave them out", where))
	}
	if len(r.Pauses) > mostPauses {
		errs = append(errs, fmt.Errorf("%s has %d Pauses; choose %d at most, of which the last is repeated", where, len(r.Pauses), mostPauses))
	}
	for i, p := range r.Pauses {
		if p < 0 || p > longest {
			errs = append(errs, fmt.Errorf("%s.Pauses[%d] is %v; choose between 0 and 100 years", where, i, p))
		}
	}
	if r.MaxAge < 0 || r.MaxAge > longest || r.MaxAge > 0 && r.MaxAge < time.Millisecond {
		errs = append(errs, fmt.Errorf("%s.MaxAge is %v; choose 0 (no limit), or between 1 ms and 100 years", where, r.MaxAge))
	}
	for _, n := range []struct {
		name  string
		value int
		most  int
	}{{"MaxAttempts", r.MaxAttempts, 1_000_000}, {"Quick", r.Quick, 1000}} {
		if n.value < 0 || n.value > n.most {
			errs = append(errs, fmt.Errorf("%s.%s is %d; choose between 0 (the default) and %d", where, n.name, n.value, n.most))
		}
	}
	return errs
}

// over returns r with its zero fields filled from those of all.
func (r *Retry) over(all *Retry) Retry {
	merged := *r
	if len(r.Pauses) == 0 && r.Min == 0 && r.Max == 0 && r.Factor == 0 {
		merged.Pauses = all.Pauses
	}
	if len(merged.Pauses) == 0 {
		merged.Min = cmp.Or(merged.Min, all.Min)
		merged.Max = cmp.Or(merged.Max, all.Max)
		merged.Factor = cmp.Or(merged.Factor, all.Factor)
		if r.Min == 0 && merged.Max > 0 { // a Max of the rule bounds the Min that it has from all
			merged.Min = min(merged.Min, merged.Max)
		}
	}
	merged.MaxAttempts = cmp.Or(merged.MaxAttempts, all.MaxAttempts)
	merged.MaxAge = cmp.Or(merged.MaxAge, all.MaxAge)
	merged.Quick = cmp.Or(merged.Quick, all.Quick)
	return merged
}

// validateRetries says what is wrong with Retry and Retries.
func (s *Subscription) validateRetries() []error {
	errs := s.Retry.validate("Retry")
	if len(s.Retries) > mostRules {
		errs = append(errs, fmt.Errorf("Retries has %d rules; choose %d at most", len(s.Retries), mostRules))
	}
	for i := range s.Retries {
		r := &s.Retries[i]
		where := fmt.Sprintf("Retries[%d]", i)
		errs = append(errs, r.Retry.validate(where+".Retry")...)
		if err := checkTypes(r.Types); err != nil {
			errs = append(errs, fmt.Errorf("%s.Types: %w", where, err))
		}
		if len(r.Types) == 0 && r.Errors == nil && i < len(s.Retries)-1 {
			errs = append(errs, errors.New(where+" is for all messages and errors, so the rules behind it have no effect; put it last, or say which Types or Errors it is for"))
		}
	}
	return errs
}

// retryRules are the rules of a subscription at work. Nil: none.
type retryRules struct {
	all   []RetryRule
	types []storekit.Types
}

func (s *Subscription) rules() *retryRules {
	if len(s.Retries) == 0 {
		return nil
	}
	r := &retryRules{all: s.Retries}
	for i := range s.Retries {
		r.types = append(r.types, storekit.TypesOf(s.Retries[i].Types))
	}
	return r
}

// engine returns the rules as the engine takes them.
func (r *retryRules) engine(rest *Retry) []engine.Retry {
	if r == nil {
		return nil
	}
	out := make([]engine.Retry, len(r.all))
	for i := range r.all {
		out[i] = engine.Retry(r.all[i].Retry.over(rest))
	}
	return out
}

// of returns the number of the first rule for a message of a type, from one on, or zero. If
// err is nil the message has not failed.
func (r *retryRules) of(typ string, err error) int {
	if r == nil {
		return 0
	}
	for i := range r.all {
		if r.types[i].Take(typ) && fits(r.all[i].Errors, err) {
			return i + 1
		}
	}
	return 0
}

// fits says whether a rule is for an error. One that panics is not.
func fits(of func(error) bool, err error) (is bool) {
	if of == nil || err == nil {
		return of == nil
	}
	defer func() {
		if recover() != nil {
			is = false
		}
	}()
	return of(err)
}

// ofType is of for a message that has not failed.
func (r *retryRules) ofType(typ string) int { return r.of(typ, nil) }

// checkTypes refuses what no filter of types can be.
func checkTypes(types []string) error {
	for i, t := range types {
		if t == "" || len(t) > postbag.MaxName || strings.Contains(strings.TrimSuffix(t, ".*"), "*") {
			return fmt.Errorf("entry %d is no type; write it out, or a prefix and .*, such as order.*", i+1)
		}
	}
	return nil
}
