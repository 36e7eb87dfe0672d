package mysqlstore

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/postbag/postbag/store"
)

// ids lists a set.
func (r ranges) ids() (out []int64) {
	for _, s := range r {
		for id := s.lo; id <= s.hi; id++ {
			out = append(out, id)
		}
	}
	return out
}

// someIDs draws a set of ids up to 60, as a set and as a list.
func someIDs(r *rand.Rand) (ranges, []int64) {
	var ids []int64
	for id := int64(1); id <= 60; id++ {
		if r.IntN(3) == 0 {
			ids = append(ids, id)
		}
	}
	return rangesOf(slices.Clone(ids)), ids
}

func TestRangesBehaveLikeSets(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a, as := someIDs(r)
		b, bs := someIDs(r)
		at := int64(r.IntN(62))
		filter := func(ids []int64, keep func(int64) bool) []int64 {
			return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return !keep(id) })
		}
		both := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(as), bs...))))
		for name, c := range map[string]struct{ got, want []int64 }{
			"the set itself": {a.ids(), as},
			"plus":           {a.plus(b).ids(), both},
			"minus":          {a.minus(b).ids(), filter(as, func(id int64) bool { return !slices.Contains(bs, id) })},
			"upTo":           {a.upTo(at).ids(), filter(as, func(id int64) bool { return id <= at })},
			"from":           {a.from(at).ids(), filter(as, func(id int64) bool { return id >= at })},
		} {
			if !slices.Equal(c.got, c.want) {
				t.Fatalf("%s of %v and %v at %d: %v, not %v", name, as, bs, at, c.got, c.want)
			}
		}
		if a.contains(at) != slices.Contains(as, at) || a.count() != int64(len(as)) || !a.minus(b).within(a) {
			t.Fatalf("%v contains %d: %v; has %d ids: %d", as, at, a.contains(at), len(as), a.count())
		}
	}
}

func TestAPositionIsDecodedAsEncodedAndHasOneForm(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		open, _ := someIDs(r)
		p := position{life: r.Uint32(), high: 60 + r.Int64N(1<<40), open: open, mark: r.Uint32() * r.Uint32N(2)}
		text := p.encode()
		got, err := decodePosition(text)
		if err != nil || got.life != p.life || got.high != p.high || got.mark != p.mark || !slices.Equal(got.open, p.open) {
			t.Fatalf("%+v came back as %+v (error: %v)", p, got, err)
		}
		for i := range text {
			if q, err := decodePosition(text[:i] + "\x81\x00" + text[i:]); err == nil && q.encode() == text {
				t.Fatalf("%x is read as %x", text[:i]+"\x81\x00"+text[i:], text)
			}
		}
	}
	for _, text := range []store.Position{"\x00", "\x02\x01\x01", "\x02\x01\x01\x00", "\x03\x01\x01", "\x01", "\x01\x01", "\x01\x01\x05\x00\x07", "\x01\x01\x80\x00"} {
		if _, err := decodePosition(text); !errors.Is(err, store.ErrPosition) {
			t.Errorf("%x is read with error %v", text, err)
		}
	}
}

func TestAPositionIsBeforeAnotherThatHasPassedAllOfIt(t *testing.T) {
	t.Parallel()
	f := func(want bool, p, q position) {
		t.Helper()
		if p.before(&q) != want {
			t.Errorf("%+v before %+v: %v", p, q, !want)
		}
	}
	open := func(ids ...int64) ranges { return rangesOf(ids) }
	f(true, position{high: 5}, position{high: 5})
	f(true, position{high: 5}, position{high: 9, open: open(7)})
	f(true, position{high: 5, open: open(2, 3)}, position{high: 9, open: open(3, 7)})
	f(false, position{high: 5, open: open(2)}, position{high: 9, open: open(3)})
	f(false, position{high: 9}, position{high: 5})
}

func TestAPageEndsWhereThePositionWouldHoldTooMuch(t *testing.T) {
	t.Parallel()
	w := &reading{request: &store.Request{Limit: 10_000, Bytes: 1 << 30}, seen: serverState{life: 1, step: 1}}
	var page taken
	for seq := int64(1); seq < 20_000; seq += 2 { // every other seq is open
		page.rows = append(page.rows, rowRef{seq: seq, wanted: true})
		page.records = append(page.records, store.Record{Seq: seq})
	}
	w.page = page
	w.assemble()
	if n := len(w.batch.Records); n < 2000 || n > 5000 || w.batch.More || len(w.batch.Next) > maxPosition {
		t.Fatalf("%d records, more %v, a position of %d bytes", n, w.batch.More, len(w.batch.Next))
	}
	p, err := decodePosition(w.batch.Next)
	if last := w.batch.Records[len(w.batch.Records)-1].Seq; err != nil || p.high != last || p.open.count() != last/2 {
		t.Errorf("after seq %d the position has passed %d and leaves %d open (error: %v)", last, p.high, p.open.count(), err)
	}
}

func TestSeqsSkippedByAutoIncrementStepsAreNotOpen(t *testing.T) {
	t.Parallel()
	b := builder{w: &reading{seen: serverState{step: 3}}, high: 10}
	if got := b.missing(13); len(got) != 0 {
		t.Errorf("between 10 and 13 %v is open", got)
	}
	if got := b.missing(19); !slices.Equal(got.ids(), []int64{13, 16}) {
		t.Errorf("between 10 and 19 %v is open", got)
	}
	if got := b.missing(12); !slices.Equal(got.ids(), []int64{11}) {
		t.Errorf("where the steps changed, between 10 and 12 %v is open", got)
	}
}
