package snapshots

import (
	"encoding/binary"
	"slices"
	"testing"
)

func running(beyond int64, xmax uint64, xids ...uint64) *Snapshot {
	s := &Snapshot{XMax: xmax, Beyond: beyond}
	for _, x := range xids {
		s.Running = append(s.Running, Runner{XID: x, Low: beyond})
	}
	return s
}

func TestASnapshotSeesEndedTransactions(t *testing.T) {
	t.Parallel()
	s := running(0, 20, 12, 15)
	for xid, want := range map[uint64]bool{1: true, 11: true, 12: false, 13: true, 15: false, 19: true, 20: false, 1 << 40: false} {
		if got := s.Sees(xid); got != want {
			t.Errorf("sees %d: %v", xid, got)
		}
	}
}

func TestALaterSnapshotSeesAllThatAnEarlierOneSees(t *testing.T) {
	t.Parallel()
	earlier, later := running(0, 20, 12, 15), running(0, 25, 15, 22)
	for _, c := range []struct {
		name         string
		a, b         *Snapshot
		within, same bool
	}{
		{"earlier in later", earlier, later, true, false},
		{"later in earlier", later, earlier, false, false},
		{"itself", earlier, earlier, true, true},
		{"the same otherwise told", running(0, 20, 18, 19), running(0, 18), true, true},
		{"one running in both, ended in neither", running(0, 20, 12), running(0, 20, 12, 13), false, false},
	} {
		if got := c.a.Within(c.b); got != c.within {
			t.Errorf("%s: within is %v", c.name, got)
		}
		if got := c.a.Same(c.b); got != c.same {
			t.Errorf("%s: same is %v", c.name, got)
		}
	}
}

func TestNewRowsBeginAtTheLowestBoundOfEndedTransactions(t *testing.T) {
	t.Parallel()
	s := &Snapshot{XMax: 20, Beyond: 100, Running: []Runner{{12, 10}, {15, 50}}}
	for _, c := range []struct {
		to   *Snapshot
		want int64
	}{
		{running(0, 20, 12, 15), 100},
		{running(0, 30, 12, 15), 100},
		{running(0, 30, 12), 50},
		{running(0, 30), 10},
		{running(0, 30, 15), 10},
	} {
		if got := s.News(c.to); got != c.want {
			t.Errorf("news of %v: %d, not %d", c.to, got, c.want)
		}
	}
	if got := s.Lowest(); got != 10 {
		t.Errorf("Lowest: %d", got)
	}
}

func TestSnapshotsInBinaryForm(t *testing.T) {
	t.Parallel()
	for _, s := range []*Snapshot{running(0, 3), running(0, 20, 12), running(0, 1<<40, 1<<39, 1<<39+7)} {
		got, err := Parse(Append(nil, s))
		if err != nil || got.XMax != s.XMax || !slices.EqualFunc(got.Running, s.Running, func(a, b Runner) bool { return a.XID == b.XID }) {
			t.Errorf("%v came back as %v, error %v", s, got, err)
		}
	}
	for _, bad := range [][]byte{nil, make([]byte, 19), make([]byte, 21), Append(nil, running(0, 20, 12))[:24]} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%d bytes of no snapshot were taken for one", len(bad))
		}
	}
}

// What PostgreSQL reads of the binary form, beside what Parse does: its xmin.
func TestTheBinaryFormHoldsTheXmin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s    *Snapshot
		want uint64
	}{{running(0, 20, 12, 15), 12}, {running(0, 20), 20}} {
		b := Append([]byte("x"), c.s)
		if got := binary.BigEndian.Uint64(b[5:]); got != c.want || b[0] != 'x' {
			t.Errorf("%v: xmin is %d, not %d", c.s, got, c.want)
		}
	}
}

func TestASnapshotWithAHigherXmaxIsWithinOneIfAllBetweenRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		s, t *Snapshot
		want bool
	}{
		{"all between run", running(0, 20, 17, 18, 19), running(0, 18, 17), true},
		{"one between has ended", running(0, 20, 17, 19), running(0, 18, 17), false},
		{"the first between has ended", running(0, 20, 19), running(0, 18), false},
		{"all between run, and one that has ended below", running(0, 20, 18, 19), running(0, 18, 17), false},
		{"the same xmax", running(0, 20, 17), running(0, 20), true},
	} {
		if got := c.s.Within(c.t); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
