package simulation

import "github.com/postbag/postbag/internal/engine"

// message is one that a producer writes. Its id, its place among all that were
// ever written, names it; a seq may be given out twice.
type message struct {
	id       int
	seq      int64
	xid      uint64
	key      int // zero: none
	slot     int
	size     int
	sum      uint64
	filtered bool
	state    messageState
	begin    int // how many transactions had committed when its own began
	commit   int // its transaction's place among those that committed; zero: none

	rejections int
	accepted   int // how often the broker stored it
	first      int // its place among first acceptances, from one on; zero: never
	discarded  int // how many there were when an operator discarded it, plus one
	given      int // the same, once it was so, whatever the store says now
}

type messageState uint8

const (
	writing   messageState = iota // its transaction is open, or its row is not there yet
	committed                     //
	undone                        // rolled back
	forgotten                     // committed, and then the store was set back to before that
)

func (m *message) hash() uint64 {
	if m.key == 0 {
		return 0
	}
	return uint64(m.key)*7 + 1000
}

func slotOf(key int, sum uint64) int {
	if key == 0 {
		return int(sum % 4096)
	}
	return key * 613 % 4096
}

func (m *message) engine() engine.Message {
	return engine.Message{
		Seq: m.seq, Slot: m.slot, Key: m.hash(), Size: m.size, Sum: m.sum, Filtered: m.filtered, Tag: m,
	}
}

// transaction is one of a producer, or of a stranger if it writes no message.
type transaction struct {
	number  int
	xid     uint64
	begin   int
	msgs    []*message
	gone    bool // the server ended it
	life    int64
	ended   bool
	subxids uint64 // the highest id of a savepoint in it
}
