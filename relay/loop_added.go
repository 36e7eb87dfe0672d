package relay

import (
	"context"
	"fmt"

	"github.com/postbag/postbag/store"
)

// addedLook is what the loop knows of subscriptions that operators have added.
type addedLook struct {
	busy   bool
	seen   bool
	epoch  int64                // of the last look
	failed error                // of it
	said   map[store.Ref]string // what the log told of each
}

// lookAdded asks the store what operators have added, if that may have changed since.
func (l *loop) lookAdded(epoch int64) {
	a, k := l.relay.additions, &l.added
	if a == nil || k.busy || k.seen && k.epoch == epoch || l.ending {
		return
	}
	k.busy = true
	parent := l.ctx
	if a.drain {
		parent = context.WithoutCancel(parent) // a drain is not over before it knows
	}
	l.start(func() func() {
		ctx, cancel := context.WithTimeout(parent, storeTimeout)
		defer cancel()
		all, err := a.assigner.Assigned(ctx)
		return func() {
			k.busy, k.failed = false, err
			if err != nil { // the next heartbeat looks again
				l.lookFailed(fmt.Errorf("relay: looking for added subscriptions: %w", err))
				return
			}
			l.log.lookWorks()
			k.seen, k.epoch = true, epoch
			l.sortAdded(all)
		}
	})
}

// lookFailed says that the store does not tell of added subscriptions. It may answer all else, so this has a state of its own.
func (l *loop) lookFailed(err error) {
	if !gaveUp(l.ctx) {
		l.log.lookFailed(err)
	}
}

func (j *journal) lookFailed(err error) {
	j.report(err)
	if _, say := j.looks.goesOn(); say {
		j.logger.Warn("relay: the store does not tell which subscriptions operators have added; trying again", "error", err)
	}
}

func (j *journal) lookWorks() {
	if after, was := j.looks.ends(); was {
		j.logger.Info("relay: the store tells of added subscriptions again", "after", after)
	}
}

// sortAdded has those begin that this relay has a destination for, and all others end.
func (l *loop) sortAdded(all []store.Assignment) {
	wanted, said := make(map[store.Ref]string), make(map[store.Ref]string)
	for i := range all {
		one := &all[i]
		to, there := l.options.Destinations[one.Destination]
		own := l.byRef[one.Ref]
		why := ""
		switch {
		case own != nil && own.Destination == one.Destination:
		case own != nil:
			why = "this relay's own settings name another one, and hold"
		case !there:
			why = "this relay has none of that name, and leaves the subscription alone"
		default:
			if why = unfit(to); why == "" {
				wanted[one.Ref] = one.Destination
			}
		}
		if said[one.Ref] = one.Destination + why; why != "" && l.added.said[one.Ref] != said[one.Ref] {
			l.log.logger.Warn("relay: an operator has given a subscription a destination that this relay does not use",
				"box", one.Box, "subscription", one.Subscription, "destination", one.Destination, "by", one.Who, "reason", why)
		}
	}
	l.added.said = said
	begun, ended := l.relay.additions.set(wanted)
	for _, ref := range begun {
		l.log.logger.Info("relay: begins a subscription that an operator has added", "box", ref.Box, "subscription", ref.Subscription, "destination", wanted[ref])
	}
	for _, ref := range ended {
		l.log.logger.Info("relay: ends a subscription that an operator had added; it is removed, or its destination is", "box", ref.Box, "subscription", ref.Subscription)
	}
}

// noteAssigned ends the relay of an added subscription that has another destination by now. Nothing
// of it was sent since: what a heartbeat gains is sent after this.
func (l *loop) noteAssigned(f *flow, s *store.SubscriptionState) {
	if to, _ := store.DestinationOf(s.Settings); f.subscription.assigned && to != f.Destination {
		l.through = true
	}
}
