package pgstore

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/postbag/postbag/store"
)

// randomSnapshot returns a snapshot with n running transactions, close together
// or far apart.
func randomSnapshot(r *rand.Rand, n int) *snapshot {
	s := &snapshot{xmax: 3 + r.Uint64N(1<<40), beyond: r.Int64N(1 << 50)}
	gap := uint64(1) << r.IntN(12)
	for xid := s.xmax; len(s.running) < n; {
		back := 1 + r.Uint64N(gap)
		if xid <= back+2 {
			break
		}
		xid -= back
		s.running = append([]runner{{xid, s.beyond - r.Int64N(s.beyond+1)}}, s.running...)
	}
	return s
}

func randomPosition(r *rand.Rand, n int) position {
	p := position{life: r.Int64(), base: r.Int64N(1 << 40)}
	if r.IntN(4) > 0 {
		p.done = randomSnapshot(r, r.IntN(n+1))
		p.high = p.done.beyond + r.Int64N(1000)
	} else {
		p.floor = r.Int64N(1 << 50)
	}
	if r.IntN(2) == 0 {
		p.to = randomSnapshot(r, r.IntN(n+1))
		if p.done != nil {
			p.to.xmax = max(p.to.xmax, p.done.xmax)
		}
		p.top, p.after = r.Int64N(1<<50), r.Int64N(1<<50)
	}
	return p
}

func TestPositionsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		p := randomPosition(r, 40)
		raw := p.encode()
		got, err := decodePosition(raw)
		if err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		if !samePosition(&got, &p) {
			t.Fatalf("%+v came back as %+v", p, got)
		}
		if again := got.encode(); again != raw {
			t.Fatalf("%+v is written in two ways", p)
		}
	}
}

func samePosition(a, b *position) bool {
	same := func(a, b *snapshot) bool {
		return (a == nil) == (b == nil) && (a == nil || a.xmax == b.xmax && a.beyond == b.beyond && len(a.running) == len(b.running) &&
			(len(a.running) == 0 || reflect.DeepEqual(a.running, b.running)))
	}
	return same(a.done, b.done) && same(a.to, b.to) && a.life == b.life && a.floor == b.floor && a.base == b.base && a.high == b.high &&
		a.top == b.top && a.after == b.after
}

// Many running transactions cost their bounds, and the position never lacks one
// of them, nor grows beyond what it may.
func TestManyRunningTransactionsLowerBoundsAndAreAllKept(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		p := position{done: randomSnapshot(r, 1500), to: randomSnapshot(r, 1500)}
		p.to.xmax = max(p.to.xmax, p.done.xmax)
		raw := p.encode()
		if len(raw) > maxPosition {
			t.Fatalf("%d bytes for %d and %d transactions", len(raw), len(p.done.running), len(p.to.running))
		}
		got, err := decodePosition(raw)
		if err != nil {
			t.Fatal(err)
		}
		for i, pair := range [][2]*snapshot{{p.done, got.done}, {p.to, got.to}} {
			if len(pair[0].running) != len(pair[1].running) {
				t.Fatalf("snapshot %d has %d transactions, not %d", i, len(pair[1].running), len(pair[0].running))
			}
			for k, was := range pair[0].running {
				is := pair[1].running[k]
				if is.xid != was.xid || is.low > was.low {
					t.Fatalf("transaction %v came back as %v", was, is)
				}
			}
		}
	}
}

func TestPositionsThatCannotBeReadAreRefused(t *testing.T) {
	t.Parallel()
	p := position{done: &snapshot{xmax: 9, beyond: 5, running: []runner{{7, 2}}}, to: &snapshot{xmax: 20, beyond: 8}, top: 30, after: 6}
	good := p.encode()
	bad := []store.Position{"\x00", "\x02" + good[1:], good + "x", good[:1], store.Position(make([]byte, maxPosition+1)), "\x01\xff" + good[2:]}
	for i := 1; i < len(good); i++ {
		bad = append(bad, good[:i])
	}
	for _, raw := range bad {
		if _, err := decodePosition(raw); !errors.Is(err, store.ErrPosition) {
			t.Errorf("%q: error %v", raw, err)
		}
	}
}

// What is passed: everything that done sees, in a window also what it sees up to
// after.
func TestWhatAPositionHasPassed(t *testing.T) {
	t.Parallel()
	done := &snapshot{xmax: 20, beyond: 50, running: []runner{{12, 10}}}
	to := &snapshot{xmax: 30, beyond: 90, running: []runner{{25, 60}}}
	for _, c := range []struct {
		name string
		p    position
		xid  uint64
		seq  int64
		want bool
	}{
		{"floor: below", position{floor: 10}, 99, 10, true},
		{"floor: above", position{floor: 10}, 1, 11, false},
		{"done: ended", position{done: done}, 13, 99, true},
		{"done: running", position{done: done}, 12, 11, false},
		{"done: later", position{done: done}, 20, 51, false},
		{"window: seen, before after", position{done: done, to: to, after: 70}, 22, 70, true},
		{"window: seen, beyond after", position{done: done, to: to, after: 70}, 22, 71, false},
		{"window: not seen", position{done: done, to: to, after: 70}, 25, 61, false},
		{"foreign: any id", position{done: done, base: 40}, 1 << 50, 40, true},
		{"foreign: an id that runs here", position{done: done, base: 40}, 12, 11, false},
		{"foreign: beyond the base", position{done: done, base: 40}, 1 << 50, 51, false},
		{"foreign, floor in a window", position{floor: 5, to: to, after: 30, base: 40}, 1 << 50, 30, true},
	} {
		if got := c.p.passed(c.xid, c.seq); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func FuzzDecodePosition(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		p := randomPosition(r, 10)
		f.Add([]byte(p.encode()))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := decodePosition(store.Position(raw))
		if err != nil {
			if !errors.Is(err, store.ErrPosition) {
				t.Fatalf("error %v", err)
			}
			return
		}
		for _, s := range []*snapshot{p.done, p.to} {
			if s == nil {
				continue
			}
			for i := range s.running {
				if s.running[i].xid >= s.xmax || i > 0 && s.running[i-1].xid >= s.running[i].xid {
					t.Fatalf("running transactions out of order: %v", s)
				}
			}
		}
		again := p.encode()
		q, err := decodePosition(again)
		if err != nil {
			t.Fatalf("%q was written again as %q, which cannot be read: %v", raw, again, err)
		}
		if q.encode() != again {
			t.Fatalf("%q is written in two ways", raw)
		}
	})
}
