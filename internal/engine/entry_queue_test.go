package engine

import (
	"testing"

	"github.com/postbag/postbag/store"
)

// A queue that was never empty grew for ever.
func TestAQueueThatIsNeverEmptyStaysBounded(t *testing.T) {
	t.Parallel()
	var q queue
	for i := range 100_000 {
		q.push(&entry{state: ready, Record: &store.Record{Seq: int64(i)}})
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
	e := &entry{state: ready, Record: &store.Record{Seq: 3}}
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

func TestAnEntryThatWaitedReturnsToItsPlace(t *testing.T) {
	t.Parallel()
	one, other := &shard{group: new(group)}, &shard{group: new(group)}
	var l lineup
	read := func(s *shard, seqs ...int64) {
		for _, seq := range seqs {
			l.push(&entry{state: ready, shard: s, Record: &store.Record{Seq: seq}})
		}
	}
	back := func(s *shard, seqs ...int64) {
		for _, seq := range seqs {
			l.rejoin(&entry{state: ready, shard: s, Record: &store.Record{Seq: seq}})
		}
	}
	want := func(seqs ...int64) {
		t.Helper()
		for _, seq := range seqs {
			if e := l.pop(); e == nil || e.Seq != seq {
				t.Fatalf("%+v, want message %d", e, seq)
			}
		}
		if !l.empty() || l.pop() != nil {
			t.Fatal("something is left")
		}
	}
	read(one, 4, 10, 20)
	back(one, 5, 12, 3, 11, 30, 2, 25)
	want(2, 3, 4, 5, 10, 11, 12, 20, 25, 30)
	read(one, 1000, 1001, 1002) // the groups take turns
	back(other, 1, 2, 3, 4)
	want(1000, 1, 1001, 2, 1002, 3, 4)
	back(one, 5, 4, 3)
	for _, e := range l.late {
		e.state = sent
	}
	want(5)
	for i := range int64(1000) {
		back(one, i*7919%1000)
	}
	for i := range int64(1000) {
		if e := l.pop(); e == nil || e.Seq != i {
			t.Fatalf("%+v, want message %d", e, i)
		}
	}
	want()
}
