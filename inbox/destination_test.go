package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

type destinationOptions = inbox.DestinationOptions[*memstore.Tx]

// handling has the destination call f before the effect, with the message and the number of the call, from one. An error is the
// handler's.
func handling(w **shelf, f func(ctx context.Context, m *inbox.Message, call int) error) func(*destinationOptions) {
	var calls atomic.Int64
	return func(o *destinationOptions) {
		o.Handle = func(ctx context.Context, tx *memstore.Tx, m *inbox.Message) error {
			if err := f(ctx, m, int(calls.Add(1))); err != nil {
				return err
			}
			return (*w).keep(ctx, tx, m)
		}
	}
}

func delivery(key, payload string) broker.Delivery {
	return broker.Delivery{
		Message: postbag.Message{ID: postbag.NewID(), Topic: "orders", Key: key, Payload: []byte(payload)},
		Box:     "inbox", Subscription: "default", Seq: 1, At: time.Unix(1_700_000_000, 0), Attempt: 1,
	}
}

// gets fails the test unless m gets this outcome and error, or part of it.
func (w *shelf) gets(m broker.Delivery, want broker.Outcome, says string) {
	w.Helper()
	r := broker.Publish(w.Context(), w, []broker.Delivery{m})[0]
	if r.Outcome != want || r.Err == nil && says != "" || r.Err != nil && !strings.Contains(r.Err.Error(), says) {
		w.Errorf("the message is %v (%v), want %v and an error that says %q", r.Outcome, r.Err, want, says)
	}
}

// applied fails the test unless these payloads are applied.
func (w *shelf) applied(payloads ...string) {
	w.Helper()
	var got []string
	for _, m := range w.kept() {
		got = append(got, string(m.Payload))
	}
	if !slices.Equal(got, payloads) {
		w.Errorf("%v are applied, want %v", got, payloads)
	}
}

func TestADestinationNamesAllBadOptions(t *testing.T) {
	t.Parallel()
	_, err := inbox.NewDestination(destinationOptions{Timeout: -1})
	if err == nil {
		t.Fatal("it is made")
	}
	for _, says := range []string{"DestinationOptions.Store is nil", "DestinationOptions.Handle is nil", "DestinationOptions.Consumer", "DestinationOptions.Timeout is -1ns"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("the error does not say %q: %v", says, err)
		}
	}
}

func TestAHandlerThatFailsRejectsItsMessageAndLeavesNoMark(t *testing.T) {
	t.Parallel()
	var w *shelf
	w = newShelf(t, handling(&w, func(_ context.Context, _ *inbox.Message, call int) error {
		if call == 1 {
			return errors.New("no such customer")
		}
		return nil
	}))
	m := delivery("ann", "3 apples")
	w.gets(m, broker.Rejected, "no such customer")
	w.applied()
	w.gets(m, broker.Accepted, "")
	w.gets(m, broker.Accepted, "")
	w.applied("3 apples")
}

func TestAHandlerGetsTheMessageWithItsAttemptAndItsTime(t *testing.T) {
	t.Parallel()
	w := newShelf(t)
	m := delivery("ann", "3 apples")
	m.Attempt, m.Headers = 4, map[string]string{"content-type": "text/plain", "a": "b"}
	w.gets(m, broker.Accepted, "")
	got := w.kept()[0]
	a, _ := got.From.Headers.Get("a")
	if got.Attempt != 4 || got.ID != m.ID || got.Key != "ann" || got.From.Key != "ann" || !got.From.Time.Equal(m.At) ||
		got.From.ContentType != "text/plain" || a != "b" || got.From.MessageID != m.ID.String() {
		t.Errorf("the handler got %+v, which came as %+v", got, got.From)
	}
}

