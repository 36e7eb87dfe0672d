package simulation

// room holds the things of one kind that a run makes, and keeps their memory for
// the next: a run makes tens of thousands of small things that live for some steps.
type room[T any] struct {
	all  []*T
	used int
	free []*T // those used that were given back
}

// take returns a thing as it was left by its last user, in this run or an earlier
// one.
func (r *room[T]) take() *T {
	if n := len(r.free); n > 0 {
		t := r.free[n-1]
		r.free = r.free[:n-1]
		return t
	}
	if r.used == len(r.all) {
		some := make([]T, 32)
		for i := range some {
			r.all = append(r.all, &some[i])
		}
	}
	r.used++
	return r.all[r.used-1]
}

// give takes a thing back that nobody knows any more. Those that are not given
// back are there again in the next run.
func (r *room[T]) give(t *T) { r.free = append(r.free, t) }

// empty takes everything back.
func (r *room[T]) empty() { r.used, r.free = 0, r.free[:0] }

// bulk holds slices that a run makes and does not change any more.
type bulk[T any] struct {
	all  []T
	used int
}

// take returns a slice of n, in which there may be anything.
func (b *bulk[T]) take(n int) []T {
	if len(b.all)-b.used < n { // the slices in the old memory stay good
		b.all, b.used = make([]T, max(2*len(b.all), n, 1024)), 0
	}
	b.used += n
	return b.all[b.used-n : b.used : b.used]
}

func (b *bulk[T]) empty() { b.used = 0 }

// rooms are those of a world.
type rooms struct {
	turns  room[turnCall]
	beats  room[beating]
	dues   room[dueCall]
	checks room[checkCall]

	deliveries   room[delivery]
	transactions room[transaction]
	messages     room[message]
	lines        room[row]

	pages   room[pageReading]
	windows room[windowReading]
	seqs    bulk[int64]

	snapshots memo[snapshotLens]
	places    memo[place]
}

func (r *rooms) empty() {
	r.turns.empty()
	r.beats.empty()
	r.dues.empty()
	r.checks.empty()
	r.deliveries.empty()
	r.transactions.empty()
	r.messages.empty()
	r.lines.empty()
	r.pages.empty()
	r.windows.empty()
	r.seqs.empty()
	r.snapshots.empty()
	r.places.empty()
}

// zeroed returns a slice of n zeros, in the memory of s if that is enough.
func zeroed[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// copied returns a copy of s, in the memory of old if that is enough.
func copied[T any](s, old []T) []T { return append(old[:0], s...) }
