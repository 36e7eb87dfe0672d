package lane

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/postbag/postbag/store"
)

// Marks name messages: by seq, and by the last eight bytes of the id, because a database
// that lost commits may give out a seq twice.
type Marks map[int64]uint64

// Item is one message of a transaction.
type Item struct {
	Seq  int64
	Slot int
	// Sum is the last eight bytes of its id.
	Sum uint64
}

// Has says that m names a message.
func (m Marks) Has(i Item) bool {
	sum, there := m[i.Seq]
	return there && sum == i.Sum
}

// Record is what a lane's record holds: the messages that are in the broker and
// may not be settled.
type Record struct {
	shards []shardMarks
	// Carried are in the broker whatever the versions of shards say.
	Carried Marks
}

// shardMarks are the messages that the settlement of one shard at one version covers.
type shardMarks struct {
	lo, hi  int
	version int64
	marks   Marks
}

// NewRecord returns the record of a transaction with items, made under leases. known is
// what was known to be in the broker before.
func NewRecord(leases []store.Lease, items []Item, known Marks) Record {
	r := Record{Carried: make(Marks, len(known))}
	maps.Copy(r.Carried, known)
	at := make(map[int]int) // lease → place in r.shards
	for _, item := range items {
		lease := slices.IndexFunc(leases, func(l store.Lease) bool { return item.Slot >= l.Lo && item.Slot < l.Hi })
		if lease < 0 {
			r.Carried[item.Seq] = item.Sum
			continue
		}
		i, there := at[lease]
		if !there {
			i = len(r.shards)
			at[lease] = i
			l := leases[lease]
			r.shards = append(r.shards, shardMarks{lo: l.Lo, hi: l.Hi, version: l.Version, marks: make(Marks)})
		}
		r.shards[i].marks[item.Seq] = item.Sum
		delete(r.Carried, item.Seq)
	}
	return r
}

// Recall returns the messages that are in the broker and may not be settled, to the owner
// of leases, which name the shards and their versions. carry: for some of them that is
// known only as long as nothing else is settled. behind: the database lost settlements.
func (r *Record) Recall(leases []store.Lease) (known Marks, carry, behind bool) {
	known = make(Marks, len(r.Carried))
	maps.Copy(known, r.Carried)
	for i := range r.shards {
		s := &r.shards[i]
		for _, l := range leases {
			if l.Lo != s.lo || l.Hi != s.hi || l.Version > s.version {
				continue
			}
			carry, behind = true, behind || l.Version < s.version
			maps.Copy(known, s.marks)
		}
	}
	return known, carry, behind
}

// MaxItems is the most messages of one transaction. Their record must fit into
// broker.MaxRecord, together with what is carried.
const MaxItems = 20_000

// recordFormat is the first byte of a record.
const recordFormat = 1

// maxCarried bounds what a record carries. The oldest go first: a lane has more
// only after many crashes in a row, of which each left some that were settled.
const maxCarried = 10_000

// Encode returns the record as it is stored.
func (r *Record) Encode() []byte {
	b := []byte{recordFormat}
	b = binary.AppendUvarint(b, uint64(len(r.shards)))
	for i := range r.shards {
		s := &r.shards[i]
		b = binary.AppendUvarint(b, uint64(s.lo))
		b = binary.AppendUvarint(b, uint64(s.hi))
		b = binary.AppendUvarint(b, uint64(s.version))
		b = s.marks.append(b)
	}
	return r.Carried.append(b)
}

func (m Marks) append(b []byte) []byte {
	seqs := m.seqs()
	b = binary.AppendUvarint(b, uint64(len(seqs)))
	last := int64(0)
	for _, seq := range seqs {
		b = binary.AppendUvarint(b, uint64(seq-last))
		b = binary.BigEndian.AppendUint64(b, m[seq])
		last = seq
	}
	return b
}

func (m Marks) seqs() []int64 {
	seqs := make([]int64, 0, len(m))
	for seq := range m {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	return seqs
}

// trim leaves out the oldest beyond maxCarried.
func (m Marks) trim() {
	for _, seq := range m.seqs()[:max(len(m)-maxCarried, 0)] {
		delete(m, seq)
	}
}

// ErrRecord is the error of a record that cannot be read.
var ErrRecord = errors.New("lane: the record of an exactly-once lane cannot be read; a newer version wrote it, or another program did")

// slotCount is how many slots there are, and so the most shards.
const slotCount = 4096

// Decode reads a record. Empty bytes are an empty record.
func Decode(b []byte) (Record, error) {
	if len(b) == 0 {
		return Record{}, nil
	}
	d := recordReader{rest: b[1:], failed: b[0] != recordFormat}
	var r Record
	for range d.count(slotCount) {
		s := shardMarks{lo: int(d.number()), hi: int(d.number()), version: int64(d.number())}
		s.marks = d.marks()
		r.shards = append(r.shards, s)
	}
	r.Carried = d.marks()
	if d.failed || len(d.rest) > 0 {
		return Record{}, ErrRecord
	}
	return r, nil
}

// recordReader reads a record; after a failure it reads zeros.
type recordReader struct {
	rest   []byte
	failed bool
}

func (d *recordReader) number() uint64 {
	n, size := binary.Uvarint(d.rest)
	if d.failed || size <= 0 {
		d.failed = true
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *recordReader) count(most int) int {
	n := d.number()
	if n > uint64(most) {
		d.failed = true
		return 0
	}
	return int(n)
}

func (d *recordReader) marks() Marks {
	n := d.count(len(d.rest) / 9)
	m := make(Marks, n)
	seq := int64(0)
	for range n {
		seq += int64(d.number())
		if d.failed || len(d.rest) < 8 {
			d.failed = true
			return nil
		}
		m[seq] = binary.BigEndian.Uint64(d.rest)
		d.rest = d.rest[8:]
	}
	return m
}
