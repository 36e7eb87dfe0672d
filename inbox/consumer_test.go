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
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// consuming is a consumer at work between a broker and a store, both in memory. What its handler does is a message in the box
// "inbox", with key and payload of the one that it got: it is there if the transaction committed.
type consuming struct {
	*receiving

	c       *inbox.Consumer[*memstore.Tx]
	effects *postbag.Publisher[*memstore.Tx]
	src     *memsource.Source
}

type consumerOptions = inbox.ConsumerOptions[*memstore.Tx]

// consume starts a consumer. The test ends it.
func consume(tb testing.TB, from memsource.Options, to memstore.Options, change ...func(*consuming, *consumerOptions)) *consuming {
	tb.Helper()
	w := &consuming{receiving: &receiving{TB: tb, broker: memsource.New(from), store: memstore.New(to), log: &lines{}}}
	for _, box := range []string{"inbox", "aside"} {
		if err := w.store.CreateBox(tb.Context(), box); err != nil {
			tb.Fatal(err)
		}
		if err := w.store.Declare(tb.Context(), []store.Spec{{Ref: store.Ref{Box: box, Subscription: "worker"}, Shards: 1}}); err != nil {
			tb.Fatal(err)
		}
	}
	var err error
	if w.effects, err = postbag.NewPublisher(w.store, postbag.PublisherOptions{Box: "inbox"}); err != nil {
		tb.Fatal(err)
	}
	w.begin(change...)
	return w
}

// begin starts a consumer, another one if there was one.
func (w *consuming) begin(change ...func(*consuming, *consumerOptions)) {
	w.Helper()
	w.src = w.broker.Join("billing")
	o := consumerOptions{
		Store: w.store, Source: w.src, Handle: w.apply, Consumer: "billing", Box: "aside",
		Retry:  inbox.Retry{Min: time.Millisecond, Max: 10 * time.Millisecond},
		Logger: slog.New(slog.NewTextHandler(w.log, nil)),
		OnError: func(err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.errs = append(w.errs, err)
		},
	}
	for _, c := range change {
		c(w, &o)
	}
	var err error
	if w.c, err = inbox.NewConsumer(o); err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.Context())
	w.ended = make(chan error, 1)
	go func(c *inbox.Consumer[*memstore.Tx], ended chan<- error) { ended <- c.Run(ctx) }(w.c, w.ended)
	w.stop = sync.OnceFunc(cancel)
	w.Cleanup(w.stop)
}

// apply is the effect of a message.
func (w *consuming) apply(ctx context.Context, tx *memstore.Tx, m *inbox.Message) error {
	return w.effects.Publish(ctx, tx, postbag.Message{Key: m.Key, Payload: m.Payload})
}

// handle has the consumer call f before the effect, with the message and the number of the call, from one. An error is the handler's.
func handle(f func(ctx context.Context, m *inbox.Message, call int) error) func(*consuming, *consumerOptions) {
	var calls atomic.Int64
	return func(w *consuming, o *consumerOptions) {
		o.Handle = func(ctx context.Context, tx *memstore.Tx, m *inbox.Message) error {
			if err := f(ctx, m, int(calls.Add(1))); err != nil {
				return err
			}
			return w.apply(ctx, tx, m)
		}
	}
}

func options(f func(o *consumerOptions)) func(*consuming, *consumerOptions) {
	return func(_ *consuming, o *consumerOptions) { f(o) }
}

// applied fails the test unless the effects are those of these payloads, in this sequence.
func (w *consuming) applied(payloads ...string) {
	w.Helper()
	var got []string
	for _, it := range w.in("inbox") {
		got = append(got, string(it.Payload))
	}
	if !slices.Equal(got, payloads) {
		w.Errorf("%v are applied, not %v", got, payloads)
	}
}

// await returns when a condition holds.
func (w *consuming) await(what string, holds func() bool) {
	w.Helper()
	deadline := time.Now().Add(time.Minute)
	for !holds() {
		if time.Now().After(deadline) {
			w.Fatalf("not in a minute: %s; it counted %+v", what, w.c.Stats())
		}
		pauseFor(w)
	}
}

