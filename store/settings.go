package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Tuner is implemented by a store in which operators add subscriptions, and change their
// policy while relays run. Every change is written to the audit log in the same transaction,
// and changes the epoch, so that relays hear of it at their next heartbeat, which is soon.
type Tuner interface {
	// Add declares a subscription that is not there, at the place that its spec says. Its
	// filter is then the operator's, see SubscriptionState.TypesBy, and so is its number of
	// shards if the spec says one. If it was removed, that is forgotten.
	//
	// Errors: ErrExists, ErrNoBox, and those of Declare for a spec that is wrong. Nothing is
	// written then.
	Add(ctx context.Context, a Audit, s Spec) error
	// Tune sets some settings of a subscription's policy, by a.Who for a.Why, and lets go of
	// those that reset names. Of each setting in set, Name and Value are used. Those that are
	// in neither stay as they are. What was set takes the place of what deployments say, in
	// every relay that knows the setting. To reset what is not set is no error.
	//
	// Errors: those of CheckSettings, and ErrNoSubscription. Nothing is written then.
	Tune(ctx context.Context, a Audit, r Ref, set []Setting, reset []string) error
}

// Errors of a Tuner.
var (
	// ErrExists: there is a subscription, or a replay, of that name.
	ErrExists = errors.New("store: a subscription of that name exists; choose another name, or change that one with postbag subscriptions set")
	// ErrSetting: a setting cannot be set so. The error says what is wrong.
	ErrSetting = errors.New("store: the setting cannot be")
)

// Setting is a setting of a subscription's policy that an operator has set.
type Setting struct {
	// Name is one of SettingNames, or one that only a newer version knows.
	Name string
	// Value is its value as Policy.Set takes it.
	Value string
	// Who set it, and Why, and when that was by the database's clock.
	Who, Why string
	At       time.Time
}

// The settings that operators can set. Each has the bounds that it has in a configuration.
const (
	// SettingRate is the rate of the whole subscription, see Rate.
	SettingRate = "rate"
	// SettingBatch is the most messages in one call.
	SettingBatch = "batch"
	// SettingRetryBatch is the most parked messages in one call while new ones wait.
	SettingRetryBatch = "retry_batch"
	// SettingInFlight is the most messages that are sent and not yet settled.
	SettingInFlight = "in_flight"
	// SettingConcurrency is the most calls at a time.
	SettingConcurrency = "concurrency"
	// SettingMaxAttempts is how many attempts a message has before it is dead.
	SettingMaxAttempts = "max_attempts"
	// SettingMaxAge is how old a message may get, as Go writes a duration, or none.
	SettingMaxAge = "max_age"
	// SettingTimeout bounds one call, as Go writes a duration.
	SettingTimeout = "timeout"
	// SettingCadence is latency, balanced or background.
	SettingCadence = "cadence"
	// SettingDestination names the destination that running relays begin the subscription
	// with, see Assigner. A deployment that has the subscription goes by its own.
	SettingDestination = "destination"
)

// SettingNames are the names of all settings that this version knows.
var SettingNames = []string{
	SettingRate, SettingBatch, SettingRetryBatch, SettingInFlight, SettingConcurrency, SettingMaxAttempts, SettingMaxAge, SettingTimeout, SettingCadence,
	SettingDestination,
}

// none is the value of a setting that takes a limit away.
const none = "none"

// Rate is the rate of a whole subscription, which its relays share. Its text is none, or
// up to four words: 100/s, 65536B/s, burst=200, burst_bytes=131072.
type Rate struct {
	// Messages and Bytes are how many go in a second. Zero: any number.
	Messages, Bytes float64
	// Burst and BurstBytes are how many may go at once after a quiet time. Zero: those of a
	// second.
	Burst, BurstBytes int
}

// String is the text of r.
func (r Rate) String() string {
	var words []string
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	if r.Messages > 0 {
		words = append(words, number(r.Messages)+"/s")
	}
	if r.Bytes > 0 {
		words = append(words, number(r.Bytes)+"B/s")
	}
	if r.Burst > 0 {
		words = append(words, "burst="+strconv.Itoa(r.Burst))
	}
	if r.BurstBytes > 0 {
		words = append(words, "burst_bytes="+strconv.Itoa(r.BurstBytes))
	}
	if len(words) == 0 {
		return none
	}
	return strings.Join(words, " ")
}

// Policy is what settings say. What is nil, they leave to the deployment.
type Policy struct {
	// Rate is zero if no rate bounds the subscription.
	Rate                                                  *Rate
	Batch, RetryBatch, InFlight, Concurrency, MaxAttempts *int
	// MaxAge is zero if messages do not age.
	MaxAge, Timeout *time.Duration
	Cadence         *string
	// Destination is nil if no operator has given the subscription one.
	Destination *string
}

