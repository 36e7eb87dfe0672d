package pgstore

import (
	"slices"
	"testing"
)

func running(beyond int64, xmax uint64, xids ...uint64) *snapshot {
	s := &snapshot{xmax: xmax, beyond: beyond}
	for _, x := range xids {
		s.running = append(s.running, runner{xid: x, low: beyond})
	}
	return s
}

func TestASnapshotSeesWhatHadEnded(t *testing.T) {
	t.Parallel()
	s := running(0, 20, 12, 15)
	for xid, want := range map[uint64]bool{1: true, 11: true, 12: false, 13: true, 15: false, 19: true, 20: false, 1 << 40: false} {
		if got := s.sees(xid); got != want {
			t.Errorf("sees %d: %v", xid, got)
		}
	}
}

func TestALaterSnapshotSeesAllThatAnEarlierOneSees(t *testing.T) {
	t.Parallel()
	earlier, later := running(0, 20, 12, 15), running(0, 25, 15, 22)
	for _, c := range []struct {
		name         string
		a, b         *snapshot
		within, same bool
	}{
		{"earlier in later", earlier, later, true, false},
		{"later in earlier", later, earlier, false, false},
		{"itself", earlier, earlier, true, true},
		{"the same otherwise told", running(0, 20, 18, 19), running(0, 18), true, true},
		{"one running in both, ended in neither", running(0, 20, 12), running(0, 20, 12, 13), false, false},
	} {
		if got := c.a.within(c.b); got != c.within {
			t.Errorf("%s: within is %v", c.name, got)
		}
		if got := c.a.same(c.b); got != c.same {
			t.Errorf("%s: same is %v", c.name, got)
		}
	}
}

func TestNewsBeginAtTheLowestBoundOfWhatHasEnded(t *testing.T) {
	t.Parallel()
	s := &snapshot{xmax: 20, beyond: 100, running: []runner{{12, 10}, {15, 50}}}
	for _, c := range []struct {
		to   *snapshot
		want int64
	}{
		{running(0, 20, 12, 15), 100},
		{running(0, 30, 12, 15), 100},
		{running(0, 30, 12), 50},
		{running(0, 30), 10},
		{running(0, 30, 15), 10},
	} {
		if got := s.news(c.to); got != c.want {
			t.Errorf("news of %v: %d, not %d", c.to, got, c.want)
		}
	}
	if got := s.floor(); got != 10 {
		t.Errorf("floor: %d", got)
	}
}

func TestSnapshotsInBinaryForm(t *testing.T) {
	t.Parallel()
	for _, s := range []*snapshot{running(0, 3), running(0, 20, 12), running(0, 1<<40, 1<<39, 1<<39+7)} {
		got, err := parseSnapshot(appendSnapshot(nil, s))
		if err != nil || got.xmax != s.xmax || !slices.EqualFunc(got.running, s.running, func(a, b runner) bool { return a.xid == b.xid }) {
			t.Errorf("%v came back as %v, error %v", s, got, err)
		}
	}
	for _, bad := range [][]byte{nil, make([]byte, 19), make([]byte, 21), appendSnapshot(nil, running(0, 20, 12))[:24]} {
		if _, err := parseSnapshot(bad); err == nil {
			t.Errorf("%d bytes of no snapshot were taken for one", len(bad))
		}
	}
}