func of(key, payload string) source.Message {
	return source.Message{Key: key, Payload: []byte(payload), MessageID: payload}
}

// A handler that publishes what it got must not pass on what a sender wants of its transport.
func TestAHandlerSeesPropertiesOfATransportOnlyInTheMessageAsItCame(t *testing.T) {
	t.Parallel()
	w := consume(t, partitions, memstore.Options{}, handle(func(_ context.Context, m *inbox.Message, _ int) error {
		_, came := m.From.Headers.Get("nats.ttl")
		if _, given := m.Headers["nats.ttl"]; given || !came || m.Headers["own"] != "x" {
			return fmt.Errorf("it has the headers %v", m.Headers)
		}
		return nil
	}))
	m := of("a", "1")
	m.Headers = headers("nats.ttl", "1s", "own", "x")
	w.publish(m)
	w.acked()
	w.applied("1")
}

func TestAConsumerAppliesAMessageThatIsDeliveredAgainOnceAndInOrder(t *testing.T) {
	t.Parallel()
	w := consume(t, partitions, memstore.Options{}, options(func(o *consumerOptions) { o.Messages = 30 }))
	w.loseAcks(func() {
		for n := range 10 {
			w.publish(numbered(40*n, 40*n+40)...)
			w.broker.Rebalance("billing")
		}
		w.await("400 are applied", func() bool { return w.c.Stats().Applied >= 400 })
	})
	if s := w.c.Stats(); s.Applied != 400 || s.Parked != 0 || s.Failed != 0 {
		t.Errorf("it counted %+v", s)
	}
	w.begin()
	w.acked()
	w.inOrder(400)
	w.end()
	if s := w.c.Stats(); s.Applied != 0 || s.Repeated != 400 {
		t.Errorf("of 400 messages that come again it counted %+v", s)
	}
}

func TestConsumersThatAreReplacedApplyEachMessageOnceAndInOrder(t *testing.T) {
	t.Parallel()
	w := consume(t, partitions, memstore.Options{})
	for n := range 10 {
		w.publish(numbered(30*n, 30*n+30)...)
		w.end()
		w.begin()
	}
	w.acked()
	w.inOrder(300)
	w.end()
}

// Two that work at once on what moves between them apply each message once, and those of a key in sequence.
func TestTwoConsumersBetweenWhichPartitionsMoveKeepTheOrder(t *testing.T) {
	t.Parallel()
	w := consume(t, partitions, memstore.Options{})
	first, stop := w.ended, w.stop
	w.begin()
	for n := range 20 {
		w.publish(numbered(30*n, 30*n+30)...)
		w.broker.Rebalance("billing")
	}
	w.acked()
	w.inOrder(600)
	stop()
	w.stop()
	if err := errors.Join(<-first, <-w.ended); err != nil {
		t.Errorf("they ended with %v", err)
	}
}

func TestMessagesOfOneKeyRunOneAfterAnotherAndThoseOfOthersSideBySide(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	running := map[string]int{}
	together := make(chan struct{}) // closed when four run
	w := consume(t, partitions, memstore.Options{}, options(func(o *consumerOptions) { o.Concurrency = 4 }),
		handle(func(ctx context.Context, m *inbox.Message, _ int) error {
			mu.Lock()
			running[m.Key]++
			if running[m.Key] > 1 {
				t.Errorf("two of %s run at once", m.Key)
			}
			switch len(running) {
			case 4:
				select {
				case <-together:
				default:
					close(together)
				}
			case 5:
				t.Error("five run at once, and four are allowed")
			}
			mu.Unlock()
			select {
			case <-together:
			case <-ctx.Done():
			}
			mu.Lock()
			defer mu.Unlock()
			if running[m.Key]--; running[m.Key] == 0 {
				delete(running, m.Key)
			}
			return nil
		}))
	w.publish(numbered(0, 200)...)
	w.acked()
	w.inOrder(200)
	w.end()
}

