package relay

import (
	"strings"
	"time"
)

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

const (
	// flicker is how soon after its end an outage that begins again is the same one.
	flicker = 10 * time.Second
	// maxKinds is how many reasons of outages that flicker are told within a minute.
	maxKinds = 8
)

// loggedOutage is an outage of a destination. One that fails for some messages and takes others
// is down and up again each second. So if it is down again within flicker, for a reason that was
// told within a minute, that is told only if it lasts. Times are the loop's.
type loggedOutage struct {
	since, said, ended time.Duration
	kinds              map[string]struct{} // of the reasons that were told since said; nil: none was
	quiet              bool                // what lasts now is not told
}

// begins notes that the destination is down, and says whether to tell of it.
func (o *loggedOutage) begins(now time.Duration, reason string) bool {
	o.since = now
	o.quiet = now-o.ended < flicker && !o.isNews(now, reason)
	if o.quiet {
		return false
	}
	o.tell(now, reason, now-o.ended >= flicker)
	return true
}

// lasts says whether an outage that was not told is to be told now, after all.
func (o *loggedOutage) lasts(now time.Duration, reason string) bool {
	long := now-o.since >= flicker
	if !o.quiet || !long && !o.isNews(now, reason) {
		return false
	}
	o.quiet = false
	o.tell(now, reason, long)
	return true
}

// isNews says whether a reason was not told for a minute. An empty one is not known.
func (o *loggedOutage) isNews(now time.Duration, reason string) bool {
	if o.kinds == nil || now-o.said >= reminder {
		return true
	}
	_, known := o.kinds[kindOf(reason)]
	return reason != "" && !known && len(o.kinds) < maxKinds
}

func (o *loggedOutage) tell(now time.Duration, reason string, anew bool) {
	if anew || o.kinds == nil || now-o.said >= reminder {
		o.said, o.kinds = now, make(map[string]struct{})
	}
	o.kinds[kindOf(reason)] = struct{}{}
}

// ends notes that the outage is over, and returns how long it lasted, and whether it was told.
func (o *loggedOutage) ends(now time.Duration) (after time.Duration, told bool) {
	o.ended = now
	return (now - o.since).Round(time.Millisecond), !o.quiet
}

// kindOf is the text of a reason without the words that have a digit: ids, ports and times
// change from one attempt to the next.
func kindOf(reason string) string {
	words := strings.Fields(reason)
	for i, w := range words {
		if strings.ContainsAny(w, "0123456789") {
			words[i] = "#"
		}
	}
	return strings.Join(words, " ")
}
