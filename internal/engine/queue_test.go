package engine

import "testing"

// A queue that was never empty grew for ever.
func TestAQueueGrewForEver(t *testing.T) {
	t.Parallel()
	var q queue
	for i := range 100_000 {
		q.push(&entry{state: ready, Message: Message{Seq: int64(i)}})
		if i >= 100 {
			if e := q.pop(); e.Seq != int64(i-100) {
				t.Fatalf("message %d, want %d", e.Seq, i-100)
			}
		}
	}
	if len(q.items) > 1000 {
		t.Errorf("100 entries take %d places", len(q.items))
	}
}

func TestAQueuePassesOverWhatIsNotReady(t *testing.T) {
	t.Parallel()
	var q queue
	e := &entry{state: ready, Message: Message{Seq: 3}}
	q.push(&entry{state: gone})
	q.push(&entry{state: sent})
	q.push(e)
	q.push(&entry{state: done})
	if q.empty() || q.peek() != e || q.pop() != e || !q.empty() || q.pop() != nil {
		t.Fatal("the only entry that is ready was not found")
	}
}

func TestAnEntryCanBeTakenOutOfTheMiddle(t *testing.T) {
	t.Parallel()
	var q queue
	var all [3]*entry
	for i := range all {
		all[i] = &entry{state: ready}
		q.push(all[i])
	}
	q.remove(all[1])
	q.remove(all[1])
	if q.pop() != all[0] || q.pop() != all[2] || q.pop() != nil {
		t.Fatal("another entry was taken out")
	}
}