// A receiver marks what it stored, often under the same name and in the same database. The handler must not take that for its own.
func TestAMarkOfAReceiverOrAConsumerIsNoneOfADestination(t *testing.T) {
	t.Parallel()
	w := newShelf(t)
	m := delivery("ann", "3 apples")
	marks := newInbox(t, w.store)
	err := w.store.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
		_, err := marks.Once(ctx, tx, "billing", inbox.UUID(m.ID))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.gets(m, broker.Accepted, "")
	w.applied("3 apples")
}

func TestAnIDThatWasAppliedWithAnotherPayloadIsRejected(t *testing.T) {
	t.Parallel()
	w := newShelf(t)
	m := delivery("ann", "3 apples")
	w.gets(m, broker.Accepted, "")
	m.Payload = []byte("4 apples")
	w.gets(m, broker.Rejected, store.ErrOtherBytes.Error())
	w.applied("3 apples")
}

func TestWithSumOffAnotherPayloadIsARepeat(t *testing.T) {
	t.Parallel()
	w := newShelf(t, func(o *destinationOptions) { o.SumOff = true })
	m := delivery("ann", "3 apples")
	w.gets(m, broker.Accepted, "")
	m.Payload = []byte("4 apples")
	w.gets(m, broker.Accepted, "")
	w.applied("3 apples")
}

func TestWhatIsNoWholeMessageReachesNoHandler(t *testing.T) {
	t.Parallel()
	w := newShelf(t)
	m := delivery("ann", "3 apples")
	m.Headers = map[string]string{store.FaultHeader: "it has no id"}
	w.gets(m, broker.Rejected, store.FaultHeader)
	m = delivery("ann", "3 apples")
	m.ID = postbag.ID{}
	w.gets(m, broker.Rejected, "no id")
	w.applied()
}

type deadlockError string

func (s deadlockError) Error() string    { return "deadlock detected" }
func (s deadlockError) SQLState() string { return string(s) }

func TestADeadlockAndAnUnknownCommitRunAgainWithinTheCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var w *shelf
		w = newShelf(t, handling(&w, func(_ context.Context, m *inbox.Message, call int) error {
			w.mute.Store(call == 4)
			switch {
			case m.Attempt != 1:
				t.Errorf("the attempt is %d, want 1", m.Attempt)
			case call < 3:
				return fmt.Errorf("charge: %w", store.ErrAgain)
			case call == 3:
				return fmt.Errorf("charge: %w", deadlockError("40P01"))
			}
			return nil
		}))
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.gets(delivery("ann", "3 apples"), broker.Accepted, "")
		}()
		synctest.Wait()
		for !isClosed(done) {
			w.mute.Store(false) // once the answer of the fourth was lost
			select {
			case <-done:
			case <-time.After(time.Second):
			}
		}
		w.applied("3 apples")
	})
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestAnOutageOfTheDatabaseIsNoFaultOfAMessage(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]int{"before the handler": 0, "within the handler": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w *shelf
			w = newShelf(t, handling(&w, func(context.Context, *inbox.Message, int) error {
				w.down.Store(at == 1)
				return nil
			}))
			w.down.Store(at == 0)
			m := delivery("ann", "3 apples")
			w.gets(m, broker.Unavailable, errAway.Error())
			if err := w.Probe(t.Context()); broker.OutcomeOf(err) != broker.Unavailable {
				t.Errorf("in an outage Probe says %v", err)
			}
			w.down.Store(false)
			if err := w.Probe(t.Context()); err != nil {
				t.Errorf("after an outage Probe says %v", err)
			}
			w.applied()
		})
	}
}

func TestAHandlerMaySayThatWhatItNeedsIsAway(t *testing.T) {
	t.Parallel()
	w := newShelf(t)
	w.brokenTopic.Store("orders")
	r := broker.Publish(t.Context(), w, []broker.Delivery{delivery("ann", "3 apples")})[0]
	if r.Outcome != broker.Unavailable || r.Scope != broker.ScopeTopic {
		t.Errorf("the message is %v of the scope %v, want unavailable, topic", r.Outcome, r.Scope)
	}
}

