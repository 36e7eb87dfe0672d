package sourcekit_test

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// deliver hands out offsets of an assignment, which must be taken.
func deliver(t *testing.T, tr *sourcekit.Tracker, epoch uint64, offsets ...uint64) []source.Receipt {
	t.Helper()
	var all []source.Receipt
	for _, offset := range offsets {
		r, ok := tr.Deliver(epoch, offset)
		if !ok {
			t.Fatalf("offset %d is not delivered", offset)
		}
		all = append(all, r)
	}
	return all
}

// taken wants the positions that Take returns, as "partition:next".
func taken(t *testing.T, tr *sourcekit.Tracker, want ...string) []sourcekit.Position {
	t.Helper()
	all := tr.Take()
	var got []string
	for _, p := range all {
		got = append(got, fmt.Sprintf("%s:%d", p.Partition, p.Next))
	}
	if !slices.Equal(got, want) {
		t.Errorf("Take returns %q, want %q", got, want)
	}
	return all
}

func lost(t *testing.T, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%d acks are lost, want %d", got, want)
	}
}

func TestAPositionGrowsOnlyToTheFirstMessageThatIsNotAcked(t *testing.T) {
	t.Parallel()
	var tr sourcekit.Tracker
	r := deliver(t, &tr, tr.Assign("p", 10), 10, 11, 12, 15, 16)
	lost(t, tr.Ack(r[1:3]), 0)
	taken(t, &tr)
	lost(t, tr.Ack(r[:1]), 0)
	taken(t, &tr, "p:15") // 13 and 14 are no messages
	taken(t, &tr)
	lost(t, tr.Ack([]source.Receipt{r[4], r[3]}), 0)
	taken(t, &tr, "p:17")
	if n := tr.Unacked(); n != 0 {
		t.Errorf("%d messages are unacked", n)
	}
}

func TestAnAckThatIsRepeatedIsNotLost(t *testing.T) {
	t.Parallel()
	var tr sourcekit.Tracker
	r := deliver(t, &tr, tr.Assign("p", 0), 0, 1, 2)
	lost(t, tr.Ack([]source.Receipt{r[0], r[0], r[2], r[2]}), 0)
	if n := tr.Unacked(); n != 1 {
		t.Errorf("%d messages are unacked, want one", n)
	}
	taken(t, &tr, "p:1")
}

func TestAnAckOfAnotherAssignmentIsLostAndChangesNothing(t *testing.T) {
	t.Parallel()
	var tr sourcekit.Tracker
	old := deliver(t, &tr, tr.Assign("p", 0), 0, 1, 2)
	if !tr.Lose("p") || tr.Lose("p") {
		t.Error("a loss is to be told once")
	}
	lost(t, tr.Ack(old), 3)
	taken(t, &tr)
	epoch := tr.Assign("p", 0)
	if epoch == old[0].Epoch || tr.Epoch("p") != epoch {
		t.Errorf("the epoch of the new assignment is %d, that of the old one %d", epoch, old[0].Epoch)
	}
	again := deliver(t, &tr, epoch, 0, 1, 2)
	lost(t, tr.Ack(old), 3)
	taken(t, &tr)
	lost(t, tr.Ack(again[:1]), 0)
	taken(t, &tr, "p:1")
	lost(t, tr.Ack([]source.Receipt{{}, {Epoch: epoch, Number: 99}}), 2)
}

func TestALossOfWhatWasNeverDeliveredIsNotTold(t *testing.T) {
	t.Parallel()
	var tr sourcekit.Tracker
	tr.Assign("p", 0)
	if tr.Lose("p") || tr.Lose("q") {
		t.Error("a loss is to be told of nothing")
	}
	if tr.Epoch("p") != 0 || tr.Room(1) != 0 {
		t.Error("an assignment that is over has an epoch, or room")
	}
}

