package history

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// Space says how much room a check of files may take. The zero Space is good for a machine with half a gigabyte to spare.
type Space struct {
	// Memory is what the check may use, in bytes, about. Zero is 256 MiB.
	Memory int64
	// Dir is where it sorts, in temporary files of about four times the size of the history. Empty: os.TempDir.
	Dir string
}

// Validate says what is wrong with the room.
func (s *Space) Validate() error {
	var all []error
	if s.Memory < 0 {
		all = append(all, fmt.Errorf("history: Space.Memory is %d, below zero; leave it zero for the default", s.Memory))
	}
	if s.Dir != "" {
		if is, err := os.Stat(s.Dir); err != nil || !is.IsDir() {
			all = append(all, fmt.Errorf("history: Space.Dir is %q, and no folder; make it, or leave it empty for the system's place", s.Dir))
		}
	}
	return errors.Join(all...)
}

// leastMemory is what a check of files can do with.
const leastMemory = 1 << 20

// CheckFiles judges a history that lies in files, written by one Writer each. The numbers of transactions must be unique over
// all of them. Records are in memory in part only, beside the faults and gaps.
func CheckFiles(names []string, o Options, s Space) (*Report, error) {
	if err := errors.Join(o.Validate(), s.Validate()); err != nil {
		return nil, err
	}
	if s.Memory == 0 {
		s.Memory = 256 << 20
	}
	// Three sorters are at work at a time, and the garbage collector lets the heap grow to twice what lives.
	return checkFiles(names, o, s.Dir, int(max(s.Memory, leastMemory)/16))
}

// checkFiles is CheckFiles with sorters of so many bytes.
func checkFiles(names []string, o Options, dir string, arena int) (report *Report, err error) {
	c := &filesCheck{
		byTx: newSorter(dir, arena), byID: newSorter(dir, arena),
		byKeyTx: newSorter(dir, arena), byKeyTime: newSorter(dir, arena),
	}
	defer func() {
		err = errors.Join(err, c.byTx.close(), c.byID.close(), c.byKeyTx.close(), c.byKeyTime.close())
		if err != nil {
			report = nil
		}
	}()
	c.j.begin(o, nil)
	for _, name := range names {
		wasTorn, err := ReadFile(name, c)
		if err != nil {
			return nil, err
		}
		if wasTorn {
			c.j.counts[Sound][torn]++
		}
	}
	c.j.faults.set(c.faults, &c.j.o)
	for _, stage := range []func() error{c.endTransactions, c.judge, c.judgeTransactions, c.judgeTime} {
		if err := errors.Join(c.err, stage()); err != nil {
			return nil, err
		}
	}
	return c.j.end(c.gaps, nil), nil
}

var _ Recorder = (*filesCheck)(nil)

// filesCheck is a check of files. As a Recorder it sorts what it is given.
type filesCheck struct {
	j      judge
	faults []Fault
	gaps   []Gap
	err    error // the first
	came   uint64

	byTx      *sorter // outcomes and intents
	byID      *sorter // messages with their fate, and all else of a message
	byKeyTx   *sorter // how messages stand, by promise, key, transaction and index
	byKeyTime *sorter // the same, by promise, key and begin
	decoder   decoder
}

// Intend is the Recorder's.
func (c *filesCheck) Intend(r Intent) {
	c.sortTx(kindIntent, r.Tx, func(b []byte) []byte { return putIntent(b, &r) })
}

// End is the Recorder's.
func (c *filesCheck) End(r Outcome) {
	c.sortTx(kindOutcome, r.Tx, func(b []byte) []byte { return putOutcome(b, &r) })
}

// Deliver is the Recorder's.
func (c *filesCheck) Deliver(r Delivery) {
	c.sortID(kindDelivery, &r.ID, func(b []byte) []byte { return putDelivery(b, &r) })
}

// Apply is the Recorder's.
func (c *filesCheck) Apply(r Effect) {
	c.sortID(kindEffect, &r.ID, func(b []byte) []byte { return putEffect(b, &r) })
}

// Refuse is the Recorder's.
func (c *filesCheck) Refuse(r Refusal) {
	c.sortID(kindRefusal, &r.ID, func(b []byte) []byte { return putRefusal(b, &r) })
}

// Hold is the Recorder's.
func (c *filesCheck) Hold(r Stored) {
	c.sortID(kindStored, &r.ID, func(b []byte) []byte { return putStored(b, &r) })
}

// Order is the Recorder's.
func (c *filesCheck) Order(r Command) {
	c.sortID(kindCommand, &r.ID, func(b []byte) []byte { return putCommand(b, &r) })
}

// Break is the Recorder's.
func (c *filesCheck) Break(r Fault) { c.faults = append(c.faults, r) }

// Wait is the Recorder's.
func (c *filesCheck) Wait(r Gap) { c.gaps = append(c.gaps, r) }

// Look is the Recorder's.
func (c *filesCheck) Look(r Watch) { c.j.judgeWatch(&r) }

// sortTx adds a record by its transaction and kind. Records that are alike in these keep the order in which they came.
func (c *filesCheck) sortTx(k kind, tx Tx, put func([]byte) []byte) {
	b := binary.BigEndian.AppendUint64(c.byTx.next(), uint64(tx))
	c.came++
	b = binary.BigEndian.AppendUint64(append(b, byte(k)), c.came)
	c.keep(c.byTx.added(put(b)))
}

