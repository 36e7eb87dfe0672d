package mqttbroker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// drawn hands out what there is, and returns the numbers of the receipts with the identifiers.
func drawn(w *work, now time.Time, most int) (numbers []uint64, ids []uint16) {
	for {
		a, _ := w.next(now, most)
		if a == nil {
			return numbers, ids
		}
		numbers, ids = append(numbers, w.hand()), append(ids, a.id)
	}
}

func workOf(qos byte, ids ...uint16) *work {
	w := newWork()
	for _, id := range ids {
		w.arrive(&arrival{id: id, qos: qos, frame: frame{body: []byte{1}}})
	}
	return &w
}

func TestAcksInAnySequenceAreWrittenInThatOfArrival(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		w := newWork()
		var want, got []answer
		for range 30 {
			a := &arrival{id: uint16(random.IntN(1000) + 1), qos: byte(random.IntN(3))}
			w.arrive(a)
			if kind := [...]byte{0, puback, pubrec}[a.qos]; kind != 0 {
				want = append(want, answer{kind, a.id})
			}
		}
		numbers, _ := drawn(&w, time.Now(), 100)
		random.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
		for _, n := range numbers {
			for range 2 { // to ack again changes nothing
				if w.ack(n) {
					t.Fatal("an ack is counted as lost")
				}
			}
			got = append(got, w.take()...)
			for _, a := range w.all {
				if first := w.all[0]; first.state == arrivedDone || a.state == arrivedDone && a.frame.body != nil {
					t.Fatal("what is acked is kept")
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("written is %v, want %v", got, want)
		}
		if len(w.all)+len(w.queue)+len(w.out)+w.plain > 0 {
			t.Fatalf("when all is acked there is left %+v", w)
		}
	}
}

func TestAReleaseConcernsItsMessageAlone(t *testing.T) {
	t.Parallel()
	now := time.Now()
	w := workOf(1, 1, 2, 3)
	numbers, _ := drawn(w, now, 10)
	if !w.release(numbers[0], now) || !w.release(numbers[1], now.Add(time.Hour)) || w.release(numbers[1], now) {
		t.Fatal("a message that is at work is not released, or one is that is not")
	}
	if a, _ := w.next(now, 10); a == nil || a.id != 1 || a.before != 1 {
		t.Fatalf("next is %+v, want the message 1 with a delivery before", a)
	}
	again, ids := drawn(w, now, 10)
	if len(ids) != 1 || again[0] <= numbers[2] {
		t.Fatalf("the receipts %v of the messages %v come again", again, ids)
	}
	if _, wait := w.next(now, 10); wait != time.Hour {
		t.Errorf("the next one comes after %v, want an hour", wait)
	}
	if !w.ack(numbers[0]) || !w.ack(numbers[1]) || w.ack(numbers[2]) || w.ack(again[0]) || !w.ack(99) || !w.ack(0) {
		t.Error("acks of deliveries that are over count, or others do not")
	}
	if got := w.take(); !slices.Equal(got, []answer{{puback, 1}}) {
		t.Errorf("written is %v, and the second message is open", got)
	}
	if _, ids := drawn(w, now.Add(time.Hour), 10); !slices.Equal(ids, []uint16{2}) {
		t.Errorf("after an hour the messages %v come", ids)
	}
}

func TestARewindBeginsAtTheEarliestMessageThatIsNotAcked(t *testing.T) {
	t.Parallel()
	now := time.Now()
	w := workOf(1, 1, 2, 3, 4, 5)
	numbers, _ := drawn(w, now, 4)
	if len(numbers) != 4 {
		t.Fatalf("%d messages are at work, want 4 at most", len(numbers))
	}
	w.ack(numbers[0])
	w.ack(numbers[2])
	w.rewind(now.Add(time.Minute))
	w.arrive(&arrival{id: 6, qos: 1})
	if a, wait := w.next(now, 10); a != nil || wait != time.Minute {
		t.Errorf("before its time comes %+v, or it takes %v", a, wait)
	}
	again, ids := drawn(w, now.Add(time.Minute), 10)
	if !slices.Equal(ids, []uint16{2, 4, 5, 6}) {
		t.Errorf("the messages %v come again", ids)
	}
	for _, n := range again {
		w.ack(n)
	}
	if got := fmt.Sprint(w.take()); got != fmt.Sprint([]answer{{puback, 1}, {puback, 2}, {puback, 3}, {puback, 4}, {puback, 5}, {puback, 6}}) {
		t.Errorf("written is %v", got)
	}
}

func TestWhatIsRememberedOfReleasesIsBounded(t *testing.T) {
	t.Parallel()
	now := time.Now()
	w := workOf(1, 1)
	var last uint64
	for range maxGiven + 10 {
		numbers, _ := drawn(w, now, 10)
		last = numbers[0]
		w.release(last, now)
	}
	if len(w.gone) != maxGiven || len(w.fifo) != maxGiven || !w.ack(last) {
		t.Errorf("%d and %d are remembered, want %d, the latest among them", len(w.gone), len(w.fifo), maxGiven)
	}
}
