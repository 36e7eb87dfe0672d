package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// long is a time to live that does not end while a case runs.
const long = 24 * time.Hour

// relay is a relay as the store sees it.
type relay struct {
	*env
	s     store.Store
	id    string
	works []store.Ref
}

// relay makes a heartbeat for the subscriptions that it works: none: default.
func (e *env) relay(id string, works ...store.Ref) *relay {
	e.Helper()
	return e.relayOn(e.Store, id, works...)
}

func (e *env) relayOn(s store.Store, id string, works ...store.Ref) *relay {
	e.Helper()
	if len(works) == 0 {
		works = []store.Ref{ref}
	}
	r := &relay{env: e, s: s, id: id, works: works}
	if v := r.beat(store.Beat{New: true}); !v.Alive {
		e.Fatalf("relay %s: a new heartbeat is not alive", id)
	}
	return r
}

// beat beats as b says, with a long time to live unless it has one.
func (r *relay) beat(b store.Beat) store.View {
	r.Helper()
	b.Relay, b.Name, b.Works = r.id, "relay "+r.id, r.works
	if b.TTL == 0 {
		b.TTL = long
	}
	v, err := r.s.Beat(r.ctx, b)
	r.check(err, "beat of "+r.id)
	if v.Epoch == 0 {
		r.Fatalf("beat of %s: the epoch is zero", r.id)
	}
	return v
}

// expire lets the relay's heartbeat run out.
func (r *relay) expire() {
	r.Helper()
	if v := r.beat(store.Beat{TTL: time.Millisecond}); !v.Alive {
		r.Fatalf("relay %s is not alive", r.id)
	}
	r.pass(50 * time.Millisecond)
}

// take takes all shards of a subscription, which must be free, and returns their
// leases in order.
func (r *relay) take(of store.Ref) []store.Lease {
	r.Helper()
	var want []store.Shard
	for _, sh := range shardsOf(r.beat(store.Beat{}), of) {
		want = append(want, sh.Shard)
	}
	return r.owned(r.beat(store.Beat{Take: want}), of, len(want))
}

// owned returns the relay's leases in a view, which must be n.
func (r *relay) owned(v store.View, of store.Ref, n int) []store.Lease {
	r.Helper()
	var out []store.Lease
	for _, sh := range shardsOf(v, of) {
		if sh.Owner == r.id {
			out = append(out, sh.Lease)
		}
	}
	if len(out) != n {
		r.Fatalf("relay %s holds %d shards of %s, not %d", r.id, len(out), of, n)
	}
	return out
}

// maintainer is a relay with the lease to maintain the box.
func (e *env) maintainer(id string) (*relay, store.Lease) {
	e.Helper()
	upkeep := store.Ref{Box: box, Subscription: store.Maintenance}
	r := e.relay(id, upkeep)
	return r, r.take(upkeep)[0]
}

// shardsOf returns the shards of a subscription in a view.
func shardsOf(v store.View, of store.Ref) []store.ShardState {
	return stateOf(v, of).Shards
}

// stateOf returns a subscription in a view, or nothing.
func stateOf(v store.View, of store.Ref) store.SubscriptionState {
	i := slices.IndexFunc(v.Subscriptions, func(s store.SubscriptionState) bool { return s.Ref == of })
	if i < 0 {
		return store.SubscriptionState{}
	}
	return v.Subscriptions[i]
}

// look returns a subscription as it is.
func (e *env) look(of store.Ref) store.SubscriptionState {
	e.Helper()
	if e.observer == nil {
		e.observer = e.relay("observer")
	}
	e.observer.works = []store.Ref{of}
	return stateOf(e.observer.beat(store.Beat{}), of)
}

// positions returns where the shards of a subscription stand.
func (e *env) positions(of store.Ref) []store.Position {
	e.Helper()
	var out []store.Position
	for _, sh := range e.look(of).Shards {
		out = append(out, sh.Position)
	}
	return out
}

// settle settles one shard and must succeed: it counts up the lease's version.
func (e *env) settle(l *store.Lease, st store.Settlement) store.Verdict {
	e.Helper()
	st.Lease = *l
	v := e.turn(store.Turn{Settle: []store.Settlement{st}}).Verdicts[0]
	if !v.Applied {
		e.Fatalf("a settlement of %s under token %d and version %d is lost", l.Shard, l.Token, l.Version)
	}
	l.Version++
	return v
}

// refuse fails the case unless a settlement is lost.
func (e *env) refuse(l store.Lease, why string) {
	e.Helper()
	st := store.Settlement{Lease: l}
	if v := e.turn(store.Turn{Settle: []store.Settlement{st}}).Verdicts[0]; v.Applied {
		e.Fatalf("a settlement was applied although %s", why)
	}
}

// tally returns the ledger's lines for records of one fate.
func tally(fate store.Fate, records ...store.Record) []store.Tally {
	var out []store.Tally
	for i := range records {
		r := &records[i]
		span := (r.Seq - 1) / store.TallySpan
		j := slices.IndexFunc(out, func(t store.Tally) bool { return t.Span == span })
		if j < 0 {
			j = len(out)
			out = append(out, store.Tally{Span: span, Fate: fate})
		}
		out[j].Count++
		out[j].SeqSum += uint64(r.Seq)
		for k, b := range r.ID[8:] {
			out[j].IDSum += uint64(b) << (8 * (7 - k))
		}
	}
	return out
}

// less returns what takes tallies back.
func less(ts []store.Tally) []store.Tally {
	out := slices.Clone(ts)
	for i := range out {
		out[i].Count, out[i].SeqSum, out[i].IDSum = -out[i].Count, -out[i].SeqSum, -out[i].IDSum
	}
	return out
}

// park returns a parked row for a record.
func park(r store.Record, state store.ParkState) store.Park {
	return store.Park{Seq: r.Seq, Slot: r.Slot, Hash: r.Hash, State: state, Blocking: r.Hash != 0, Attempts: 1, Reason: "refused"}
}

func name(prefix string, n int) string { return fmt.Sprintf("%s%d", prefix, n) }