func TestTheWindowBoundsWhatIsRemembered(t *testing.T) {
	t.Parallel()
	tr := sourcekit.Tracker{Window: 3}
	epoch := tr.Assign("p", 0)
	r := deliver(t, &tr, epoch, 0, 1, 2)
	if _, ok := tr.Deliver(epoch, 3); ok || tr.Room(epoch) != 0 {
		t.Error("a fourth message is delivered")
	}
	tr.Ack(r[1:])
	if tr.Room(epoch) != 0 {
		t.Error("acks behind the earliest message make room")
	}
	tr.Ack(r[:1])
	if got := tr.Room(epoch); got != 3 {
		t.Errorf("there is room for %d", got)
	}
	if _, ok := tr.Deliver(epoch, 2); ok {
		t.Error("an offset is delivered again")
	}
	deliver(t, &tr, epoch, 3)
}

func TestOffsetsThatAreNoMessagesHoldUpNoPosition(t *testing.T) {
	t.Parallel()
	var tr sourcekit.Tracker
	epoch := tr.Assign("p", 5)
	r := deliver(t, &tr, epoch, 9)
	taken(t, &tr, "p:9")
	tr.Ack(r)
	taken(t, &tr, "p:10")
}

func TestRewindBeginsAgainAtTheEarliestUnackedMessage(t *testing.T) {
	t.Parallel()
	var tr sourcekit.Tracker
	r := deliver(t, &tr, tr.Assign("p", 0), 0, 1, 2, 3)
	q := deliver(t, &tr, tr.Assign("q", 0), 0)
	tr.Ack([]source.Receipt{r[0], r[2]})
	if all := tr.Rewind([]source.Receipt{r[0], r[2], {}}); len(all) != 0 {
		t.Errorf("acked messages rewind %v", all)
	}
	all := tr.Rewind([]source.Receipt{r[3], r[1]})
	if len(all) != 1 || all[0].Partition != "p" || all[0].Next != 1 || all[0].Epoch == r[0].Epoch {
		t.Fatalf("Rewind returns %+v", all)
	}
	taken(t, &tr, "p:1") // what was acked before holds
	lost(t, tr.Ack(r), 4)
	lost(t, tr.Ack(q), 0)
	again := deliver(t, &tr, all[0].Epoch, 1, 2, 3)
	lost(t, tr.Ack(again), 0)
	taken(t, &tr, "p:4", "q:1")
}

func TestAPositionThatWasNotCommittedIsTakenAgain(t *testing.T) {
	t.Parallel()
	var tr sourcekit.Tracker
	r := deliver(t, &tr, tr.Assign("p", 0), 0, 1, 2)
	tr.Ack(r[:1])
	failed := taken(t, &tr, "p:1")
	tr.Untake(failed)
	tr.Ack(r[1:2])
	failed = taken(t, &tr, "p:2")
	tr.Rewind(r[2:])
	tr.Untake(failed) // of before the rewind, and still this source's
	taken(t, &tr, "p:2")
	tr.Assign("p", 2)
	tr.Untake(failed) // of an assignment that is over
	taken(t, &tr)
}

func TestATrackerIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	var tr sourcekit.Tracker
	receipts := make(chan source.Receipt, 100)
	var all sync.WaitGroup
	const total = 5000
	for range 4 {
		all.Go(func() {
			for r := range receipts {
				tr.Ack([]source.Receipt{r})
				tr.Untake(tr.Take())
			}
		})
	}
	epoch := tr.Assign("p", 0)
	for offset := range uint64(total) {
		r, ok := tr.Deliver(epoch, offset)
		if !ok {
			t.Fatalf("offset %d is not delivered", offset)
		}
		receipts <- r
	}
	close(receipts)
	all.Wait()
	taken(t, &tr, fmt.Sprintf("p:%d", total))
}

// model is a tracker that remembers everything.
type model struct {
	next  uint64
	epoch uint64
	out   []uint64
	acked map[uint64]bool
}

