package snapshots

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
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

func TestEncodedPositionsAreDecodedUnchanged(t *testing.T) {
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
func TestManyRunningTransactionsAreAllKeptWithLowerBounds(t *testing.T) {
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

func TestUndecodablePositionsAreRefused(t *testing.T) {
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
func TestPassedIsTrueOfReadRowsOnly(t *testing.T) {
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
		{"foreign: an id that runs here, up to its bound", Position{Done: done, Base: 40}, 12, 10, true},
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

func TestTruncatedExtendedAndUnknownPositionsAreRefused(t *testing.T) {
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

func TestRowsOfAnotherClusterArePassedUpToTheBase(t *testing.T) {
	t.Parallel()
	p := Position{Done: &Snapshot{XMax: 20, Beyond: 50}, Base: 40}
	if !p.Passed(1<<50, 40) || p.Passed(1<<50, 41) {
		t.Error("rows of another cluster lie up to the base, and none beyond it")
	}
}

func TestBeyondLowestAndReachOfAPosition(t *testing.T) {
	t.Parallel()
	done := &Snapshot{XMax: 20, Beyond: 50, Running: []Runner{{12, 10}}}
	to := &Snapshot{XMax: 30, Beyond: 90}
	for _, c := range []struct {
		name                  string
		p                     Position
		beyond, lowest, reach int64
	}{
		{"a floor", Position{Floor: 7}, 7, 7, 7},
		{"a floor in a window", Position{Floor: 7, To: to, Top: 100, After: 30}, 7, 7, 30},
		{"a floor in a window that has just begun", Position{Floor: 7, To: to, Top: 100, After: 5}, 7, 7, 7},
		{"a snapshot", Position{Done: done, High: 60}, 50, 10, 60},
		{"a snapshot in a window", Position{Done: done, High: 60, To: to, Top: 100, After: 80}, 50, 10, 80},
		{"a snapshot in a window that looks back", Position{Done: done, High: 60, To: to, Top: 100, After: 20}, 50, 10, 60},
	} {
		if b, l, r := c.p.Beyond(), c.p.Lowest(), c.p.Reach(); b != c.beyond || l != c.lowest || r != c.reach {
			t.Errorf("%s: beyond %d, lowest %d, reach %d; not %d, %d, %d", c.name, b, l, r, c.beyond, c.lowest, c.reach)
		}
	}
}

func TestAWindowIsOpenedReadAndClosed(t *testing.T) {
	t.Parallel()
	var known Bounds
	known.Add(25, 80)
	p := Position{Life: 4, Base: 3, High: 60, Done: &Snapshot{XMax: 20, Beyond: 50, Running: []Runner{{12, 10}, {15, 30}}}}
	if from := p.Open(Snapshot{XMax: 30, Running: []Runner{{XID: 12}}}, 100, &known); from != 30 {
		t.Errorf("the window begins at %d: of what has ended, the lowest bound is 30", from)
	}
	if p.To == nil || p.To.Beyond != 80 || p.To.Running[0].Low != 10 || p.Top != 100 {
		t.Errorf("the window is %+v up to %d", p.To, p.Top)
	}
	at, err := Decode(p.At(70))
	if err != nil || at.After != 70 || p.After != 0 {
		t.Errorf("at 70 it is at %d, and the window itself at %d; error %v", at.After, p.After, err)
	}
	end := p.Closed()
	if want := (Position{Life: 4, Base: 3, Done: p.To, High: 100}); !samePosition(&end, &want) {
		t.Errorf("closed it is %+v", end)
	}
	p.High = 120
	if end := p.Closed(); end.High != 120 {
		t.Errorf("closed it has passed up to %d, and 120 were passed before", end.High)
	}
	floor := Position{Floor: 9}
	if from := floor.Open(Snapshot{XMax: 30}, 100, &known); from != 9 {
		t.Errorf("behind a floor the window begins at %d", from)
	}
}

// A row of another cluster may have the id of a transaction that runs, and waits with
// it. A position that read it before has a bound beyond it, which holds for no other.
func TestAWindowDoesNotLeadToAPositionWithHigherBounds(t *testing.T) {
	t.Parallel()
	at := func(low int64) *Snapshot { return &Snapshot{XMax: 20, Beyond: 50, Running: []Runner{{12, low}}} }
	for _, c := range []struct {
		name string
		p    Position
		low  int64
		want bool
	}{
		{"from a lower bound", Position{Done: at(10), Base: 40}, 40, false},
		{"from the same bound", Position{Done: at(10), Base: 40}, 10, true},
		{"from a higher bound", Position{Done: at(40), Base: 40}, 10, true},
		{"from a lower bound beyond the base", Position{Done: at(40), Base: 40}, 45, true},
		{"from before the transaction", Position{Done: &Snapshot{XMax: 11, Beyond: 30}, Base: 40}, 40, true},
		{"from a floor", Position{Floor: 10, Base: 40}, 40, false},
		{"from a floor to its bound", Position{Floor: 10, Base: 40}, 10, true},
		{"from the base", Position{Floor: 40, Base: 40}, 40, true},
		{"from within a window with a lower bound", Position{Floor: 10, Base: 40, To: at(10), Top: 60}, 40, false},
		{"where no row is of another cluster", Position{Done: at(10)}, 40, true},
	} {
		if got := c.p.Towards(&Position{Done: at(c.low), Base: c.p.Base, High: 60}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestTowardsOpensAWindowUpToAPosition(t *testing.T) {
	t.Parallel()
	done := &Snapshot{XMax: 20, Beyond: 50, Running: []Runner{{12, 10}}}
	later := &Snapshot{XMax: 30, Beyond: 90, Running: []Runner{{25, 60}}}
	latest := &Snapshot{XMax: 40, Beyond: 120}
	for _, c := range []struct {
		name     string
		p, until Position
		want     bool
		after    int64
		to       *Snapshot
	}{
		{"from a snapshot", Position{Done: done, High: 60}, Position{Done: later, High: 100}, true, 10, later},
		{"from a floor", Position{Floor: 5}, Position{Done: later, High: 100}, true, 5, later},
		{"to a floor", Position{Floor: 5}, Position{Floor: 9}, false, 0, nil},
		{"back", Position{Done: later, High: 100}, Position{Done: done, High: 60}, false, 0, nil},
		{"from within a window that leads there", Position{Done: done, High: 60, To: later, Top: 100, After: 70}, Position{Done: later, High: 100}, true, 70, later},
		{"from within a window that leads less far", Position{Done: done, High: 60, To: later, Top: 100, After: 70}, Position{Done: latest, High: 130}, true, 70, later},
		{"from within a window that leads further", Position{Done: done, High: 60, To: latest, Top: 130, After: 70}, Position{Done: later, High: 100}, false, 70, latest},
	} {
		p := c.p
		if got := p.Towards(&c.until); got != c.want || p.To != c.to || p.After != c.after {
			t.Errorf("%s: %v, a window to %+v after %d", c.name, got, p.To, p.After)
		}
		if c.want && c.p.To == nil && p.Top != c.until.High {
			t.Errorf("%s: the window ends at %d, not at %d", c.name, p.Top, c.until.High)
		}
	}
}

func TestAnImpossibleRowInvalidatesAPosition(t *testing.T) {
	t.Parallel()
	p := Position{Done: &Snapshot{XMax: 50, Beyond: 100, Running: []Runner{{20, 7}, {33, 90}}}, Base: 3}
	for _, c := range []struct {
		xid  uint64
		seq  int64
		want bool
	}{
		{50, 100, true},
		{50, 101, false},
		{49, 100, false},
		{60, 4, true},
		{60, 3, false},
		{33, 90, true},
		{33, 91, false},
		{20, 8, false},
		{20, 7, true},
		{21, 7, false},
	} {
		if got := p.Belied(c.xid, c.seq); got != c.want {
			t.Errorf("a row of %d at %d: %v", c.xid, c.seq, got)
		}
	}
	if floor := (&Position{Floor: 10}); floor.Belied(60, 5) {
		t.Error("a floor is belied, and it knows no transaction")
	}
}

func TestBoundsListsEachBoundOfAPositionOnce(t *testing.T) {
	t.Parallel()
	running := []Runner{{20, 7}, {21, 90}, {33, 7}, {34, 100}}
	p := Position{Done: &Snapshot{XMax: 50, Beyond: 100, Running: running}}
	if got, want := p.Bounds(), []int64{7, 90, 100}; !slices.Equal(got, want) {
		t.Errorf("the bounds are %v, not %v", got, want)
	}
	floor := Position{Floor: 10}
	if got := floor.Bounds(); !slices.Equal(got, []int64{10}) {
		t.Errorf("a floor has bounds %v", got)
	}
}

func TestLoweredIsTheLowestOfThePositions(t *testing.T) {
	t.Parallel()
	less := Position{Life: 1, Done: &Snapshot{XMax: 40, Beyond: 80, Running: []Runner{{20, 7}}}, High: 90}
	more := Position{Life: 2, Done: &Snapshot{XMax: 50, Beyond: 100}, High: 120}
	for _, all := range [][]Position{{less, more}, {more, less}} {
		got := Lowered(all)
		if got.Life != 1 || got.High != 120 || got.Lowest() != 0 || got.Beyond() != 0 || !got.Done.Same(less.Done) || got.To != nil {
			t.Errorf("lowered: %+v of %+v", got, got.Done)
		}
	}
	if less.Done.Beyond != 80 || less.Done.Running[0].Low != 7 {
		t.Error("what was lowered was changed")
	}
	for _, all := range [][]Position{nil, {less, {Floor: 7}}, {less, {Done: more.Done, Base: 5}}} {
		if got := Lowered(all); got.Done != nil || got.Floor != 0 {
			t.Errorf("of %+v there comes %+v", all, got)
		}
	}
	if got := less.Done.String(); got != "20:40:20" {
		t.Errorf("the text of a snapshot is %q", got)
	}
	if got := more.Done.String(); got != "50:50:" {
		t.Errorf("the text of a snapshot is %q", got)
	}
}

func TestUnpassMakesAPositionReadTransactionsAgain(t *testing.T) {
	t.Parallel()
	p := Position{Done: &Snapshot{XMax: 20, Running: []Runner{{XID: 12, Low: 30}}, Beyond: 50}}
	p.Unpass([]uint64{15, 12, 25})
	for xid, want := range map[uint64]bool{11: true, 12: false, 15: false, 16: true, 25: false} {
		if got := p.Passed(xid, 5); got != want {
			t.Errorf("a row of %d is passed: %v", xid, got)
		}
	}
	to := Snapshot{XMax: 30, Beyond: 60}
	if from := p.Done.News(&to); from != 0 {
		t.Errorf("it reads on from %d", from)
	}
	if got, err := Decode(p.Encode()); err != nil || len(got.Done.Running) != 2 {
		t.Errorf("it is decoded as %+v: %v", got, err)
	}
	floor := Position{Floor: 7}
	floor.Unpass([]uint64{3})
	if floor.Done != nil || floor.Floor != 7 {
		t.Errorf("a floor is %+v", floor)
	}
}

// Rows at or below the low watermark never come, in a window and outside of one: not even those of transactions that run.
func TestTheLowWatermarkIsBelowEveryRowThatIsStillToCome(t *testing.T) {
	t.Parallel()
	done := &Snapshot{XMax: 20, Beyond: 100, Running: []Runner{{XID: 10, Low: 40}}}
	for name, c := range map[string]struct {
		at   Position
		want int64
	}{
		"the beginning":                   {Position{}, 0},
		"a floor":                         {Position{Floor: 50}, 50},
		"an end with a running one":       {Position{Done: done}, 40},
		"an end without":                  {Position{Done: &Snapshot{XMax: 20, Beyond: 100}}, 100},
		"a window from a floor":           {Position{Floor: 50, To: &Snapshot{XMax: 30, Beyond: 200}, Top: 250, After: 120}, 120},
		"a window beyond its bound":       {Position{Floor: 50, To: &Snapshot{XMax: 30, Beyond: 200}, Top: 250, After: 240}, 200},
		"a window with a running one":     {Position{Floor: 50, To: &Snapshot{XMax: 30, Beyond: 200, Running: []Runner{{XID: 25, Low: 90}}}, Top: 250, After: 120}, 90},
		"a window with a running old one": {Position{Floor: 50, To: &Snapshot{XMax: 30, Beyond: 200, Running: []Runner{{XID: 25, Low: 10}}}, Top: 250, After: 120}, 50},
		"a window for late ones":          {Position{Done: done, To: &Snapshot{XMax: 30, Beyond: 200}, Top: 250, After: 60}, 60},
	} {
		if got := c.at.LowWatermark(); got != c.want {
			t.Errorf("%s: %d, not %d", name, got, c.want)
		}
	}
}