func TestAPanicIsThatMessagesAlone(t *testing.T) {
	t.Parallel()
	log := &lines{}
	var w *shelf
	w = newShelf(t, func(o *destinationOptions) { o.Logger = slog.New(slog.NewTextHandler(log, nil)) },
		handling(&w, func(_ context.Context, m *inbox.Message, _ int) error {
			switch m.Key {
			case "bob":
				panic("the card number is 4711")
			case "cid":
				_ = m.Payload[len(m.Key):][0]
			}
			return nil
		}))
	msgs := []broker.Delivery{delivery("ann", "a"), delivery("bob", "b"), delivery("cid", "c"), delivery("dan", "d")}
	results := broker.Publish(t.Context(), w, msgs)
	for i, want := range []broker.Outcome{broker.Accepted, broker.Rejected, broker.Rejected, broker.Accepted} {
		if results[i].Outcome != want {
			t.Errorf("message %d is %v (%v), want %v", i, results[i].Outcome, results[i].Err, want)
		}
	}
	if text := results[1].Err.Error(); !strings.Contains(text, "panicked (string)") || strings.Contains(text, "4711") {
		t.Errorf("the error says %q, want the type of the panic's value and not the value", text)
	}
	if text := results[2].Err.Error(); !strings.Contains(text, "out of range") {
		t.Errorf("the error says %q, want what the runtime found", text)
	}
	if log.count("destination_test.go") == 0 || log.count("4711") > 0 {
		t.Error("the log has no stack, or it has the panic's value")
	}
}

func TestAHandlerThatEndsItsGoroutineEndsNoOther(t *testing.T) {
	t.Parallel()
	var w *shelf
	w = newShelf(t, handling(&w, func(_ context.Context, m *inbox.Message, _ int) error {
		if m.Key == "bob" {
			runtime.Goexit()
		}
		return nil
	}))
	results := broker.Publish(t.Context(), w, []broker.Delivery{delivery("bob", "b"), delivery("ann", "a")})
	if results[0].Outcome != broker.Unknown || results[0].Err == nil || results[1].Outcome != broker.Accepted {
		t.Errorf("the messages are %v (%v) and %v, want unknown and accepted", results[0].Outcome, results[0].Err, results[1].Outcome)
	}
	w.applied("a")
}

// The bound is that of the options, or comes before the end of the call, so that the relay counts an attempt.
func TestAHandlerThatTakesTooLongIsRejectedBeforeTheCallEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ timeout, call, want time.Duration }{
		{5 * time.Second, 30 * time.Second, 5 * time.Second},
		{0, 20 * time.Second, 18 * time.Second},
		{0, 2 * time.Minute, 30 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			var w *shelf
			w = newShelf(t, func(o *destinationOptions) { o.Timeout = c.timeout },
				handling(&w, func(ctx context.Context, _ *inbox.Message, _ int) error {
					<-ctx.Done()
					return nil
				}))
			ctx, cancel := context.WithTimeout(t.Context(), c.call)
			defer cancel()
			began := time.Now()
			r := broker.Publish(ctx, w, []broker.Delivery{delivery("ann", "3 apples")})[0]
			if took := time.Since(began); took != c.want || r.Outcome != broker.Rejected || !strings.Contains(r.Err.Error(), "took longer than "+c.want.String()) {
				t.Errorf("after %v the message is %v (%v), want rejected after %v", took, r.Outcome, r.Err, c.want)
			}
			w.applied()
		})
	}
}

// The first attempt met another transaction and took most of the call, so the second one has less time than a handler may take.
func TestAnAttemptThatTheCallCutsShortIsNotRejected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var w *shelf
		w = newShelf(t, handling(&w, func(ctx context.Context, _ *inbox.Message, call int) error {
			if call == 1 {
				select {
				case <-ctx.Done():
				case <-time.After(15 * time.Second):
				}
				return store.ErrAgain
			}
			<-ctx.Done()
			return ctx.Err()
		}))
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if r := broker.Publish(ctx, w, []broker.Delivery{delivery("ann", "3 apples")})[0]; r.Outcome != broker.Unknown {
			t.Errorf("the message is %v (%v), want unknown", r.Outcome, r.Err)
		}
	})
}

