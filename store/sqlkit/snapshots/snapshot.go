package snapshots

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Snapshot is a snapshot of PostgreSQL (pg_snapshot): it says which transactions had
// ended when it was taken. Each transaction that had not has a bound.
//
// On one server, between two crashes, snapshots are totally ordered: what one
// sees, every later one sees.
type Snapshot struct {
	// XMax: transactions from here on had not ended.
	XMax uint64
	// Running are those below xmax that had not ended either, sorted.
	Running []Runner
	// Beyond is lower than the seq of every row that a transaction from xmax on
	// has written or will write.
	Beyond int64
}

// Runner is a transaction that had not ended.
type Runner struct {
	XID uint64
	// Low is lower than the seq of every row that it has written or will write.
	Low int64
}

// Sees says whether the transaction had ended.
func (s *Snapshot) Sees(xid uint64) bool {
	if xid >= s.XMax {
		return false
	}
	_, runs := s.find(xid)
	return !runs
}

// find returns where a running transaction is, or would be. It is asked for each row.
func (s *Snapshot) find(xid uint64) (int, bool) {
	low, high := 0, len(s.Running)
	for low < high {
		if mid := (low + high) / 2; s.Running[mid].XID < xid {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < len(s.Running) && s.Running[low].XID == xid
}

// Within says whether t sees all that s sees.
func (s *Snapshot) Within(t *Snapshot) bool {
	if s.XMax > t.XMax {
		// All from there on must run in s.
		i, _ := s.find(t.XMax)
		if uint64(len(s.Running)-i) != s.XMax-t.XMax {
			return false
		}
	}
	for _, r := range t.Running {
		if s.Sees(r.XID) {
			return false
		}
	}
	return true
}

// Same says whether both see the same.
func (s *Snapshot) Same(t *Snapshot) bool { return s.Within(t) && t.Within(s) }

// News is lower than the seq of every row that t sees and s does not.
func (s *Snapshot) News(t *Snapshot) int64 {
	low := s.Beyond
	for _, r := range s.Running {
		if r.Low < low && t.Sees(r.XID) {
			low = r.Low
		}
	}
	return low
}

// Lowest is lower than the seq of every row that s does not see, now or ever.
func (s *Snapshot) Lowest() int64 {
	low := s.Beyond
	for _, r := range s.Running {
		low = min(low, r.Low)
	}
	return low
}

// String is PostgreSQL's text of a pg_snapshot.
func (s *Snapshot) String() string {
	xmin := s.XMax
	if len(s.Running) > 0 {
		xmin = s.Running[0].XID
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d:%d:", xmin, s.XMax)
	for i, r := range s.Running {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, r.XID)
	}
	return b.String()
}

// Parse reads PostgreSQL's binary form of a pg_snapshot. The bounds are
// left zero.
func Parse(b []byte) (Snapshot, error) {
	if len(b) < 20 {
		return Snapshot{}, errSnapshot
	}
	n := int(int32(binary.BigEndian.Uint32(b)))
	s := Snapshot{XMax: binary.BigEndian.Uint64(b[12:])}
	rest := b[20:]
	if n < 0 || len(rest) != 8*n {
		return Snapshot{}, errSnapshot
	}
	s.Running = make([]Runner, n)
	for i := range s.Running {
		s.Running[i].XID = binary.BigEndian.Uint64(rest[8*i:])
	}
	return s, nil
}

var errSnapshot = errors.New("the server's snapshot cannot be read")

// Append appends the binary form of s.
func Append(b []byte, s *Snapshot) []byte {
	xmin := s.XMax
	if len(s.Running) > 0 {
		xmin = s.Running[0].XID
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(s.Running)))
	b = binary.BigEndian.AppendUint64(b, xmin)
	b = binary.BigEndian.AppendUint64(b, s.XMax)
	for _, r := range s.Running {
		b = binary.BigEndian.AppendUint64(b, r.XID)
	}
	return b
}
