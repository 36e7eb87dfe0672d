package engine

// queue is a FIFO of entries that may be sent. An entry that is not ready any
// more when its turn comes is passed over.
type queue struct {
	items []*entry
	head  int
}

func (q *queue) push(e *entry) {
	if len(q.items) == cap(q.items) && q.head > len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, e)
}

// peek returns the first entry, or nil.
func (q *queue) peek() *entry {
	for q.head < len(q.items) {
		if e := q.items[q.head]; e.state == ready {
			return e
		}
		q.drop()
	}
	return nil
}

// pop takes the first entry out, or returns nil.
func (q *queue) pop() *entry {
	e := q.peek()
	if e != nil {
		q.drop()
	}
	return e
}

func (q *queue) drop() {
	q.items[q.head] = nil
	if q.head++; q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
}

// remove takes e out, wherever it is.
func (q *queue) remove(e *entry) {
	for i := q.head; i < len(q.items); i++ {
		if q.items[i] == e {
			q.items = append(q.items[:i], q.items[i+1:]...)
			return
		}
	}
}

func (q *queue) empty() bool { return q.peek() == nil }
