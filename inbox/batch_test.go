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

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// refusing has the handler call f before the effect of each message. An error is the handler's.
func refusing(f func(ctx context.Context, m *inbox.Message) error) func(*batchShelf, *batchOptions) {
	return func(w *batchShelf, o *batchOptions) {
		o.Logger = slog.New(slog.DiscardHandler)
		o.Handle = func(ctx context.Context, tx *memstore.Tx, m *inbox.Message) error {
			if err := f(ctx, m); err != nil {
				return err
			}
			return w.keep(ctx, tx, m)
		}
	}
}

// inPages has what refusing made get whole pages.
func inPages(_ *batchShelf, o *batchOptions) {
	one := o.Handle
	o.Handle = nil
	o.HandleBatch = func(ctx context.Context, tx *memstore.Tx, all []*inbox.Message) error {
		for _, m := range all {
			if err := one(ctx, tx, m); err != nil {
				return err
			}
		}
		return nil
	}
}

// bothForms runs a test with a handler of messages and with one of pages.
func bothForms(t *testing.T, test func(t *testing.T, form func(*batchShelf, *batchOptions))) {
	t.Helper()
	t.Run("a handler of messages", func(t *testing.T) { test(t, func(*batchShelf, *batchOptions) {}) })
	t.Run("a handler of pages", func(t *testing.T) { test(t, inPages) })
}

func (w *batchShelf) lane() broker.Lane {
	w.Helper()
	l, err := w.to.OpenLane(w.Context(), broker.LaneName{Box: "inbox", Subscription: "default", Lane: "0"})
	if err != nil {
		w.Fatal(err)
	}
	return l
}

// commits fails the test unless a page has this outcome, and its messages this one but for those of others.
func (w *batchShelf) commits(msgs []broker.Delivery, want broker.TxOutcome, each broker.Outcome, others map[int]broker.Outcome) []broker.Result {
	w.Helper()
	results := make([]broker.Result, len(msgs))
	outcome, err := w.lane().Commit(w.Context(), msgs, []byte("record"), results)
	if outcome != want {
		w.Errorf("the page is %v (%v), want %v", outcome, err, want)
	}
	for i := range results {
		expect, other := others[i]
		if !other {
			expect = each
		}
		if results[i].Outcome != expect {
			w.Errorf("message %d is %v (%v), want %v", i, results[i].Outcome, results[i].Err, expect)
		}
	}
	return results
}

// deliveries makes n messages of some keys.
func deliveries(n int, keys ...string) (all []broker.Delivery) {
	for i := range n {
		all = append(all, delivery(keys[i%len(keys)], fmt.Sprint(i)))
	}
	return all
}

func TestABatchDestinationNamesAllBadOptions(t *testing.T) {
	t.Parallel()
	_, err := inbox.NewBatchDestination(batchOptions{Timeout: -1})
	_, both := inbox.NewBatchDestination(batchOptions{
		Store: onlyMarks{memstore.New(memstore.Options{})}, Consumer: "billing",
		Handle:      func(context.Context, *memstore.Tx, *inbox.Message) error { return nil },
		HandleBatch: func(context.Context, *memstore.Tx, []*inbox.Message) error { return nil },
	})
	if err == nil || both == nil {
		t.Fatalf("it is made: %v, %v", err, both)
	}
	_, mixed := inbox.NewBatchDestination(batchOptions{
		Handle:   func(context.Context, *memstore.Tx, *inbox.Message) error { return nil },
		UseBatch: []inbox.BatchMiddleware[*memstore.Tx]{nil},
	})
	_, none := inbox.NewBatchDestination(batchOptions{
		HandleBatch: func(context.Context, *memstore.Tx, []*inbox.Message) error { return nil },
		Use:         []middleware{nil},
		UseBatch:    []inbox.BatchMiddleware[*memstore.Tx]{func(inbox.BatchHandler[*memstore.Tx]) inbox.BatchHandler[*memstore.Tx] { return nil }},
	})
	if mixed == nil || none == nil {
		t.Fatalf("it is made: %v, %v", mixed, none)
	}
	text := err.Error() + both.Error() + mixed.Error()
	for _, says := range []string{"Store is nil", "Handle is nil", "Consumer", "Timeout is -1ns", "keeps no lanes", "both Handle and HandleBatch", "UseBatch is for HandleBatch"} {
		if !strings.Contains(text, says) {
			t.Errorf("the errors do not say %q: %v", says, text)
		}
	}
	if !strings.Contains(none.Error(), "Use is for Handle") {
		t.Errorf("the error does not name Use: %v", none)
	}
	_, none = inbox.NewBatchDestination(batchOptions{
		Store: memstore.New(memstore.Options{}), Consumer: "billing",
		HandleBatch: func(context.Context, *memstore.Tx, []*inbox.Message) error { return nil },
		UseBatch:    []inbox.BatchMiddleware[*memstore.Tx]{nil, func(inbox.BatchHandler[*memstore.Tx]) inbox.BatchHandler[*memstore.Tx] { return nil }},
	})
	if none == nil || !strings.Contains(none.Error(), "UseBatch[1] returned a nil handler") {
		t.Errorf("middleware that returns nil: %v", none)
	}
}

