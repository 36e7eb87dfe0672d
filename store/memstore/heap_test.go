package memstore

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// number is an item of a heap that knows its place.
type number struct{ value, at int }

func (n *number) before(o *number) bool { return n.value < o.value }
func (n *number) placed(at int)         { n.at = at }

func TestAHeapReturnsTheSmallestAfterRandomRemovals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var h heap[*number]
	var in []*number
	for range 20_000 {
		if len(in) == 0 || r.IntN(5) > 1 {
			n := &number{value: r.IntN(500)}
			h.push(n)
			in = append(in, n)
		} else {
			i := r.IntN(len(in))
			if r.IntN(2) == 0 {
				least := slices.MinFunc(in, func(a, b *number) int { return a.value - b.value })
				got := h.pop()
				if got.value != least.value || got.at != -1 {
					t.Fatalf("the first is %d, not %d", got.value, least.value)
				}
				i = slices.Index(in, got)
			} else if got := h.remove(in[i].at); got != in[i] {
				t.Fatal("another item than that at the place was removed")
			}
			in = slices.Delete(in, i, i+1)
		}
		for i, n := range h {
			if n.at != i {
				t.Fatalf("the item at place %d thinks that it is at %d", i, n.at)
			}
		}
		if len(h) > 60 {
			h, in = nil, nil
		}
	}
}
