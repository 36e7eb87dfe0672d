package operations_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

func TestASubscriptionIsPausedForAReason(t *testing.T) {
	t.Parallel()
	s, _ := withDead(t, 1)
	if err := s.SetPaused(t.Context(), store.Audit{Who: "an operator"}, boxtest.Outbox, true); !errors.Is(err, operations.ErrNoReason) {
		t.Errorf("without a reason: %v", err)
	}
	if err := s.SetPaused(t.Context(), audit(), store.Ref{Box: "outbox", Subscription: "none"}, true); !errors.Is(err, store.ErrNoSubscription) {
		t.Errorf("a subscription that is not there: %v", err)
	}
	for _, paused := range []bool{true, true, false} {
		if err := s.SetPaused(t.Context(), audit(), boxtest.Outbox, paused); err != nil {
			t.Fatal(err)
		}
		o, err := s.Look(t.Context(), boxtest.Outbox.Box)
		if err != nil || operations.StatusOf(&o, nil).Boxes[0].Subscriptions[0].Paused != paused {
			t.Errorf("the state after it: %+v, %v; want paused %v", o, err, paused)
		}
	}
	lines, err := s.AuditLog(t.Context(), 10)
	if err != nil || len(lines) != 3 || lines[0].What != "resume outbox/default" || lines[1].What != "pause outbox/default" {
		t.Errorf("the audit log says %+v: %v", lines, err)
	}
}

// alone is a store with a dead message and no relay.
func alone(t *testing.T) (operations.Store, *memstore.Store) {
	t.Helper()
	s, m := withDead(t, 1)
	o, err := s.Look(t.Context(), boxtest.Outbox.Box)
	for _, r := range o.Relays {
		_, left := m.Beat(t.Context(), store.Beat{Relay: r.ID, Leave: true})
		err = errors.Join(err, left)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, m
}

// beats makes a heartbeat of a relay that works the subscription.
func beats(t *testing.T, s *memstore.Store, name string, conditions ...store.Condition) {
	t.Helper()
	_, err := s.Beat(t.Context(), store.Beat{
		Relay: name, Name: name, New: true, TTL: time.Minute, Works: []store.Ref{boxtest.Outbox}, Conditions: conditions,
	})
	if err != nil {
		t.Fatal(err)
	}
}

func paused(scope store.PauseScope, value string) store.Pause {
	p := store.Pause{Ref: boxtest.Outbox, Scope: scope, Value: value}
	if scope == store.PauseDestination {
		p.Ref = store.Ref{}
	}
	return p
}

func TestPausesAreShownWhereverTheyHold(t *testing.T) {
	t.Parallel()
	s, m := alone(t)
	beats(t, m, "a", store.Condition{Ref: boxtest.Outbox, State: "closed", Destination: "kafka", Pauses: true})
	for _, p := range []store.Pause{paused(store.PauseTopic, "orders"), paused(store.PauseKey, "42")} {
		if notes, err := s.Pause(t.Context(), audit(), p, time.Hour); err != nil || len(notes) > 0 {
			t.Fatal(notes, err)
		}
	}
	status := func() operations.Subscription {
		o, err := s.Look(t.Context(), boxtest.Outbox.Box)
		if err != nil {
			t.Fatal(err)
		}
		v := operations.StatusOf(&o, nil).Boxes[0].Subscriptions[0]
		if d := operations.Subscriptions(&o).Subscriptions[0]; d.Paused != v.Paused || len(d.Pauses) != len(v.Pauses) {
			t.Errorf("the status has %d pauses, and the subscription by itself has %+v", len(v.Pauses), d)
		}
		return v
	}
	if v := status(); v.Paused || len(v.Pauses) != 2 || v.Pauses[0].Of() != "topic orders of outbox/default" || v.Pauses[0].Until == nil {
		t.Errorf("with two pauses of messages the status is %+v", v)
	}
	if notes, err := s.Pause(t.Context(), audit(), paused(store.PauseDestination, "kafka"), 0); err != nil || len(notes) > 0 {
		t.Fatal(notes, err)
	}
	if v := status(); !v.Paused || len(v.Pauses) != 3 {
		t.Errorf("with a pause of its destination the status is %+v", v)
	}
	all, err := s.Pauses(t.Context())
	if err != nil || len(all) != 3 || all[2].Scope != "destination" || all[2].Who != audit().Who || all[2].Ends() != "until it is resumed" {
		t.Errorf("the pauses are %+v, %v", all, err)
	}
	for _, p := range []store.Pause{paused(store.PauseTopic, "orders"), paused(store.PauseKey, "42"), paused(store.PauseDestination, "kafka")} {
		if err := s.Resume(t.Context(), audit(), p); err != nil {
			t.Error(err)
		}
		if err := s.Resume(t.Context(), audit(), p); !errors.Is(err, operations.ErrNotFound) {
			t.Errorf("what is not paused is resumed: %v", err)
		}
	}
	if v := status(); v.Paused || len(v.Pauses) > 0 {
		t.Errorf("after all is resumed the status is %+v", v)
	}
}

func TestADestinationThatNoRelayNamesIsPausedWithANote(t *testing.T) {
	t.Parallel()
	s, m := alone(t)
	beats(t, m, "a", store.Condition{Ref: boxtest.Outbox, State: "closed", Destination: "kafka", Pauses: true})
	notes, err := s.Pause(t.Context(), audit(), paused(store.PauseDestination, "kafak"), 0)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "no live relay calls its destination kafak") {
		t.Errorf("the notes are %q, %v", notes, err)
	}
}