// The page, and each part of it in the search for a message that fails, goes through the middleware, in the transaction of its effects.
func TestMiddlewareOfPagesIsCalledOutermostFirstForEachCallOfTheHandler(t *testing.T) {
	t.Parallel()
	for _, alone := range []bool{false, true} {
		t.Run(fmt.Sprint("each message alone ", alone), func(t *testing.T) {
			t.Parallel()
			var calls []string
			step := func(name string) inbox.BatchMiddleware[*memstore.Tx] {
				return func(next inbox.BatchHandler[*memstore.Tx]) inbox.BatchHandler[*memstore.Tx] {
					return func(ctx context.Context, tx *memstore.Tx, all []*inbox.Message) error {
						calls = append(calls, fmt.Sprint(name, len(all)))
						copies := make([]*inbox.Message, len(all))
						for i, m := range all {
							one := *m
							one.Payload = append(slices.Clone(m.Payload), name...)
							copies[i] = &one
						}
						err := next(ctx, tx, copies)
						calls = append(calls, fmt.Sprint(name, " ", err != nil))
						return err
					}
				}
			}
			w := newBatchShelf(t, refusing(func(_ context.Context, m *inbox.Message) error {
				if string(m.Payload) == "1AB" {
					return errors.New("not this one")
				}
				return nil
			}), inPages, func(_ *batchShelf, o *batchOptions) {
				o.UseBatch = []inbox.BatchMiddleware[*memstore.Tx]{step("A"), nil, step("B")}
			})
			msgs := deliveries(2, "a", "b")
			if alone {
				w.to.Publish(t.Context(), msgs[:1], func(int, broker.Result) {})
				if want := []string{"A1", "B1", "B false", "A false"}; !slices.Equal(calls, want) {
					t.Errorf("the calls are %q, want %q", calls, want)
				}
				w.applied("0AB")
				return
			}
			w.commits(msgs, broker.Aborted, broker.NotSent, map[int]broker.Outcome{1: broker.Rejected})
			if len(calls) < 8 || calls[0] != "A2" || calls[1] != "B2" || calls[3] != "A true" {
				t.Errorf("the calls are %q", calls)
			}
			w.commits(msgs[:1], broker.Committed, broker.Accepted, nil)
			w.applied("0AB")
		})
	}
}

// onlyMarks is a store that keeps no lanes.
type onlyMarks struct{ inbox.Store[*memstore.Tx] }

