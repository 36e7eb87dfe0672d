package postbagtest

// unmatched pairs as many wants as possible with a message each that fits, and
// returns the indices of those left over. A want that fits several messages
// makes way for one that fits fewer: the pairs are those of a maximum matching,
// found along augmenting paths (Kuhn, 1955).
func unmatched(got []Record, want []Want) []int {
	holder := make([]int, len(got)) // which want has the message; -1: none
	for i := range holder {
		holder[i] = -1
	}
	fits := make([][]bool, len(want))
	for w := range want {
		fits[w] = make([]bool, len(got))
		for g := range got {
			fits[w][g] = len(want[w].misfits(got[g])) == 0
		}
	}
	var left []int
	for w := range want {
		if !place(w, fits, holder, make([]bool, len(got))) {
			left = append(left, w)
		}
	}
	return left
}

// place finds a message for want w, moving other wants to other messages where
// that makes room. Messages in tried are not asked again.
func place(w int, fits [][]bool, holder []int, tried []bool) bool {
	for g, fit := range fits[w] {
		if !fit || tried[g] {
			continue
		}
		tried[g] = true
		if holder[g] < 0 || place(holder[g], fits, holder, tried) {
			holder[g] = w
			return true
		}
	}
	return false
}

// nearest returns the message that misses w by least, and how; -1 if there is
// none, or if the nearest fits and was taken by another want.
func nearest(got []Record, w Want) (at int, misfits []string) {
	at = -1
	for g := range got {
		m := w.misfits(got[g])
		if at < 0 || len(m) < len(misfits) {
			at, misfits = g, m
		}
	}
	if len(misfits) == 0 {
		return -1, nil
	}
	return at, misfits
}
