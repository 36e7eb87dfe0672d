package memsource_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
)

// publish sends messages whose payloads are 0, 1, 2 and so on.
func publish(t *testing.T, b *memsource.Broker, n int) {
	t.Helper()
	for i := range n {
		if err := b.Publish(source.Message{Key: "k", Payload: []byte(strconv.Itoa(i))}); err != nil {
			t.Fatal(err)
		}
	}
}

// fetch makes one call, which must return a batch.
func fetch(t *testing.T, s *memsource.Source) source.Batch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	batch, err := s.Fetch(ctx, source.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

func ack(t *testing.T, s *memsource.Source, lost int, msgs ...source.Message) {
	t.Helper()
	var receipts []source.Receipt
	for _, m := range msgs {
		receipts = append(receipts, m.Receipt)
	}
	got, err := s.Ack(t.Context(), receipts)
	if err != nil || got != lost {
		t.Errorf("Ack: %d lost, %v; want %d", got, err, lost)
	}
}

func payloads(msgs []source.Message) (all []string) {
	for _, m := range msgs {
		all = append(all, string(m.Payload))
	}
	return all
}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestGroupsReadTheSameMessages(t *testing.T) {
	t.Parallel()
	b := memsource.New(memsource.Options{Order: source.OrderPartition})
	one, two := b.Join("one"), b.Join("two")
	publish(t, b, 3)
	a := fetch(t, one).Messages
	want(t, "group one", payloads(a), []string{"0", "1", "2"})
	want(t, "group two", payloads(fetch(t, two).Messages), []string{"0", "1", "2"})
	ack(t, one, 0, a...)
	want(t, "unacked of one, two and nobody", []int{b.Unacked("one"), b.Unacked("two"), b.Unacked("three")}, []int{0, 3, 3})
	want(t, "at work", []int{b.AtWork("one"), b.AtWork("two"), b.AtWork("three")}, []int{0, 3, 0})
}

func TestTheBrokerIsBoundedAndForgetsWhatEveryGroupHasAcked(t *testing.T) {
	t.Parallel()
	b := memsource.New(memsource.Options{MaxMessages: 10, Order: source.OrderPartition})
	one, two := b.Join("one"), b.Join("two")
	for round := range 20 {
		publish(t, b, 10)
		if err := b.Publish(source.Message{}); !errors.Is(err, memsource.ErrFull) {
			t.Fatalf("round %d: an eleventh message: %v", round, err)
		}
		first := fetch(t, one).Messages
		ack(t, one, 0, first...)
		if err := b.PublishTo(0, source.Message{}); !errors.Is(err, memsource.ErrFull) {
			t.Fatalf("round %d: what one group has not acked was forgotten: %v", round, err)
		}
		second := fetch(t, two).Messages
		ack(t, two, 0, second...)
		ack(t, one, 0, first...) // again, though it is forgotten
		if first[0].Place.Offset != uint64(round*10) || second[9].Place.Offset != uint64(round*10+9) {
			t.Fatalf("round %d: places %v to %v", round, first[0].Place, second[9].Place)
		}
	}
}

func TestMoveGivesOnePartitionToAnotherMember(t *testing.T) {
	t.Parallel()
	b := memsource.New(memsource.Options{Order: source.OrderPartition, Partitions: 2})
	one, two := b.Join("g"), b.Join("g")
	for p := range 2 {
		if err := b.PublishTo(p, source.Message{Payload: []byte{byte('0' + p)}}); err != nil {
			t.Fatal(err)
		}
	}
	a := fetch(t, one).Messages
	want(t, "the first member has partition 0", payloads(a), []string{"0"})
	if !b.Move(0, two) || b.Move(7, two) {
		t.Error("Move does not say what it did")
	}
	want(t, "the second member has both", len(fetch(t, two).Messages), 2)
	want(t, "the first member's loss", fetch(t, one).Lost, []source.Partition{"memory/0"})
	ack(t, one, 1, a...)
	if err := b.PublishTo(2, source.Message{}); err == nil {
		t.Error("a partition that does not exist takes a message")
	}
}

func TestAZombieFindsItsAcksLost(t *testing.T) {
	t.Parallel()
	for _, order := range []source.Order{source.OrderNone, source.OrderPartition} {
		b := memsource.New(memsource.Options{Order: order})
		zombie, heir := b.Join("g"), b.Join("g")
		publish(t, b, 3)
		a := fetch(t, zombie).Messages
		zombie.Expel()
		again := fetch(t, heir).Messages
		want(t, "the heir gets", payloads(again), []string{"0", "1", "2"})
		ack(t, zombie, 3, a...)
		want(t, "unacked", b.Unacked("g"), 3)
		ack(t, heir, 0, again...)
		want(t, "unacked", b.Unacked("g"), 0)
		if lost := fetch(t, zombie).Lost; len(lost) != 1 {
			t.Errorf("%v: the zombie lost %q when it joined again", order, lost)
		}
	}
}

func TestACutConnectionLosesWhatIsAtWork(t *testing.T) {
	t.Parallel()
	for _, order := range []source.Order{source.OrderNone, source.OrderPartition} {
		b := memsource.New(memsource.Options{Order: order})
		s := b.Join("g")
		publish(t, b, 3)
		a := fetch(t, s).Messages
		ack(t, s, 0, a[0])
		s.Cut()
		again := fetch(t, s)
		want(t, "lost", again.Lost, []source.Partition{"memory/0"})
		want(t, "again", payloads(again.Messages), []string{"1", "2"})
		want(t, "deliveries", again.Messages[0].Deliveries, 2)
		ack(t, s, 3, a...)
	}
}

func TestAcksThatGetLostComeAgainAndFailClose(t *testing.T) {
	t.Parallel()
	b := memsource.New(memsource.Options{})
	s := b.Join("g")
	publish(t, b, 2)
	a := fetch(t, s).Messages
	b.LoseAcks(true)
	ack(t, s, 0, a[0])
	ack(t, s, 0, a[0])
	b.LoseAcks(false)
	ack(t, s, 0, a...)
	want(t, "unacked", b.Unacked("g"), 1)
	if err := s.Close(t.Context()); err == nil {
		t.Error("Close says that all acks arrived")
	}
	want(t, "again", payloads(fetch(t, b.Join("g")).Messages), []string{"0"})
}

func TestAPositionForgetsAcksBehindAGap(t *testing.T) {
	t.Parallel()
	b := memsource.New(memsource.Options{Order: source.OrderStream, Cumulative: true})
	s := b.Join("g")
	publish(t, b, 5)
	a := fetch(t, s).Messages
	ack(t, s, 0, a[0], a[2], a[4])
	want(t, "unacked", b.Unacked("g"), 2)
	s.Crash()
	if _, err := s.Fetch(t.Context(), source.Limits{}); !errors.Is(err, source.ErrClosed) {
		t.Errorf("a source that crashed fetches: %v", err)
	}
	want(t, "again", payloads(fetch(t, b.Join("g")).Messages), []string{"1", "2", "3", "4"})
}

func TestCallsFailOnCommand(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var failing memsource.Op
	mine := errors.New("mine")
	b := memsource.New(memsource.Options{Fail: func(op memsource.Op, _ *memsource.Source) error {
		mu.Lock()
		defer mu.Unlock()
		if op == failing {
			return mine
		}
		return nil
	}})
	s := b.Join("g")
	publish(t, b, 2)
	m := fetch(t, s).Messages
	calls := map[memsource.Op]func() error{
		memsource.OpFetch:   func() error { _, err := s.Fetch(t.Context(), source.Limits{}); return err },
		memsource.OpAck:     func() error { _, err := s.Ack(t.Context(), []source.Receipt{m[0].Receipt}); return err },
		memsource.OpExtend:  func() error { _, err := s.Extend(t.Context(), nil); return err },
		memsource.OpRelease: func() error { return s.Release(t.Context(), []source.Receipt{m[1].Receipt}, 0) },
	}
	for op, call := range calls {
		mu.Lock()
		failing = op
		mu.Unlock()
		if err := call(); !errors.Is(err, mine) {
			t.Errorf("%s: %v", op, err)
		}
	}
	want(t, "at work", b.AtWork("g"), 2)
	b.SetDown(true)
	mu.Lock()
	failing = ""
	mu.Unlock()
	for op, call := range calls {
		if err := call(); !errors.Is(err, source.ErrUnavailable) {
			t.Errorf("%s of a broker that is down: %v", op, err)
		}
	}
	if _, err := s.Lag(t.Context()); !errors.Is(err, source.ErrUnavailable) {
		t.Errorf("lag of a broker that is down: %v", err)
	}
	b.Misconfigure(true)
	if _, err := s.Extend(t.Context(), nil); !errors.Is(err, source.ErrMisconfigured) {
		t.Errorf("a misconfigured broker: %v", err)
	}
	b.Misconfigure(false)
	mu.Lock()
	failing = memsource.OpClose
	mu.Unlock()
	if err := s.Close(t.Context()); !errors.Is(err, mine) {
		t.Errorf("Close: %v", err)
	}
	want(t, "another gets both", len(fetch(t, b.Join("g")).Messages), 2)
}

func TestAnOutageEndsAFetchThatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memsource.New(memsource.Options{})
		s := b.Join("g")
		ended := make(chan error, 1)
		go func() {
			_, err := s.Fetch(t.Context(), source.Limits{})
			ended <- err
		}()
		synctest.Wait()
		b.SetDown(true)
		if err := <-ended; !errors.Is(err, source.ErrUnavailable) {
			t.Errorf("the Fetch that waited: %v", err)
		}
	})
}

