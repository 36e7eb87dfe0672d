package chaos

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// Operators change policies while everything else goes on. They hold parts of the subscription, change its filter, and change how long
// messages stay in the log.

// destinationName is what relays call their destination.
const destinationName = "broker"

// The types of messages. Those of some keys are extra: a filter refuses them now and then.
const (
	usualType = "event"
	extraType = "extra"
)

// narrow is a filter that refuses the extra messages. A destination may ask for a type of its own for what it refuses.
var narrow = []string{usualType, "refused"}

// typeOf is the type of a key's messages: three of the keys of each writer have extra ones.
func typeOf(key string) string {
	if strings.HasSuffix(key, "-k3") || strings.HasSuffix(key, "-k13") || strings.HasSuffix(key, "-k23") {
		return extraType
	}
	return usualType
}

// policyFaults are changes of policies. Those of the filter are left out where each message must have an effect.
func (r *run) policyFaults() []Fault {
	all := []Fault{
		{Name: "pause of a part", Room: OperatorOrders, Least: time.Second, Most: 4 * time.Second, Begin: r.operator.holdPart},
		{Name: "pause with an end", Room: OperatorOrders, Least: time.Second, Most: 4 * time.Second, Begin: r.operator.holdFor},
		{Name: "retention set", Room: OperatorOrders, Begin: r.operator.retain},
		{Name: "policy set", Room: OperatorOrders, Least: time.Second, Most: 6 * time.Second, Begin: r.operator.tune},
	}
	if r.Sink != nil {
		return all
	}
	return append(all, Fault{Name: "filter set", Room: OperatorOrders, Least: time.Second, Most: 5 * time.Second, Begin: r.operator.filter},
		Fault{Name: "replay", Room: OperatorOrders, Least: 2 * time.Second, Most: 9 * time.Second, Begin: r.operator.replay})
}

// part draws what a pause holds.
func (o *operator) part(s *Strike) store.Pause {
	p := store.Pause{Ref: ref, Scope: store.PauseScopes[s.Rand.IntN(len(store.PauseScopes))]}
	switch p.Scope {
	case store.PauseDestination:
		p.Ref, p.Value = store.Ref{}, destinationName
	case store.PauseTopic:
		if p.Value = o.run.place.Topic(); o.run.branch() != "" && s.Rand.IntN(2) == 0 {
			p.Value = o.run.branch()
		}
	case store.PauseType:
		p.Value = []string{extraType, usualType + ".*"}[s.Rand.IntN(2)]
	case store.PauseKey:
		p.Value = fmt.Sprintf("p%dw%d-k%d", s.Rand.IntN(o.run.Producers), s.Rand.IntN(writersOfAProducer), s.Rand.IntN(keysOfAWriter))
	case store.PauseSubscription:
	}
	s.Note("of " + p.String())
	return p
}

// holdPart pauses something until it is resumed by hand.
func (o *operator) holdPart(ctx context.Context, s *Strike) (func(context.Context) error, error) {
	p := o.part(s)
	end := func(ctx context.Context) error {
		return o.eventually(ctx, func(ctx context.Context, st orders) error {
			_, err := st.EndPause(ctx, audit, p)
			return err
		})
	}
	return end, o.eventually(ctx, func(ctx context.Context, st orders) error { return st.SetPause(ctx, audit, p, 0) })
}

// holdFor pauses something for a time. It is over by itself, by the clock of the database.
func (o *operator) holdFor(ctx context.Context, s *Strike) (func(context.Context) error, error) {
	p := o.part(s)
	end := func(ctx context.Context) error {
		return o.eventually(ctx, func(ctx context.Context, st orders) error {
			v, err := st.Overview(ctx)
			for i := range v.Pauses {
				if v.Pauses[i].Same(&p) {
					return fmt.Errorf("chaos: the pause of %s is in force after its end", p.String())
				}
			}
			return err
		})
	}
	return end, o.eventually(ctx, func(ctx context.Context, st orders) error { return st.SetPause(ctx, audit, p, s.For) })
}

// retain sets how long messages stay in the log, or leaves it to the relays again.
func (o *operator) retain(ctx context.Context, s *Strike) (func(context.Context) error, error) {
	var l store.Lifetimes
	if s.Rand.IntN(3) > 0 {
		l.Delivered = time.Duration(1+s.Rand.IntN(30)) * time.Second
		l.Discarded = l.Delivered * time.Duration(1+s.Rand.IntN(2))
	}
	s.Note("to " + l.Delivered.String())
	return nil, o.eventually(ctx, func(ctx context.Context, st orders) error { return st.SetRetention(ctx, audit, ref.Box, l) })
}

// tune sets a part of the policy, such as a rate, and has deployments say it again afterwards.
func (o *operator) tune(ctx context.Context, s *Strike) (func(context.Context) error, error) {
	all := []store.Setting{
		{Name: store.SettingRate, Value: fmt.Sprintf("%d/s", 20+s.Rand.IntN(400))},
		{Name: store.SettingRate, Value: fmt.Sprintf("%dB/s", 20_000+s.Rand.IntN(400_000))},
		{Name: store.SettingBatch, Value: strconv.Itoa(1 + s.Rand.IntN(50))},
		{Name: store.SettingInFlight, Value: strconv.Itoa(1 + s.Rand.IntN(100))},
		{Name: store.SettingConcurrency, Value: strconv.Itoa(1 + s.Rand.IntN(4))},
		{Name: store.SettingTimeout, Value: (time.Duration(1+s.Rand.IntN(20)) * time.Second).String()},
		{Name: store.SettingCadence, Value: "background"},
	}
	one := all[s.Rand.IntN(len(all))]
	s.Note(one.Name + " " + one.Value)
	end := func(ctx context.Context) error {
		return o.eventually(ctx, func(ctx context.Context, st orders) error {
			return st.Tune(ctx, audit, ref, nil, []string{one.Name})
		})
	}
	return end, o.eventually(ctx, func(ctx context.Context, st orders) error {
		return st.Tune(ctx, audit, ref, []store.Setting{one}, nil)
	})
}

// span is a part of a run, by its clock.
type span struct{ from, to time.Duration }

// filter has the subscription refuse extra messages for a while.
func (o *operator) filter(ctx context.Context, s *Strike) (func(context.Context) error, error) {
	set := func(ctx context.Context, types []string) error {
		return o.eventually(ctx, func(ctx context.Context, st orders) error {
			return st.SetFilter(ctx, audit, ref, store.Filter{Types: types})
		})
	}
	wide := []string(nil)
	if s.Rand.IntN(2) == 0 {
		wide = append([]string{extraType}, narrow...)
	}
	from := o.events.clock.Now()
	end := func(ctx context.Context) error {
		err := set(ctx, wide)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.refused = append(o.refused, span{from: from, to: o.events.clock.Now()})
		return err
	}
	return end, set(ctx, narrow)
}