func TestAMessageOfFiveHundredThatFailsIsRejectedAloneAndTheOthersStand(t *testing.T) {
	t.Parallel()
	bothForms(t, func(t *testing.T, form func(*batchShelf, *batchOptions)) {
		w := newBatchShelf(t, refusing(func(_ context.Context, m *inbox.Message) error {
			if string(m.Payload) == "321" {
				return errors.New("no such customer")
			}
			return nil
		}), form)
		msgs := deliveries(500, "a", "b", "c", "d", "e", "f", "g")
		r := w.commits(msgs, broker.Aborted, broker.NotSent, map[int]broker.Outcome{321: broker.Rejected})
		if !strings.Contains(r[321].Err.Error(), "no such customer") {
			t.Errorf("the error is %v", r[321].Err)
		}
		w.applied()
		rest := slices.Delete(slices.Clone(msgs), 321, 322)
		w.commits(rest, broker.Committed, broker.Accepted, nil)
		var want []string
		for _, m := range rest {
			want = append(want, string(m.Payload))
		}
		w.applied(want...)
	})
}

func TestAllMessagesThatFailAreFoundInOnePageAndNoneBehindThemOfTheirKeysIsTried(t *testing.T) {
	t.Parallel()
	bothForms(t, func(t *testing.T, form func(*batchShelf, *batchOptions)) {
		var mu sync.Mutex
		alone := map[string]bool{}
		w := newBatchShelf(t, refusing(func(_ context.Context, m *inbox.Message) error {
			mu.Lock()
			alone[string(m.Payload)] = true
			mu.Unlock()
			if m.Payload[0] == '1' {
				return errors.New("no")
			}
			return nil
		}), form)
		msgs := []broker.Delivery{
			delivery("a", "0a"), delivery("b", "1b"), delivery("", "1"), delivery("b", "0b"), delivery("c", "1c"), delivery("", "0"), delivery("b", "1b again"), delivery("a", "1a"),
		}
		w.commits(msgs, broker.Aborted, broker.NotSent, map[int]broker.Outcome{1: broker.Rejected, 2: broker.Rejected, 4: broker.Rejected, 7: broker.Rejected})
		if alone["1b again"] {
			t.Error("a message was tried behind one of its key that had failed")
		}
	})
}

func TestAPanicOrTheEndOfAGoroutineIsThatMessagesAlone(t *testing.T) {
	t.Parallel()
	bothForms(t, func(t *testing.T, form func(*batchShelf, *batchOptions)) {
		w := newBatchShelf(t, refusing(func(_ context.Context, m *inbox.Message) error {
			switch string(m.Payload) {
			case "3":
				panic("the card number is 4711")
			case "5":
				runtime.Goexit()
			}
			return nil
		}), form)
		r := w.commits(deliveries(8, ""), broker.Aborted, broker.NotSent, map[int]broker.Outcome{3: broker.Rejected, 5: broker.Rejected})
		if text := r[3].Err.Error(); strings.Contains(text, "4711") || !strings.Contains(text, "panicked") {
			t.Errorf("the error says %q", text)
		}
	})
}

func TestAPageThatMeetsAnotherTransactionRunsAgainAndNothingIsCounted(t *testing.T) {
	t.Parallel()
	bothForms(t, func(t *testing.T, form func(*batchShelf, *batchOptions)) {
		var met atomic.Int64
		w := newBatchShelf(t, refusing(func(_ context.Context, m *inbox.Message) error {
			if string(m.Payload) == "2" && met.Add(1) < 4 {
				return fmt.Errorf("charge: %w", deadlockError("40P01"))
			}
			return nil
		}), form)
		w.commits(deliveries(4, "a"), broker.Committed, broker.Accepted, nil)
		w.applied("0", "1", "2", "3")
	})
}

func TestALaneThatATableOrARightIsMissingForIsMisconfigured(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		err  error
		want broker.Outcome
	}{
		"no table": {fmt.Errorf("open lane: table _lanes is missing: %w", store.ErrSchema), broker.Misconfigured},
		"no right": {fmt.Errorf("open lane: %w; GRANT it", store.ErrDenied), broker.Misconfigured},
		"away":     {errAway, broker.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := memstore.New(memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
				if op == memstore.OpLane {
					return memstore.Fault{Err: row.err}
				}
				return memstore.Fault{}
			}})
			w := newBatchShelf(t, func(_ *batchShelf, o *batchOptions) { o.Store = s })
			_, err := w.to.OpenLane(t.Context(), broker.LaneName{Box: "inbox", Subscription: "default", Lane: "0"})
			var is *broker.Error
			if !errors.As(err, &is) || is.Outcome != row.want || is.Scope != broker.ScopeDestination || !strings.Contains(err.Error(), row.err.Error()) {
				t.Errorf("the error is %#v (%v), want %v", is, err, row.want)
			}
		})
	}
}

