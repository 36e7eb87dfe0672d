package snapshots

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/postbag/postbag/store"
)

// randomSnapshot returns a snapshot with n running transactions, close together
// or far apart.
func randomSnapshot(r *rand.Rand, n int) *Snapshot {
	s := &Snapshot{XMax: 3 + r.Uint64N(1<<40), Beyond: r.Int64N(1 << 50)}
	gap := uint64(1) << r.IntN(12)
	for xid := s.XMax; len(s.Running) < n; {
		back := 1 + r.Uint64N(gap)
		if xid <= back+2 {
			break
		}
		xid -= back
		s.Running = append([]Runner{{xid, s.Beyond - r.Int64N(s.Beyond+1)}}, s.Running...)
	}
	return s
}

func randomPosition(r *rand.Rand, n int) Position {
	p := Position{Life: r.Int64(), Base: r.Int64N(1 << 40)}
	if r.IntN(4) > 0 {
		p.Done = randomSnapshot(r, r.IntN(n+1))
		p.High = p.Done.Beyond + r.Int64N(1000)
	} else {
		p.Floor = r.Int64N(1 << 50)
	}
	if r.IntN(2) == 0 {
		p.To = randomSnapshot(r, r.IntN(n+1))
		if p.Done != nil {
			p.To.XMax = max(p.To.XMax, p.Done.XMax)
		}
		p.Top, p.After = r.Int64N(1<<50), r.Int64N(1<<50)
	}
	return p
}

func TestPositionsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		p := randomPosition(r, 40)
		raw := p.Encode()
		got, err := Decode(raw)
		if err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		if !samePosition(&got, &p) {
			t.Fatalf("%+v came back as %+v", p, got)
		}
		if again := got.Encode(); again != raw {
			t.Fatalf("%+v is written in two ways", p)
		}
	}
}

func samePosition(a, b *Position) bool {
	same := func(a, b *Snapshot) bool {
		return (a == nil) == (b == nil) && (a == nil || a.XMax == b.XMax && a.Beyond == b.Beyond && len(a.Running) == len(b.Running) &&
			(len(a.Running) == 0 || reflect.DeepEqual(a.Running, b.Running)))
	}
	return same(a.Done, b.Done) && same(a.To, b.To) && a.Life == b.Life && a.Floor == b.Floor && a.Base == b.Base && a.High == b.High &&
		a.Top == b.Top && a.After == b.After
}

// Many running transactions cost their bounds, and the position never lacks one
// of them, nor grows beyond what it may.
func TestManyRunningTransactionsLowerBoundsAndAreAllKept(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		p := Position{Done: randomSnapshot(r, 1500), To: randomSnapshot(r, 1500)}
		p.To.XMax = max(p.To.XMax, p.Done.XMax)
		raw := p.Encode()
		if len(raw) > maxPosition {
			t.Fatalf("%d bytes for %d and %d transactions", len(raw), len(p.Done.Running), len(p.To.Running))
		}
		got, err := Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		for i, pair := range [][2]*Snapshot{{p.Done, got.Done}, {p.To, got.To}} {
			if len(pair[0].Running) != len(pair[1].Running) {
				t.Fatalf("snapshot %d has %d transactions, not %d", i, len(pair[1].Running), len(pair[0].Running))
			}
			for k, was := range pair[0].Running {
				is := pair[1].Running[k]
				if is.XID != was.XID || is.Low > was.Low {
					t.Fatalf("transaction %v came back as %v", was, is)
				}
			}
		}
	}
}

func TestPositionsThatCannotBeReadAreRefused(t *testing.T) {
	t.Parallel()
	p := Position{Done: &Snapshot{XMax: 9, Beyond: 5, Running: []Runner{{7, 2}}}, To: &Snapshot{XMax: 20, Beyond: 8}, Top: 30, After: 6}
	good := p.Encode()
	bad := []store.Position{"\x00", "\x02" + good[1:], good + "x", good[:1], store.Position(make([]byte, maxPosition+1)), "\x01\xff" + good[2:]}
	for i := 1; i < len(good); i++ {
		bad = append(bad, good[:i])
	}
	for _, raw := range bad {
		if _, err := Decode(raw); !errors.Is(err, store.ErrPosition) {
			t.Errorf("%q: error %v", raw, err)
		}
	}
}

