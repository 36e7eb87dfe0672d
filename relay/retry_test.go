package relay_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

var errTooLarge = errors.New("too large")

// refusing rejects each message but those of type "good", with an error of its payload.
type refusing struct{ broker.Destination }

func (d refusing) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	for i := range msgs {
		switch m := &msgs[i]; {
		case m.Type == "good":
			d.Destination.Publish(ctx, msgs[i:i+1], func(_ int, r broker.Result) { report(i, r) })
		case string(m.Payload) == "large":
			report(i, broker.Result{Outcome: broker.Rejected, Err: fmt.Errorf("send: %w", errTooLarge)})
		default:
			report(i, broker.Result{Outcome: broker.Rejected, Err: errors.New("no")})
		}
	}
}

// typed publishes a message of a type.
func (w *world) typed(typ, payload string) {
	w.t.Helper()
	err := w.pub.InTx(w.t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
		return w.pub.Publish(ctx, tx, postbag.Message{Topic: "t", Type: typ, Payload: []byte(payload)})
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// deadOnes returns what is dead: attempts and the last error, by type and payload.
func (w *world) deadOnes() map[string]string {
	w.t.Helper()
	items, _, err := w.store.List(w.t.Context(), store.Query{Ref: store.Ref{Box: "outbox", Subscription: "default"}, State: store.StateDead})
	if err != nil {
		w.t.Fatal(err)
	}
	out := make(map[string]string)
	for i := range items {
		out[items[i].Type+" "+string(items[i].Payload)] = fmt.Sprintf("%d: %s", items[i].Attempts, items[i].Reason)
	}
	return out
}

// during runs a relay in fake time for a while.
func (w *world) during(d time.Duration, s relay.Subscription) {
	w.t.Helper()
	stop := w.run(w.relay(relay.Options{Subscriptions: []relay.Subscription{s}}))
	<-time.After(d)
	stop()
}

func TestTheFirstRuleOfRetriesThatFitsTypeAndErrorHolds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		for _, m := range []string{"order.paid large", "order.paid small", "invoice large", "invoice small", "orders small"} {
			typ, payload, _ := strings.Cut(m, " ")
			w.typed(typ, payload)
		}
		w.during(time.Hour, relay.Subscription{
			To:       refusing{w.to},
			OnReject: relay.Skip,
			Retry:    relay.Retry{Pauses: []time.Duration{time.Second}, MaxAttempts: 5},
			Retries: []relay.RetryRule{
				{Types: []string{"order.*"}, Errors: func(err error) bool { return errors.Is(err, errTooLarge) }, Retry: relay.Retry{MaxAttempts: 1}},
				{Types: []string{"order.*"}, Retry: relay.Retry{MaxAttempts: 3}},
				{Errors: func(err error) bool { return errors.Is(err, errTooLarge) }, Retry: relay.Retry{MaxAttempts: 2}},
			},
		})
		for message, want := range map[string]string{
			"order.paid large": "1: send: too large", "order.paid small": "3: no", "invoice large": "2: send: too large", "invoice small": "5: no", "orders small": "5: no",
		} {
			if got := w.deadOnes()[message]; got != want {
				t.Errorf("%s is dead after %q, want %q", message, got, want)
			}
		}
	})
}

func TestAMaxOfARuleBoundsTheMinThatItDoesNotSay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		w.typed("bad", "small")
		w.during(10*time.Second, relay.Subscription{
			To:      refusing{w.to},
			Retry:   relay.Retry{Min: time.Minute, MaxAttempts: 3},
			Retries: []relay.RetryRule{{Types: []string{"bad"}, Retry: relay.Retry{Max: time.Second}}},
		})
		if got := w.deadOnes()["bad small"]; got != "3: no" {
			t.Errorf("it is dead after %q, want three attempts", got)
		}
	})
}

func TestAClassifierEndsAMessageAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		w.typed("bad", "large")
		w.typed("bad", "small")
		w.during(time.Second, relay.Subscription{To: refusing{w.to}, Classify: func(err error) broker.Class {
			if errors.Is(err, errTooLarge) {
				return broker.ClassDead
			}
			return broker.ClassKeep
		}})
		if got := w.deadOnes(); len(got) != 1 || got["bad large"] != "1: send: too large" {
			t.Errorf("dead are %v, want the large one after one attempt", got)
		}
	})
}

