package sqlitestore

import (
	"errors"
	"math"
	"testing"

	"github.com/postbag/postbag/store"
)

func TestPositionsComeBack(t *testing.T) {
	t.Parallel()
	for _, seq := range []int64{0, 1, 127, 128, 1 << 20, 1<<40 + 7, math.MaxInt64} {
		p := positionOf(seq)
		if got, err := seqOf(p); err != nil || got != seq {
			t.Errorf("%d came back from %q as %d (error: %v)", seq, p, got, err)
		}
	}
	if positionOf(0) != "" {
		t.Error("the beginning is not the empty position")
	}
}

func FuzzPositionsHaveOneForm(f *testing.F) {
	for _, p := range []string{"", "\x01\x01", "\x01", "\x02\x01", "\x01\x00", "\x01\x80\x00", "\x01\x01\x01", "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		seq, err := seqOf(store.Position(p))
		switch {
		case err != nil:
			if !errors.Is(err, store.ErrPosition) {
				t.Fatalf("%q: %v, want ErrPosition", p, err)
			}
		case positionOf(seq) != store.Position(p):
			t.Fatalf("%q and %q both say %d", p, positionOf(seq), seq)
		}
	})
}
