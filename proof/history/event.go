package history

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// ID names a message in a history. It is the message's own id where the writer gives it or reads it back; where the database
// draws it, whatever both the writer and the reader can tell from the message: see [Name].
type ID [16]byte

// Name makes an ID of a text that is in the message, as "w3-k7/41".
func Name(text string) ID {
	sum := sha256.Sum256([]byte(text))
	return ID(sum[:16])
}

// String is the ID in hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// MarshalText is String.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// Hash is the SHA-256 of what must arrive as it was sent. The zero Hash says that it was not recorded.
type Hash [sha256.Size]byte

// Sum hashes a payload, and whatever else of the message must arrive as it was sent.
func Sum(payload []byte, more ...[]byte) Hash {
	if len(more) == 0 {
		return sha256.Sum256(payload)
	}
	h := sha256.New()
	for _, part := range append([][]byte{payload}, more...) {
		one := sha256.Sum256(part)
		h.Write(one[:])
	}
	return Hash(h.Sum(nil))
}

// String is the Hash in hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText is String.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// Tx names a transaction: any number that no other transaction of the history has.
type Tx uint64

// Intent says that a writer is about to publish a message. It must be recorded before the database can have heard of it.
//
// What a transaction publishes under a savepoint and takes back belongs to a Tx of its own, that was rolled back.
type Intent struct {
	Tx    Tx     `json:"tx"`
	Index uint32 `json:"index"` // its place among the transaction's messages
	ID    ID     `json:"id"`
	Box   string `json:"box,omitempty"`
	Topic string `json:"topic,omitempty"`
	Key   string `json:"key,omitempty"` // empty: the message has no order
	// Payload is compared with that of each delivery. Zero: it is not.
	Payload Hash `json:"payload"`
	// Due is when a scheduled message may go out at the earliest. Zero: it is not scheduled. Scheduled messages are outside
	// their key's order.
	Due time.Duration `json:"due,omitempty"`
	// Poison says that the destination refuses the message, however often it is sent.
	Poison bool `json:"poison,omitempty"`
	// Begin is before the statement that publishes it was sent, End after its answer came; zero: there was none.
	Begin time.Duration `json:"begin"`
	End   time.Duration `json:"end,omitempty"`
}

// Outcome says what became of a transaction. One without any counts as [Unknown]. Of several, one that is certain stands: a
// writer that has lost the answer to a COMMIT records Unknown, and what it found later.
type Outcome struct {
	Tx   Tx   `json:"tx"`
	Fate Fate `json:"fate"`
	// Begin is before COMMIT or ROLLBACK was sent, End after its answer came, or after it was found out.
	Begin time.Duration `json:"begin"`
	End   time.Duration `json:"end"`
}

// Delivery is a message as it lies in the broker, read from there and not through Postbag.
type Delivery struct {
	ID           ID     `json:"id"`
	Subscription string `json:"subscription,omitempty"`
	Key          string `json:"key,omitempty"`
	Payload      Hash   `json:"payload"` // zero: not recorded
	// Place is the stream, the queue, or the topic with the partition: what the broker keeps one order of. Positions in
	// different places are not compared.
	Place string `json:"place,omitempty"`
	// Position is where it lies in that order. A place that was wiped begins at zero again, so its reader must count on.
	Position uint64 `json:"position"`
	// From and To are the earliest and the latest that the broker can have stored it. To is zero if that is not known.
	From time.Duration `json:"from"`
	To   time.Duration `json:"to"`
}

// Effect is what the handler of an inbox left of a message: a row in its table of effects, in the transaction in which the message was
// marked as handled. Each row is an Effect, so that a message that was applied twice has two. They are read from the table at the end.
type Effect struct {
	ID           ID     `json:"id"`
	Subscription string `json:"subscription,omitempty"` // the consumer; each has effects of its own
	Key          string `json:"key,omitempty"`
	Payload      Hash   `json:"payload"` // of what the handler was given; zero: not recorded
	// Position is where it stands among the effects of its key: of two, the one that was applied first has the smaller one.
	Position uint64 `json:"position"`
	// At is when the handler was at work, for people to read. Zero: not recorded.
	At time.Duration `json:"at,omitempty"`
}

// Refusal says that the destination refused a message for what it is, as told by the destination's side.
type Refusal struct {
	ID           ID            `json:"id"`
	Subscription string        `json:"subscription,omitempty"`
	At           time.Duration `json:"at"`
}

// Stored is what the store says of a message at the end of the run. Of several records the last one says the state. One that
// says Absent may have been made at any time: it tells the attempts of a message that was seen parked then, and nothing else.
type Stored struct {
	ID           ID     `json:"id"`
	Subscription string `json:"subscription,omitempty"`
	State        State  `json:"state"`
	Attempts     int    `json:"attempts"` // that the store counts against it
}

// Command is an operator's command for one message, that was carried out or may have been. Only Discard and Cancel excuse that it
// does not arrive.
type Command struct {
	ID           ID     `json:"id"`
	Subscription string `json:"subscription,omitempty"`
	What         Action `json:"what"`
	// Unknown says that the command got no answer: it may have been carried out, or not.
	Unknown bool          `json:"unknown,omitempty"`
	Begin   time.Duration `json:"begin"`
	End     time.Duration `json:"end"`
}

// Fault is something that was done to the system, or to one of several relays: what hits two relays is two faults.
type Fault struct {
	Kind   string        `json:"kind"`             // as "kill", "freeze", "cut"
	Target string        `json:"target,omitempty"` // as "relay 2", "database", "broker", "network", "operator"
	Begin  time.Duration `json:"begin"`
	End    time.Duration `json:"end"` // before Begin, or zero: it lasted to the end
	// Window is how many messages it may cause to be sent again. Zero is Options.InFlight; below zero, it causes none.
	Window int `json:"window,omitempty"`
	// Stops says that while it lasts nothing can be delivered, and that deliveries must come soon after its end.
	Stops bool `json:"stops,omitempty"`
	// Rewinds says that the database went back to what it was at RewoundTo, or at any time since: commits that were
	// answered after that, and before End, may be undone.
	Rewinds   bool          `json:"rewinds,omitempty"`
	RewoundTo time.Duration `json:"rewoundTo,omitempty"`
}

// Gap is a measured time without deliveries, which a bound of the Options limits.
type Gap struct {
	Kind Pause  `json:"kind"`
	Of   string `json:"of"` // the relay that died, or the fault that ended
	// Begin is when the relay died or the fault ended, End the first delivery after that of what waited; before Begin: none
	// came.
	Begin time.Duration `json:"begin"`
	End   time.Duration `json:"end"`
}

// Watch is a look at the database while it was at work. One with Begin equal to End saw nothing wrong.
type Watch struct {
	Kind  Harm          `json:"kind"`
	Of    string        `json:"of,omitempty"` // whose transaction, or who waited for whom
	Begin time.Duration `json:"begin"`
	End   time.Duration `json:"end"`
}
