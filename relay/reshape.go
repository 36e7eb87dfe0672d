package relay

import (
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// maxReshapePause is the longest pause after a change of shards that was not
// answered, in times of the heartbeat's TTL.
const maxReshapePause = 64

// gathered orders the reshape of a flow that is ready for it.
func (l *loop) gathered(f *flow) {
	if !f.gathering || f.owner.Loading() || len(l.reshape) > 0 || l.beating || !f.core.Quiet() {
		return
	}
	r := store.Reshape{Ref: f.ref, Shards: f.wanted}
	for _, held := range f.core.Leases() {
		r.Leases = append(r.Leases, lease(f.ref, held))
	}
	l.reshape = append(l.reshape, r)
	l.nextBeat = 0
}

// asksFor says that a heartbeat asks for another number of a flow's shards.
func asksFor(b *store.Beat, f *flow) bool {
	return slices.ContainsFunc(b.Reshape, func(r store.Reshape) bool { return r.Ref == f.ref })
}

// reshaping is called as a heartbeat is sent. What it asks for may take the store
// longer than a heartbeat may take, as where very many messages are parked: then
// the relay loses its leases, and nothing would ever be sent if it asked for the
// same again as soon as it had them back. So there is a pause behind each that is
// not answered, twice as long each time, in which all is delivered as before.
func (l *loop) reshaping(now time.Duration, b *store.Beat) {
	for _, f := range l.flows {
		if asksFor(b, f) {
			ttl := l.options.TTL
			f.reshapePause = min(max(2*f.reshapePause, 2*ttl), maxReshapePause*ttl)
			f.reshapeAfter = now + f.reshapePause
			f.gathering = false // until a view shows what came of it
		}
	}
}

// reshaped: the flow's shards were replaced; the new ones are loaded afresh.
func (l *loop) reshaped(f *flow, s *store.SubscriptionState) {
	f.core.Reset()
	f.core.Quiesce(false)
	f.gathering = false
	if f.exactly != nil {
		f.exactly.Reshaped()
	}
	for i := range s.Shards {
		f.owner.Claim(s.Shards[i].Lo)
	}
	l.log.reshaped(f.ref, f.wanted)
}