func TestMessagesWithoutAKeyRunSideBySide(t *testing.T) {
	t.Parallel()
	both := make(chan struct{}, 2)
	w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, handle(func(ctx context.Context, _ *inbox.Message, _ int) error {
		both <- struct{}{}
		for len(both) < 2 && ctx.Err() == nil {
			pauseFor(t)
		}
		return nil
	}))
	w.publish(of("", "a"), of("", "b"))
	w.acked()
	w.end()
}

func TestAMessageThatFailsIsTriedAgainAfterItsBackOffAndHoldsUpOnlyItsKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		begun := time.Now()
		w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, options(func(o *consumerOptions) {
			o.Retry, o.Concurrency = inbox.Retry{Min: 4 * time.Second, Max: 10 * time.Second}, 1
		}), handle(func(_ context.Context, m *inbox.Message, _ int) error {
			if string(m.Payload) != "bad" {
				return nil
			}
			if at = append(at, time.Since(begun)); len(at) != m.Attempt {
				t.Errorf("attempt %d says that it is %d", len(at), m.Attempt)
			}
			if len(at) < 5 {
				return errors.New("not yet")
			}
			return nil
		}))
		w.publish(of("a", "bad"), of("b", "b1"), of("a", "a2"), of("b", "b2"))
		synctest.Wait()
		w.applied("b1", "b2")
		w.acked()
		w.applied("b1", "b2", "bad", "a2")
		for i, most := range []time.Duration{4 * time.Second, 8 * time.Second, 10 * time.Second, 10 * time.Second} {
			if wait := at[i+1] - at[i]; wait < most/2 || wait > most {
				t.Errorf("after attempt %d it waited %s, not %s or a little less", i+1, wait, most)
			}
		}
		if s := w.c.Stats(); s.Failed != 4 || s.Applied != 4 || s.Parked != 0 {
			t.Errorf("it counted %+v", s)
		}
		if w.log.count("a message failed; it is tried again") != 1 || w.log.count("place=memory/0@0") != 1 || w.log.count("a message that had failed is applied") != 1 || w.failures() != 4 {
			t.Errorf("it does not say once that the message fails, and once that it is applied; errors: %v", w.errs)
		}
		w.end()
	})
}

func TestAMessageWhoseAttemptsAreUsedUpIsParkedAndItsKeyGoesOn(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, options(func(o *consumerOptions) { o.Retry.MaxAttempts = 3 }),
		handle(func(_ context.Context, m *inbox.Message, _ int) error {
			if string(m.Payload) == "bad" {
				calls.Add(1)
				return errors.New("no such account")
			}
			return nil
		}))
	w.loseAcks(func() {
		w.publish(of("a", "bad"), of("a", "good"))
		w.await("both are over", func() bool { s := w.c.Stats(); return s.Applied+s.Parked == 2 })
	})
	w.begin()
	w.acked()
	w.applied("good")
	parked := w.in("aside")
	if len(parked) != 1 || parked[0].Err != nil || string(parked[0].Payload) != "bad" || parked[0].Key != "a" {
		t.Fatalf("parked are %+v", parked)
	}
	if why := failed(parked[0]); !strings.Contains(why, "3 attempts") || !strings.Contains(why, "no such account") {
		t.Errorf("the reason is %q", why)
	}
	if n := calls.Load(); n != 3 {
		t.Errorf("it was tried %d times, not 3", n)
	}
	if w.log.count("a message was parked") != 1 || w.log.count("place=memory/0@0") == 0 {
		t.Error("the log does not say once that it is parked")
	}
	w.end()
	if s := w.c.Stats(); s.Repeated != 2 || s.Parked != 0 {
		t.Errorf("of two messages that came again it counted %+v", s)
	}
}

