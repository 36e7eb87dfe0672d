package history

import (
	"encoding/binary"
	"errors"
	"time"
)

// A record in a file is the byte of its kind and its fields in their order: numbers as varints, texts with their length before
// them, ids and hashes as they are. The zero Hash is one byte.

func putText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func putTime(b []byte, t time.Duration) []byte { return binary.AppendVarint(b, int64(t)) }

func putHash(b []byte, h *Hash) []byte {
	if *h == (Hash{}) {
		return append(b, 0)
	}
	return append(append(b, 1), h[:]...)
}

func putBits(b []byte, bits ...bool) []byte {
	var n byte
	for i, set := range bits {
		if set {
			n |= 1 << i
		}
	}
	return append(b, n)
}

func putIntent(b []byte, r *Intent) []byte {
	b = binary.AppendUvarint(b, uint64(r.Tx))
	b = binary.AppendUvarint(b, uint64(r.Index))
	b = append(b, r.ID[:]...)
	b = putText(putText(putText(b, r.Box), r.Topic), r.Key)
	b = putTime(putHash(b, &r.Payload), r.Due)
	return putTime(putTime(putBits(b, r.Poison), r.Begin), r.End)
}

func (d *decoder) intent(r *Intent) {
	r.Tx, r.Index, r.ID = Tx(d.number()), uint32(d.number()), d.id()
	r.Box, r.Topic, r.Key = d.text(), d.text(), d.text()
	r.Payload, r.Due = d.hash(), d.time()
	r.Poison, r.Begin, r.End = d.byte()&1 > 0, d.time(), d.time()
}

func putOutcome(b []byte, r *Outcome) []byte {
	b = append(binary.AppendUvarint(b, uint64(r.Tx)), byte(r.Fate))
	return putTime(putTime(b, r.Begin), r.End)
}

func (d *decoder) outcome(r *Outcome) {
	r.Tx, r.Fate, r.Begin, r.End = Tx(d.number()), Fate(d.byte()), d.time(), d.time()
}

func putDelivery(b []byte, r *Delivery) []byte {
	b = append(b, r.ID[:]...)
	b = putHash(putText(putText(b, r.Subscription), r.Key), &r.Payload)
	b = binary.AppendUvarint(putText(b, r.Place), r.Position)
	return putTime(putTime(b, r.From), r.To)
}

func (d *decoder) delivery(r *Delivery) {
	r.ID, r.Subscription, r.Key, r.Payload = d.id(), d.text(), d.text(), d.hash()
	r.Place, r.Position, r.From, r.To = d.text(), d.number(), d.time(), d.time()
}

func putEffect(b []byte, r *Effect) []byte {
	b = putText(putText(append(b, r.ID[:]...), r.Subscription), r.Key)
	return putTime(binary.AppendUvarint(putHash(b, &r.Payload), r.Position), r.At)
}

func (d *decoder) effect(r *Effect) {
	r.ID, r.Subscription, r.Key, r.Payload, r.Position, r.At = d.id(), d.text(), d.text(), d.hash(), d.number(), d.time()
}

func putRefusal(b []byte, r *Refusal) []byte {
	return putTime(putText(append(b, r.ID[:]...), r.Subscription), r.At)
}

func (d *decoder) refusal(r *Refusal) { r.ID, r.Subscription, r.At = d.id(), d.text(), d.time() }

func putStored(b []byte, r *Stored) []byte {
	b = append(putText(append(b, r.ID[:]...), r.Subscription), byte(r.State))
	return binary.AppendVarint(b, int64(r.Attempts))
}

func (d *decoder) stored(r *Stored) {
	r.ID, r.Subscription, r.State, r.Attempts = d.id(), d.text(), State(d.byte()), int(d.time())
}

func putCommand(b []byte, r *Command) []byte {
	b = append(putText(append(b, r.ID[:]...), r.Subscription), byte(r.What))
	return putTime(putTime(putBits(b, r.Unknown), r.Begin), r.End)
}

