package relay

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// marks name messages: by seq, the last eight bytes of the id, since a database
// that lost commits may hand out a seq twice.
type marks map[int64]uint64

// laneRecord is what a lane's record holds: the messages that are in the broker and
// may not be settled.
type laneRecord struct {
	shards []shardMarks
	// carried are in the broker whatever the versions of shards say.
	carried marks
}

// shardMarks are the messages that the settlement of one shard at one version covers.
type shardMarks struct {
	lo, hi  int
	version int64
	marks   marks
}

// newLaneRecord returns the record of a transaction that answers for items.
func newLaneRecord(leases []engine.Lease, items []engine.Item, known marks) laneRecord {
	r := laneRecord{carried: make(marks, len(known))}
	maps.Copy(r.carried, known)
	at := make(map[int]int) // lease → place in r.shards
	for _, item := range items {
		m := item.Tag.(*store.Record) //nolint:forcetypeassert,errcheck // put there by message
		lease := slices.IndexFunc(leases, func(l engine.Lease) bool { return m.Slot >= l.Lo && m.Slot < l.Hi })
		if lease < 0 {
			r.carried[item.Seq] = sumOf(m)
			continue
		}
		i, there := at[lease]
		if !there {
			i = len(r.shards)
			at[lease] = i
			l := leases[lease]
			r.shards = append(r.shards, shardMarks{lo: l.Lo, hi: l.Hi, version: l.Version, marks: make(marks)})
		}
		r.shards[i].marks[item.Seq] = sumOf(m)
		delete(r.carried, item.Seq)
	}
	return r
}

func sumOf(m *store.Record) uint64 { return binary.BigEndian.Uint64(m.ID[8:]) }

// recall returns the messages that are in the broker and may not be settled, for
// the owner of the shards that leases name at their versions. carry: some of them
// are so only as long as nothing else is settled. behind: the database lost
// settlements.
func (r *laneRecord) recall(leases []store.Lease) (known marks, carry, behind bool) {
	known = make(marks, len(r.carried))
	maps.Copy(known, r.carried)
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

// laneRecordFormat is the first byte of a record.
const laneRecordFormat = 1

// maxCarried bounds what a record carries. The oldest go first: a lane has more
// only after many crashes in a row, of which each left some that were settled.
const maxCarried = 10_000

func (r *laneRecord) encode() []byte {
	b := []byte{laneRecordFormat}
	b = binary.AppendUvarint(b, uint64(len(r.shards)))
	for i := range r.shards {
		s := &r.shards[i]
		b = binary.AppendUvarint(b, uint64(s.lo))
		b = binary.AppendUvarint(b, uint64(s.hi))
		b = binary.AppendUvarint(b, uint64(s.version))
		b = s.marks.append(b)
	}
	return r.carried.append(b)
}

func (m marks) append(b []byte) []byte {
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

func (m marks) seqs() []int64 {
	seqs := make([]int64, 0, len(m))
	for seq := range m {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	return seqs
}

// trim leaves out the oldest beyond maxCarried.
func (m marks) trim() {
	for _, seq := range m.seqs()[:max(len(m)-maxCarried, 0)] {
		delete(m, seq)
	}
}

var errLaneRecord = errors.New("relay: the record of an exactly-once lane cannot be read; a newer version wrote it, or another program did")

// decodeLaneRecord reads a record; none is one of nothing.
func decodeLaneRecord(b []byte) (laneRecord, error) {
	if len(b) == 0 {
		return laneRecord{}, nil
	}
	d := recordReader{rest: b[1:], failed: b[0] != laneRecordFormat}
	var r laneRecord
	for range d.count(store.SlotCount) {
		s := shardMarks{lo: int(d.number()), hi: int(d.number()), version: int64(d.number())}
		s.marks = d.marks()
		r.shards = append(r.shards, s)
	}
	r.carried = d.marks()
	if d.failed || len(d.rest) > 0 {
		return laneRecord{}, errLaneRecord
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

func (d *recordReader) marks() marks {
	n := d.count(len(d.rest) / 9)
	m := make(marks, n)
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
