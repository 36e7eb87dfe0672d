package operations_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

var again = store.Ref{Box: boxtest.Outbox.Box, Subscription: "again"}

// withFilter is a store whose subscription orders takes messages of some types, with n messages.
func withFilter(t *testing.T, n int) (operations.Store, *memstore.Store) {
	t.Helper()
	s, m := withDead(t, n)
	err := m.Declare(t.Context(), []store.Spec{{Ref: store.Ref{Box: boxtest.Outbox.Box, Subscription: "orders"}, Types: []string{"order.*", "refund"}}})
	if err != nil {
		t.Fatal(err)
	}
	return s, m
}

func TestAReplayIsPlannedBeforeItIsMade(t *testing.T) {
	t.Parallel()
	s, _ := withFilter(t, 50)
	p, err := s.PlanReplay(t.Context(), operations.ReplayChoice{Ref: boxtest.Outbox, Last: 20, Keys: []string{"a key"}, Rate: 4, Destination: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if p.After != 30 || p.Through != 50 || p.Messages != 20 || p.Takes() != 5*time.Second || !p.Narrowed() || p.Gone ||
		!strings.HasPrefix(p.Ref.Subscription, "replay-") || p.Keys[0] != store.KeySum("a key") || p.Shards != 1 {
		t.Errorf("the plan is %+v", p)
	}
	all, err := s.Replays(t.Context(), "")
	if err != nil || len(all) != 0 {
		t.Errorf("a plan has made %+v: %v", all, err)
	}
	p, err = s.PlanReplay(t.Context(), operations.ReplayChoice{Ref: boxtest.Outbox, From: time.Now().Add(-time.Hour)})
	if err != nil || p.After != 0 || p.Messages != 50 || p.Gone {
		t.Errorf("from before the first message the plan is %+v: %v", p, err)
	}
}

func TestAReplayKeepsItsShards(t *testing.T) {
	t.Parallel()
	s, _ := withFilter(t, 5)
	p, err := s.PlanReplay(t.Context(), operations.ReplayChoice{Ref: boxtest.Outbox, Last: 5})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.StartReplay(t.Context(), audit(), p); err != nil {
		t.Fatal(err)
	}
	if err := s.SetShards(t.Context(), audit(), p.Ref, 4); !errors.Is(err, operations.ErrInvalid) || !strings.Contains(err.Error(), "keeps its shards") {
		t.Errorf("other shards of a replay: %v", err)
	}
}

func TestTypesOfAReplayNarrowThoseOfItsSubscription(t *testing.T) {
	t.Parallel()
	s, _ := withFilter(t, 5)
	orders := store.Ref{Box: boxtest.Outbox.Box, Subscription: "orders"}
	for types, sound := range map[string]bool{
		"": true, "refund": true, "order.placed": true, "order.*": true, "order.paid.*": true, "order": false, "orders.x": false, "refund.*": false, "*": false, "invoice": false,
	} {
		c := operations.ReplayChoice{Ref: orders, Last: 5}
		if types != "" {
			c.Types = []string{types}
		}
		p, err := s.PlanReplay(t.Context(), c)
		if (err == nil) != sound || err != nil && !errors.Is(err, operations.ErrInvalid) {
			t.Errorf("of types %q: %v", types, err)
		}
		if err == nil && types == "" && len(p.Types) != 2 {
			t.Errorf("without types the replay has %q", p.Types)
		}
	}
}

func TestAReplayIsThroughWhenNothingWaits(t *testing.T) {
	t.Parallel()
	s, m := withDead(t, 3)
	p, err := s.PlanReplay(t.Context(), operations.ReplayChoice{Ref: boxtest.Outbox, Last: 3, Name: "again"})
	if err != nil {
		t.Fatal(err)
	}
	p.Shards = 1
	if err := s.StartReplay(t.Context(), store.Audit{Who: "an operator"}, p); !errors.Is(err, operations.ErrNoReason) {
		t.Errorf("without a reason: %v", err)
	}
	if err := s.StartReplay(t.Context(), audit(), p); err != nil {
		t.Fatal(err)
	}
	if err := s.StartReplay(t.Context(), audit(), p); !errors.Is(err, operations.ErrInvalid) {
		t.Errorf("a second one of the name: %v", err)
	}
	state := func(want string) *operations.Replay {
		t.Helper()
		r, err := s.Replay(t.Context(), again)
		if err != nil || r.State != want {
			t.Fatalf("the replay is %+v, not %s: %v", r, want, err)
		}
		return r
	}
	state(operations.ReplayIdle)
	if _, err := s.PlanReplay(t.Context(), operations.ReplayChoice{Ref: again, Last: 3}); !errors.Is(err, operations.ErrInvalid) {
		t.Errorf("a replay of a replay: %v", err)
	}
	v, err := m.Beat(t.Context(), store.Beat{Relay: "a", Name: "a", TTL: time.Hour, New: true, Works: []store.Ref{again}})
	if err == nil {
		v, err = m.Beat(t.Context(), store.Beat{Relay: "a", Name: "a", TTL: time.Hour, Works: []store.Ref{again}, Take: []store.Shard{v.Subscriptions[0].Shards[0].Shard}})
	}
	if err != nil {
		t.Fatal(err)
	}
	lease := v.Subscriptions[0].Shards[0].Lease
	state(operations.ReplayRunning)
	read, err := m.Turn(t.Context(), store.Turn{Read: []store.Request{{Ref: again, Slots: []store.Slots{store.AllSlots}, Limit: 10, Bytes: 1 << 20}}})
	if err != nil {
		t.Fatal(err)
	}
	b := read.Batches[0]
	settle := func(st store.Settlement) {
		t.Helper()
		st.Lease = lease
		res, err := m.Turn(t.Context(), store.Turn{Settle: []store.Settlement{st}})
		if err != nil || !res.Verdicts[0].Applied {
			t.Fatalf("a settlement: %+v, %v", res, err)
		}
		lease.Version++
	}
	park := store.Park{Seq: b.Records[0].Seq, Slot: b.Records[0].Slot, State: store.ParkRetrying, Attempts: 1, Delay: time.Hour, Reason: "no"}
	settle(store.Settlement{To: b.Next, Park: []store.Park{park}, Tally: append(boxtest.Tally(store.TallyDelivered, b.Records[1:]...), boxtest.Tally(store.TallyParked, b.Records[0])...)})
	if r := state(operations.ReplayRunning); r.Done < 0.6 || r.Done > 0.7 || r.Percent() != "66%" || r.Delivered != 2 {
		t.Errorf("with one of three messages that waits the replay is %s done: %+v", r.Percent(), r)
	}
	park.State = store.ParkDead
	settle(store.Settlement{Park: []store.Park{park}})
	if r := state(operations.ReplayDead); r.Percent() != "100%" {
		t.Errorf("through but for a dead message it is %s done", r.Percent())
	}
	if n, err := s.Command(t.Context(), audit(), again, store.Retry, []int64{park.Seq}); err != nil || n != 1 {
		t.Fatalf("%d commands: %v", n, err)
	}
	state(operations.ReplayRunning)
	r, err := s.EndReplay(context.WithoutCancel(t.Context()), audit(), again)
	if err != nil || !strings.HasPrefix(r.Summary(), "2 delivered, 0 left out, 0 discarded, 1 dead") {
		t.Errorf("ended, it is %+v: %v", r, err)
	}
	if _, err := s.EndReplay(t.Context(), audit(), again); !errors.Is(err, operations.ErrNotFound) {
		t.Errorf("ended once more: %v", err)
	}
}

func TestTheSummaryOfAReplayCountsWhatWasSuperseded(t *testing.T) {
	t.Parallel()
	r := operations.Replay{Delivered: 7, Filtered: 1, Superseded: 3}
	if got := r.Summary(); got != "7 delivered, 1 left out, 0 discarded, 3 superseded" {
		t.Errorf("the summary is %q", got)
	}
}

// laterFilter is a store with a subscription whose filter a later version wrote.
type laterFilter struct{ store.Inspector }

func (l laterFilter) Overview(ctx context.Context) (store.Overview, error) {
	o, err := l.Inspector.Overview(ctx)
	o.Boxes[0].Subscriptions[0].Types = []string{"a part of it"}
	o.Boxes[0].Subscriptions[0].Unreadable = errors.New("an unknown field")
	return o, err
}

func TestAFilterThatCannotBeReadIsSaidAndNotUsed(t *testing.T) {
	t.Parallel()
	s, _ := withDead(t, 5)
	s.Inspector = laterFilter{s.Inspector}
	_, err := s.PlanReplay(t.Context(), operations.ReplayChoice{Ref: boxtest.Outbox, Last: 2})
	if !errors.Is(err, operations.ErrInvalid) || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("a replay of it is planned: %v", err)
	}
	o, err := s.Look(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	d := &operations.Subscriptions(&o).Subscriptions[0]
	if d.Unreadable != "an unknown field" || len(d.Types) > 0 || d.Stored()[0].Value != store.ConditionUnreadable {
		t.Errorf("the subscription is shown as %+v", d)
	}
	status := operations.StatusOf(&o, nil)
	if one := &status.Boxes[0].Subscriptions[0]; one.Unreadable == "" || len(one.Types) > 0 || !strings.Contains(strings.Join(status.Troubles(), "\n"), "is unreadable: an unknown field") {
		t.Errorf("the status has %+v, and the troubles %q", one, status.Troubles())
	}
}