func TestWithoutABoxRunEndsWithAnErrorThatNamesTheMessage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   source.Message
		says string
	}{
		"the handler fails": {of("a", "bad"), "no such account"},
		"undecodable":       {source.Message{Key: "a", MessageID: "x", Err: source.ErrUndecodable}, "cannot be decoded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, options(func(o *consumerOptions) {
				o.Retry.MaxAttempts, o.Box = 3, ""
			}), handle(func(_ context.Context, m *inbox.Message, _ int) error {
				if string(m.Payload) == "bad" {
					return errors.New("no such account")
				}
				return nil
			}))
			w.publish(of("a", "before"), c.in, of("a", "behind"))
			err := <-w.ended
			for _, part := range []string{c.says, "memory/0@1", "ConsumerOptions.Box"} {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("Run returned %v, without %q", err, part)
				}
			}
			w.applied("before")
			if n := w.broker.Unacked("billing"); n != 2 || len(w.in("aside")) != 0 {
				t.Errorf("%d messages are not acknowledged, not 2, and parked are %v", n, w.in("aside"))
			}
		})
	}
}

func TestAMessageThatIsNotWholeIsParkedWithoutCallingTheHandler(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   source.Message
		says string
	}{
		"undecodable":   {source.Message{MessageID: "x", Payload: []byte("x"), Err: source.ErrUndecodable}, "cannot be decoded"},
		"without an id": {source.Message{Payload: []byte("x")}, "has no id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := consume(t, memsource.Options{Order: source.OrderStream, NoPlaces: true}, memstore.Options{})
			w.publish(of("a", "before"), c.in, of("a", "behind"))
			w.acked()
			w.applied("before", "behind")
			if parked := w.in("aside"); len(parked) != 1 || parked[0].Err == nil || !strings.Contains(parked[0].Err.Error(), c.says) {
				t.Errorf("parked are %+v", parked)
			}
			w.end()
		})
	}
}

func TestAnotherPayloadWithAnIDThatWasAppliedIsParked(t *testing.T) {
	t.Parallel()
	w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{})
	w.publish(of("a", "one"), source.Message{Key: "a", MessageID: "one", Payload: []byte("another")}, of("a", "one"))
	w.acked()
	w.applied("one")
	if parked := w.in("aside"); len(parked) != 1 || string(parked[0].Payload) != "another" || !strings.Contains(fmt.Sprint(parked[0].Err), "another payload") {
		t.Errorf("parked are %+v", parked)
	}
	if s := w.c.Stats(); s.Applied != 1 || s.Parked != 1 || s.Repeated != 1 || s.Failed != 0 {
		t.Errorf("it counted %+v", s)
	}
	w.end()
}

func TestAPanicIsAnErrorOfItsMessageAlone(t *testing.T) {
	t.Parallel()
	w := consume(t, partitions, memstore.Options{}, options(func(o *consumerOptions) { o.Retry.MaxAttempts = 2 }),
		handle(func(_ context.Context, m *inbox.Message, _ int) error {
			if string(m.Payload) == "13" {
				panic("no thirteenth for customer 4711") // it may hold anything
			}
			return nil
		}))
	w.publish(numbered(0, 50)...)
	w.acked()
	parked := w.in("aside")
	if len(parked) != 1 || string(parked[0].Payload) != "13" {
		t.Fatalf("parked are %+v", parked)
	}
	if text := failed(parked[0]); !strings.Contains(text, "panicked (string)") || strings.Contains(text, "4711") {
		t.Errorf("the reason is %q", text)
	}
	if s := w.c.Stats(); s.Applied != 49 || s.Failed != 2 || s.Parked != 1 || w.log.count("a handler panicked") != 2 {
		t.Errorf("it counted %+v", s)
	}
	w.end()
}

func TestAHandlerThatEndsItsGoroutineFailsItsMessageAlone(t *testing.T) {
	t.Parallel()
	w := consume(t, partitions, memstore.Options{}, options(func(o *consumerOptions) { o.Retry.MaxAttempts, o.Concurrency = 2, 1 }),
		handle(func(_ context.Context, m *inbox.Message, _ int) error {
			if string(m.Payload) == "13" {
				runtime.Goexit() // as t.FailNow does
			}
			return nil
		}))
	w.publish(numbered(0, 50)...)
	w.acked()
	if parked := w.in("aside"); len(parked) != 1 || string(parked[0].Payload) != "13" || !strings.Contains(failed(parked[0]), "ended its goroutine") {
		t.Errorf("parked are %+v", parked)
	}
	w.end()
}