func (d *decoder) command(r *Command) {
	r.ID, r.Subscription, r.What = d.id(), d.text(), Action(d.byte())
	r.Unknown, r.Begin, r.End = d.byte()&1 > 0, d.time(), d.time()
}

func putFault(b []byte, r *Fault) []byte {
	b = putTime(putTime(putText(putText(b, r.Kind), r.Target), r.Begin), r.End)
	b = putBits(binary.AppendVarint(b, int64(r.Window)), r.Stops, r.Rewinds)
	return putTime(b, r.RewoundTo)
}

func (d *decoder) fault(r *Fault) {
	r.Kind, r.Target, r.Begin, r.End, r.Window = d.text(), d.text(), d.time(), d.time(), int(d.time())
	bits := d.byte()
	r.Stops, r.Rewinds, r.RewoundTo = bits&1 > 0, bits&2 > 0, d.time()
}

func putGap(b []byte, r *Gap) []byte {
	return putTime(putTime(putText(append(b, byte(r.Kind)), r.Of), r.Begin), r.End)
}

func (d *decoder) gap(r *Gap) {
	r.Kind, r.Of, r.Begin, r.End = Pause(d.byte()), d.text(), d.time(), d.time()
}

func putWatch(b []byte, r *Watch) []byte {
	return putTime(putTime(putText(append(b, byte(r.Kind)), r.Of), r.Begin), r.End)
}

func (d *decoder) watch(r *Watch) {
	r.Kind, r.Of, r.Begin, r.End = Harm(d.byte()), d.text(), d.time(), d.time()
}

// What goes between the stages of a check has more fields.

func putMessage(b []byte, r *Message) []byte {
	b = append(putIntent(b, &r.Intent), byte(r.Fate))
	return putTime(putTime(b, r.CommitBegin), r.CommitEnd)
}

func (d *decoder) message(r *Message) {
	d.intent(&r.Intent)
	r.Fate, r.CommitBegin, r.CommitEnd = Fate(d.byte()), d.time(), d.time()
}

func putPlaced(b []byte, r *placed) []byte {
	b = append(putDelivery(putMessage(b, &r.Message), &r.first), byte(r.stand))
	return putTime(b, r.gone)
}

func (d *decoder) placed(r *placed) {
	d.message(&r.Message)
	d.delivery(&r.first)
	r.stand, r.gone = stand(d.byte()), d.time()
}

// decoder reads the fields of records. What does not fit makes it bad, and all that it reads from then on zero.
type decoder struct {
	left  []byte
	bad   bool
	texts map[string]string // those seen before, so that they need no room of their own
}

var errRecord = errors.New("its fields are not those of its kind; it was written by another version")

func (d *decoder) take(n uint64) []byte {
	if d.bad || n > uint64(len(d.left)) {
		d.bad, d.left = true, nil
		return nil
	}
	taken := d.left[:n]
	d.left = d.left[n:]
	return taken
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.left)
	if n <= 0 {
		d.bad, d.left = true, nil
		return 0
	}
	d.left = d.left[n:]
	return v
}

func (d *decoder) time() time.Duration {
	v, n := binary.Varint(d.left)
	if n <= 0 {
		d.bad, d.left = true, nil
		return 0
	}
	d.left = d.left[n:]
	return time.Duration(v)
}

func (d *decoder) id() (id ID) {
	copy(id[:], d.take(uint64(len(id))))
	return id
}

func (d *decoder) hash() (h Hash) {
	if d.byte() != 0 {
		copy(h[:], d.take(uint64(len(h))))
	}
	return h
}

// mostTexts is how many texts a decoder remembers.
const mostTexts = 10_000

func (d *decoder) text() string {
	b := d.take(d.number())
	if len(b) == 0 {
		return ""
	}
	if known, ok := d.texts[string(b)]; ok {
		return known
	}
	if d.texts == nil || len(d.texts) >= mostTexts {
		d.texts = make(map[string]string)
	}
	s := string(b)
	d.texts[s] = s
	return s
}

// end is nil if the record was read to its end and no further.
func (d *decoder) end() error {
	if d.bad || len(d.left) > 0 {
		return errRecord
	}
	return nil
}
