package config

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/duration"
)

// Subscription is a reader of a box with its policy.
type Subscription struct {
	// Its name.
	Name string `yaml:"name" default:"default"`
	// The name of its store, of those in stores.
	Store string `yaml:"store" otherwise:"the only one"`
	// The box it reads.
	Box string `yaml:"box" default:"outbox"`
	// The name of its destination.
	To string `yaml:"to" otherwise:"the only one"`
	// Headers that are added at delivery to each message that does not have them, as name:
	// value.
	Headers map[string]string `yaml:"headers" otherwise:"none"`
	// The form in which its messages go out.
	Format *Format `yaml:"format" otherwise:"the destination's own"`
	// Where a new one begins: first, now, a time (RFC 3339), or how long ago (3d).
	From string `yaml:"from" default:"first"`
	// Types to deliver: exact, or a prefix and .*, such as order.*.
	Types []string `yaml:"types" exact:"true" otherwise:"all"`
	// What narrows that, by topic, header and exceptions.
	Where Where `yaml:"where"`
	// Several destinations, each with a part of the messages.
	Routes *Routes `yaml:"routes" otherwise:"none: to says where all messages go"`
	// Shards of a new subscription. Change them later with postbag shards set.
	Shards int `yaml:"shards" range:"1..4096" otherwise:"4; 1 on sqlite"`
	// Which messages wait for each other: those of a key, of a shard, or none.
	Order string `yaml:"order" oneof:"key shard none" default:"key"`
	// What a rejected message does to later ones of its key: block; skip; or supersede, which ends it
	// as soon as a newer one was delivered.
	OnReject string `yaml:"on_reject" oneof:"block skip supersede" default:"block"`
	// The box, in the same store, that gets a dead letter of each message that becomes dead: its name, or
	// the settings below.
	DeadTo *DeadTo `yaml:"dead_to" otherwise:"none"`
	// Deliver exactly once, in transactions of the destination (kafka). Consumers that read
	// committed messages only see each of them once.
	ExactlyOnce bool `yaml:"exactly_once" default:"false"`
	// Back-off of rejected messages.
	Retry Retry `yaml:"retry"`
	// Bounds of what is sent in a second.
	Rate Rate `yaml:"rate"`
	// Whether it is quick or cheap while little comes: latency, balanced or background.
	Cadence string `yaml:"cadence" oneof:"latency balanced background" default:"balanced"`
	// The longest call to the destination.
	Timeout time.Duration `yaml:"timeout" range:"1ms..1h" default:"30s"`
	// Most messages in a call.
	Batch int `yaml:"batch" range:"1..100000" otherwise:"500; 1000 with exactly_once"`
	// Most parked messages in a call while new ones wait.
	RetryBatch int `yaml:"retry_batch" range:"1..100000" otherwise:"a quarter of batch"`
	// Most messages that are sent and not settled: what a crash may repeat.
	InFlight int `yaml:"in_flight" range:"1..1000000" otherwise:"1000; with exactly_once batch, if that is more"`
	// Most messages that may wait for topics that do not work, or for the end of pauses. With
	// that many, nothing more is read.
	MaxHeld int `yaml:"max_held" range:"1..10000000" default:"100000"`
	// Most bytes of messages in memory: read and not sent, in calls, and parked ones that
	// are tried. One message always goes, however large it is. A number of bytes, or with a
	// unit: 512KiB, 64MiB.
	Buffer Size `yaml:"buffer" range:"1..1073741824" default:"64MiB"`
	// Most calls at a time.
	Concurrency int `yaml:"concurrency" range:"1..10000" otherwise:"4; 32 for webhooks"`

	at      string // where it stands in the file, if not in the list
	letters bool   // dead_to made it
	routed  bool   // routes made it
}

// DeadTo says where dead letters go. In a file it may be the name of the box alone.
type DeadTo struct {
	// The box that gets the dead letters. Make it with postbag migrate up --box. Required.
	Box string `yaml:"box"`
	// The destination that the letters are sent to: this makes the subscription default of their
	// box.
	To string `yaml:"to" otherwise:"none; name the box in a subscription of its own"`
	// The topic of the letters, at most 255 bytes.
	Topic string `yaml:"topic" exact:"true" otherwise:"that of the message"`
}

// Retry is the back-off of rejected messages.
type Retry struct {
	// Wait before the second attempt.
	Min time.Duration `yaml:"min" range:"1ms..720h" default:"10s"`
	// Longest wait.
	Max time.Duration `yaml:"max" range:"1ms..720h" default:"10m"`
	// By how much the wait grows.
	Factor float64 `yaml:"factor" range:"1..100" default:"2"`
	// The waits themselves, of which the last is repeated: [30s] is a fixed one, [0s] none. Then
	// leave min, max and factor out.
	Pauses []time.Duration `yaml:"pauses" otherwise:"min, factor and max say"`
	// Attempts before a message is dead.
	MaxAttempts int `yaml:"max_attempts" range:"1..1000000" default:"20"`
	// The age, since it was stored, at which a message is dead and is not sent any more.
	MaxAge time.Duration `yaml:"max_age" range:"1ms..36500d" otherwise:"none"`
	// Attempts at once before the first wait.
	Quick int `yaml:"quick" range:"0..1000" zero:"none" default:"0"`
	// What holds for some types, or for some errors: the first rule that fits.
	Rules []RetryRule `yaml:"rules" otherwise:"none"`
}