// sortID adds a record by its message and kind.
func (c *filesCheck) sortID(k kind, id *ID, put func([]byte) []byte) {
	c.came++
	c.sortIDAt(k, id, c.came, put)
}

func (c *filesCheck) sortIDAt(k kind, id *ID, came uint64, put func([]byte) []byte) {
	b := append(append(c.byID.next(), id[:]...), byte(k))
	c.keep(c.byID.added(put(binary.BigEndian.AppendUint64(b, came))))
}

func (c *filesCheck) keep(err error) {
	if c.err == nil {
		c.err = err
	}
}

// endTransactions joins the outcomes of each transaction, and tells each message its fate.
func (c *filesCheck) endTransactions() error {
	var e ending
	tx, begun := Tx(0), false
	done := func() {
		if e.known {
			c.j.countEnd(&e)
		}
	}
	err := c.byTx.each(func(record []byte) error {
		if this := Tx(binary.BigEndian.Uint64(record)); !begun || this != tx {
			done()
			e, tx, begun = ending{}, this, true
		}
		c.decoder.left = record[17:]
		if kind(record[8]) == kindOutcome {
			var o Outcome
			c.decoder.outcome(&o)
			e.add(&o)
			return c.decoder.end()
		}
		m := &Message{}
		c.decoder.intent(&m.Intent)
		c.j.fate(m, &e)
		c.sortIDAt(kindIntent, &m.ID, binary.BigEndian.Uint64(record[9:]), func(b []byte) []byte { return putMessage(b, m) })
		return errors.Join(c.err, c.decoder.end())
	})
	done()
	return err
}

// judge judges message by message.
func (c *filesCheck) judge() error {
	g := &group{j: &c.j}
	begun := false
	err := c.byID.each(func(record []byte) error {
		if id := ID(record); !begun || id != g.id {
			c.finish(g, begun)
			g.start(id)
			begun = true
		}
		c.decoder.left = record[25:]
		c.add(g, kind(record[16]))
		return errors.Join(c.err, c.decoder.end())
	})
	c.finish(g, begun)
	return err
}

func (c *filesCheck) add(g *group, k kind) {
	d := &c.decoder
	switch k {
	case kindIntent:
		give(d, d.message, g.intend)
	case kindCommand:
		give(d, d.command, g.order)
	case kindStored:
		give(d, d.stored, g.hold)
	case kindRefusal:
		give(d, d.refusal, g.refuse)
	case kindDelivery:
		give(d, d.delivery, g.deliver)
	case kindEffect:
		give(d, d.effect, g.apply)
	default:
		d.bad = true
	}
}

func (c *filesCheck) finish(g *group, begun bool) {
	if !begun {
		return
	}
	all := g.finish()
	for i := range all {
		c.place(&all[i])
	}
}

// place sorts how a message stands, the effects after all else.
func (c *filesCheck) place(p *placed) {
	b := putKey(append(c.byKeyTx.next(), byte(p.of)), p.Key)
	b = binary.BigEndian.AppendUint64(b, uint64(p.Tx))
	c.keep(c.byKeyTx.added(putPlaced(binary.BigEndian.AppendUint32(b, p.Index), p)))
	b = putKey(append(c.byKeyTime.next(), byte(p.of)), p.Key)
	b = putSorted(b, p.Begin)
	b = binary.BigEndian.AppendUint64(b, uint64(p.Tx))
	c.keep(c.byKeyTime.added(putPlaced(binary.BigEndian.AppendUint32(b, p.Index), p)))
}

// putKey appends a key so that keys sort as their bytes do, and none is the beginning of another.
func putKey(b []byte, key string) []byte {
	for {
		before, rest, found := strings.Cut(key, "\x00")
		b = append(b, before...)
		if !found {
			return append(b, 0, 0)
		}
		b = append(b, 0, 1)
		key = rest
	}
}

// keyLen is how long a key is as putKey has it.
func keyLen(b []byte) int {
	for n := 0; ; n++ {
		if b[n] != 0 {
			continue
		}
		if n++; b[n] == 0 {
			return n + 1
		}
	}
}

// putSorted appends a time so that times sort as their bytes do.
func putSorted(b []byte, t time.Duration) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(t)^1<<63)
}

// judgeTransactions judges the order within transactions.
func (c *filesCheck) judgeTransactions() error {
	s := &inTransactions{j: &c.j}
	return c.byKeyTx.each(func(record []byte) error { return c.placed(record, 12, s.add) })
}

// judgeTime judges the order across transactions.
func (c *filesCheck) judgeTime() error {
	s := &inTime{j: &c.j}
	return c.byKeyTime.each(func(record []byte) error { return c.placed(record, 20, s.add) })
}

// placed decodes what follows the promise, the key and n bytes more.
func (c *filesCheck) placed(record []byte, n int, add func(*placed)) error {
	c.decoder.left = record[1+keyLen(record[1:])+n:]
	m := &placed{of: Promise(record[0])}
	c.decoder.placed(m)
	if err := c.decoder.end(); err != nil {
		return err
	}
	add(m)
	return nil
}
