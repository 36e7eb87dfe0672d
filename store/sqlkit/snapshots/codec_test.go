package snapshots

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/postbag/postbag/store"
)

// written is a position put together by hand: a format, what it holds, a life, and numbers.
func written(flags byte, numbers ...any) store.Position {
	b := append([]byte{Format, flags}, make([]byte, 8)...)
	for _, n := range numbers {
		switch n := n.(type) {
		case uint64:
			b = binary.AppendUvarint(b, n)
		case int64:
			b = binary.AppendVarint(b, n)
		}
	}
	return store.Position(b)
}

// Shorthands for what is written: a number by itself, and a difference.
func num(n uint64) any { return n }
func dif(n int64) any  { return n }

func TestMalformedPositionsAreRefused(t *testing.T) {
	t.Parallel()
	const most = math.MaxInt64
	for name, c := range map[string]struct {
		raw  store.Position
		good bool
	}{
		"a floor":                                    {written(0, num(2), num(3)), true},
		"the highest floor":                          {written(0, num(0), num(most)), true},
		"a floor that is no seq":                     {written(0, num(0), num(most+1)), false},
		"the highest base":                           {written(0, num(most), num(0)), true},
		"a base that is no seq":                      {written(0, num(most+1), num(0)), false},
		"a life that is cut, and numbers behind it":  {"\x01\x00\x05\x06", false},
		"no floor":                                   {written(0, num(2)), false},
		"a number without an end":                    {written(0, num(2)) + "\xff", false},
		"a number of more than 64 bits":              {written(0, num(2)) + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", false},
		"a difference of more than 64 bits":          {written(hasDone, num(0), num(5), dif(1), num(0)) + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", false},
		"a snapshot":                                 {written(hasDone, num(0), num(5), dif(1), num(0), dif(0)), true},
		"a snapshot without what was passed":         {written(hasDone, num(0), num(5), dif(1), num(0)), false},
		"a bound below zero":                         {written(hasDone, num(0), num(5), dif(-1), num(0), dif(1)), false},
		"the highest bound":                          {written(hasDone, num(0), num(5), dif(most), num(0), dif(0)), true},
		"a seq beyond the highest":                   {written(hasDone, num(0), num(5), dif(most), num(0), dif(1)), false},
		"a seq of zero, by a difference":             {written(hasDone, num(0), num(5), dif(7), num(0), dif(-7)), true},
		"a seq below zero, by a difference":          {written(hasDone, num(0), num(5), dif(7), num(0), dif(-8)), false},
		"the highest id":                             {written(hasDone, num(0), num(most), dif(1), num(0), dif(0)), true},
		"an id beyond the highest":                   {written(hasDone, num(0), num(most+1), dif(1), num(0), dif(0)), false},
		"an id that goes round":                      {written(hasDone|hasWindow, num(0), num(9), dif(1), num(0), dif(0), num(math.MaxUint64-3), dif(0), num(0), dif(0), dif(0)), false},
		"one that runs":                              {written(hasDone, num(0), num(5), dif(1), num(1), num(0), dif(0), dif(0)), true},
		"one that runs, with the lowest id":          {written(hasDone, num(0), num(5), dif(1), num(1), num(4), dif(0), dif(0)), true},
		"one that runs, with an id below the lowest": {written(hasDone, num(0), num(5), dif(1), num(1), num(5), dif(0), dif(0)), false},
		"two that run, the second below the lowest":  {written(hasDone, num(0), num(5), dif(1), num(2), num(1), num(3), dif(0), dif(0), dif(0)), false},
		"one that runs, with a bound below zero":     {written(hasDone, num(0), num(5), dif(1), num(1), num(0), dif(-2), dif(0)), false},
		"more that run than bytes are left":          {written(hasDone, num(0), num(50), dif(1), num(40), num(0), dif(0), dif(0)), false},
		"so many that run that no memory holds them": {written(hasDone, num(0), num(most), dif(1), num(1<<60), num(0), dif(0), dif(0)), false},
		"one bound for two":                          {written(hasDone|oneLow, num(0), num(5), dif(9), num(2), num(0), num(0), dif(-3), dif(0)), true},
		"one bound for two, below zero":              {written(hasDone|oneLow, num(0), num(5), dif(9), num(2), num(0), num(0), dif(-10), dif(0)), false},
		"a window at a floor":                        {written(hasWindow, num(0), num(3), num(5), dif(1), num(0), dif(4), dif(0)), true},
		"a window without its end":                   {written(hasWindow, num(0), num(3), num(5), dif(1), num(0), dif(4)), false},
		"something behind the end":                   {written(0, num(2), num(3)) + "\x00", false},
		"an unknown mark":                            {written(8, num(2), num(3)), false},
	} {
		p, err := Decode(c.raw)
		switch {
		case c.good && err != nil:
			t.Errorf("%s: %v", name, err)
		case !c.good && !errors.Is(err, store.ErrPosition):
			t.Errorf("%s was taken for %+v, error %v", name, p, err)
		case !c.good && !samePosition(&p, &Position{}):
			t.Errorf("%s is refused, and comes back as %+v", name, p)
		}
	}
}

// What is read is what the numbers say, and not only what Encode writes.
func TestOneEncodedBoundAppliesToAllRunningTransactions(t *testing.T) {
	t.Parallel()
	p, err := Decode(written(hasDone|oneLow, num(0), num(20), dif(9), num(2), num(0), num(3), dif(-3), dif(2)))
	want := Position{Done: &Snapshot{XMax: 20, Beyond: 9, Running: []Runner{{15, 6}, {19, 6}}}, High: 11}
	if err != nil || !samePosition(&p, &want) {
		t.Errorf("it is %+v, error %v", p.Done, err)
	}
}

// A position may be as long as it may be, and no longer: one more byte costs the bounds of what runs.
func TestThePositionThatJustFitsKeepsItsBounds(t *testing.T) {
	t.Parallel()
	p := Position{Done: &Snapshot{XMax: 1 << 30, Beyond: 100}, High: 100}
	for xid := p.Done.XMax - 1; len(p.append(nil, 0)) < maxPosition-1; xid-- { // two bytes each
		p.Done.Running = append([]Runner{{xid, 100}}, p.Done.Running...)
	}
	if len(p.append(nil, 0)) < maxPosition {
		p.Base = 1 << 7 // a byte more than zero
	}
	if len(p.append(nil, 0)) != maxPosition {
		t.Fatalf("it has %d bytes", len(p.append(nil, 0)))
	}
	p.Done.Running[0].Low = 70 // within the same byte
	raw := p.Encode()
	got, err := Decode(raw)
	if err != nil || len(raw) != maxPosition || got.Done.Running[0].Low != 70 || got.Done.Running[1].Low != 100 {
		t.Errorf("what just fits came back with other bounds: %d bytes, error %v", len(raw), err)
	}
	p.Done.Running[0].Low = 10 // a byte more
	raw = p.Encode()
	got, err = Decode(raw)
	if err != nil || len(raw) >= maxPosition || len(got.Done.Running) != len(p.Done.Running) || got.Done.Running[1].Low != 10 {
		t.Errorf("what just does not fit has %d bytes, error %v: one bound for all was expected, and all that run", len(raw), err)
	}
}