func TestAConsumerThatIsKilledBetweenCommitAndAckFindsTheMark(t *testing.T) {
	t.Parallel()
	var killed atomic.Bool
	acks := make(chan struct{}, 1000)
	w := consume(t, memsource.Options{Order: source.OrderStream, Fail: func(op memsource.Op, _ *memsource.Source) error {
		if op == memsource.OpAck && !killed.Load() {
			acks <- struct{}{}
			return source.ErrUnavailable
		}
		return nil
	}}, memstore.Options{})
	w.publish(of("a", "one"))
	<-acks
	w.src.Crash()
	if err := <-w.ended; !errors.Is(err, source.ErrClosed) {
		t.Errorf("Run returned %v", err)
	}
	w.applied("one")
	if n := w.broker.Unacked("billing"); n != 1 {
		t.Fatalf("%d messages are not acknowledged, not one", n)
	}
	killed.Store(true)
	w.begin()
	w.acked()
	w.applied("one")
	w.end()
	if s := w.c.Stats(); s.Applied != 0 || s.Repeated != 1 {
		t.Errorf("it counted %+v", s)
	}
}

func TestAnEffectWhoseCommitHasNoAnswerIsAppliedOnce(t *testing.T) {
	t.Parallel()
	for _, acted := range []bool{true, false} {
		t.Run(fmt.Sprint("committed ", acted), func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			w := consume(t, partitions, memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
				if op == memstore.OpCommit && n.Add(1)%3 == 1 {
					return memstore.Fault{Err: postbag.ErrCommitUnknown, Acted: acted}
				}
				return memstore.Fault{}
			}}, options(func(o *consumerOptions) { o.Retry.MaxAttempts = 1 }))
			w.publish(numbered(0, 60)...)
			w.acked()
			w.inOrder(60)
			if s := w.c.Stats(); s.Failed != 0 || s.Parked != 0 || s.Applied != 60 || s.Repeated != 0 {
				t.Errorf("it counted %+v", s)
			}
			w.end()
		})
	}
}

// sqlError is an error of a driver of PostgreSQL.
type sqlError string

func (e sqlError) Error() string    { return "SQLSTATE " + string(e) }
func (e sqlError) SQLState() string { return string(e) }

func TestATransactionThatMeetsAnotherOneIsRunAgainAndNotCounted(t *testing.T) {
	t.Parallel()
	for name, met := range map[string]error{
		"again": fmt.Errorf("update: %w", store.ErrAgain), "deadlock": fmt.Errorf("update: %w", sqlError("40P01")), "snapshot": sqlError("40001"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := consume(t, partitions, memstore.Options{}, options(func(o *consumerOptions) { o.Retry.MaxAttempts = 1 }),
				handle(func(_ context.Context, _ *inbox.Message, call int) error {
					if call < 6 {
						return met
					}
					return nil
				}))
			w.publish(of("a", "one"))
			w.acked()
			w.applied("one")
			if s := w.c.Stats(); s.Failed != 0 || s.Applied != 1 {
				t.Errorf("it counted %+v", s)
			}
			w.end()
		})
	}
}

func TestWhatIsAtWorkWhenItsPartitionIsLostIsNotAcknowledgedAndNoneOfItsKeyBeginsBeside(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		t.Run(fmt.Sprint("the older one fails ", fails), func(t *testing.T) {
			t.Parallel()
			began, goOn := make(chan int, 10), make(chan struct{})
			w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, handle(func(_ context.Context, _ *inbox.Message, call int) error {
				began <- call
				if call > 1 {
					return nil
				}
				<-goOn
				if fails {
					return errors.New("not yet")
				}
				return nil
			}))
			w.publish(of("a", "1"), of("a", "2"), of("a", "3"))
			<-began
			w.await("all are fetched", func() bool { return w.c.Stats().Fetched == 3 })
			w.broker.Rebalance("billing")
			w.await("all are fetched again, and what had not begun is dropped", func() bool { s := w.c.Stats(); return s.Fetched == 6 && s.Dropped == 2 })
			select {
			case <-began:
				t.Error("a second of the key began beside the first")
			case <-time.After(20 * time.Millisecond):
			}
			close(goOn)
			w.acked()
			w.applied("1", "2", "3")
			w.end()
			want := inbox.ConsumerStats{Fetched: 6, Applied: 3, Repeated: 1, Dropped: 2, Lost: 1, LostPartitions: 1}
			if fails {
				want = inbox.ConsumerStats{Fetched: 6, Applied: 3, Dropped: 3, Failed: 1, LostPartitions: 1}
			}
			if s := w.c.Stats(); s != want {
				t.Errorf("it counted %+v, not %+v", s, want)
			}
		})
	}
}

