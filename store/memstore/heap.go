package memstore

// heap is a binary heap whose first item comes before all others. The zero heap
// is empty. (That of the standard library takes its items by interface.)
type heap[T heaped[T]] []T

// heaped is an item of a heap.
type heaped[T any] interface {
	// before says whether the item is to come out before another.
	before(other T) bool
	// placed tells the item where in the heap it is; -1: not in it any more.
	placed(at int)
}

func (h *heap[T]) push(x T) {
	*h = append(*h, x)
	h.up(len(*h) - 1)
}

// pop removes the first item.
func (h *heap[T]) pop() T { return h.remove(0) }

// remove removes the item at a place.
func (h *heap[T]) remove(at int) T {
	s := *h
	last := len(s) - 1
	out := s[at]
	s[at] = s[last]
	var none T
	s[last] = none
	*h = s[:last]
	if at < last {
		h.down(at)
		h.up(at)
	}
	out.placed(-1)
	return out
}

func (h heap[T]) up(at int) {
	for at > 0 {
		parent := (at - 1) / 2
		if !h[at].before(h[parent]) {
			break
		}
		h.swap(at, parent)
		at = parent
	}
	h[at].placed(at)
}

func (h heap[T]) down(at int) {
	for {
		least := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(h); child++ {
			if h[child].before(h[least]) {
				least = child
			}
		}
		if least == at {
			break
		}
		h.swap(at, least)
		at = least
	}
	h[at].placed(at)
}

func (h heap[T]) swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].placed(i)
	h[j].placed(j)
}
