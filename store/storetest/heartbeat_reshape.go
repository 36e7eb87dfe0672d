package storetest

import (
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// reshapeCases are about another number of shards.
func reshapeCases() []scenario {
	return []scenario{
		{name: "Reshaped from 1 to 4, 3, 8 and 1, each message comes once and in order", run: reshapeSeries},
		{name: "A reshape is refused where positions differ", run: reshapeUneven},
		{name: "A reshape is refused where a lease is missing, stale or another's", run: reshapeLeases},
		{name: "After a reshape old leases are lost, even of shards with the same slots", run: reshapeTokens},
		{name: "Parked messages stay as they are through a reshape", run: reshapeParked},
		{name: "Under one hash for all, parked messages are merged and split with their shards", run: reshapeLines},
	}
}

// reshape reshapes and must succeed.
func (r *relay) reshape(of store.Ref, n int, leases []store.Lease) []store.Lease {
	r.Helper()
	return r.owned(r.beat(store.Beat{Reshape: []store.Reshape{{Ref: of, Shards: n, Leases: leases}}}), of, n)
}

func reshapeSeries(e *env) {
	e.open(1)
	r := e.relay("r")
	leases := r.take(ref)
	var got []store.Record
	var want []postbag.Message
	for _, n := range []int{4, 3, 8, 1, 2} {
		want = append(want, e.spread(60)...)
		at := e.positions(ref)[0]
		b := e.groupRead(leases, at, 40)
		got = append(got, b.Records...)
		for i := range leases {
			e.settle(&leases[i], store.Settlement{To: b.Next})
		}
		leases = r.reshape(ref, n, leases)
		var ranges []store.Slots
		for _, l := range leases {
			ranges = append(ranges, l.Slots)
		}
		if !slices.Equal(ranges, store.Split(n)) {
			e.Fatalf("reshaped to %d, the shards are %v", n, ranges)
		}
		for i, p := range e.positions(ref) {
			if p != b.Next {
				e.Fatalf("reshaped to %d, shard %d stands at another position", n, i)
			}
		}
	}
	for i, p := range e.positions(ref) {
		got = append(got, e.pager(leases[i].Slots).from(p).all()...)
	}
	checkExact(e.TB, got, want)
}

// groupRead reads one page for all leases.
func (e *env) groupRead(leases []store.Lease, from store.Position, limit int) store.Batch {
	e.Helper()
	q := store.Request{Ref: ref, From: from, Limit: limit, Bytes: 1 << 20}
	for _, l := range leases {
		q.Slots = append(q.Slots, l.Slots)
	}
	return e.turn(store.Turn{Read: []store.Request{q}}).Batches[0]
}

func reshapeUneven(e *env) {
	e.open(2)
	r := e.relay("r")
	leases := r.take(ref)
	e.spread(20)
	c := e.pager()
	c.all()
	e.settle(&leases[0], store.Settlement{To: c.req.From})
	r.beat(store.Beat{Reshape: []store.Reshape{{Ref: ref, Shards: 1, Leases: leases}}})
	if n := len(e.look(ref).Shards); n != 2 {
		e.Fatalf("shards at two positions were reshaped into %d", n)
	}
	e.settle(&leases[1], store.Settlement{To: c.req.From})
	r.reshape(ref, 1, leases)
}

func reshapeLeases(e *env) {
	e.open(3)
	r := e.relay("r")
	leases := r.take(ref)
	refused := func(why string, by *relay, ls []store.Lease) {
		e.Helper()
		by.beat(store.Beat{Reshape: []store.Reshape{{Ref: ref, Shards: 5, Leases: ls}}})
		if n := len(e.look(ref).Shards); n != 3 {
			e.Fatalf("a subscription was reshaped into %d shards although %s", n, why)
		}
	}
	refused("a lease was missing", r, leases[:2])
	refused("one lease was there twice", r, []store.Lease{leases[0], leases[1], leases[1]})
	stale := slices.Clone(leases)
	stale[1].Token--
	refused("a token was old", r, stale)
	stale = slices.Clone(leases)
	stale[2].Version--
	refused("a version was old", r, stale)
	refused("another relay asked for it", e.relay("other"), leases)
	r.beat(store.Beat{Give: leases[:1]})
	refused("a shard had been given back", r, leases)
}

func reshapeTokens(e *env) {
	e.open(4)
	r := e.relay("r")
	old := r.take(ref)
	tokens := map[int64]bool{}
	for _, l := range old {
		tokens[l.Token] = true
	}
	leases := old
	for _, n := range []int{1, 4, 4} {
		leases = r.reshape(ref, n, leases)
		fresh := map[int64]bool{}
		for _, l := range leases {
			if tokens[l.Token] {
				e.Errorf("reshaped to %d, shard %s has a token that was given out before", n, l.Shard)
			}
			fresh[l.Token] = true
		}
		for token := range fresh {
			tokens[token] = true
		}
	}
	for i := range old {
		e.refuse(old[i], "the subscription was reshaped")
		e.settle(&leases[i], store.Settlement{})
	}
}

func reshapeParked(e *env) {
	lot := e.parked("k", "k", "x")
	lot.park(
		park(lot.at(0), store.ParkInFlight), park(lot.at(1), store.ParkBlocked), park(lot.at(2), store.ParkRetrying),
	)
	leases := lot.r.reshape(ref, 4, []store.Lease{lot.lease})
	lot.due(store.Due{}, 2)
	for _, l := range leases {
		blocks, err := e.Store.Blocked(e.ctx, l)
		e.check(err, "blocked keys")
		for _, i := range []int{0, 2} {
			if got, want := slices.Contains(blocks.Keys, lot.at(i).Hash), l.Contains(lot.at(i).Slot); got != want {
				e.Errorf("after the reshape shard %s says %v of a blocked key, not %v", l.Shard, got, want)
			}
		}
	}
}

// reshapeLines parks messages of many slots under one hash, as strict order does:
// in each shard they are one line, of which the first alone may be tried.
func reshapeLines(e *env) {
	e.open(2)
	r := e.relay("r")
	leases := r.take(ref)
	e.spread(60)
	all := e.pager().all()
	for i := range leases {
		e.line(&leases[i], all)
	}
	for _, n := range []int{2, 1, 4, 3, 1} {
		leases = r.reshape(ref, n, leases)
		for _, l := range leases {
			first := slices.IndexFunc(all, func(rec store.Record) bool { return l.Contains(rec.Slot) })
			got, err := e.Store.Due(e.ctx, store.Due{Ref: ref, Slots: []store.Slots{l.Slots}, Limit: 100, Bytes: 1 << 20})
			e.check(err, "due")
			if len(got) != 1 || got[0].Record.Seq != all[first].Seq {
				e.Fatalf("of %d shards, %s has %d messages of one line due; want its first alone", n, l.Shard, len(got))
			}
		}
	}
}