func TestAttemptsAreCountedAcrossLosses(t *testing.T) {
	t.Parallel()
	var w *consuming
	w = consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, options(func(o *consumerOptions) {
		o.Retry = inbox.Retry{Min: 5 * time.Millisecond, MaxAttempts: 3}
	}), handle(func(_ context.Context, m *inbox.Message, call int) error {
		if string(m.Payload) != "bad" {
			return nil
		}
		w.broker.Rebalance("billing")
		return fmt.Errorf("call %d", call)
	}))
	w.publish(of("a", "bad"), of("a", "good"))
	w.acked()
	w.applied("good")
	if s := w.c.Stats(); s.Failed != 3 || s.Parked != 1 {
		t.Errorf("it counted %+v", s)
	}
	w.end()
}

func TestWhileTheStoreFailsAConsumerFetchesNothingMoreAndAcknowledgesNothing(t *testing.T) {
	t.Parallel()
	for _, at := range []memstore.Op{memstore.OpBegin, memstore.OpMark, memstore.OpAppend, memstore.OpCommit} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			var down atomic.Bool
			w := consume(t, partitions, memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
				if down.Load() && (op == at || at == memstore.OpAppend && op == memstore.OpCommit) {
					return memstore.Fault{Err: errors.New("the database is down")}
				}
				return memstore.Fault{}
			}}, options(func(o *consumerOptions) { o.Messages, o.Retry.MaxAttempts = 40, 2 })) // one can fail at the very end of the outage
			w.publish(numbered(0, 1)...)
			w.acked() // it has begun
			down.Store(true)
			w.publish(numbered(1, 15)...)
			w.await("it has failed often", func() bool { return w.failures() >= 3 })
			for n := 15; n < 35; n += 5 { // the Fetch that waits may get some of these; there is no other in the outage
				w.publish(numbered(n, n+5)...)
				failures := w.failures()
				w.await("it has failed more often", func() bool { return w.failures() > failures })
			}
			w.publish(numbered(35, 100)...)
			if s := w.c.Stats(); s.Fetched >= 35 || s.Failed != 0 || s.Applied != 1 || w.broker.Unacked("billing") != 99 {
				t.Errorf("it counted %+v, and %d of 99 are not acknowledged", s, w.broker.Unacked("billing"))
			}
			down.Store(false)
			w.acked()
			w.inOrder(100)
			// One attempt may have begun before the end of the outage, and failed after it.
			if began, ended := w.log.count("the store of an inbox fails"), w.log.count("the store of an inbox works again"); began < 1 || began > 2 || ended != began {
				t.Errorf("the log says %d times that it fails, and %d times that it works again", began, ended)
			}
			w.end()
		})
	}
}

func TestAnOutageEndsAlsoIfAllThatWasInHandIsLost(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
		if down.Load() && op == memstore.OpBegin {
			return memstore.Fault{Err: errors.New("the database is down")}
		}
		return memstore.Fault{}
	}})
	w.publish(of("a", "before"))
	w.acked() // it has begun
	down.Store(true)
	other := w.broker.Join("billing")
	w.publish(of("a", "one"))
	w.await("it has failed", func() bool { return w.failures() >= 1 })
	if !w.broker.Move(0, other) {
		t.Fatal("the partition was not moved")
	}
	w.await("the message is dropped", func() bool { return w.c.Stats().Dropped == 1 })
	down.Store(false)
	if err := other.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.acked()
	w.applied("before", "one")
	w.end()
}

