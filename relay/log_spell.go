package relay

import "time"

// loggedState is a state that someone should know of, while it lasts: a line when it begins, one
// a minute, and one when it is over.
type loggedState struct {
	since, said, last time.Time
}

// goesOn notes that the state is there. It reports whether that is new, and whether it is
// time to say so.
func (s *loggedState) goesOn() (first, say bool) {
	now := time.Now()
	s.last = now
	if s.since.IsZero() {
		s.since, s.said = now, now
		return true, true
	}
	if now.Sub(s.said) < reminder {
		return false, false
	}
	s.said = now
	return false, true
}

// ends notes that the state is over, and reports how long it lasted, if it was there. One
// that never was may be nil.
func (s *loggedState) ends() (after time.Duration, was bool) {
	if s == nil || s.since.IsZero() {
		return 0, false
	}
	after = time.Since(s.since).Round(time.Millisecond)
	*s = loggedState{}
	return after, true
}

func loggedStateOf[K comparable](all map[K]*loggedState, k K) *loggedState {
	if all[k] == nil {
		all[k] = new(loggedState)
	}
	return all[k]
}
