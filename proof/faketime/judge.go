package faketime

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store"
)

// undelivered says what the store has beyond its positions, in the parking lot and in the schedule; empty: nothing.
func (w *world) undelivered() string {
	o, err := w.store.Overview(context.Background())
	if err != nil {
		return err.Error()
	}
	for i := range o.Boxes {
		if n := o.Boxes[i].Scheduled; n > 0 {
			return fmt.Sprintf("%d messages of %s are scheduled", n, o.Boxes[i].Name)
		}
		for j := range o.Boxes[i].Subscriptions {
			s := &o.Boxes[i].Subscriptions[j]
			if waits := s.Backlog + parked(s); waits > 0 {
				return fmt.Sprintf("%d messages of %s wait, of which are parked %v; its shards are %v", waits, s.Ref, s.Parked, s.Shards)
			}
		}
	}
	return ""
}

func parked(s *store.SubscriptionView) (all int64) {
	for _, n := range s.Parked {
		all += n
	}
	return all
}

// restless says what is not as it should be when nothing goes wrong any more; empty: nothing.
func (w *world) restless() string {
	if what := w.undelivered(); what != "" {
		return what
	}
	o, err := w.store.Overview(context.Background())
	if err != nil {
		return err.Error()
	}
	for i := range o.Boxes {
		for j := range o.Boxes[i].Subscriptions {
			if what := unshaped(&o.Boxes[i].Subscriptions[j]); what != "" {
				return what
			}
		}
	}
	for i := range o.Relays {
		for _, c := range o.Relays[i].Conditions {
			if c.State != "closed" || len(c.Topics) > 0 {
				return fmt.Sprintf("a destination is said to be %q, with %d topics that do not work", c.State, len(c.Topics))
			}
		}
	}
	for _, r := range w.relays {
		if s := r.relay.Stats(); !s.Ready || s.Relays != len(o.Relays) {
			return fmt.Sprintf("a relay is ready: %v, and knows of %d relays, where there are %d", s.Ready, s.Relays, len(o.Relays))
		}
	}
	return ""
}

// unshaped says what of a subscription's shards and commands is not as an operator wants it; empty: nothing.
func unshaped(s *store.SubscriptionView) string {
	switch {
	case len(s.Shards) != s.Wanted:
		return fmt.Sprintf("%s has %d shards, %d are wanted", s.Ref, len(s.Shards), s.Wanted)
	case slices.ContainsFunc(s.Shards, func(sh store.ShardState) bool { return sh.Owner == "" }):
		return fmt.Sprintf("a shard of %s is nobody's", s.Ref)
	case s.Commands > 0:
		return fmt.Sprintf("%d commands for %s wait", s.Commands, s.Ref)
	}
	return ""
}

// judge looks at the ledgers, and hands the history of the run to its checker.
func (w *world) judge(ctx context.Context) {
	for _, box := range w.boxes {
		lines, err := w.store.AcceptLedger(ctx, audit, box)
		w.must("compare the ledger", err)
		for _, line := range lines {
			w.failf("the ledger differs from the log: %s", line)
		}
	}
	published := false
	for _, l := range w.lines {
		w.delivered(l)
		f := w.fatesOf(l)
		report := w.history.Check(history.Options{
			Subscription: l.Subscription, Wants: f.wants, Unseen: f.optional, Skip: l.supersedes(),
			InFlight: window, Slack: time.Minute, ExactlyOnce: l.exactly, Unordered: l.unordered,
		})
		if err := report.Err(); err != nil {
			w.failf("%s: %v", l, err)
		}
		published = published || report.Of(history.Lost).Seen > 0
	}
	if !published && w.counts.Published > 10 {
		w.failf("no message was seen: the run shows nothing")
	}
	w.judgeReplays()
	w.tallied(ctx)
}

// delivered records what the broker of a line stored.
func (w *world) delivered(l *line) {
	for i, r := range l.broker.Taken() {
		at := r.Taken.Sub(w.begun)
		w.history.Deliver(history.Delivery{
			ID: history.ID(r.ID), Subscription: l.Subscription, Key: r.Key, Payload: history.Sum(r.Payload), Position: uint64(i),
			From: at, To: at + time.Millisecond,
		})
		w.counts.Delivered++
	}
}

// tallied compares the counts of the ledgers with what the brokers have. A message that was delivered and discarded counts as one of both.
func (w *world) tallied(ctx context.Context) {
	o, err := w.store.Overview(ctx)
	w.must("overview", err)
	for _, l := range w.lines {
		for i := range o.Boxes {
			for j := range o.Boxes[i].Subscriptions {
				s := &o.Boxes[i].Subscriptions[j]
				arrived := int64(len(l.broker.First()))
				if s.Ref != l.Ref {
					continue
				}
				ended := s.Delivered + s.Discarded + s.Superseded
				if s.Delivered > arrived || ended < arrived && !l.changed { // what one read refused, another may have taken
					w.failf("%s: the ledger has %d delivered, %d discarded and %d superseded, %d are in the broker", l.Ref, s.Delivered, s.Discarded, s.Superseded, arrived)
				}
			}
		}
	}
}
