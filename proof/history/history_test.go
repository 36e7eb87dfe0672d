package history

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const second = time.Second

// calm is a history of a few messages that holds every promise, for tests to break.
//
// Key a has messages 1 and 2 in a transaction and 3 in a later one, key b has 4. The relay was killed at 50 s, and 4 was sent
// twice. A transaction rolled back with message 5. Message 6 is scheduled for 30 s. Message 7 is poison and dead, 8 is parked
// behind it, 9 was discarded; 10 is of a transaction with an unknown outcome. A handler applied 1 to 4; of the others nobody asked.
func calm() *History {
	h := &History{}
	for _, m := range []Intent{
		{Tx: 1, Index: 0, ID: id(1), Key: "a", Begin: 1 * second},
		{Tx: 1, Index: 1, ID: id(2), Key: "a", Begin: 1 * second},
		{Tx: 2, Index: 0, ID: id(3), Key: "a", Begin: 3 * second},
		{Tx: 3, Index: 0, ID: id(4), Key: "b", Begin: 3 * second},
		{Tx: 4, Index: 0, ID: id(5), Key: "a", Begin: 4 * second},
		{Tx: 5, Index: 0, ID: id(6), Key: "a", Begin: 5 * second, Due: 30 * second},
		{Tx: 5, Index: 1, ID: id(7), Key: "c", Begin: 5 * second, Poison: true},
		{Tx: 6, Index: 0, ID: id(8), Key: "c", Begin: 7 * second},
		{Tx: 7, Index: 0, ID: id(9), Key: "d", Begin: 9 * second},
		{Tx: 8, Index: 0, ID: id(10), Key: "d", Begin: 10 * second},
	} {
		m.Topic, m.Payload, m.End = "t", Sum(m.ID[:]), m.Begin+1
		h.Intend(m)
	}
	for _, o := range []Outcome{
		{Tx: 1, Fate: Committed, Begin: 1500 * time.Millisecond, End: 2 * second},
		{Tx: 2, Fate: Unknown, Begin: 3500 * time.Millisecond, End: 4 * second},
		{Tx: 2, Fate: Committed, Begin: 3500 * time.Millisecond, End: 5 * second},
		{Tx: 3, Fate: Committed, Begin: 3500 * time.Millisecond, End: 4 * second},
		{Tx: 4, Fate: RolledBack, Begin: 5 * second, End: 5 * second},
		{Tx: 5, Fate: Committed, Begin: 6 * second, End: 6 * second},
		{Tx: 6, Fate: Committed, Begin: 8 * second, End: 8 * second},
		{Tx: 7, Fate: Committed, Begin: 9 * second, End: 9 * second},
		{Tx: 8, Fate: Unknown, Begin: 11 * second, End: 12 * second},
	} {
		h.End(o)
	}
	for position, n := range []int{1, 4, 2, 3, 6, 4} {
		at := 20*second + time.Duration(position)*10*second
		key := "a"
		if n == 4 {
			key = "b"
		}
		h.Deliver(Delivery{ID: id(n), Key: key, Payload: Sum(ids(n)), Place: "s", Position: uint64(position), From: at, To: at + 1})
	}
	for position, n := range []int{1, 2, 4, 3} {
		key := "a"
		if n == 4 {
			key = "b"
		}
		h.Apply(Effect{ID: id(n), Key: key, Payload: Sum(ids(n)), Position: uint64(position)})
	}
	h.Break(Fault{Kind: "kill", Target: "relay 1", Begin: 50 * second, End: 51 * second})
	h.Break(Fault{Kind: "cut", Target: "database", Begin: 5 * second, End: 15 * second, Stops: true, Window: -1})
	h.Hold(Stored{ID: id(7), State: Dead, Attempts: 5})
	h.Hold(Stored{ID: id(8), State: Parked, Attempts: 1})
	h.Refuse(Refusal{ID: id(8), At: 60 * second})
	h.Order(Command{ID: id(9), What: Discard, Begin: 70 * second, End: 71 * second})
	h.Wait(Gap{Kind: Takeover, Of: "relay 1", Begin: 50 * second, End: 53 * second})
	h.Look(Watch{Kind: OpenTransaction, Of: "relay 1", Begin: 5 * second, End: 5 * second})
	h.Look(Watch{Kind: LockWait, Of: "writer 1", Begin: 5 * second, End: 5*second + 10*time.Millisecond})
	return h
}

func options() Options {
	return Options{
		InFlight: 10, Slack: 20 * second, Takeover: 4 * second, Resume: 7 * second,
		OpenTransaction: time.Millisecond, LockWait: 50 * time.Millisecond,
	}
}

func id(n int) ID { return ID{0: byte(n >> 8), 15: byte(n)} }

func ids(n int) []byte {
	one := id(n)
	return one[:]
}

func TestAHistoryThatKeepsEveryPromiseIsReportedSo(t *testing.T) {
	t.Parallel()
	h := calm()
	for range 2 { // a second look sees the same
		r := h.Check(options())
		if !r.Held() || r.Err() != nil {
			t.Fatal(r)
		}
		for p := range Promise(promises) {
			if v := r.Of(p); v.Seen == 0 || v.Promise != p {
				t.Errorf("nothing was judged by %v", p)
			}
		}
		if got := fmt.Sprint(r.Of(Lost).N("delivered"), r.Of(Lost).N("excused"), r.Of(Duplicates).N("duplicates"), r.Of(Sound).N("transactions without a certain end")); got != "5 3 1 1" {
			t.Error(got)
		}
	}
	if got := h.Check(options()).Summary(); got != "14 held" {
		t.Error(got)
	}
	h.Reset()
	r := h.Check(options())
	if !r.Held() || strings.Count(r.String(), "not put to the test") != promises {
		t.Error("an empty history:", r)
	}
	sent(h, 1, "a", Committed)
	if got := h.Check(options()).Summary(); got != "1 BROKEN (lost), 1 held, 12 not put to the test" {
		t.Error(got)
	}
}