func TestAMessageWhoseCommitWasNotAnsweredBeforeAnOutageIsUnknown(t *testing.T) {
	t.Parallel()
	var w *shelf
	w = newShelf(t, handling(&w, func(context.Context, *inbox.Message, int) error {
		w.mute.Store(true)
		return nil
	}))
	w.onMute = func() { w.down.Store(true) }
	m := delivery("ann", "3 apples")
	w.gets(m, broker.Unknown, errAway.Error())
	w.down.Store(false)
	w.mute.Store(false)
	w.gets(m, broker.Accepted, "")
	w.applied("3 apples")
}

func TestACallThatIsGivenUpSaysNothingAgainstItsMessage(t *testing.T) {
	t.Parallel()
	var w *shelf
	ctx, cancel := context.WithCancel(t.Context())
	w = newShelf(t, handling(&w, func(ctx context.Context, _ *inbox.Message, _ int) error {
		cancel() // the relay stops
		<-ctx.Done()
		return ctx.Err()
	}))
	m := delivery("ann", "3 apples")
	if r := broker.Publish(ctx, w, []broker.Delivery{m})[0]; r.Outcome != broker.Unknown {
		t.Errorf("a message at work is %v (%v), want unknown", r.Outcome, r.Err)
	}
	if r := broker.Publish(ctx, w, []broker.Delivery{m})[0]; r.Outcome != broker.NotSent {
		t.Errorf("a message that did not begin is %v (%v), want not sent", r.Outcome, r.Err)
	}
	w.applied()
}

// A relay that was frozen may still be at work on a message that another one delivers.
func TestAMessageThatAnotherProcessIsAtWorkOnIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var w *shelf
		w = newShelf(t, func(o *destinationOptions) { o.Timeout = time.Second },
			handling(&w, func(context.Context, *inbox.Message, int) error { return nil }))
		m := delivery("ann", "3 apples")
		other, err := w.store.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		marks := newInbox(t, w.store)
		if _, err := marks.Once(t.Context(), other, "billing", inbox.MessageID("handled:inbox/default:")+inbox.UUID(m.ID)); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(5*time.Second, func() { _ = other.Rollback(context.Background()) })
		began := time.Now()
		w.gets(m, broker.Accepted, "")
		if took := time.Since(began); took < 5*time.Second {
			t.Errorf("it took %v, and another transaction had its mark for 5s", took)
		}
		w.applied("3 apples")
	})
}

func TestCloseEndsTheContextsOfHandlersThatItDoesNotWaitFor(t *testing.T) {
	t.Parallel()
	at := make(chan struct{})
	var w *shelf
	w = newShelf(t, handling(&w, func(ctx context.Context, _ *inbox.Message, _ int) error {
		close(at)
		<-ctx.Done()
		return ctx.Err()
	}))
	ended := make(chan broker.Result, 1)
	go func() { ended <- broker.Publish(context.Background(), w, []broker.Delivery{delivery("ann", "a")})[0] }()
	<-at
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Close(over); !errors.Is(err, context.Canceled) {
		t.Errorf("Close says %v, want that its context ended", err)
	}
	if r := <-ended; r.Outcome != broker.Unknown {
		t.Errorf("the message is %v (%v), want unknown", r.Outcome, r.Err)
	}
	if err := w.Close(t.Context()); err != nil {
		t.Errorf("a second Close says %v", err)
	}
	w.gets(delivery("ann", "b"), broker.NotSent, broker.ErrClosed.Error())
}

