package membroker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
)

// numbered makes messages whose seq and id are 1, 2, 3 and whose keys are given.
func numbered(keys ...string) []broker.Delivery {
	msgs := make([]broker.Delivery, len(keys))
	for i, key := range keys {
		msgs[i] = broker.Delivery{
			Message: postbag.Message{ID: postbag.ID{15: byte(i + 1)}, Topic: "t", Key: key, Payload: []byte{byte('1' + i)}},
			Seq:     int64(i + 1),
		}
	}
	return msgs
}

func publish(ctx context.Context, d *membroker.Destination, msgs ...broker.Delivery) []broker.Outcome {
	results := broker.Publish(ctx, d, msgs)
	return outcomes(results)
}

func outcomes(results []broker.Result) []broker.Outcome {
	all := make([]broker.Outcome, len(results))
	for i, r := range results {
		all[i] = r.Outcome
	}
	return all
}

func seqs(records []membroker.Record) []int64 {
	all := []int64{}
	for _, r := range records {
		all = append(all, r.Seq)
	}
	return all
}

func want[T any](t *testing.T, what string, got, want []T) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestDecideSaysWhatHappensToEachMessage(t *testing.T) {
	t.Parallel()
	d := membroker.New(membroker.Options{Decide: func(m broker.Delivery, try int) membroker.Act {
		switch {
		case m.Seq == 2 && try == 1:
			return membroker.Fail(broker.Unavailable, "come again")
		case m.Seq == 3:
			return membroker.Lose()
		case m.Seq == 4:
			return membroker.Act{Err: errors.New("plain"), After: time.Minute, Note: "noted"}
		}
		return membroker.Act{}
	}})
	msgs := numbered("a", "b", "c", "d")
	want(t, "first try", publish(t.Context(), d, msgs...), []broker.Outcome{
		broker.Accepted, broker.Unavailable, broker.Unknown, broker.Unknown,
	})
	want(t, "second try", publish(t.Context(), d, msgs[1]), []broker.Outcome{broker.Accepted})
	want(t, "stored", seqs(d.Taken()), []int64{1, 3, 2})
	if n := d.Tries(msgs[1].ID); n != 2 {
		t.Errorf("message 2 was tried %d times, want 2", n)
	}
	answers := d.Answers()
	if last := answers[3]; last.After != time.Minute || last.Note != "noted" || last.ID != msgs[3].ID || last.Try != 1 {
		t.Errorf("the answer to message 4 is %+v", last)
	}
	if d.Count(broker.Accepted) != 2 || d.Count(broker.Unknown) != 2 || d.Count(broker.Unavailable) != 1 {
		t.Errorf("answers are counted wrong: %v", answers)
	}
}

func TestAnOrderedBrokerHoldsBackWhatFollowsInItsKey(t *testing.T) {
	t.Parallel()
	refuse2 := func(m broker.Delivery, _ int) membroker.Act {
		if m.Seq == 2 {
			return membroker.Fail(broker.Rejected, "second")
		}
		return membroker.Act{}
	}
	for _, c := range []struct {
		ordered bool
		want    []broker.Outcome
		stored  []int64
	}{
		{true, []broker.Outcome{broker.Accepted, broker.Rejected, broker.NotSent, broker.Accepted, broker.Accepted}, []int64{1, 4, 5}},
		{false, []broker.Outcome{broker.Accepted, broker.Rejected, broker.Accepted, broker.Accepted, broker.Accepted}, []int64{1, 3, 4, 5}},
	} {
		t.Run(fmt.Sprintf("ordered %v", c.ordered), func(t *testing.T) {
			t.Parallel()
			d := membroker.New(membroker.Options{Ordered: c.ordered, Decide: refuse2})
			want(t, "outcomes", publish(t.Context(), d, numbered("a", "a", "a", "b", "")...), c.want)
			want(t, "stored", seqs(d.Taken()), c.stored)
		})
	}
}

func TestAHeldMessageHoldsUpOnlyItsKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		d := membroker.New(membroker.Options{Ordered: true, Decide: func(m broker.Delivery, _ int) membroker.Act {
			if m.Seq == 1 {
				return membroker.Act{Hold: hold}
			}
			return membroker.Act{}
		}})
		reported := make(chan int, 4)
		done := make(chan struct{})
		go func() {
			defer close(done)
			d.Publish(t.Context(), numbered("a", "a", "b", ""), func(i int, r broker.Result) {
				if r.Outcome != broker.Accepted {
					t.Errorf("message %d is %v", i, r.Outcome)
				}
				reported <- i
			})
		}()
		synctest.Wait()
		want(t, "stored while message 1 is held", seqs(d.Taken()), []int64{3, 4})
		if len(reported) != 2 {
			t.Errorf("%d messages are reported while one is held, want 2", len(reported))
		}
		close(hold)
		<-done
		want(t, "stored", seqs(d.Taken()), []int64{3, 4, 1, 2})
	})
}

func TestADelayedMessageIsAnsweredAfterItsDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := membroker.New(membroker.Options{Decide: func(broker.Delivery, int) membroker.Act {
			return membroker.Act{Delay: time.Hour}
		}})
		began := time.Now()
		want(t, "outcomes", publish(t.Context(), d, numbered("a", "b", "c")...), []broker.Outcome{1, 1, 1})
		for _, r := range d.Taken() {
			if took := r.Taken.Sub(began); took != time.Hour {
				t.Errorf("message %d was taken after %v, want 1h", r.Seq, took)
			}
		}
	})
}

