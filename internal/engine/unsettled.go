package engine

import "github.com/postbag/postbag/store"

// Accepted says how many messages were accepted whose settlement is still to come.
func (f *Flow) Accepted() int {
	n := int64(0)
	for _, l := range f.groups {
		l.each(func(e *entry) {
			if e.state == done && e.fate == store.TallyDelivered {
				n++
			}
		})
	}
	for _, s := range f.shards {
		n += delivered(s.draft.tally)
		if s.turn != nil {
			n += delivered(s.turn.Tally)
		}
	}
	return int(n)
}

func delivered(lines []store.Tally) (n int64) {
	for i := range lines {
		if lines[i].Fate == store.TallyDelivered {
			n += lines[i].Count
		}
	}
	return n
}