func TestNoMoreIsInHandThanIsAllowed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  func(o *consumerOptions)
		most int
	}{
		"messages": {func(o *consumerOptions) { o.Messages = 10 }, 10},
		"bytes":    {func(o *consumerOptions) { o.Bytes = 3500 }, 4}, // the fourth is taken because there is room left
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			goOn := make(chan struct{})
			w := consume(t, partitions, memstore.Options{}, options(c.set), handle(func(context.Context, *inbox.Message, int) error {
				<-goOn
				return nil
			}))
			for n := range 50 {
				w.publish(source.Message{Key: fmt.Sprint(n % 5), Payload: fmt.Appendf(nil, "%01000d", n)})
			}
			w.await("the hand is full", func() bool { return w.broker.AtWork("billing") >= c.most-1 })
			for range 20 {
				pauseFor(t)
			}
			if n := w.broker.AtWork("billing"); n > c.most {
				t.Errorf("%d messages are in hand, more than %d", n, c.most)
			}
			close(goOn)
			w.acked()
			w.end()
		})
	}
}

func TestAtTheEndWhatIsAtWorkIsFinishedAndAcknowledgedAndNothingElseBegins(t *testing.T) {
	t.Parallel()
	began, goOn := make(chan struct{}, 10), make(chan struct{})
	w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, handle(func(ctx context.Context, _ *inbox.Message, _ int) error {
		began <- struct{}{}
		<-goOn
		return ctx.Err()
	}))
	w.publish(of("a", "1"), of("a", "2"))
	<-began
	w.stop()
	close(goOn)
	if err := <-w.ended; err != nil {
		t.Errorf("Run returned %v", err)
	}
	w.applied("1")
	if n := w.broker.Unacked("billing"); n != 1 {
		t.Errorf("%d messages are not acknowledged, not one", n)
	}
	if _, err := w.src.Fetch(t.Context(), source.Limits{}); !errors.Is(err, source.ErrClosed) {
		t.Errorf("a Fetch after the end: %v", err)
	}
}

func TestAHandlerThatOutlivesTheGraceIsRolledBackAndNotAcknowledged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, options(func(o *consumerOptions) {
			o.Grace, o.Timeout = 5*time.Second, time.Hour
		}), handle(func(ctx context.Context, _ *inbox.Message, _ int) error {
			<-ctx.Done()
			return nil
		}))
		w.publish(of("a", "1"))
		synctest.Wait()
		stopped := time.Now()
		w.end()
		if d := time.Since(stopped); d != 5*time.Second {
			t.Errorf("it took %s to end", d)
		}
		w.applied()
		if n := w.broker.Unacked("billing"); n != 1 {
			t.Errorf("%d messages are not acknowledged, not one", n)
		}
	})
}

func TestAnAttemptThatTakesTooLongHasFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, options(func(o *consumerOptions) {
			o.Timeout, o.Retry.MaxAttempts = 3*time.Second, 2
		}), handle(func(ctx context.Context, m *inbox.Message, _ int) error {
			if string(m.Payload) == "slow" {
				<-ctx.Done()
			}
			return nil
		}))
		w.publish(of("a", "slow"), of("a", "quick"))
		w.acked()
		w.applied("quick")
		if parked := w.in("aside"); len(parked) != 1 || !strings.Contains(failed(parked[0]), "longer than ConsumerOptions.Timeout (3s)") {
			t.Errorf("parked are %+v", parked)
		}
		w.end()
	})
}

func TestTheAckWaitIsExtendedWhileMessagesAreInHand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := consume(t, memsource.Options{Order: source.OrderStream, AckWait: 3 * time.Second}, memstore.Options{}, options(func(o *consumerOptions) {
			o.Timeout = time.Hour
		}), handle(func(context.Context, *inbox.Message, int) error {
			<-time.After(20 * time.Second)
			return nil
		}))
		w.publish(of("a", "1"), of("a", "2"))
		w.await("both are applied", func() bool { return w.c.Stats().Applied == 2 })
		w.acked()
		if s := w.c.Stats(); s.Fetched != 2 || s.Lost != 0 {
			t.Errorf("it counted %+v", s)
		}
		w.end()
	})
}