func TestACrashEndsAFetchThatWaitsAndTheSourceDoesNotComeBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		attempts, crashed := 0, make(chan struct{})
		b := memsource.New(memsource.Options{Order: source.OrderPartition, Fail: func(memsource.Op, *memsource.Source) error {
			if attempts++; attempts == 2 {
				<-crashed // the Fetch looks again just when the source is no member any more
			}
			return nil
		}})
		s := b.Join("g")
		ended := make(chan error, 1)
		go func() {
			_, err := s.Fetch(t.Context(), source.Limits{})
			ended <- err
		}()
		synctest.Wait()
		b.Rebalance("g")
		synctest.Wait()
		b.Rebalance("g") // so that the partition is the first member's again
		s.Crash()
		close(crashed)
		if err := <-ended; !errors.Is(err, source.ErrClosed) {
			t.Errorf("the Fetch that waited: %v", err)
		}
		publish(t, b, 1)
		want(t, "another gets", len(fetch(t, b.Join("g")).Messages), 1)
	})
}

func TestTimesAreThoseOfTheClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, order := range []source.Order{source.OrderNone, source.OrderStream} {
			b := memsource.New(memsource.Options{Order: order, AckWait: time.Hour})
			s := b.Join("g")
			publish(t, b, 2)
			began := time.Now()
			passed := func(what string, want time.Duration) {
				t.Helper()
				if got := time.Since(began); got != want {
					t.Errorf("%v: %s after %v, want %v", order, what, got, want)
				}
			}
			patient := func() []source.Message {
				t.Helper()
				for {
					batch, err := s.Fetch(t.Context(), source.Limits{})
					if err != nil {
						t.Fatal(err)
					}
					if len(batch.Messages) > 0 {
						return batch.Messages
					}
				}
			}
			a := patient()
			passed("the first time", 0)
			ack(t, s, 0, a[0])
			a = patient()
			passed("the ack wait ran out", time.Hour)
			if err := s.Release(t.Context(), []source.Receipt{a[0].Receipt}, 7*time.Hour); err != nil {
				t.Fatal(err)
			}
			a = patient()
			passed("what was released comes", 8*time.Hour)
			want(t, "deliveries", a[0].Deliveries, 3)
			lag, err := s.Lag(t.Context())
			if err != nil || len(lag) != 1 || lag[0].Messages != 1 || lag[0].Age != 8*time.Hour {
				t.Errorf("%v: the lag is %+v, %v", order, lag, err)
			}
		}
	})
}

