package sourcekit

import (
	"testing"
	"time"

	"github.com/postbag/postbag/source"
)

// A consumer that drops messages fills no memory: another member has them by then.
func TestMessagesThatNobodyAcksAreForgotten(t *testing.T) {
	t.Parallel()
	w := NewAtWork[int, string]()
	w.AckWait = time.Second
	began := time.Now()
	first := w.Deliver(1, "", began)
	for i := range sweepEvery {
		w.Deliver(i+2, "", began.Add(time.Hour))
	}
	if w.Has(1) || len(w.work) != sweepEvery {
		t.Errorf("%d messages are at work", len(w.work))
	}
	if _, lost := w.Find([]source.Receipt{first}); lost != 1 {
		t.Errorf("%d of the messages that were dropped are lost, want 1", lost)
	}
	for i := range maxGone + 5 {
		r := w.Deliver(-i, "", began.Add(time.Hour))
		found, _ := w.Find([]source.Receipt{r})
		w.Taken(found)
	}
	if len(w.gone) != maxGone || len(w.fifo) != maxGone {
		t.Errorf("%d losses are remembered, want %d", len(w.gone), maxGone)
	}
	if _, lost := w.Find([]source.Receipt{{}, {Epoch: 7, Number: 1}, {Epoch: 1, Number: 1 << 40}}); lost != 3 {
		t.Errorf("%d receipts of nothing are lost, want 3", lost)
	}
}

func TestReceiptsOfAnAssignmentThatIsOverAreLost(t *testing.T) {
	t.Parallel()
	w := NewAtWork[int, string]()
	if w.Begin() {
		t.Error("an assignment without a message had one")
	}
	now := time.Now()
	old := w.Deliver(1, "a", now)
	if !w.Begin() {
		t.Error("an assignment with a message had none")
	}
	again := w.Deliver(1, "b", now)
	third := w.Deliver(1, "c", now) // it comes while it is at work
	found, lost := w.Find([]source.Receipt{old, again, third, third})
	if lost != 2 || len(found) != 1 || found[0].Data != "c" {
		t.Errorf("%d are lost and found are %+v", lost, found)
	}
	w.Acked(found)
	if found, lost := w.Find([]source.Receipt{third}); len(found) > 0 || lost > 0 || w.Has(1) {
		t.Errorf("a message that was acked is found (%+v) or lost (%d)", found, lost)
	}
}

func TestMessagesOfSomeKeysAreLostTogether(t *testing.T) {
	t.Parallel()
	w := NewAtWork[int, string]()
	now := time.Now()
	receipts := []source.Receipt{w.Deliver(3, "", now), w.Deliver(1, "", now), w.Deliver(2, "", now)}
	odd := func(key int) bool { return key%2 == 1 }
	if !w.Lose(odd) || w.Lose(odd) {
		t.Error("Lose does not say whether there were any")
	}
	if found, lost := w.Find(receipts); lost != 2 || len(found) != 1 || found[0].Key != 2 {
		t.Errorf("%d are lost and found are %+v", lost, found)
	}
	w.Deliver(1, "", now)
	if all := w.All(); len(all) != 2 || all[0].Key != 2 || all[1].Key != 1 {
		t.Errorf("at work are %+v", all)
	}
}