func TestAcknowledgementsThatFailAreSentAgain(t *testing.T) {
	t.Parallel()
	var fails atomic.Int64
	from := partitions
	from.Fail = func(op memsource.Op, _ *memsource.Source) error {
		if op == memsource.OpAck && fails.Add(1) <= 3 {
			return source.ErrUnavailable
		}
		return nil
	}
	w := consume(t, from, memstore.Options{})
	w.publish(numbered(0, 50)...)
	w.acked()
	w.inOrder(50)
	if began, ended := w.log.count("acknowledgements fail"), w.log.count("acknowledgements work again"); began != 1 || ended != 1 {
		t.Errorf("the log says %d times that they fail, and %d times that they work again", began, ended)
	}
	w.end()
	if s := w.c.Stats(); s.Applied != 50 || s.Repeated != 0 || s.FailedAcks != 3 {
		t.Errorf("it counted %+v", s)
	}
}

func TestABrokerThatDoesNotHearOfAHandlerAtWorkIsLoggedAndCounted(t *testing.T) {
	t.Parallel()
	var works atomic.Bool
	ready := make(chan struct{})
	from := memsource.Options{AckWait: 300 * time.Millisecond, Fail: func(op memsource.Op, _ *memsource.Source) error {
		if op == memsource.OpExtend && !works.Load() {
			return source.ErrUnavailable
		}
		return nil
	}}
	w := consume(t, from, memstore.Options{}, handle(func(ctx context.Context, _ *inbox.Message, _ int) error {
		select {
		case <-ready:
		case <-ctx.Done():
		}
		return nil
	}))
	w.publish(of("a", "1"))
	for w.c.Stats().FailedExtends < 2 {
		pauseFor(t)
	}
	works.Store(true)
	for w.log.count("the broker hears again that messages are at work") == 0 {
		pauseFor(t)
	}
	close(ready)
	w.acked()
	w.end()
	if n := w.log.count("the broker does not hear that messages are at work"); n != 1 {
		t.Errorf("the log says it %d times", n)
	}
}

func TestRelaysAreWokenForWhatAHandlerPublishes(t *testing.T) {
	t.Parallel()
	w := consume(t, partitions, memstore.Options{})
	w.publish(of("a", "1"))
	select {
	case <-w.store.Woken():
	case <-time.After(time.Minute):
		t.Error("nobody was woken")
	}
	w.end()
}

func TestRunOfAConsumerEndsWithAnErrorWhenItsSourceIsClosed(t *testing.T) {
	t.Parallel()
	w := consume(t, partitions, memstore.Options{})
	if err := w.src.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-w.ended; !errors.Is(err, source.ErrClosed) {
		t.Errorf("Run returned %v", err)
	}
	if err := w.c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "called before") {
		t.Errorf("a second Run returned %v", err)
	}
}

func TestBadOptionsOfAConsumerAreAllNamed(t *testing.T) {
	t.Parallel()
	_, err := inbox.NewConsumer(consumerOptions{
		Consumer: "c\n", Box: "a b", Concurrency: -1, Messages: -1, Bytes: -1, Timeout: -1, Grace: -1, TooLarge: -1,
		Retry: inbox.Retry{Min: -1, Max: -2, Factor: 0.5, MaxAttempts: -1},
	})
	for _, field := range []string{
		"Store", "Source", "Handle", "Consumer", "Box", "Concurrency", "Messages", "Bytes", "Timeout", "Grace", "TooLarge",
		"Retry.Min", "Retry.Max", "Retry.Factor", "Retry.MaxAttempts",
	} {
		if err == nil || !strings.Contains(err.Error(), "ConsumerOptions."+field+":") && !strings.Contains(err.Error(), "ConsumerOptions."+field+" is") {
			t.Errorf("the error does not name %s: %v", field, err)
		}
	}
}