func TestAnOutageWithinAPageIsNoFaultOfAMessage(t *testing.T) {
	t.Parallel()
	bothForms(t, func(t *testing.T, form func(*batchShelf, *batchOptions)) {
		var w *batchShelf
		w = newBatchShelf(t, refusing(func(_ context.Context, m *inbox.Message) error {
			w.down.Store(string(m.Payload) == "2")
			return nil
		}), form)
		w.commits(deliveries(4, "a"), broker.Aborted, broker.Unavailable, nil)
		w.down.Store(false)
		w.applied()
	})
}

func TestAnOutageWhileItIsFoundOutWhichMessagesFailIsNoFaultOfOne(t *testing.T) {
	t.Parallel()
	bothForms(t, func(t *testing.T, form func(*batchShelf, *batchOptions)) {
		var w *batchShelf
		calls := 0
		w = newBatchShelf(t, refusing(func(_ context.Context, m *inbox.Message) error {
			if string(m.Payload) != "2" {
				return nil
			}
			calls++
			w.down.Store(calls > 1)
			return errors.New("no")
		}), form)
		w.commits(deliveries(4, "a"), broker.Aborted, broker.Unavailable, nil)
	})
}

func TestWhatIsNoWholeMessageReachesNoHandlerOfPages(t *testing.T) {
	t.Parallel()
	w := newBatchShelf(t)
	msgs := deliveries(3, "a")
	msgs[1].Headers = map[string]string{store.FaultHeader: "it has no id"}
	w.commits(msgs, broker.Aborted, broker.NotSent, map[int]broker.Outcome{1: broker.Rejected})
	if len(w.seen) > 0 {
		t.Errorf("the handler got %d messages", len(w.seen))
	}
}

// A zombie that had begun is waited for, and what it commits is known. One that begins later calls no handler.
func TestAZombiesPageIsKnownOrFenced(t *testing.T) {
	t.Parallel()
	begun, goOn := make(chan struct{}), make(chan struct{})
	w := newBatchShelf(t, refusing(func(_ context.Context, m *inbox.Message) error {
		if string(m.Payload) == "slow" {
			close(begun)
			<-goOn
		}
		return nil
	}))
	zombie, other := w.lane(), w.lane()
	if outcome, err := zombie.Commit(t.Context(), deliveries(1, "a"), []byte("zombie"), make([]broker.Result, 1)); outcome != broker.Fenced {
		t.Errorf("a zombie that begins late is %v (%v), want fenced", outcome, err)
	}
	ended := make(chan broker.TxOutcome, 1)
	go func() {
		outcome, _ := other.Commit(context.Background(), []broker.Delivery{delivery("a", "slow")}, []byte("slow"), make([]broker.Result, 1))
		ended <- outcome
	}()
	<-begun
	opened := make(chan broker.Lane, 1)
	go func() { opened <- w.lane() }()
	select {
	case <-opened:
		t.Error("the lane is opened while a transaction of it is open")
	case <-time.After(100 * time.Millisecond):
	}
	close(goOn)
	if outcome := <-ended; outcome != broker.Committed {
		t.Errorf("the page that was waited for is %v", outcome)
	}
	if record := string((<-opened).Record()); record != "slow" {
		t.Errorf("the next owner finds the record %q", record)
	}
	w.applied("slow")
}

