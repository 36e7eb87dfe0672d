package simulation

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store"
)

// row is what the log has of a message. Its id, its place among all that were
// ever written, names it; a seq may be given out twice.
type row struct {
	id        int
	seq       int64
	xid       uint64
	key       int // zero: none
	slot      int
	topic     int
	size      int
	sum       uint64
	typed     bool
	state     messageState
	by        *transaction
	begun     time.Duration // when it was begun to be published
	stored    time.Duration // when its row was made, by the database's clock
	commit    int           // its transaction's place among those that committed; zero: none
	damaged   bool          // it cannot be read whole
	copied    bool          // it came from another cluster
	takenBack bool          // rolled back to a savepoint before it
	emptied   bool          // its owner emptied the log that it was in
}

// message is one that a producer writes, as a subscription sees it.
type message struct {
	*row

	filtered bool            // it does not come
	refused  bool            // of a replay: by the filter, or the log lost it before
	shifting bool            // a filter that changes refuses it, or takes it
	leftOut  bool            // a read of it was told that the filter refuses it
	refusals []time.Duration // by the destination, of one that shifts

	rejections int
	cut        int           // attempts that were counted first, and whose relay has gone
	unread     int           // attempts that were counted because it was damaged
	repaired   bool          // an operator repaired its row, and nobody has counted an attempt of before that since
	lone       int           // lost answers to calls that held nothing else
	no         int           // the moment of the last rejection
	inTurn     bool          // the broker stored it when it was sent in its turn, see checkNewer
	accepted   int           // how often the broker stored it
	discarded  bool          // as the store says
	given      bool          // it was discarded once
	retried    bool          // somebody gave that command once
	expired    bool          // it was dead by its age once
	doomed     bool          // an answer said that it gets no other attempt, once
	unwanted   bool          // somebody gave that command once
	ordered    time.Duration // when that was first
	forgiven   bool          // somebody gave that command, and the store has forgotten it
}

type messageState uint8

const (
	writing   messageState = iota // its transaction is open, or its row is not there yet
	committed                     //
	undone                        // rolled back
	forgotten                     // committed, and then the store was set back to before that
)

// durable: it outlives the server.
func (m *message) durable() bool {
	return m.state == committed || m.state == writing && m.by != nil && m.by.prepared && !m.by.gone
}

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

// record is the message as it is read. Its payload makes it weigh what the message does.
func (m *message) record() store.Record {
	r := store.Record{Seq: m.seq, Slot: m.slot, Hash: m.hash(), Filtered: m.filtered}
	r.ID, r.Topic, r.Key = m.name(), topicNames[m.topic], keyName(m.key)
	r.At = wallClock.Add(m.stored)
	if m.typed {
		r.Type = typeNames[m.kind()]
	}
	r.Payload = payload[:m.size-r.Size()]
	if m.damaged {
		r.Err = errDamaged
	}
	return r
}

// name is the id of the message: its place among all, and the sum that the ledger counts.
func (m *message) name() (id postbag.ID) {
	binary.BigEndian.PutUint64(id[:8], uint64(m.id))
	binary.BigEndian.PutUint64(id[8:], m.sum)
	return id
}

// message is the one that a record is of.
func (w *world) message(r *store.Record) *message { return w.named(r.ID) }

// named is the message with an id.
func (w *world) named(id postbag.ID) *message {
	return w.producers.msgs[binary.BigEndian.Uint64(id[:8])-1]
}

// wallClock is what the database's clock shows at its time zero.
var wallClock = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// payload is what all messages have their bytes of.
var payload = make([]byte, largest)

var errDamaged = errors.New("damaged")

// transaction is one of a producer, or of a stranger if it writes no message.
type transaction struct {
	p       *producers
	number  int
	xid     uint64
	msgs    []*message
	gone    bool // the server ended it
	ended   bool
	fate    history.Fate // as far as its producer knows
	subxids uint64       // the highest id of a savepoint in it

	endBegun, endAnswered time.Duration

	left     int      // messages that it is still to write
	together bool     // in one statement
	late     *message // one whose seq was drawn, and whose row is to come

	prepared   bool // its end is the matter of a coordinator, whatever happens to the server
	preparedAt time.Duration
}
