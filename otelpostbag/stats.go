package otelpostbag

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

// gauge is one figure of relay.Stats, or of one subscription in it.
type gauge struct {
	name, unit, help string
	counts           bool // it only grows
	relay            func(s *relay.Stats) int64
	subscription     func(s *relay.SubscriptionStats) int64
	seconds          func(s *relay.SubscriptionStats) float64  // of time that only grows
	causes           func(s *relay.SubscriptionStats) [3]int64 // by store.DeathCause, from the first on
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// gauges are what Observe shows. An exporter to Prometheus names them as package
// prompostbag does.
func gauges() []gauge {
	const messages = "{message}"
	type (
		all = relay.Stats
		sub = relay.SubscriptionStats
	)
	return []gauge{
		{name: "postbag.relay.ready", help: "One if the store answers this relay and its heartbeat is good.", relay: func(s *all) int64 { return one(s.Ready) }},
		{name: "postbag.relays", help: "Live relays, this one among them.", relay: func(s *all) int64 { return int64(s.Relays) }},
		{name: "postbag.store.turns", counts: true, help: "Round trips of this relay that settle and read.", relay: func(s *all) int64 { return s.Turns }},
		{name: "postbag.store.beats", counts: true, help: "Heartbeats of this relay.", relay: func(s *all) int64 { return s.Beats }},
		{name: "postbag.store.faults", counts: true, help: "Calls of this relay that the store failed.", relay: func(s *all) int64 { return s.Faults }},
		{name: "postbag.shards", help: "Shards that this relay holds.", subscription: func(s *sub) int64 { return int64(s.Shards) }},
		{name: "postbag.circuit.open", help: "One while the destination does not take messages.", subscription: func(s *sub) int64 { return one(s.Circuit != "closed") }},
		{name: "postbag.paused", help: "Pauses that operators have set, of all that they can hold.", subscription: func(s *sub) int64 {
			return int64(s.Pauses.Subscription + s.Pauses.Destination + s.Pauses.Topic + s.Pauses.Type + s.Pauses.Key)
		}},
		{name: "postbag.messages.read", unit: messages, counts: true, help: "Messages that this relay read from the log.", subscription: func(s *sub) int64 { return s.Read }},
		{name: "postbag.messages.sent", unit: messages, counts: true, help: "Messages that this relay sent, repeats among them.", subscription: func(s *sub) int64 { return s.Sent }},
		{name: "postbag.messages.accepted", unit: messages, counts: true, help: "Messages that the destination confirmed.", subscription: func(s *sub) int64 { return s.Accepted }},
		{name: "postbag.messages.rejected", unit: messages, counts: true, help: "Attempts that the destination refused.", subscription: func(s *sub) int64 { return s.Rejected }},
		{name: "postbag.messages.unknown", unit: messages, counts: true, help: "Attempts whose answer was lost.", subscription: func(s *sub) int64 { return s.Unknown }},
		{name: "postbag.messages.parked", unit: messages, counts: true, help: "Messages that this relay parked.", subscription: func(s *sub) int64 { return s.Parked }},
		{name: "postbag.messages.dead", unit: messages, counts: true, help: "Messages that became dead, by cause: attempts, expired or rejected.", causes: func(s *sub) [3]int64 { return [3]int64{s.DeadAttempts, s.DeadExpired, s.DeadRejected} }},
		{name: "postbag.messages.delivered", unit: messages, counts: true, help: "Messages confirmed and settled.", subscription: func(s *sub) int64 { return s.Delivered }},
		{name: "postbag.messages.filtered", unit: messages, counts: true, help: "Messages that the subscription's filter refused.", subscription: func(s *sub) int64 { return s.Filtered }},
		{name: "postbag.messages.discarded", unit: messages, counts: true, help: "Messages that an operator discarded.", subscription: func(s *sub) int64 { return s.Discarded }},
		{name: "postbag.messages.superseded", unit: messages, counts: true, help: "Messages that a newer one of their key superseded.", subscription: func(s *sub) int64 { return s.Superseded }},
		{name: "postbag.messages.unsettled", unit: messages, help: "Messages sent and not settled: what a crash may repeat.", subscription: func(s *sub) int64 { return int64(s.Unsettled) }},
		{name: "postbag.messages.unsent", unit: messages, help: "Messages read ahead and not sent.", subscription: func(s *sub) int64 { return int64(s.Unsent) }},
		{name: "postbag.messages.unsettled.limit", unit: messages, help: "The most that postbag.messages.unsettled may be.", subscription: func(s *sub) int64 { return int64(s.UnsettledLimit) }},
		{name: "postbag.messages.held", unit: messages, help: "Messages that wait for topics that do not work, or for the end of a pause, as this relay knows them.", subscription: func(s *sub) int64 { return int64(s.Held) }},
		{name: "postbag.messages.held.limit", unit: messages, help: "While so many messages are held, nothing more is read.", subscription: func(s *sub) int64 { return int64(s.HeldLimit) }},
		{name: "postbag.buffer", unit: "By", help: "What messages in memory weigh.", subscription: func(s *sub) int64 { return int64(s.Bytes) }},
		{name: "postbag.buffer.limit", unit: "By", help: "The bound of postbag.buffer; one message that is larger still goes.", subscription: func(s *sub) int64 { return int64(s.BytesLimit) }},
		{name: "postbag.settlements", counts: true, help: "Settlements that the store has taken.", subscription: func(s *sub) int64 { return s.Settles }},
		{name: "postbag.settlements.lost", counts: true, help: "Settlements that were refused because the lease was lost.", subscription: func(s *sub) int64 { return s.Lost }},
		{name: "postbag.circuit.opened", counts: true, help: "How often the destination stopped taking messages.", subscription: func(s *sub) int64 { return s.Opened }},
		{name: "postbag.hook.events.dropped", counts: true, help: "Events that were dropped because hooks were too slow.", relay: func(s *all) int64 { return s.HooksDropped }},
		{name: "postbag.hook.panics", counts: true, help: "How often a hook panicked.", relay: func(s *all) int64 { return s.HookPanics }},
		{name: "postbag.throttled", unit: "s", help: "Time in which only the rate of the subscription kept messages from being sent.", seconds: func(s *sub) float64 { return s.Throttled.Seconds() }},
	}
}

// Observe makes metrics of what stats returns, which is the Stats method of a running
// relay. They are read whenever the meter's reader collects. Attributes are box and
// subscription, and those of of: give some that tell relays apart if a program runs
// several. stop ends it, and calling it twice is harmless. The error says which instrument
// the meter refuses.
func (t *Telemetry) Observe(stats func() relay.Stats, of ...attribute.KeyValue) (stop func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	if stats == nil {
		return nil, errors.New("otelpostbag: observe: the function is nil; give the Stats method of a relay")
	}
	registered := errors.New("otelpostbag: observe: the meter panicked; give otelpostbag.New a provider that works")
	var r metric.Registration
	t.guard("the meter", func() { r, registered = t.observe(stats, of) })
	if registered != nil {
		return nil, registered
	}
	return sync.OnceFunc(func() {
		t.guard("the meter", func() {
			if err := r.Unregister(); err != nil {
				t.fault(fmt.Errorf("otelpostbag: stop observing: %w", err))
			}
		})
	}), nil
}

func (t *Telemetry) observe(stats func() relay.Stats, of []attribute.KeyValue) (metric.Registration, error) {
	all := gauges()
	instruments := make([]metric.Observable, len(all))
	for i := range all {
		var err error
		if instruments[i], err = t.instrument(&all[i]); err != nil {
			return nil, fmt.Errorf("otelpostbag: observe: %s: %w", all[i].name, err)
		}
	}
	r, err := t.meter.RegisterCallback(func(_ context.Context, to metric.Observer) error {
		t.guard("the observer", func() { show(stats(), all, instruments, to, of) })
		return nil
	}, instruments...)
	if err != nil {
		return nil, fmt.Errorf("otelpostbag: observe: %w", err)
	}
	return r, nil
}

// instrument makes that of a figure.
func (t *Telemetry) instrument(g *gauge) (metric.Observable, error) {
	help, unit := metric.WithDescription(g.help), metric.WithUnit(g.unit)
	switch {
	case g.seconds != nil:
		return t.meter.Float64ObservableCounter(g.name, help, unit)
	case g.counts:
		return t.meter.Int64ObservableCounter(g.name, help, unit)
	default:
		return t.meter.Int64ObservableGauge(g.name, help, unit)
	}
}

// show gives an observer all figures of s.
func show(s relay.Stats, all []gauge, instruments []metric.Observable, to metric.Observer, of []attribute.KeyValue) {
	attributes := func(more ...attribute.KeyValue) metric.MeasurementOption {
		return metric.WithAttributeSet(attribute.NewSet(append(more, of...)...))
	}
	whole := attributes()
	each := make([]metric.MeasurementOption, len(s.Subscriptions))
	for i := range each {
		each[i] = attributes(boxKey.String(s.Subscriptions[i].Box), subscriptionKey.String(s.Subscriptions[i].Subscription))
	}
	for g := range all {
		if exact, is := instruments[g].(metric.Float64Observable); is {
			for i := range each {
				to.ObserveFloat64(exact, all[g].seconds(&s.Subscriptions[i]), each[i])
			}
			continue
		}
		number, is := instruments[g].(metric.Int64Observable)
		switch {
		case !is: // a meter that breaks its contract
		case all[g].relay != nil:
			to.ObserveInt64(number, all[g].relay(&s), whole)
		case all[g].causes != nil:
			for i := range s.Subscriptions {
				sub := &s.Subscriptions[i]
				for c, n := range all[g].causes(sub) {
					cause := store.CauseAttempts + store.DeathCause(c)
					to.ObserveInt64(number, n, attributes(boxKey.String(sub.Box), subscriptionKey.String(sub.Subscription), causeKey.String(cause.String())))
				}
			}
		default:
			for i := range each {
				to.ObserveInt64(number, all[g].subscription(&s.Subscriptions[i]), each[i])
			}
		}
	}
}
