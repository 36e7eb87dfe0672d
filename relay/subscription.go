package relay

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/format"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/internal/lane"
	"github.com/postbag/postbag/store"
)

// Order says which messages of a subscription wait for each other. The zero Order is ByKey.
type Order = engine.Order

// The orders.
const (
	// ByKey keeps messages of one key in commit order. The default.
	ByKey Order = engine.ByKey
	// ByShard keeps all messages of a shard in order, as if they had one key.
	ByShard Order = engine.ByShard
	// Unordered keeps no order.
	Unordered Order = engine.Unordered
)

// OnReject says what a rejected message does to those behind it. The zero OnReject is Block.
type OnReject = engine.OnReject

// The answers to a rejection.
const (
	// Block lets later messages of its key wait behind it. The default.
	Block OnReject = engine.Block
	// Skip lets its key go on.
	Skip OnReject = engine.Skip
	// Supersede lets its key go on, as Skip does. As soon as a newer message of its key was
	// delivered, the rejected one ends: it is superseded, and not delivered. A message without
	// a key is tried again as under Skip. It takes Order ByKey, and no ExactlyOnce.
	Supersede OnReject = engine.Supersede
)

// Subscription is a named reader of a box, with its destination and policy.
type Subscription struct {
	// To takes the messages. Required. The caller closes it after Run.
	To broker.Destination
	// ToName is what the log calls To, and what operators name to pause all that goes to
	// it. Defaults to none: the log names the subscription alone.
	ToName string
	// Use is middleware. It runs before Headers, Render, Encoder and To, in this sequence, and sees
	// messages as they are in the box. If your middleware must see what is sent, wrap To
	// with broker.Wrap. Defaults to none.
	Use []broker.Middleware
	// Headers are added at delivery to each message that does not have them. They take
	// precedence over those of Options.Boxes. Names are compared as they are written. The
	// rules are those of postbag.Message.Headers. A relay that starts with other ones sends
	// a message that comes again with those. The map is copied. Defaults to none.
	Headers map[string]string
	// Render makes what is sent of a message when it is delivered: its payload, and its
	// headers in place of those that it has. It gets the message with its default headers,
	// and runs before Encoder. To keep the headers, return m.Headers. It must not change
	// what the payload and the headers of m point to. Both results have the limits of a
	// message: postbag.MaxPayload and postbag.ValidHeaders.
	//
	// It is called for every attempt, from many goroutines, for the messages of a call one
	// after the other. ctx ends when half of Timeout is over, and it must return then. The
	// messages that are ready by then are sent. An error or a panic is a failed attempt of
	// the message alone, and its key waits or goes on by OnReject. Classify can say
	// otherwise. An error quotes no payload, header value or credential, since it is logged
	// and kept.
	//
	// A message that comes again has its id, and the bytes of the last call of Render.
	// Those are the same only if Render makes the same of the same message. Defaults to
	// none: the payload as it was published.
	Render Render
	// Encoder turns each message into what To sends. Use one of package format, or write
	// your own. Defaults to none: To's plain form.
	Encoder broker.Encoder
	// Box is read. Defaults to "outbox".
	Box string
	// Name of the subscription. Defaults to "default".
	Name string
	// From is where it begins when it is new. Defaults to First.
	From Start
	// Types filters by message type: exact, or a prefix and ".*". Empty: all.
	Types []string
	// Where filters further, by topic, header and exceptions. All relays that work the
	// subscription must know it: one of an older version delivers what it refuses.
	// Defaults to nothing. Routes makes several subscriptions that divide a box.
	Where Where
	// Shards is how many shards a new subscription has. Defaults to what the store
	// chooses: 4, or 1 on SQLite.
	Shards int
	// Order defaults to ByKey.
	Order Order
	// OnReject defaults to Block.
	OnReject OnReject
	// Retry is the back-off of rejected messages.
	Retry Retry
	// Retries are for messages of some types, or for some errors: the first rule that fits
	// takes the place of Retry. At most 100. Defaults to none.
	Retries []RetryRule
	// Rate bounds the messages and the bytes that are sent in a second. Defaults to no
	// limit.
	Rate Rate
	// Cadence says whether it is quick or cheap while little comes. Defaults to Balanced.
	Cadence Cadence
	// Timeout bounds one call to the destination. Defaults to 30 s.
	Timeout time.Duration
	// Batch is the most messages in one call. Defaults to 500, or less if the
	// destination says so.
	Batch int
	// RetryBatch is the most parked messages in one call while new ones wait.
	// Defaults to a quarter of Batch, and to 32 or more for a destination that has
	// attempts counted before calls.
	RetryBatch int
	// InFlight is the most messages that are sent and not yet settled. A crash may
	// deliver that many twice. Defaults to 1,000.
	InFlight int
	// MaxHeld is how many messages may wait for topics that do not work, or for the end of
	// pauses, before the subscription reads no more. Defaults to 100,000.
	MaxHeld int
	// Buffer is how many bytes of messages the relay keeps in memory for the
	// subscription: those read and not sent, those in calls, and parked ones that are
	// tried. Payloads, headers and keys count. A quarter of it is for parked ones. One
	// message always goes, however large it is. Defaults to 64 MiB.
	Buffer int
	// Concurrency is the most calls at a time. Defaults to 4, and to 32 for a
	// destination that takes one message a call.
	Concurrency int
	// ExactlyOnce delivers in transactions of the destination, which must have them
	// (Kafka, inbox.BatchDestination). Each transaction also stores how far the relay has come. A consumer that
	// reads only committed messages sees each message once, even if relays crash. See
	// docs/guides/exactly-once.md for what is promised and what is not. One relay works
	// the subscription at a time, and others stand by. Batch is then the most messages in
	// a transaction: 1,000 by default, 20,000 at most. Concurrency has no effect.
	ExactlyOnce bool
	// DeadTo is the box, in the same store, that gets a dead letter of each message that
	// becomes dead: a copy with the reason in its headers (store.HeaderDeadReason and others).
	// The settlement that makes the message dead writes it, so no crash loses it or makes it
	// twice. A message that dies again leaves another one. Subscribe to that box to send the
	// letters anywhere. It must exist when the relay starts, and may not be Box, nor lead back
	// to it by the DeadTo of others. Defaults to none.
	DeadTo string
	// DeadTopic is the topic of these letters, at most postbag.MaxName bytes: for a queue or a
	// stream of their own, beside other messages of one destination. The topic of the message is
	// then in a header (store.HeaderDeadTopic). Defaults to the topic of the message.
	DeadTopic string
	// OnDead is called with each message that becomes dead, for an alarm. It is
	// called from the relay's loop, so it must return soon. A message may be told of twice,
	// and not at all if the process ends just then, or if more than a thousand become dead
	// in one step: the log says so. The dead message itself is kept in any case. Optional.
	OnDead func(Dead)
	// Classify changes the outcome of a message that was not accepted, judged by its
	// error. It cannot make the message accepted. With [broker.ClassDead] the message gets no
	// other attempt. It is called from many goroutines.
	// Optional.
	Classify func(error) broker.Class
	// Replay makes this the work of a replay, which store.Replayer.StartReplay has made.
	// Box and Name are then those of Replay.Ref; From, Types and Shards have no effect.
	// Replay.Rate, if given, takes the place of Rate.Messages, shared among relays. No MaxAge
	// of Retry and Retries has an effect, since old messages come again; an operator can set
	// one of the replay. Unless Replay.Unmarked, messages carry the header
	// broker.HeaderReplay. The relay never ends a replay: it is through when
	// store.Replayer.Floor of all its shards' positions is Replay.Through or more, and no
	// message waits. Defaults to nil: no replay.
	Replay *store.Replay

	// assigned: an operator has added it, with ToName as its destination.
	assigned bool
}

