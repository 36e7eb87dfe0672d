package sqlitestore

import (
	"errors"
	"math"
	"testing"

	"github.com/postbag/postbag/store"
)

func TestPositionsAreDecodedAsEncoded(t *testing.T) {
	t.Parallel()
	for _, seq := range []int64{0, 1, 127, 128, 1 << 20, 1<<40 + 7, math.MaxInt64} {
		for _, mark := range []uint32{0, 1, 1 << 31} {
			p := place{seq: seq, mark: mark}
			text := p.encode()
			if got, err := placeOf(text); err != nil || got != p && seq != 0 {
				t.Errorf("%v came back from %q as %v (error: %v)", p, text, got, err)
			}
		}
	}
	if at := (place{mark: 1}); at.encode() != "" {
		t.Error("the beginning is not the empty position")
	}
}

func FuzzPositionsHaveOneForm(f *testing.F) {
	for _, p := range []string{
		"", "\x01\x01", "\x01", "\x02\x01", "\x01\x00", "\x01\x80\x00", "\x01\x01\x01", "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"\x02\x01\x00\x00\x00\x01", "\x02\x01\x00\x00\x00\x00", "\x02\x01\x00\x00\x01", "\x03\x01",
	} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		at, err := placeOf(store.Position(p))
		switch {
		case err != nil:
			if !errors.Is(err, store.ErrPosition) {
				t.Fatalf("%q: %v, want ErrPosition", p, err)
			}
		case at.encode() != store.Position(p):
			t.Fatalf("%q and %q both say %v", p, at.encode(), at)
		}
	})
}