// working is a box whose messages a relay delivers to a handler over another database.
type working struct {
	*shelf

	box  *memstore.Store
	pub  *postbag.Publisher[*memstore.Tx]
	sent map[string]int
}

func newWorking(w *shelf) *working {
	w.Helper()
	b := &working{shelf: w, box: memstore.New(memstore.Options{}), sent: map[string]int{}}
	if err := b.box.CreateBox(w.Context(), "inbox"); err != nil {
		w.Fatal(err)
	}
	var err error
	if b.pub, err = postbag.NewPublisher(b.box, postbag.PublisherOptions{Box: "inbox"}); err != nil {
		w.Fatal(err)
	}
	return b
}

// publish stores n messages of each of these keys, numbered by key.
func (b *working) publish(n int, keys ...string) {
	b.Helper()
	err := b.pub.InTx(b.Context(), func(ctx context.Context, tx *memstore.Tx) error {
		for range n {
			for _, key := range keys {
				m := postbag.Message{Topic: "orders", Key: key, Payload: fmt.Appendf(nil, "%s-%d", key, b.sent[key])}
				if err := b.pub.Publish(ctx, tx, m); err != nil {
					return err
				}
				b.sent[key]++
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// run starts a relay, and returns what ends it.
func (b *working) run(change ...func(*relay.Subscription)) (stop func()) {
	b.Helper()
	sub := relay.Subscription{Box: "inbox", To: b.Destination, Retry: relay.Retry{Min: time.Millisecond, Max: 5 * time.Millisecond, MaxAttempts: 3}}
	for _, c := range change {
		c(&sub)
	}
	r, err := relay.New(b.box, relay.Options{Subscriptions: []relay.Subscription{sub}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			b.Errorf("Run: %v", err)
		}
	})
	b.Cleanup(stop)
	return stop
}

// awaits returns when n effects are there.
func (b *working) awaits(n int) {
	b.Helper()
	b.await(fmt.Sprintf("%d are applied", n), func() bool { return len(b.kept()) >= n })
}

func (b *working) await(what string, holds func() bool) {
	b.Helper()
	deadline := time.Now().Add(time.Minute)
	for !holds() {
		if time.Now().After(deadline) {
			b.Fatalf("not in a minute: %s; %d are applied", what, len(b.kept()))
		}
		pauseFor(b)
	}
}

// inOrder fails the test unless each message is applied once, those of a key in sequence.
func (b *working) inOrder() {
	b.Helper()
	next := map[string]int{}
	for _, m := range b.kept() {
		if want := fmt.Sprintf("%s-%d", m.Key, next[m.Key]); string(m.Payload) != want {
			b.Fatalf("%s is applied, want %s", m.Payload, want)
		}
		next[m.Key]++
	}
	for key, n := range b.sent {
		if next[key] != n {
			b.Errorf("of %s %d are applied, want %d", key, next[key], n)
		}
	}
}

// parked returns the messages of the box that are parked or dead.
func (b *working) parked(states ...store.State) (all []store.Item) {
	b.Helper()
	for _, state := range states {
		items, _, err := b.box.List(context.Background(), store.Query{Ref: store.Ref{Box: "inbox"}, State: state, Oldest: true, Limit: 1000})
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, items...)
	}
	return all
}

func TestARelayHasHandlersOfManyKeysRunSideBySideAndThoseOfOneInSequence(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	at := map[string]bool{}
	most := 0
	var w *shelf
	w = newShelf(t, handling(&w, func(_ context.Context, m *inbox.Message, _ int) error {
		mu.Lock()
		if at[m.Key] {
			t.Errorf("two handlers of key %s run at once", m.Key)
		}
		at[m.Key] = true
		most = max(most, len(at))
		mu.Unlock()
		pauseFor(t)
		mu.Lock()
		delete(at, m.Key)
		mu.Unlock()
		return nil
	}))
	b := newWorking(w)
	b.publish(10, "ann", "bob", "cid", "dan")
	b.run()
	b.awaits(40)
	b.inOrder()
	if most < 2 {
		t.Error("no two handlers ran at once")
	}
}

// away is a store that knows its outages. Of one that does not, an error is the handler's if the outage ends before the store
// is asked whether it works.
type away struct{ *memstore.Store }

func (away) Outage(err error) bool {
	return errors.Is(err, errAway) && !errors.Is(err, postbag.ErrCommitUnknown)
}

// Commits without an answer, deadlocks, outages, and relays that end at work: each message is applied once, and none is parked.
func TestRelaysThatAreReplacedApplyEachMessageOnceAndInOrder(t *testing.T) {
	t.Parallel()
	var w *shelf
	w = newShelf(t, func(o *destinationOptions) {
		o.Store = away{o.Store.(*memstore.Store)} //nolint:errcheck // newShelf has made it
	}, handling(&w, func(_ context.Context, m *inbox.Message, call int) error {
		if m.Attempt != 1 {
			t.Errorf("%s has attempt %d, want 1: nothing counts", m.Payload, m.Attempt)
		}
		w.mute.Store(call%7 == 0)
		w.down.Store(call%31 == 0)
		if call%5 == 0 {
			return store.ErrAgain
		}
		return nil
	}))
	b := newWorking(w)
	heals := time.NewTicker(20 * time.Millisecond)
	defer heals.Stop()
	over := make(chan struct{})
	var healer sync.WaitGroup
	healer.Go(func() {
		for {
			select {
			case <-heals.C:
				w.mute.Store(false)
				w.down.Store(false)
			case <-over:
				return
			}
		}
	})
	for range 5 {
		b.publish(10, "ann", "bob", "cid", "dan")
		stop := b.run()
		b.awaits(b.sent["ann"]*4 - 20)
		stop()
	}
	stop := b.run()
	b.awaits(200)
	stop()
	close(over)
	healer.Wait()
	b.inOrder()
	if parked := b.parked(store.StateRetrying, store.StateDead); len(parked) > 0 {
		t.Errorf("%d messages are parked", len(parked))
	}
}

func TestAHandlerThatPanicsRunsOutOfAttemptsAndHoldsUpItsKeyAlone(t *testing.T) {
	t.Parallel()
	var attempts atomic.Int64
	var w *shelf
	w = newShelf(t, func(o *destinationOptions) { o.Logger = slog.New(slog.DiscardHandler) },
		handling(&w, func(_ context.Context, m *inbox.Message, _ int) error {
			if string(m.Payload) == "bob-1" {
				attempts.Store(int64(m.Attempt))
				panic("no")
			}
			if m.Attempt != 1 {
				t.Errorf("%s has attempt %d, want 1", m.Payload, m.Attempt)
			}
			return nil
		}))
	b := newWorking(w)
	b.publish(5, "ann", "bob", "cid", "dan")
	b.run()
	b.await("one is dead", func() bool { return len(b.parked(store.StateDead)) == 1 })
	b.awaits(16)
	b.sent["bob"] = 1
	b.inOrder()
	if n := attempts.Load(); n != 3 {
		t.Errorf("its last attempt was %d, want 3", n)
	}
}

// What no box could hold as it is comes out of the store with its fault.
func TestAMessageThatWasStoredWithAFaultReachesNoHandler(t *testing.T) {
	t.Parallel()
	w := newShelf(t)
	b := newWorking(w)
	err := b.box.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
		return b.box.Append(ctx, tx, "inbox", []postbag.Message{{
			ID: postbag.NewID(), Topic: "orders", Key: "eve", Headers: map[string]string{store.FaultHeader: "it has no id"},
		}})
	})
	if err != nil {
		t.Fatal(err)
	}
	b.publish(2, "ann")
	b.run()
	b.awaits(2)
	b.await("it is dead", func() bool { return len(b.parked(store.StateDead)) == 1 })
	b.inOrder()
}