func (s *Subscription) ref() store.Ref {
	if s.Replay != nil {
		return s.Replay.Ref
	}
	r := store.Ref{Box: s.Box, Subscription: s.Name}
	if r.Box == "" {
		r.Box = "outbox"
	}
	if r.Subscription == "" {
		r.Subscription = "default"
	}
	return r
}

// onReject says what is wrong with OnReject.
func (s *Subscription) onReject() error {
	switch {
	case s.OnReject < Block || s.OnReject > Supersede:
		return fmt.Errorf("OnReject is %d; choose Block, Skip or Supersede", s.OnReject)
	case s.OnReject == Supersede && s.Order != ByKey:
		return errors.New("OnReject is Supersede, which compares the messages of a key; choose Order ByKey, or OnReject Skip")
	case s.OnReject == Supersede && s.ExactlyOnce:
		return errors.New("OnReject is Supersede, which ExactlyOnce cannot do; choose OnReject Block or Skip")
	}
	return nil
}

// validate fills the defaults and reports everything that is wrong. box has the settings
// of its box.
func (s *Subscription) validate(box Box) error {
	errs := s.replays()
	ref := s.ref()
	s.Box, s.Name = ref.Box, ref.Subscription
	s.Where = s.Where.Clone()
	s.Types, s.Retries, s.Retry.Pauses = slices.Clone(s.Types), slices.Clone(s.Retries), slices.Clone(s.Retry.Pauses)
	if s.Timeout == 0 {
		s.Timeout = 30 * time.Second
	}
	errs = append(errs, validName(ref))
	if s.To == nil {
		errs = append(errs, errors.New("To is missing; give it a destination"))
	}
	if s.Order < ByKey || s.Order > Unordered {
		errs = append(errs, fmt.Errorf("Order is %d; choose ByKey, ByShard or Unordered", s.Order))
	}
	errs = append(errs, s.onReject())
	for _, n := range []struct {
		name  string
		value int
		most  int
	}{
		{"Shards", s.Shards, store.SlotCount},
		{"Batch", s.Batch, 100_000},
		{"RetryBatch", s.RetryBatch, 100_000},
		{"InFlight", s.InFlight, 1_000_000},
		{"MaxHeld", s.MaxHeld, 10_000_000},
		{"Buffer", s.Buffer, 1 << 30},
		{"Concurrency", s.Concurrency, 10_000},
	} {
		if n.value < 0 || n.value > n.most {
			errs = append(errs, fmt.Errorf("%s is %d; choose between 0 (the default) and %d", n.name, n.value, n.most))
		}
	}
	errs = append(errs, s.Rate.validate())
	errs = append(errs, s.choices()...)
	if s.ExactlyOnce {
		errs = append(errs, s.exactlyOnce()...)
	}
	errs = append(errs, format.Validate(s.Encoder))
	headers, err := defaultHeaders(box.Headers, s.Headers)
	errs = append(errs, err)
	if s.To != nil {
		if c, ok := broker.HeaderCheckerOf(s.To); ok {
			if err := c.CheckHeaders(headers); err != nil {
				errs = append(errs, fmt.Errorf("Headers: %w", err))
			}
		}
		s.To = broker.Wrap(s.To, append(slices.Clone(s.Use), markReplay(s.Replay), addHeaders(headers), renderWith(s.Render), format.Encode(s.Encoder))...)
		s.Use, s.Encoder = nil, nil
	}
	return errors.Join(errs...)
}

