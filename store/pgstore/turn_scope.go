package pgstore

import (
	"time"

	"github.com/postbag/postbag/store"
)

// scopes are the parts of subscriptions that a turn speaks of: those that it
// reads and settles. They are told once a turn, with its first statement.
type scopes struct {
	shards []int32
	subs   []*catalogSubscription
	slots  []store.Slots
	told   bool
}

func (sc *scopes) add(sub *catalogSubscription, ranges ...store.Slots) {
	sc.shards = sub.overlapping(sc.shards, ranges...)
	for _, r := range ranges {
		sc.subs = append(sc.subs, sub)
		sc.slots = append(sc.slots, r)
	}
}

// append tells the scopes as four parameters, the first time; later statements of
// the turn need not look again.
func (sc *scopes) append(a *parameters) {
	shards, subs, slots := sc.shards, sc.subs, sc.slots
	if sc.told {
		shards, subs, slots = nil, nil, nil
	}
	sc.told = true
	a.int4s(len(shards), func(i int) int32 { return shards[i] })
	a.int4s(len(subs), func(i int) int32 { return subs[i].id })
	a.int2s(len(slots), func(i int) int { return slots[i].Lo })
	a.int2s(len(slots), func(i int) int { return slots[i].Hi })
}

// nextDue turns microseconds, negative for none, into a duration.
func nextDue(micros int64) time.Duration {
	if micros < 0 {
		return -1
	}
	return time.Duration(micros) * time.Microsecond
}
