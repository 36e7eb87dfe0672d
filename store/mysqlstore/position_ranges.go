package mysqlstore

import (
	"slices"
	"sort"
)

// span is the ids from lo to hi, both included.
type span struct{ lo, hi int64 }

// ranges is a set of ids: spans in order that neither touch nor overlap. It is
// never changed once made, so that it may be shared.
type ranges []span

// contains says whether id is in r.
func (r ranges) contains(id int64) bool {
	i := sort.Search(len(r), func(i int) bool { return r[i].hi >= id })
	return i < len(r) && r[i].lo <= id
}

// count is how many ids there are in r.
func (r ranges) count() (n int64) {
	for _, s := range r {
		n += s.hi - s.lo + 1
	}
	return n
}

// upTo returns the ids of r that are not above id.
func (r ranges) upTo(id int64) ranges {
	i := sort.Search(len(r), func(i int) bool { return r[i].hi > id })
	if i == len(r) || r[i].lo > id {
		return r[:i:i]
	}
	return append(slices.Clone(r[:i]), span{r[i].lo, id})
}

// from returns the ids of r that are not below id.
func (r ranges) from(id int64) ranges {
	i := sort.Search(len(r), func(i int) bool { return r[i].hi >= id })
	if i == len(r) || r[i].lo >= id {
		return r[i:]
	}
	out := slices.Clone(r[i:])
	out[0].lo = id
	return out
}

// plus returns the ids that are in r or in o.
func (r ranges) plus(o ranges) ranges {
	switch {
	case len(o) == 0:
		return r
	case len(r) == 0:
		return o
	}
	out := make(ranges, 0, len(r)+len(o))
	for len(r) > 0 || len(o) > 0 {
		if len(o) == 0 || len(r) > 0 && r[0].lo <= o[0].lo {
			out, r = out.push(r[0]), r[1:]
		} else {
			out, o = out.push(o[0]), o[1:]
		}
	}
	return out
}

// push adds a span that does not begin below the last one. It changes r.
func (r ranges) push(s span) ranges {
	if n := len(r); n > 0 && s.lo <= r[n-1].hi+1 {
		r[n-1].hi = max(r[n-1].hi, s.hi)
		return r
	}
	return append(r, s)
}

// minus returns the ids of r that are not in o.
func (r ranges) minus(o ranges) ranges {
	if len(r) == 0 || len(o) == 0 {
		return r
	}
	out := make(ranges, 0, len(r))
	for _, s := range r {
		for len(o) > 0 && o[0].hi < s.lo {
			o = o[1:]
		}
		for _, hole := range o {
			if hole.lo > s.hi {
				break
			}
			if hole.lo > s.lo {
				out = append(out, span{s.lo, hole.lo - 1})
			}
			s.lo = hole.hi + 1
		}
		if s.lo <= s.hi {
			out = append(out, s)
		}
	}
	return out
}

// within says whether every id of r is in o.
func (r ranges) within(o ranges) bool { return len(r.minus(o)) == 0 }

// rangesOf makes a set of ids, which it sorts.
func rangesOf(ids []int64) ranges {
	slices.Sort(ids)
	var out ranges
	for _, id := range ids {
		out = out.push(span{id, id})
	}
	return out
}