func (s *Subscription) choices() []error {
	var errs []error
	if s.Timeout < time.Millisecond || s.Timeout > time.Hour {
		errs = append(errs, fmt.Errorf("Timeout is %v; choose between 1ms and 1h", s.Timeout))
	}
	if s.Cadence < Balanced || s.Cadence > Background {
		errs = append(errs, fmt.Errorf("Cadence is %d; choose Balanced, Latency or Background", s.Cadence))
	}
	errs = append(errs, s.validateRetries()...)
	f := s.filter()
	if err := f.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("Types or Where: %w", err))
	}
	if s.From.Now && !s.From.At.IsZero() {
		errs = append(errs, errors.New("From says both Now and a time; choose one"))
	}
	return errs
}

// exactlyOnce fills the defaults of ExactlyOnce and says what stands against it.
func (s *Subscription) exactlyOnce() []error {
	var errs []error
	if s.Batch == 0 {
		s.Batch = 1000
	}
	if s.InFlight == 0 {
		s.InFlight = max(s.Batch, 1000)
	}
	if s.Batch > lane.MaxItems {
		errs = append(errs, fmt.Errorf("Batch is %d; with ExactlyOnce choose %d or less", s.Batch, lane.MaxItems))
	}
	if s.To == nil {
		return errs
	}
	if _, can := broker.TransactionalOf(s.To); !can {
		return append(errs, fmt.Errorf("ExactlyOnce needs a destination with transactions, and %T has none; leave it out, or deliver to Kafka or an inbox.BatchDestination", s.To))
	}
	if !s.To.Features().Transactions {
		errs = append(errs, fmt.Errorf("ExactlyOnce needs a destination with transactions, and this %T is not set up for them; see its options", s.To))
	}
	return errs
}

func (s *Subscription) spec() store.Spec {
	return store.Spec{Ref: s.ref(), From: s.From, Types: s.Types, Where: s.Where, Shards: s.Shards, DeadTo: s.DeadTo}
}

// filter is what s asks for.
func (s *Subscription) filter() store.Filter { return store.Filter{Types: s.Types, Where: s.Where} }

// engine returns the policy as the engine takes it.
func (s *Subscription) engine(o *Options, rules *retryRules) engine.Config {
	features, p := s.To.Features(), s.Cadence.pace(o)
	_, prober := broker.ProberOf(s.To)
	idleSettle := time.Duration(0) // the engine's own default
	if s.Replay != nil {
		idleSettle = time.Second // it is through by its settled positions
	}
	return engine.Config{
		Ref: s.ref(), Order: s.Order, OnReject: s.OnReject, Retry: engine.Retry(s.Retry), Rules: rules.engine(&s.Retry), RuleOf: rules.ofType, Rate: s.Rate, DeadTo: s.DeadTo, DeadTopic: s.DeadTopic,
		Ordered: features.Ordered || s.ExactlyOnce, Transactions: s.ExactlyOnce, MaxBatch: features.MaxBatch, Prober: prober,
		CountFirst: features.CountsFirst,
		InFlight:   s.InFlight, MaxHeld: s.MaxHeld, Buffer: s.Buffer, Calls: s.Concurrency, Batch: s.Batch, RetryBatch: s.RetryBatch,
		PollMin: p.pollMin, PollMax: p.pollMax, Linger: p.linger, SettleEvery: p.settleEvery, IdleSettle: idleSettle, TallySpan: store.TallySpan,
		Rand: rand.Float64,
	}
}
