package history

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"
)

func TestASorterSortsWhatDoesNotFitIntoItsMemory(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 10, 1000} {
		dir := t.TempDir()
		s := newSorter(dir, 500)
		want := make([][]byte, n)
		for i := range want {
			want[i] = make([]byte, r.IntN(20))
			for j := range want[i] {
				want[i][j] = byte(r.IntN(3))
			}
			if err := s.added(append(s.next(), want[i]...)); err != nil {
				t.Fatal(err)
			}
		}
		if spilled := len(s.runs) > 1; spilled != (n > 100) {
			t.Errorf("%d records have %d runs", n, len(s.runs))
		}
		var got [][]byte
		if err := s.each(func(record []byte) error {
			got = append(got, bytes.Clone(record))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(want, bytes.Compare)
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("%d records are not sorted", n)
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("it leaves %v, %v", left, err)
		}
	}
}

func TestKeysAndTimesSortAsTheirBytes(t *testing.T) {
	t.Parallel()
	keys := []string{"", "\x00", "\x00\x00", "\x00\x01", "\x01", "a", "a\x00", "a\x00b", "ab", "b", "\xff"}
	for i := range keys[1:] {
		a, b := putKey(nil, keys[i]), putKey(nil, keys[i+1])
		if bytes.Compare(a, b) >= 0 || bytes.HasPrefix(b, a) {
			t.Errorf("%q is not before %q", keys[i], keys[i+1])
		}
		if keyLen(append(a, 1, 0, 0)) != len(a) {
			t.Errorf("the end of %q is not found", keys[i])
		}
	}
	times := []time.Duration{-forever - 1, -second, -1, 0, 1, second, forever}
	for i := range times[1:] {
		if bytes.Compare(putSorted(nil, times[i]), putSorted(nil, times[i+1])) >= 0 {
			t.Errorf("%v is not before %v", times[i], times[i+1])
		}
	}
}

func TestASorterOnAFullDiskReturnsAnError(t *testing.T) {
	t.Parallel()
	s := newSorter(t.TempDir()+"/gone", 10)
	if err := s.added(append(s.next(), make([]byte, 20)...)); err == nil {
		t.Error("it spilled into a directory that is not there")
	}
}