// What is passed: everything that done sees, in a window also what it sees up to
// after.
func TestWhatAPositionHasPassed(t *testing.T) {
	t.Parallel()
	done := &Snapshot{XMax: 20, Beyond: 50, Running: []Runner{{12, 10}}}
	to := &Snapshot{XMax: 30, Beyond: 90, Running: []Runner{{25, 60}}}
	for _, c := range []struct {
		name string
		p    Position
		xid  uint64
		seq  int64
		want bool
	}{
		{"Floor: below", Position{Floor: 10}, 99, 10, true},
		{"Floor: above", Position{Floor: 10}, 1, 11, false},
		{"Done: ended", Position{Done: done}, 13, 99, true},
		{"Done: running", Position{Done: done}, 12, 11, false},
		{"Done: later", Position{Done: done}, 20, 51, false},
		{"window: seen, before after", Position{Done: done, To: to, After: 70}, 22, 70, true},
		{"window: seen, beyond after", Position{Done: done, To: to, After: 70}, 22, 71, false},
		{"window: not seen", Position{Done: done, To: to, After: 70}, 25, 61, false},
		{"foreign: any id", Position{Done: done, Base: 40}, 1 << 50, 40, true},
		{"foreign: an id that runs here", Position{Done: done, Base: 40}, 12, 11, false},
		{"foreign: beyond the base", Position{Done: done, Base: 40}, 1 << 50, 51, false},
		{"foreign, floor in a window", Position{Floor: 5, To: to, After: 30, Base: 40}, 1 << 50, 30, true},
	} {
		if got := c.p.Passed(c.xid, c.seq); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func FuzzDecodePosition(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		p := randomPosition(r, 10)
		f.Add([]byte(p.Encode()))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := Decode(store.Position(raw))
		if err != nil {
			if !errors.Is(err, store.ErrPosition) {
				t.Fatalf("error %v", err)
			}
			return
		}
		for _, s := range []*Snapshot{p.Done, p.To} {
			if s == nil {
				continue
			}
			for i := range s.Running {
				if s.Running[i].XID >= s.XMax || i > 0 && s.Running[i-1].XID >= s.Running[i].XID {
					t.Fatalf("running transactions out of order: %v", s)
				}
			}
		}
		again := p.Encode()
		q, err := Decode(again)
		if err != nil {
			t.Fatalf("%q was written again as %q, which cannot be read: %v", raw, again, err)
		}
		if q.Encode() != again {
			t.Fatalf("%q is written in two ways", raw)
		}
	})
}

func TestAPositionThatIsCutOrLongerOrHasAnUnknownMarkIsRefused(t *testing.T) {
	t.Parallel()
	p := Position{
		Life: 3, Base: 2, High: 9, Done: &Snapshot{XMax: 10, Beyond: 5, Running: []Runner{{XID: 7, Low: 3}, {XID: 8, Low: 4}}},
		To: &Snapshot{XMax: 20, Beyond: 8, Running: []Runner{{XID: 8, Low: 4}}}, Top: 12, After: 6,
	}
	whole := p.Encode()
	if _, err := Decode(whole); err != nil {
		t.Fatal(err)
	}
	damaged := []store.Position{whole + "\x00", whole[:1] + store.Position([]byte{whole[1] | 0x80}) + whole[2:]}
	for n := 1; n < len(whole); n++ {
		damaged = append(damaged, whole[:n])
	}
	for _, raw := range damaged {
		if _, err := Decode(raw); !errors.Is(err, store.ErrPosition) {
			t.Errorf("%x of %x gave %v", raw, whole, err)
		}
	}
}