// RetryRule is what retry says for some messages. What it leaves out is as retry says.
type RetryRule struct {
	// Types that it is for: exact, or a prefix and .*, such as order.*.
	Types []string `yaml:"types" exact:"true" otherwise:"all"`
	// Texts of errors that it is for, whatever their case. One that an error contains is enough.
	Errors []string `yaml:"errors" otherwise:"all"`
	// Wait before the second attempt.
	Min time.Duration `yaml:"min" range:"1ms..720h" otherwise:"as retry says"`
	// Longest wait.
	Max time.Duration `yaml:"max" range:"1ms..720h" otherwise:"as retry says"`
	// By how much the wait grows.
	Factor float64 `yaml:"factor" range:"1..100" otherwise:"as retry says"`
	// The waits themselves, of which the last is repeated.
	Pauses []time.Duration `yaml:"pauses" otherwise:"as retry says"`
	// Attempts before a message is dead.
	MaxAttempts int `yaml:"max_attempts" range:"1..1000000" otherwise:"as retry says"`
	// The age at which a message is dead. With errors it counts only when one of those occurs.
	MaxAge time.Duration `yaml:"max_age" range:"1ms..36500d" otherwise:"as retry says"`
	// Attempts at once before the first wait.
	Quick int `yaml:"quick" range:"1..1000" otherwise:"as retry says"`
}

// Rate bounds what is sent in a second.
type Rate struct {
	// Most messages in a second, repeats among them.
	Messages float64 `yaml:"messages" range:"0.001..1000000" otherwise:"no limit"`
	// Most bytes of payloads, headers and keys in a second. A number of bytes, or with a
	// unit: 512KiB, 1MiB.
	Bytes Size `yaml:"bytes" range:"1..1073741824" otherwise:"no limit"`
	// Messages that may go at once after a quiet time.
	Burst int `yaml:"burst" range:"1..1000000" otherwise:"those of a second, at least 1"`
	// Bytes that may go at once after a quiet time. A larger message goes too, and the rate
	// makes up for it.
	BurstBytes Size `yaml:"burst_bytes" range:"1..1073741824" otherwise:"those of a second"`
	// The rate is that of the whole subscription, however many relays share it. Otherwise
	// each relay has it for itself.
	Shared bool `yaml:"shared" default:"false"`
}

// check adds every mistake.
func (s *Subscription) check(p *problems, where string, f *File) {
	if err := postbag.ValidBox(s.Box); err != nil {
		p.atf(where+".box", "is wrong: %v", err)
	}
	if err := postbag.ValidSubscription(s.Name); err != nil {
		p.atf(where+".name", "is wrong: %v", err)
	}
	named(p, where+".store", &s.Store, f.Stores, "stores")
	named(p, where+".to", &s.To, f.Destinations, "destinations")
	if to, known := f.Destinations[s.To]; known && s.ExactlyOnce && !to.hasTransactions() {
		p.atf(where+".exactly_once", "needs a destination with transactions, which kafka has; write transactions: {} in its settings, or leave this out")
	}
	s.DeadTo.check(p, where+".dead_to", s.Box)
	if s.OnReject == "supersede" && (s.Order != "" && s.Order != "key" || s.ExactlyOnce) {
		p.atf(where+".on_reject", "is supersede, which compares the messages of a key; write order: key and leave exactly_once out, or write on_reject: skip")
	}
	s.checkHeaders(p, where, f)
	s.Format.check(p, where+".format")
	if s.From != "" && s.From != "first" && s.From != "now" {
		if _, err := s.Begins(time.Now()); err != nil {
			p.atf(where+".from", "is neither first nor now nor a time; write a time as 2026-01-31T12:00:00Z, or how long ago as 3d")
		}
	}
	s.checkWhere(p, where)
	checkFields(p, where, reflect.ValueOf(s).Elem())
	s.Retry.check(p, where+".retry")
	s.Rate.check(p, where+".rate")
}

func checkTypes(p *problems, where string, types []string) {
	for i, t := range types {
		if t == "" || len(t) > postbag.MaxName || strings.Contains(strings.TrimSuffix(t, ".*"), "*") {
			p.atf(where, "entry %d is no type; write it out, or a prefix and .*, such as order.*", i+1)
		}
	}
}

// named checks the name of a component and defaults to the only one.
func named[C any](p *problems, where string, name *string, components map[string]C, what string) {
	_, known := components[*name]
	switch {
	case known:
	case len(components) == 0 && (*name == "" || what == "destinations"): // that is said elsewhere
	case len(components) == 0:
		p.atf(where, "names a store, but there are no %s; take it out", what)
	case *name == "" && len(components) == 1:
		for only := range components {
			*name = only
		}
	default:
		p.atf(where, "names none of the %s; write one of %s", what, strings.Join(slices.Sorted(maps.Keys(components)), ", "))
	}
}

// Begins returns the time that From says, which is neither first nor now: a time, or a span before now.
func (s *Subscription) Begins(now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, s.From); err == nil {
		return at, nil
	}
	span, err := duration.Parse(s.From)
	if err != nil {
		return time.Time{}, err
	}
	if span <= 0 {
		return time.Time{}, errors.New("config: a time to come is no beginning")
	}
	return now.Add(-span), nil
}
