package rabbitbroker

import (
	"slices"
	"time"
)

// tags are the delivery tags of one channel, which count from one: what became of each, and
// what the server has to be told of that. Source.mu guards them.
type tags struct {
	open  map[uint64]tagState  // those that the server waits for
	next  uint64               // the first that has not come
	low   uint64               // none before it is open
	acks  []uint64             // to be written, and open no more
	backs []uint64             // to be given back, and still open
	held  map[uint64]time.Time // to be given back at a time, and still open
	gone  map[uint64]bool      // those that were given back
	fifo  []uint64             // the same, the oldest first
	acked bool                 // something was
}

// tagState is where a message is that the server waits for.
type tagState int

const (
	tagAhead  tagState = iota + 1 // read ahead
	tagAtWork                     // the caller has it
	tagBack                       // the caller gave it back
)

// maxGiven bounds what is remembered of messages that were given back.
const maxGiven = 100_000

func newTags() tags {
	return tags{open: map[uint64]tagState{}, next: 1, low: 1, held: map[uint64]time.Time{}, gone: map[uint64]bool{}}
}

// arrive notes that a message came.
func (t *tags) arrive(tag uint64) {
	t.open[tag] = tagAhead
	t.next = tag + 1
}

// hand notes that the caller got a message.
func (t *tags) hand(tag uint64) { t.open[tag] = tagAtWork }

// ack notes that a message is done. It says whether the message was taken away before.
func (t *tags) ack(tag uint64) (lost bool) {
	switch state, open := t.open[tag]; {
	case state == tagAtWork:
		delete(t.open, tag)
		t.acks, t.acked = append(t.acks, tag), true
		return false
	case open:
		return true
	}
	return tag == 0 || tag >= t.next || t.gone[tag]
}

// release notes that a message is given back at a time, which is zero for at once.
func (t *tags) release(tag uint64, at time.Time) {
	if t.open[tag] != tagAtWork {
		return
	}
	t.open[tag] = tagBack
	if at.IsZero() {
		t.backs = append(t.backs, tag)
	} else {
		t.held[tag] = at
	}
}

// commands are what the server has to be told: first what is given back, then an ack of all
// up to a tag, then single acks.
type commands struct {
	backs []uint64
	upTo  uint64 // zero for none
	acks  []uint64
}

// take returns what is to be written now, and when there is more by time alone, zero for
// never. An ack of all up to a tag is for messages of which each was acked, or is
// given back by this very command or an earlier one.
func (t *tags) take(now time.Time) (c commands, next time.Time) {
	for tag, at := range t.held {
		switch {
		case !at.After(now):
			delete(t.held, tag)
			t.backs = append(t.backs, tag)
		case next.IsZero() || at.Before(next):
			next = at
		}
	}
	c.backs, t.backs = t.backs, nil
	for _, tag := range c.backs {
		delete(t.open, tag)
		t.forget(tag)
	}
	for ; t.low < t.next; t.low++ {
		if _, open := t.open[t.low]; open {
			break
		}
	}
	acks := t.acks
	t.acks = nil
	slices.Sort(acks)
	n, _ := slices.BinarySearch(acks, t.low)
	if n > 0 {
		c.upTo = acks[n-1]
	}
	c.acks = acks[n:]
	return c, next
}

// forget notes that a message was given back, for as long as there is room.
func (t *tags) forget(tag uint64) {
	if len(t.fifo) >= maxGiven {
		delete(t.gone, t.fifo[0])
		t.fifo = t.fifo[1:]
	}
	t.gone[tag] = true
	t.fifo = append(t.fifo, tag)
}

// atWork says whether the caller has the message.
func (t *tags) atWork(tag uint64) bool { return t.open[tag] == tagAtWork }

// unacked is how many messages the server waits for.
func (t *tags) unacked() int { return len(t.open) }
