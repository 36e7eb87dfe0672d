package sourcekit

import (
	"cmp"
	"slices"
	"sync"

	"github.com/postbag/postbag/source"
)

// DefaultWindow is how many messages of a partition a Tracker remembers by default.
const DefaultWindow = 10_000

// Tracker turns acks in any sequence into positions, for a broker that keeps one position
// per partition. It gives each assignment an epoch, so that a receipt of an assignment
// that is over changes nothing. It remembers the messages from the earliest that is not
// acked on, at most a window of them in each partition. The zero Tracker is ready, with
// DefaultWindow. It is safe for concurrent use.
type Tracker struct {
	// Window is how many messages of a partition are remembered at most. It must not
	// change after the first call. Zero: DefaultWindow.
	Window int

	mu     sync.Mutex
	last   uint64                           // the last epoch
	of     map[source.Partition]*assignment // those that are not over
	epochs map[uint64]*assignment           // the same
}

// assignment is a partition for a time.
type assignment struct {
	partition source.Partition
	epoch     uint64
	origin    uint64 // the epoch of the Assign that this, or what it was rewound from, came of
	next      uint64 // the position: every message before it is acked
	taken     uint64 // what Take has returned of it
	told      bool   // a message was delivered
	reached   uint64 // no message before it comes any more
	sent      []sent // ascending; those before head are acked
	head      int
	unacked   int
}

type sent struct {
	offset uint64
	acked  bool
}

// Position is how far a partition is acked.
type Position struct {
	Partition source.Partition
	// Epoch is the assignment's.
	Epoch uint64
	// Next is where a reader goes on: every message before it is acked.
	Next uint64
}

// Assign begins an assignment of p whose first message is at the offset next or behind it.
// It ends the one before, if there is one. It returns the epoch of the new one.
func (t *Tracker) Assign(p source.Partition, next uint64) (epoch uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.assign(p, next, next).epoch
}

func (t *Tracker) assign(p source.Partition, next, taken uint64) *assignment {
	if t.of == nil {
		t.of, t.epochs = map[source.Partition]*assignment{}, map[uint64]*assignment{}
	}
	t.lose(p)
	t.last++
	a := &assignment{partition: p, epoch: t.last, origin: t.last, next: next, taken: taken, reached: next}
	t.of[p], t.epochs[a.epoch] = a, a
	return a
}

// Lose ends the assignment of p, and says whether a message of it was delivered: then a
// Fetch has to tell the loss. Take what is acked before.
func (t *Tracker) Lose(p source.Partition) (told bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lose(p)
}

func (t *Tracker) lose(p source.Partition) (told bool) {
	a := t.of[p]
	if a == nil {
		return false
	}
	delete(t.of, p)
	delete(t.epochs, a.epoch)
	return a.told
}

// Room is how many more messages of an assignment may be delivered now: what is left of
// the window. When it is zero, deliver nothing until the earliest message is acked. It is
// zero, too, for an assignment that is over.
func (t *Tracker) Room(epoch uint64) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.epochs[epoch]
	if a == nil {
		return 0
	}
	return t.room(a)
}

func (t *Tracker) room(a *assignment) int {
	return cmp.Or(max(t.Window, 0), DefaultWindow) - (len(a.sent) - a.head)
}

// Deliver notes that a message is handed out, and returns its receipt. ok is false if the
// assignment is over, the window is full, or the offset is not behind that of the message
// before: hand nothing out then.
func (t *Tracker) Deliver(epoch, offset uint64) (r source.Receipt, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.epochs[epoch]
	if a == nil || offset < a.reached || t.room(a) <= 0 || offset == ^uint64(0) {
		return r, false
	}
	if a.head == len(a.sent) {
		a.next = offset // nothing is out: what was left out before it needs no ack
	}
	a.sent = append(a.sent, sent{offset: offset})
	a.unacked++
	a.told, a.reached = true, offset+1
	return source.Receipt{Epoch: epoch, Number: offset}, true
}

// Ack notes acks. It returns how many are of an assignment that is over, or of a message
// that was not delivered in it. An ack of a message that is acked already counts nothing.
func (t *Tracker) Ack(receipts []source.Receipt) (lost int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range receipts {
		if a := t.epochs[r.Epoch]; a == nil || !a.ack(r.Number) {
			lost++
		}
	}
	return lost
}

// find returns the index of the message with an offset, among those that are remembered.
func (a *assignment) find(offset uint64) (int, bool) {
	i, found := slices.BinarySearchFunc(a.sent[a.head:], offset, func(s sent, offset uint64) int { return cmp.Compare(s.offset, offset) })
	return a.head + i, found
}

// ack says whether the message is, or was, this assignment's.
func (a *assignment) ack(offset uint64) bool {
	if offset < a.next {
		return true
	}
	i, found := a.find(offset)
	if !found {
		return false
	}
	if a.sent[i].acked {
		return true
	}
	a.sent[i].acked = true
	a.unacked--
	for a.head < len(a.sent) && a.sent[a.head].acked {
		a.next = a.sent[a.head].offset + 1
		a.head++
	}
	if a.head < len(a.sent) {
		a.next = a.sent[a.head].offset // offsets between are no messages
	}
	if a.head > len(a.sent)/2 {
		a.sent = slices.Delete(a.sent, 0, a.head)
		a.head = 0
	}
	return true
}

// Rewind is for Release: it ends the assignments of these messages, and begins new ones at
// the earliest message that is not acked. It returns where each goes on, with its new
// epoch, by the names of partitions. Messages that are acked, or of an assignment that is
// over, change nothing.
func (t *Tracker) Rewind(receipts []source.Receipt) []Position {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []Position
	for _, r := range receipts {
		a := t.epochs[r.Epoch]
		if a == nil {
			continue
		}
		if i, found := a.find(r.Number); !found || a.sent[i].acked {
			continue
		}
		again := t.assign(a.partition, a.next, a.taken)
		again.origin = a.origin
		all = append(all, Position{Partition: again.partition, Epoch: again.epoch, Next: again.next})
	}
	slices.SortFunc(all, func(a, b Position) int { return cmp.Compare(a.Partition, b.Partition) })
	return all
}

// Take returns the positions that have grown since it returned them last, by the names of
// partitions. Commit them. If that fails, give them to Untake.
func (t *Tracker) Take() []Position {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []Position
	for _, a := range t.of {
		if a.next > a.taken {
			a.taken = a.next
			all = append(all, Position{Partition: a.partition, Epoch: a.epoch, Next: a.next})
		}
	}
	slices.SortFunc(all, func(a, b Position) int { return cmp.Compare(a.Partition, b.Partition) })
	return all
}

// Untake makes the next Take return these positions again, or later ones. Those of
// assignments that are over are left out, unless they were only rewound.
func (t *Tracker) Untake(positions []Position) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range positions {
		if a := t.of[p.Partition]; a != nil && p.Epoch >= a.origin && a.taken >= p.Next && p.Next > 0 {
			a.taken = p.Next - 1
		}
	}
}

// Unacked is how many messages are at work, in all partitions.
func (t *Tracker) Unacked() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.of {
		n += a.unacked
	}
	return n
}

// Epoch returns the epoch of the assignment of p, zero if there is none.
func (t *Tracker) Epoch(p source.Partition) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.of[p]; a != nil {
		return a.epoch
	}
	return 0
}
