package rabbitbroker

// queue is a first-in, first-out list of items. The zero queue is empty.
type queue struct {
	items []*item
	head  int
}

func (q *queue) append(items []*item) {
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	q.items = append(q.items, items...)
}

func (q *queue) prepend(items []*item) {
	rest := append(append(make([]*item, 0, len(items)+len(q.items)-q.head), items...), q.items[q.head:]...)
	q.items, q.head = rest, 0
}

// peek returns the first item, nil when the queue is empty.
func (q *queue) peek() *item {
	if q.head == len(q.items) {
		return nil
	}
	return q.items[q.head]
}

// pop removes the first item.
func (q *queue) pop() {
	q.items[q.head] = nil
	q.head++
}

// take empties the queue.
func (q *queue) take() []*item {
	all := q.items[q.head:]
	q.items, q.head = nil, 0
	return all
}