// One database has the lanes of all of them.
func TestEachConsumerBoxAndSubscriptionHasARecordOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newBatchShelf(t)
	other := newBatchShelf(t, func(_ *batchShelf, o *batchOptions) { o.Store, o.Consumer = w.store, "shipping" })
	all := map[string]func() (broker.Lane, error){}
	for consumer, to := range map[string]*inbox.BatchDestination[*memstore.Tx]{"billing": w.to, "shipping": other.to} {
		for _, name := range []broker.LaneName{
			{Box: "inbox", Subscription: "default", Lane: "0"},
			{Box: "inbox", Subscription: "slow", Lane: "0"},
			{Box: "orders", Subscription: "default", Lane: "0"},
			{Box: "orders", Subscription: "default", Lane: "1"},
		} {
			all[consumer+" "+name.String()] = func() (broker.Lane, error) { return to.OpenLane(t.Context(), name) }
		}
	}
	for who, open := range all {
		l, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if outcome, err := l.Commit(t.Context(), nil, []byte(who), nil); outcome != broker.Committed {
			t.Fatalf("the record of %s is %v (%v)", who, outcome, err)
		}
	}
	for who, open := range all {
		l, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if got := string(l.Record()); got != who {
			t.Errorf("%s has the record of %q", who, got)
		}
	}
}

func TestAHandlerThatTakesMostOfAPagesTimeIsRejectedAndAPageThatIsTooLongIsNot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		each, slow time.Duration
		want       broker.Outcome
		others     map[int]broker.Outcome
	}{
		{time.Millisecond, time.Hour, broker.NotSent, map[int]broker.Outcome{2: broker.Rejected}},
		{11 * time.Second, 11 * time.Second, broker.Unavailable, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newBatchShelf(t, refusing(func(ctx context.Context, m *inbox.Message) error {
				wait := c.each
				if string(m.Payload) == "2" {
					wait = c.slow
				}
				select {
				case <-ctx.Done():
				case <-time.After(wait):
				}
				return ctx.Err()
			}))
			began := time.Now()
			w.commits(deliveries(4, "a"), broker.Aborted, c.want, c.others)
			if took := time.Since(began); took > 31*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestARelayAppliesPagesOnceInOrderAndParksWhatFailsAlone(t *testing.T) {
	t.Parallel()
	bothForms(t, func(t *testing.T, form func(*batchShelf, *batchOptions)) {
		var attempts atomic.Int64
		w := newBatchShelf(t, refusing(func(_ context.Context, m *inbox.Message) error {
			if string(m.Payload) == "bob-7" {
				attempts.Store(int64(m.Attempt))
				return errors.New("no")
			}
			return nil
		}), form)
		b := newWorking(w.shelf)
		b.publish(100, "ann", "bob", "cid", "dan")
		for range 3 {
			n := len(b.kept())
			stop := b.run(func(s *relay.Subscription) { s.To, s.ExactlyOnce, s.Batch = w.to, true, 20 })
			b.await("it goes on", func() bool { return len(b.kept()) > n || n == 307 })
			stop()
		}
		b.run(func(s *relay.Subscription) { s.To, s.ExactlyOnce = w.to, true })
		b.await("one is dead", func() bool { return len(b.parked(store.StateDead)) == 1 })
		b.awaits(307)
		b.sent["bob"] = 7
		b.inOrder()
		if n := attempts.Load(); n != 3 {
			t.Errorf("its last attempt was %d, want 3", n)
		}
	})
}

// amnesiac is a store that rolled a transaction back, and let it go on, as often as forgets says.
type amnesiac struct {
	*memstore.Store

	forgets atomic.Int64
}

func (s *amnesiac) KeepsLane(context.Context, *memstore.Tx, string, int64, []byte) error {
	if s.forgets.Add(-1) >= 0 {
		return store.ErrAgain
	}
	return nil
}

func TestAPageThatTheDatabaseRolledBackInTheMiddleRunsAgain(t *testing.T) {
	t.Parallel()
	bothForms(t, func(t *testing.T, form func(*batchShelf, *batchOptions)) {
		w := newBatchShelf(t, refusing(func(context.Context, *inbox.Message) error { return nil }), form, func(w *batchShelf, o *batchOptions) {
			in := &amnesiac{Store: w.store}
			in.forgets.Store(2)
			o.Store = in
		})
		w.commits(deliveries(4, "a"), broker.Committed, broker.Accepted, nil)
		w.applied("0", "1", "2", "3")
		if n := len(w.seen); n != 12 {
			t.Errorf("the handler got %d messages, want 12", n)
		}
	})
}

// It is found also where its handler gets whole pages.
func TestAMessageWhoseHandlerEndsTheTransactionIsRejectedAlone(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]error{"and returns an error": errors.New("no"), "and returns none": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bothForms(t, func(t *testing.T, form func(*batchShelf, *batchOptions)) {
				w := newBatchShelf(t, func(w *batchShelf, o *batchOptions) {
					o.Handle = func(ctx context.Context, tx *memstore.Tx, m *inbox.Message) error {
						if string(m.Payload) == "2" {
							return errors.Join(tx.Rollback(ctx), answer)
						}
						return w.keep(ctx, tx, m)
					}
				}, form)
				r := w.commits(deliveries(4, "a"), broker.Aborted, broker.NotSent, map[int]broker.Outcome{2: broker.Rejected})
				if err := r[2].Err; err == nil || !strings.Contains(err.Error(), "must not end it") {
					t.Errorf("the error is %v", err)
				}
				w.applied()
			})
		})
	}
}