// Set takes a setting as text. The error is ErrSetting: the setting is not known, or the
// value is none that it can have. Nothing is changed then.
func (p *Policy) Set(name, value string) (err error) {
	switch name {
	case SettingRate:
		if err = set(&p.Rate, value, parseRate); err != nil {
			err = fmt.Errorf("%w: %w", ErrSetting, err)
		}
		return err
	case SettingBatch:
		err = set(&p.Batch, value, upTo(100_000))
	case SettingRetryBatch:
		err = set(&p.RetryBatch, value, upTo(100_000))
	case SettingInFlight:
		err = set(&p.InFlight, value, upTo(1_000_000))
	case SettingConcurrency:
		err = set(&p.Concurrency, value, upTo(10_000))
	case SettingMaxAttempts:
		err = set(&p.MaxAttempts, value, upTo(1_000_000))
	case SettingMaxAge:
		err = set(&p.MaxAge, value, parseAge)
	case SettingTimeout:
		err = set(&p.Timeout, value, lasts(time.Millisecond, time.Hour))
	case SettingCadence:
		err = set(&p.Cadence, value, parseCadence)
	case SettingDestination:
		err = set(&p.Destination, value, parseDestination)
	default:
		return fmt.Errorf("%w: %.40q is none that this version knows; choose one of %s", ErrSetting, name, strings.Join(SettingNames, ", "))
	}
	if err != nil {
		return fmt.Errorf("%w: %s %w", ErrSetting, name, err)
	}
	return nil
}

// CheckSettings says what is wrong with the arguments of Tuner.Tune: nothing is set or reset,
// a setting is named twice, or has a value that it cannot have. The error is ErrSetting.
func CheckSettings(set []Setting, reset []string) error {
	if len(set)+len(reset) == 0 {
		return fmt.Errorf("%w: nothing is set or reset; name a setting", ErrSetting)
	}
	var errs []error
	var p Policy
	seen := slices.Clone(reset)
	for i := range set {
		if slices.Contains(seen, set[i].Name) {
			errs = append(errs, fmt.Errorf("%w: %.40q is named twice; name it once", ErrSetting, set[i].Name))
		}
		seen = append(seen, set[i].Name)
		errs = append(errs, p.Set(set[i].Name, set[i].Value))
	}
	return errors.Join(errs...)
}

// set gives *to the value of a text.
func set[T any](to **T, value string, parse func(string) (T, error)) error {
	v, err := parse(value)
	if err == nil {
		*to = &v
	}
	return err
}

func upTo(most int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > most {
			return 0, fmt.Errorf("is %.40s; choose between 1 and %d, or leave it out", text, most)
		}
		return n, nil
	}
}

func lasts(least, most time.Duration) func(string) (time.Duration, error) {
	return func(text string) (time.Duration, error) {
		d, err := time.ParseDuration(text)
		if err != nil || d < least || d > most {
			return 0, fmt.Errorf("is %.40s; choose between %v and %v, or leave it out", text, least, most)
		}
		return d, nil
	}
}

func parseAge(text string) (time.Duration, error) {
	if text == none {
		return 0, nil
	}
	return lasts(time.Millisecond, 100*365*24*time.Hour)(text)
}

func parseCadence(text string) (string, error) {
	if all := []string{"latency", "balanced", "background"}; !slices.Contains(all, text) {
		return "", fmt.Errorf("is %.40q; choose one of %s", text, strings.Join(all, ", "))
	}
	return text, nil
}

// mostName is how long the name of a destination may be.
const mostName = 63

func parseDestination(text string) (string, error) {
	letter := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
	}
	if text == "" || len(text) > mostName || strings.ContainsFunc(text, func(r rune) bool { return !letter(r) }) {
		return "", fmt.Errorf("is %.80q; write 1 to %d letters, digits, - or _", text, mostName)
	}
	return text, nil
}

// The most that a rate may be, as in a configuration.
const (
	mostMessages = 1_000_000
	leastRate    = 0.001
	mostBytes    = 1 << 30
)

func parseRate(text string) (r Rate, err error) {
	if text == none {
		return r, nil
	}
	for word := range strings.FieldsSeq(text) {
		if err := readWord(&r, word); err != nil {
			return Rate{}, err
		}
	}
	switch {
	case r.Burst > 0 && r.Messages == 0:
		return Rate{}, errors.New("rate.burst is said, which bounds nothing without a rate of messages; say both, or neither")
	case r.BurstBytes > 0 && r.Bytes == 0:
		return Rate{}, errors.New("rate.burst_bytes is said, which bounds nothing without a rate of bytes; say both, or neither")
	case r == (Rate{}):
		return Rate{}, errors.New("rate is empty; write 100/s, 65536B/s, or none for no limit")
	}
	return r, nil
}

// readWord takes one word of the text of a rate.
func readWord(r *Rate, word string) (err error) {
	if text, ok := strings.CutSuffix(word, "B/s"); ok {
		r.Bytes, err = rateOf("bytes", text, 1, mostBytes)
		return err
	}
	if text, ok := strings.CutSuffix(word, "/s"); ok {
		r.Messages, err = rateOf("messages", text, leastRate, mostMessages)
		return err
	}
	name, text, _ := strings.Cut(word, "=")
	switch name {
	case "burst":
		r.Burst, err = upTo(mostMessages)(text)
	case "burst_bytes":
		r.BurstBytes, err = upTo(mostBytes)(text)
	default:
		return fmt.Errorf("rate has the word %.40q; write 100/s, 65536B/s, burst=200 or burst_bytes=131072, or none for no limit", word)
	}
	if err != nil {
		return fmt.Errorf("rate.%s %w", name, err)
	}
	return nil
}

func rateOf(what, text string, least, most float64) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= least && x <= most) { // not a number is out of every range
		return 0, fmt.Errorf("rate.%s is %.40s; choose between %s and %s, or leave it out", what, text,
			strconv.FormatFloat(least, 'f', -1, 64), strconv.FormatFloat(most, 'f', -1, 64))
	}
	return x, nil
}