func TestAClassifierOrARuleThatPanicsChangesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		w.typed("bad", "small")
		w.during(time.Hour, relay.Subscription{
			To: refusing{w.to}, Retry: relay.Retry{Pauses: []time.Duration{time.Second}, MaxAttempts: 3},
			Retries:  []relay.RetryRule{{Errors: func(error) bool { panic("a rule") }, Retry: relay.Retry{MaxAttempts: 1}}},
			Classify: func(error) broker.Class { panic("a classifier") },
		})
		if got := w.deadOnes()["bad small"]; got != "3: no (and Classify panicked: string)" {
			t.Errorf("it is dead after %q, want three attempts", got)
		}
	})
}

func TestAMessageThatIsTooOldIsDeadUntilAnOperatorRetriesIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		var dead []string
		s := relay.Subscription{OnReject: relay.Skip, Retry: relay.Retry{MaxAge: time.Minute}, OnDead: func(d relay.Dead) {
			dead = append(dead, fmt.Sprintf("%s %d %s %d", d.Message.Payload, d.Seq, d.Reason[:7], d.Attempts))
			panic("the alarm is broken")
		}}
		w.typed("good", "old")
		<-time.After(time.Minute)
		w.typed("good", "new")
		w.during(10*time.Second, s)
		if got := w.deadOnes(); len(got) != 1 || !strings.HasPrefix(got["good old"], "0: expired") {
			t.Fatalf("dead are %v, want the old one", got)
		}
		if len(dead) != 1 || dead[0] != "old 1 expired 0" {
			t.Fatalf("OnDead was told of %q, want the old one", dead)
		}
		if all := w.to.First(); len(all) != 1 || string(all[0].Payload) != "new" {
			t.Fatalf("%d messages were delivered, want the new one", len(all))
		}
		audit := store.Audit{Who: "anna", Why: "it matters yet"}
		if n, err := w.store.Command(t.Context(), audit, store.Ref{Box: "outbox", Subscription: "default"}, store.Retry, []int64{1}); n != 1 || err != nil {
			t.Fatalf("%d commands are queued: %v", n, err)
		}
		w.during(10*time.Second, s)
		if all := w.to.First(); len(all) != 2 || string(all[1].Payload) != "old" {
			t.Errorf("%d messages were delivered, want the old one too", len(all))
		}
	})
}

func TestRetriesThatCannotBeMeantAreRefused(t *testing.T) {
	t.Parallel()
	pause := []time.Duration{time.Second}
	for expected, s := range map[string]relay.Subscription{
		"Retry.MaxAge is -1s; choose 0 (no limit)":                          {Retry: relay.Retry{MaxAge: -time.Second}},
		"Retry.MaxAge is 1µs":                                               {Retry: relay.Retry{MaxAge: time.Microsecond}},
		"Retry has Pauses and Min, Max or Factor":                           {Retry: relay.Retry{Min: time.Second, Pauses: pause}},
		"Retry.Pauses[1] is -1s":                                            {Retry: relay.Retry{Pauses: []time.Duration{0, -time.Second}}},
		"Retry has 101 Pauses; choose 100 at most":                          {Retry: relay.Retry{Pauses: make([]time.Duration, 101)}},
		"Retry waits from 1s to 1ms":                                        {Retry: relay.Retry{Min: time.Second, Max: time.Millisecond}},
		"Retry.Factor is 0.5":                                               {Retry: relay.Retry{Factor: 0.5}},
		"Retry.Factor is NaN":                                               {Retry: relay.Retry{Factor: math.NaN()}},
		"Retry.MaxAttempts is -1":                                           {Retry: relay.Retry{MaxAttempts: -1}},
		"Retry.Quick is 1001":                                               {Retry: relay.Retry{Quick: 1001}},
		"Retries[0].Retry.MaxAttempts is -1":                                {Retries: []relay.RetryRule{{Retry: relay.Retry{MaxAttempts: -1}}}},
		"Retries[0].Types: entry 1 is no type":                              {Retries: []relay.RetryRule{{Types: []string{"*"}}}},
		"Retries[0] is for all messages and errors, so the rules behind it": {Retries: []relay.RetryRule{{}, {Types: []string{"a"}}}},
		"Retries has 101 rules":                                             {Retries: make([]relay.RetryRule, 101)},
	} {
		s.To = membroker.Null()
		_, err := relay.New(memstore.New(memstore.Options{}), relay.Options{Subscriptions: []relay.Subscription{s}})
		if err == nil || !strings.Contains(err.Error(), expected) {
			t.Errorf("the error is %v, want one with %q", err, expected)
		}
	}
}
