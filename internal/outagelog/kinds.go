package outagelog

import (
	"strings"
	"time"
)

const (
	// Again is the time after which what was told is told again.
	Again = time.Minute
	// MaxKinds is how many kinds of reasons are told of within Again.
	MaxKinds = 8
)

// Kinds are the kinds of reasons that the log was told of since a time. Two reasons are of one
// kind if they differ only in words that have a digit: ports, addresses, ids and times change
// from one attempt to the next, and say nothing new. The zero value was told of none. It is not
// safe for concurrent use.
type Kinds struct {
	since time.Time
	told  map[string]struct{}
}

// News says whether the log is to tell of a reason now, and notes that it does: once Again for
// each kind, and for MaxKinds of them.
func (k *Kinds) News(now time.Time, reason string) bool {
	if !k.isNews(now, reason) {
		return false
	}
	k.note(now, reason)
	return true
}

// isNews says what News does, and notes nothing. An empty reason is not known, so it is no news
// beside others.
func (k *Kinds) isNews(now time.Time, reason string) bool {
	if k.areOld(now) {
		return true
	}
	_, known := k.told[kindOf(reason)]
	return reason != "" && !known && len(k.told) < MaxKinds
}

func (k *Kinds) areOld(now time.Time) bool { return k.told == nil || now.Sub(k.since) >= Again }

// note adds the kind of a reason to those that are told.
func (k *Kinds) note(now time.Time, reason string) {
	if k.areOld(now) {
		k.forget(now)
	}
	k.told[kindOf(reason)] = struct{}{}
}

// forget forgets what was told, and begins at now.
func (k *Kinds) forget(now time.Time) { k.since, k.told = now, make(map[string]struct{}) }

// kindOf is the text of a reason without the words that have a digit.
func kindOf(reason string) string {
	words := strings.Fields(reason)
	for i, w := range words {
		if strings.ContainsAny(w, "0123456789") {
			words[i] = "#"
		}
	}
	return strings.Join(words, " ")
}
