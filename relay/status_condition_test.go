package relay_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// count says how many lines hold a text.
func (l *lines) count(text string) int { return len(l.with(text)) }

func (l *lines) String() string { return strings.Join(l.with(""), "") }

// logged runs a relay that writes its log to lines, until the test ends it.
func (w *world) logged(s store.Store, o relay.Options) (log *lines, r *relay.Relay, stop func()) {
	w.t.Helper()
	log = &lines{}
	o.Logger = slog.New(slog.NewTextHandler(log, nil))
	if o.Subscriptions == nil {
		o.Subscriptions = []relay.Subscription{{To: w.to}}
	}
	r, err := relay.New(s, o)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	return log, r, func() {
		w.t.Helper()
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("Run: %v", err)
		}
	}
}

// shown returns the condition that the store shows of the only relay's only
// subscription.
func (w *world) shown() store.Condition {
	w.t.Helper()
	o, err := w.store.Overview(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if len(o.Relays) != 1 || len(o.Relays[0].Conditions) != 1 {
		w.t.Fatalf("%d relays are shown: %+v", len(o.Relays), o.Relays)
	}
	return o.Relays[0].Conditions[0]
}

// Somebody who looked at a store saw that messages waited, and not for what.
func TestTheConditionOfADestinationIsInTheHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		_, _, stop := w.logged(w.store, relay.Options{})
		w.publish(10, 3)
		<-time.After(10 * time.Second)
		if c := w.shown(); c.State != "closed" || c.Error != "" || c.Since < 5*time.Second || c.Unsettled != 0 {
			t.Errorf("while messages flow the condition is %+v", c)
		}
		w.to.SetDown(true)
		w.publish(10, 3)
		<-time.After(2 * time.Second)
		if c := w.shown(); c.State == "closed" || c.Error == "" || c.Since > 2*time.Second {
			t.Errorf("two seconds after it went down the condition is %+v", c)
		}
		<-time.After(30 * time.Second)
		if c := w.shown(); c.State == "closed" || c.Since < 25*time.Second {
			t.Errorf("half a minute after it went down the condition is %+v", c)
		}
		w.to.SetDown(false)
		<-time.After(8 * time.Second)
		if c := w.shown(); c.State != "closed" || c.Error != "" {
			t.Errorf("after it came back the condition is %+v", c)
		}
		stop()
	})
}

// A destination that answers probes and refuses messages was said to take messages
// again after each probe: 34 lines in 100 seconds, and each a lie.
func TestAnOutageEndsOnlyWhenAMessageIsAccepted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var beats, refuses atomic.Int64
		refuses.Store(1)
		w := newWorld(t, memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
			if op == memstore.OpBeat {
				beats.Add(1)
			}
			return memstore.Fault{}
		}}, membroker.Options{Decide: func(broker.Delivery, int) membroker.Act {
			if refuses.Load() == 1 {
				return membroker.Fail(broker.Unavailable, "503")
			}
			return membroker.Act{}
		}})
		log, r, stop := w.logged(w.store, relay.Options{})
		w.publish(10, 3)
		<-time.After(50 * time.Second)
		if n := log.count("takes messages again"); n > 0 {
			t.Errorf("while it refuses all of them it is said to take messages again %d times:\n%s", n, log)
		}
		if n := log.count("does not take messages; waiting"); n != 1 {
			t.Errorf("it is said to be down %d times, not once:\n%s", n, log)
		}
		if s := of(r); s.Circuit == "closed" {
			t.Errorf("its circuit is %q", s.Circuit)
		}
		if n := beats.Load(); n > 20 {
			t.Errorf("%d heartbeats in 50 s, of a destination whose state changed once", n)
		}
		refuses.Store(0)
		<-time.After(10 * time.Second)
		if n := log.count("takes messages again"); n != 1 {
			t.Errorf("once it took them it is said to take messages again %d times, not once:\n%s", n, log)
		}
		stop()
	})
}

