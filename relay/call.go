package relay

import (
	"sync"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
)

// callRoom is the memory of one call to a destination. A destination keeps none of
// it, so the next call may have it.
type callRoom struct {
	msgs    []broker.Delivery
	results []broker.Result
	fresh   []int // the places of results that came in, in that order
}

var callRooms = sync.Pool{New: func() any { return &callRoom{} }}

// newCallRoom returns room that holds a call's messages, of this life of the
// database, and as many zero results.
func newCallRoom(f *flow, items []engine.Item, life int64) *callRoom {
	r := callRooms.Get().(*callRoom) //nolint:forcetypeassert,errcheck // nothing else is in the pool
	r.msgs = r.msgs[:0]
	for _, item := range items {
		r.msgs = append(r.msgs, broker.Delivery{
			Message: item.Message, Box: f.Ref.Box, Subscription: f.Ref.Subscription,
			Seq: item.Seq, Life: life, At: item.At, Attempt: item.Attempt,
		})
	}
	if cap(r.results) < len(items) {
		r.results = make([]broker.Result, len(items))
	}
	r.results, r.fresh = r.results[:len(items)], r.fresh[:0]
	clear(r.results)
	return r
}

// free gives the room to the next call, without what it leads to. It is not
// called for a destination that panicked: that may have left a goroutine behind.
func (r *callRoom) free() {
	clear(r.msgs)
	clear(r.results)
	callRooms.Put(r)
}
