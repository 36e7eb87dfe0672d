package pgstore

import (
	"encoding/binary"
	"errors"
	"slices"
)

// snapshot is what PostgreSQL means by one (pg_snapshot): which transactions had
// ended when it was taken. With each that had not goes a bound.
//
// On one server, between two crashes, snapshots are totally ordered: what one
// sees, every later one sees.
type snapshot struct {
	// xmax: transactions from here on had not ended.
	xmax uint64
	// running are those below xmax that had not ended either, in order.
	running []runner
	// beyond is lower than the seq of every row that a transaction from xmax on
	// has written or will write.
	beyond int64
}

// runner is a transaction that had not ended.
type runner struct {
	xid uint64
	// low is lower than the seq of every row that it has written or will write.
	low int64
}

// sees says whether the transaction had ended.
func (s *snapshot) sees(xid uint64) bool {
	if xid >= s.xmax {
		return false
	}
	_, runs := s.find(xid)
	return !runs
}

func (s *snapshot) find(xid uint64) (int, bool) {
	return slices.BinarySearchFunc(s.running, xid, func(r runner, xid uint64) int {
		switch {
		case r.xid < xid:
			return -1
		case r.xid > xid:
			return 1
		}
		return 0
	})
}

// within says whether t sees all that s sees.
func (s *snapshot) within(t *snapshot) bool {
	if s.xmax > t.xmax {
		// All from there on must run in s.
		i, _ := s.find(t.xmax)
		if uint64(len(s.running)-i) != s.xmax-t.xmax {
			return false
		}
	}
	for _, r := range t.running {
		if s.sees(r.xid) {
			return false
		}
	}
	return true
}

// same says whether both see the same.
func (s *snapshot) same(t *snapshot) bool { return s.within(t) && t.within(s) }

// news is lower than the seq of every row that t sees and s does not.
func (s *snapshot) news(t *snapshot) int64 {
	low := s.beyond
	for _, r := range s.running {
		if r.low < low && t.sees(r.xid) {
			low = r.low
		}
	}
	return low
}

// floor is lower than the seq of every row that s does not see, now or ever.
func (s *snapshot) floor() int64 {
	low := s.beyond
	for _, r := range s.running {
		low = min(low, r.low)
	}
	return low
}

// parseSnapshot reads PostgreSQL's binary form of a pg_snapshot. The bounds are
// left zero.
func parseSnapshot(b []byte) (snapshot, error) {
	if len(b) < 20 {
		return snapshot{}, errSnapshot
	}
	n := int(int32(binary.BigEndian.Uint32(b)))
	s := snapshot{xmax: binary.BigEndian.Uint64(b[12:])}
	rest := b[20:]
	if n < 0 || len(rest) != 8*n {
		return snapshot{}, errSnapshot
	}
	s.running = make([]runner, n)
	for i := range s.running {
		s.running[i].xid = binary.BigEndian.Uint64(rest[8*i:])
	}
	return s, nil
}

var errSnapshot = errors.New("the server's snapshot cannot be read")

// appendSnapshot appends the binary form of s.
func appendSnapshot(b []byte, s *snapshot) []byte {
	xmin := s.xmax
	if len(s.running) > 0 {
		xmin = s.running[0].xid
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(s.running)))
	b = binary.BigEndian.AppendUint64(b, xmin)
	b = binary.BigEndian.AppendUint64(b, s.xmax)
	for _, r := range s.running {
		b = binary.BigEndian.AppendUint64(b, r.xid)
	}
	return b
}