// The log gave the error of a message that was rejected beside it as the reason of an outage.
func TestAnOutageIsNotBlamedOnAMessageThatWasRejectedBesideIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(d broker.Delivery, _ int) membroker.Act {
			if d.Topic == "odd" {
				return membroker.Fail(broker.Rejected, "too odd")
			}
			return membroker.Fail(broker.Unavailable, "503")
		}})
		w.publishTo(4, 4, func(k, _ int) string { return map[bool]string{true: "odd", false: "t"}[k == 0] })
		log, _, stop := w.logged(w.store, relay.Options{})
		<-time.After(2 * time.Second)
		if said := log.with("does not take messages; waiting"); len(said) != 1 || !strings.Contains(said[0], "503") {
			t.Errorf("the log does not say why the destination is away: %q", said)
		}
		if c := w.shown(); !strings.Contains(c.Error, "503") {
			t.Errorf("the status says that it is away since %q", c.Error)
		}
		stop()
	})
}

// countsFirst is a destination for which attempts are counted before calls.
type countsFirst struct{ broker.Destination }

func (d countsFirst) Features() broker.Features {
	f := d.Destination.Features()
	f.CountsFirst = true
	return f
}

// Probe answers as one that works: messages alone tell.
func (countsFirst) Probe(context.Context) error { return nil }

// Messages whose attempts are counted first wait in rows, and none is in hand. The log told each time that nothing waited.
func TestADestinationThatIsDownIsToldOfOnceIfItsMessagesWaitInRows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var refuses atomic.Bool
		refuses.Store(true)
		w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(broker.Delivery, int) membroker.Act {
			if refuses.Load() {
				return membroker.Fail(broker.Unavailable, "503")
			}
			return membroker.Act{}
		}})
		log, _, stop := w.logged(w.store, relay.Options{Subscriptions: []relay.Subscription{{To: countsFirst{w.to}}}})
		w.publish(10, 3)
		<-time.After(50 * time.Second)
		if down, idle := log.count("does not take messages; waiting"), log.count("nothing waits"); down != 1 || idle != 0 {
			t.Errorf("it is said to be down %d times, and that nothing waits %d times:\n%s", down, idle, log)
		}
		refuses.Store(false)
		<-time.After(10 * time.Second)
		if n := log.count("takes messages again"); n != 1 {
			t.Errorf("once it took them it is said to take messages again %d times, not once:\n%s", n, log)
		}
		stop()
	})
}

// A full disk of one table, or one message that asks for too much: others are accepted between its failures.
func TestADestinationThatFailsForOneMessageAndTakesOthersDoesNotFloodTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var fails atomic.Int64
		w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(d broker.Delivery, _ int) membroker.Act {
			if d.Topic == "odd" {
				fails.Add(1)
				return membroker.Fail(broker.Unavailable, "507")
			}
			return membroker.Act{}
		}})
		log, _, stop := w.logged(w.store, relay.Options{Subscriptions: []relay.Subscription{{To: countsFirst{w.to}}}})
		w.publishOne("odd", "odd")
		for range 1800 {
			w.publish(1, 1)
			<-time.After(100 * time.Millisecond)
		}
		down, up := log.count("does not take messages; waiting"), log.count("takes messages again")
		if fails.Load() < 20 || down < 2 || down > 5 || up > down || up < down-1 {
			t.Errorf("in 3 minutes it failed %d times, and is said to be down %d times, and up %d times:\n%s", fails.Load(), down, up, log)
		}
		stop()
	})
}

// Its status was that of an outage for a minute, though nothing was left to wait for its end.
func TestAnOutageIsOverAtOnceIfItsOnlyMessageInARowIsDiscarded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(broker.Delivery, int) membroker.Act {
			return membroker.Fail(broker.Unavailable, "503")
		}})
		log, _, stop := w.logged(w.store, relay.Options{Subscriptions: []relay.Subscription{{To: countsFirst{w.to}}}})
		w.publish(1, 1)
		<-time.After(5 * time.Second)
		if n, err := w.store.Command(t.Context(), store.Audit{Who: "a", Why: "b"}, w.overview().Ref, store.Discard, []int64{1}); err != nil || n != 1 {
			t.Fatalf("discard: %d, %v", n, err)
		}
		<-time.After(20 * time.Second)
		if n := log.count("nothing waits"); n != 1 {
			t.Errorf("twenty seconds after its message was discarded the log says %d times that nothing waits:\n%s", n, log)
		}
		if c := w.shown(); c.State != "closed" || c.Error != "" {
			t.Errorf("twenty seconds after its message was discarded the condition is %+v", c)
		}
		stop()
	})
}
