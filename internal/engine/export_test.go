package engine

import "github.com/postbag/postbag/store"

// Score is what relays and shards are ranked by.
func Score(relay, subscription string, lo int) uint64 { return score(relay, subscription, lo) }

// Stray makes a move that no entry makes: one that was settled is sent.
func (f *Flow) Stray() { f.move(&entry{Record: new(store.Record), state: drafted}, onCall) }

// Reasons of rows that are written before calls, and of what becomes of them.
const (
	ReasonBegun   = reasonBegun
	ReasonExpired = reasonExpired
	ReasonRetried = reasonRetried
	ReasonSuspect = reasonSuspect
	ReasonAlone   = reasonAlone
)

// CountReasons are those, and some rows without.
var CountReasons = []string{"", "", "", reasonBegun, reasonSuspect, reasonAlone}