// A handler can wait for a lock of its own transaction, through another connection.
func TestAMessageThatMeetsAnotherTransactionEachTimeIsRejectedAlone(t *testing.T) {
	t.Parallel()
	bothForms(t, func(t *testing.T, form func(*batchShelf, *batchOptions)) {
		synctest.Test(t, func(t *testing.T) {
			w := newBatchShelf(t, refusing(func(_ context.Context, m *inbox.Message) error {
				if string(m.Payload) == "2" {
					return fmt.Errorf("charge: %w", deadlockError("40P01"))
				}
				return nil
			}), form)
			began := time.Now()
			w.commits(deliveries(4, "a"), broker.Aborted, broker.NotSent, map[int]broker.Outcome{2: broker.Rejected})
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
			w.applied()
		})
	})
}

// Two boxes of one name, in two databases, whose messages one consumer applies in a third.
func TestTwoBoxesThatShareALaneAreToldToGetTwoConsumers(t *testing.T) {
	t.Parallel()
	var lines lines
	w := newBatchShelf(t)
	ctx, cancel := context.WithCancel(t.Context())
	var relays sync.WaitGroup
	defer relays.Wait()
	defer cancel()
	var boxes [2]*working
	for i := range boxes {
		boxes[i] = newWorking(w.shelf)
		r, err := relay.New(boxes[i].box, relay.Options{
			Subscriptions: []relay.Subscription{{Box: "inbox", To: w.to, ExactlyOnce: true, Batch: 1}},
			Logger:        slog.New(slog.NewTextHandler(&lines, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		relays.Go(func() {
			if err := r.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	boxes[0].await("the log names the lane", func() bool {
		for _, b := range boxes {
			b.publish(1, "a")
		}
		return lines.count("another box works lane") > 0 && lines.count("billing/postbag/inbox/default/0") > 0 && lines.count("a Consumer of its own") > 0
	})
}

func TestMessagesThatComeOneByOneDoNotBeginAllTransactionsAtOnce(t *testing.T) {
	t.Parallel()
	var began, now, most atomic.Int64
	w := newBatchShelf(t, refusing(func(context.Context, *inbox.Message) error {
		n := now.Add(1)
		defer now.Add(-1)
		for before := most.Load(); n > before && !most.CompareAndSwap(before, n); before = most.Load() {
		}
		for all := (began.Add(1) + 31) / 32 * 32; began.Load() < all; {
			runtime.Gosched() // until 32 are there
		}
		return nil
	}))
	msgs := deliveries(192, "a", "b", "c")
	var accepted atomic.Int64
	w.to.Publish(t.Context(), msgs, func(_ int, r broker.Result) {
		if r.Outcome == broker.Accepted {
			accepted.Add(1)
		}
	})
	if accepted.Load() != int64(len(msgs)) || most.Load() > 32 {
		t.Errorf("%d of %d messages were accepted, and %d handlers ran at once, want 32 at most", accepted.Load(), len(msgs), most.Load())
	}
}
