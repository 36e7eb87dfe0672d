package boxtest

import (
	"testing"
	"time"

	"github.com/postbag/postbag/store"
)

// LaterFilter is a filter that no version knows.
const LaterFilter = `{"from_a_later_version":["x"]}`

// UnreadableFilter checks that Outbox, which is declared and has LaterFilter since spoil, stops nothing but itself.
// publish writes a message.
func UnreadableFilter(tb testing.TB, st store.Store, spoil, publish func()) {
	tb.Helper()
	spoil()
	s, other := Of(tb, st), store.Ref{Box: Outbox.Box, Subscription: "other"}
	s.Declare(store.Spec{Ref: other, Shards: 1})
	s.Take("works-other", other)
	publish()
	ctx, cancel := s.bounded()
	defer cancel()
	v, err := st.Beat(ctx, store.Beat{Relay: "works-both", New: true, TTL: time.Hour, Works: []store.Ref{Outbox, other}})
	s.Must(err)
	if len(v.Subscriptions) != 2 {
		s.Fatalf("the view has %d subscriptions, not 2", len(v.Subscriptions))
	}
	for i := range v.Subscriptions {
		sub := &v.Subscriptions[i]
		if unreadable := sub.Ref == Outbox; (sub.Unreadable != nil) != unreadable || len(sub.Shards) == 0 {
			s.Errorf("%s is unreadable by %v, and has %d shards", sub.Ref, sub.Unreadable, len(sub.Shards))
		}
	}
	if got, _ := s.ReadFrom(other, ""); len(got) != 1 {
		s.Errorf("the other subscription reads %d messages, not 1", len(got))
	}
	r, err := st.Turn(ctx, store.Turn{Read: []store.Request{Request(Outbox, "", 10), Request(other, "", 10)}})
	s.Must(err)
	if len(r.Batches) != 2 || r.Batches[0].Err == nil || len(r.Batches[0].Records) > 0 {
		s.Errorf("without a filter that can be read, it reads %+v", r.Batches)
	} else if r.Batches[1].Err != nil || len(r.Batches[1].Records) != 1 {
		s.Errorf("beside a filter that cannot be read, the other subscription reads %+v", r.Batches[1])
	}
	looks, _ := st.(store.Inspector)
	o, err := looks.Overview(ctx)
	s.Must(err)
	if len(o.Boxes) != 1 {
		s.Errorf("the overview has %d boxes, not 1", len(o.Boxes))
	}
	discardOfPending(s, st)
	items, _, err := looks.List(ctx, store.Query{Ref: other})
	s.Must(err)
	if len(items) != 1 {
		s.Errorf("%d messages are listed, not 1", len(items))
	}
	s.Declare(store.Spec{Ref: Outbox, Shards: 1}) // of a relay that has the subscription in its own settings
}

// discardOfPending checks that no command waits for a pending message of Outbox: its filter may refuse the message.
func discardOfPending(s *Driver, st store.Store) {
	s.Helper()
	ctx, cancel := s.bounded()
	defer cancel()
	operates, _ := st.(store.Operator)
	looks, _ := st.(store.Inspector)
	all, _, err := looks.List(ctx, store.Query{Ref: Outbox})
	s.Must(err)
	if len(all) == 0 {
		s.Error("no message of a subscription whose filter cannot be read is listed")
	}
	for i := range all {
		n, err := operates.Command(ctx, store.Audit{Who: "an operator", Why: "a test"}, Outbox, store.Discard, []int64{all[i].Seq})
		if err != nil || n != 0 {
			s.Errorf("%d discards of a message that the filter may refuse are queued: %v", n, err)
		}
	}
}