// It would go on sending what is paused.
func TestNoMessagesArePausedBesideARelayOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	s, m := alone(t)
	beats(t, m, "new", store.Condition{Ref: boxtest.Outbox, State: "closed", Pauses: true})
	beats(t, m, "old", store.Condition{Ref: boxtest.Outbox, State: "closed"})
	for _, p := range []store.Pause{paused(store.PauseTopic, "orders"), paused(store.PauseDestination, "kafka")} {
		_, err := s.Pause(t.Context(), audit(), p, 0)
		if !errors.Is(err, operations.ErrInvalid) || !strings.Contains(err.Error(), "relay old is of an older version") {
			t.Errorf("a pause of the %s: %v", p.Scope, err)
		}
	}
	if _, err := s.Pause(t.Context(), audit(), paused(store.PauseSubscription, ""), time.Hour); err != nil {
		t.Errorf("a pause of the whole subscription: %v", err)
	}
	if err := s.Resume(t.Context(), audit(), paused(store.PauseSubscription, "")); err != nil {
		t.Errorf("and its end: %v", err)
	}
}

func TestAStoreWithoutPausesHoldsWholeSubscriptionsAlone(t *testing.T) {
	t.Parallel()
	s, _ := alone(t)
	s.Pauser = nil
	if _, err := s.Pause(t.Context(), audit(), paused(store.PauseSubscription, ""), 0); err != nil {
		t.Error(err)
	}
	if err := s.Resume(t.Context(), audit(), paused(store.PauseSubscription, "")); err != nil {
		t.Error(err)
	}
	for _, p := range []store.Pause{paused(store.PauseTopic, "orders"), paused(store.PauseSubscription, "")} {
		if _, err := s.Pause(t.Context(), audit(), p, time.Hour); !errors.Is(err, operations.ErrUnsupported) {
			t.Errorf("a pause of the %s with an end: %v", p.Scope, err)
		}
	}
}

func TestAPauseThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	s, _ := alone(t)
	past := paused(store.PauseTopic, "orders")
	past.Until = time.Now().Add(-time.Hour)
	for _, p := range []store.Pause{paused(store.PauseTopic, ""), paused("color", "red"), past} {
		if _, err := s.Pause(t.Context(), audit(), p, 0); !errors.Is(err, operations.ErrInvalid) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if _, err := s.Pause(t.Context(), store.Audit{Who: "x"}, paused(store.PauseTopic, "t"), 0); !errors.Is(err, operations.ErrNoReason) {
		t.Errorf("without a reason: %v", err)
	}
	if lines, err := s.AuditLog(t.Context(), 10); err != nil || len(lines) > 0 {
		t.Errorf("the audit log has %+v, %v", lines, err)
	}
}