func (m *model) position() uint64 {
	for _, offset := range m.out {
		if !m.acked[offset] {
			return max(m.next, offset)
		}
	}
	if len(m.out) > 0 {
		return m.out[len(m.out)-1] + 1
	}
	return m.next
}

func FuzzTrackerMatchesAModelThatRemembersEverything(f *testing.F) {
	f.Add([]byte{0, 1, 1, 1, 2, 0, 2, 1, 3, 4, 1, 2, 5})
	f.Add([]byte{0, 9, 1, 2, 1, 3, 2, 1, 3, 2, 9, 1, 6, 0, 2, 0, 3})
	f.Add([]byte("202018090")) // a gap behind the earliest message
	f.Fuzz(func(t *testing.T, script []byte) {
		script = script[:min(len(script), 1000)]
		tr := sourcekit.Tracker{Window: 8}
		m := model{acked: map[uint64]bool{}}
		var receipts []source.Receipt
		committed := uint64(0)
		next := func() (b byte) {
			if len(script) > 0 {
				b, script = script[0], script[1:]
			}
			return b
		}
		begin := func(epoch, at uint64) {
			m = model{next: at, epoch: epoch, acked: map[uint64]bool{}}
		}
		begin(tr.Assign("p", 0), 0)
		for len(script) > 0 {
			switch next() % 5 {
			case 0: // deliver, with a gap
				offset := m.next + uint64(next()%3)
				if len(m.out) > 0 {
					offset = m.out[len(m.out)-1] + 1 + uint64(next()%3)
				}
				if r, ok := tr.Deliver(m.epoch, offset); ok {
					m.out = append(m.out, offset)
					receipts = append(receipts, r)
				}
			case 1: // ack any receipt that there ever was
				if len(receipts) == 0 {
					continue
				}
				r := receipts[int(next())%len(receipts)]
				want := 0
				if r.Epoch != m.epoch {
					want = 1
				} else {
					m.acked[r.Number] = true
				}
				if got := tr.Ack([]source.Receipt{r}); got != want {
					t.Fatalf("an ack of epoch %d in epoch %d: %d lost", r.Epoch, m.epoch, got)
				}
			case 2: // take
				for _, p := range tr.Take() {
					if p.Next <= committed {
						t.Fatalf("the position falls from %d to %d", committed, p.Next)
					}
					committed = p.Next
				}
				if committed != max(committed, m.position()) {
					t.Fatalf("the position is %d, want %d", committed, m.position())
				}
				if committed > m.position() {
					t.Fatalf("the position is %d, and %d is not acked", committed, m.position())
				}
			case 3: // lose it, and get it back where it was committed
				tr.Lose("p")
				begin(tr.Assign("p", committed), committed)
			case 4: // rewind
				if len(receipts) == 0 {
					continue
				}
				r := receipts[int(next())%len(receipts)]
				all := tr.Rewind([]source.Receipt{r})
				if live := r.Epoch == m.epoch && !m.acked[r.Number]; live != (len(all) == 1) {
					t.Fatalf("Rewind of epoch %d in epoch %d returns %v", r.Epoch, m.epoch, all)
				}
				if len(all) == 1 {
					if all[0].Next != m.position() {
						t.Fatalf("Rewind goes back to %d, want %d", all[0].Next, m.position())
					}
					begin(all[0].Epoch, all[0].Next)
				}
			}
			if room := tr.Room(m.epoch); room < 0 || room > 8 || room < 8-len(m.out) {
				t.Fatalf("there is room for %d", cmp.Or(room, 0))
			}
		}
	})
}

func BenchmarkTracker(b *testing.B) {
	var tr sourcekit.Tracker
	epoch := tr.Assign("p", 0)
	batch := make([]source.Receipt, 100)
	b.ReportAllocs()
	at := uint64(0)
	for b.Loop() {
		for i := range batch {
			batch[i], _ = tr.Deliver(epoch, at)
			at++
		}
		tr.Ack(batch)
		tr.Take()
	}
}