func TestAMessageWhoseContextEndsIsUnknown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act    func(never <-chan struct{}) membroker.Act
		stored int
	}{
		"delayed":  {func(<-chan struct{}) membroker.Act { return membroker.Act{Delay: time.Hour} }, 0},
		"held":     {func(never <-chan struct{}) membroker.Act { return membroker.Act{Hold: never} }, 0},
		"silenced": {func(never <-chan struct{}) membroker.Act { return membroker.Act{Silence: never} }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				act := c.act(make(chan struct{})) // of this bubble, so that its clock moves on
				d := membroker.New(membroker.Options{Decide: func(broker.Delivery, int) membroker.Act { return act }})
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				want(t, "outcomes", publish(ctx, d, numbered("a")...), []broker.Outcome{broker.Unknown})
				if d.Len() != c.stored {
					t.Errorf("%d messages are stored, want %d", d.Len(), c.stored)
				}
			})
		})
	}
}

func TestHoldDelaysAllMessagesUntilReleased(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := membroker.New(membroker.Options{})
		release := d.Hold()
		done := make(chan []broker.Outcome, 1)
		go func() { done <- publish(t.Context(), d, numbered("a", "b")...) }()
		synctest.Wait()
		if d.Len() != 0 {
			t.Errorf("%d messages were stored while all are held", d.Len())
		}
		release()
		release()
		want(t, "outcomes", <-done, []broker.Outcome{broker.Accepted, broker.Accepted})
		want(t, "later", publish(t.Context(), d, numbered("a", "b", "c")[2]), []broker.Outcome{broker.Accepted})
	})
}

func TestCloseWaitsForWhatIsHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := membroker.New(membroker.Options{})
		release := d.Hold()
		go publish(t.Context(), d, numbered("a")...)
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := d.Close(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close with a held message: %v, want the context's error", err)
		}
		release()
		if err := d.Close(t.Context()); err != nil {
			t.Errorf("Close after the release: %v", err)
		}
		if d.Len() != 1 {
			t.Error("the held message is not stored")
		}
		if err := d.Probe(t.Context()); !errors.Is(err, broker.ErrClosed) {
			t.Errorf("Probe after Close: %v", err)
		}
	})
}

func TestClientsOfOneBrokerShareWhatItHoldsAndCloseAlone(t *testing.T) {
	t.Parallel()
	d := membroker.New(membroker.Options{})
	other := d.Connect()
	if err := d.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, "the closed one", publish(t.Context(), d, numbered("a")...), []broker.Outcome{broker.NotSent})
	want(t, "the other", publish(t.Context(), other, numbered("a")...), []broker.Outcome{broker.Accepted})
	if d.Len() != 1 {
		t.Error("the closed client does not see what the broker holds")
	}
}

func TestTheBrokerCountsRepeatsAndInversionsAndListsAKey(t *testing.T) {
	t.Parallel()
	d := membroker.New(membroker.Options{})
	m := numbered("a", "b", "a", "", "", "a")
	for _, i := range []int{1, 0, 2, 0, 5, 4, 3} { // 0 again is a repeat, not an inversion; "" has no order
		publish(t.Context(), d, m[i])
	}
	if d.Inversions() != 0 || d.Repeats() != 1 || d.Len() != 7 {
		t.Errorf("inversions %d, repeats %d, length %d; want 0, 1, 7", d.Inversions(), d.Repeats(), d.Len())
	}
	want(t, "key a", seqs(d.OfKey("a")), []int64{1, 3, 1, 6})
	want(t, "first", seqs(d.First()), []int64{2, 1, 3, 6, 5, 4})

	inverted := membroker.New(membroker.Options{})
	for _, i := range []int{2, 0, 5, 1} {
		publish(t.Context(), inverted, m[i])
	}
	if inverted.Inversions() != 1 {
		t.Errorf("3 before 1 counts as %d inversions, want 1", inverted.Inversions())
	}
}

func TestRecordsShareNothingWithWhatWasSent(t *testing.T) {
	t.Parallel()
	d := membroker.New(membroker.Options{})
	m := numbered("a")[0]
	m.Headers = map[string]string{"h": "v"}
	publish(t.Context(), d, m)
	m.Headers["h"], m.Payload[0] = "changed", 'X'
	if r := d.Taken()[0]; r.Headers["h"] != "v" || string(r.Payload) != "1" || r.Call != 1 {
		t.Errorf("the record changed with the message: %+v", r)
	}
}

func TestWaitForCountsDifferentMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := membroker.New(membroker.Options{})
		m := numbered("a", "b")
		waited := make(chan error, 1)
		go func() { waited <- d.WaitFor(t.Context(), 2) }()
		publish(t.Context(), d, m[0])
		publish(t.Context(), d, m[0])
		synctest.Wait()
		if len(waited) != 0 {
			t.Fatal("a repeat counts as a second message")
		}
		publish(t.Context(), d, m[1])
		if err := <-waited; err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := d.WaitFor(ctx, 3); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("WaitFor of what never comes: %v", err)
		}
	})
}

func TestNullAcceptsEveryMessageUntilItIsClosed(t *testing.T) {
	t.Parallel()
	n := membroker.Null()
	results := broker.Publish(t.Context(), n, numbered("a", "a", "b"))
	if slices.Contains(outcomes(results), broker.Unknown) || !n.Features().Ordered {
		t.Errorf("results %v, features %+v", results, n.Features())
	}
	for range 2 {
		if err := n.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	results = broker.Publish(t.Context(), n, numbered("a", "a", "b"))
	if results[2].Outcome != broker.NotSent || !errors.Is(results[2].Err, broker.ErrClosed) {
		t.Errorf("after Close: %v", results[2])
	}
}

func BenchmarkNull(b *testing.B) {
	n, msgs, results := membroker.Null(), numbered(make([]string, 200)...), make([]broker.Result, 200)
	report := func(i int, r broker.Result) { results[i] = r }
	b.ReportAllocs()
	for b.Loop() {
		n.Publish(b.Context(), msgs, report)
	}
}