func TestAClockOfYoursDecides(t *testing.T) {
	t.Parallel()
	clock := &fixedClock{at: time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC), after: make(chan time.Time)}
	b := memsource.New(memsource.Options{Clock: clock, AckWait: time.Minute, Partitions: -1, MaxUnacked: -1})
	s := b.Join("g")
	publish(t, b, 1)
	m := fetch(t, s).Messages
	want(t, "the time", m[0].Time, clock.at)
	came := make(chan []source.Message, 1)
	go func() {
		batch, err := s.Fetch(t.Context(), source.Limits{})
		if err != nil {
			t.Error(err)
		}
		came <- batch.Messages
	}()
	clock.mu.Lock()
	clock.at = clock.at.Add(time.Minute)
	clock.mu.Unlock()
	close(clock.after)
	want(t, "what came again", len(<-came), 1)
}

type fixedClock struct {
	mu    sync.Mutex
	at    time.Time
	after chan time.Time
}

func (c *fixedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *fixedClock) After(time.Duration) <-chan time.Time { return c.after }

func TestWaitUntilAckedReturnsWhenEverythingIsAcked(t *testing.T) {
	t.Parallel()
	b := memsource.New(memsource.Options{})
	s := b.Join("g")
	publish(t, b, 2)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.WaitUntilAcked(over, "g"); !errors.Is(err, context.Canceled) {
		t.Errorf("nothing is acked: %v", err)
	}
	m := fetch(t, s).Messages
	done := make(chan error, 1)
	go func() { done <- b.WaitUntilAcked(t.Context(), "g") }()
	for _, one := range slices.Backward(m) {
		ack(t, s, 0, one)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func BenchmarkFetchAndAck(b *testing.B) {
	for _, order := range []source.Order{source.OrderNone, source.OrderPartition} {
		b.Run(order.String(), func(b *testing.B) {
			broker := memsource.New(memsource.Options{Order: order, Partitions: 4})
			s := broker.Join("g")
			msgs := make([]source.Message, 100)
			for i := range msgs {
				msgs[i] = source.Message{Key: strconv.Itoa(i), Payload: make([]byte, 200)}
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := broker.Publish(msgs...); err != nil {
					b.Fatal(err)
				}
				batch, err := s.Fetch(b.Context(), source.Limits{})
				if err != nil {
					b.Fatal(err)
				}
				receipts := make([]source.Receipt, len(batch.Messages))
				for i, m := range batch.Messages {
					receipts[i] = m.Receipt
				}
				if _, err := s.Ack(b.Context(), receipts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
