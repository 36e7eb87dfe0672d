package pgstore

import (
	"context"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// supersedeFirst removes rows that wait for the messages that settlements name, before these are applied, in a
// transaction of its own: as many as one may have. A settlement for which there are more is not made in this turn.
func (w *turning) supersedeFirst(ctx context.Context) error {
	if w.settle == nil {
		return nil
	}
	items := w.settle.superseding()
	if len(items) == 0 {
		return nil
	}
	first := make([]store.Verdict, len(w.t.Settle))
	err := w.s.run(ctx, w.s.planned(group{w.s.guard(w.v, "", nil), w.settle.supersedeSome(w.s, items, first)})...)
	if err != nil {
		return err
	}
	w.first = first
	w.settle.leaveOut(first)
	return nil
}

// superseding lists what settlements name.
func (w *settling) superseding() []item {
	return w.items(func(st *store.Settlement) int { return len(st.Supersede) })
}

func (w *settling) namedAt(i item) *store.Superseding {
	return &w.list[i.settlement].Supersede[i.entry]
}

// superseded adds what is named to the parameters of a statement that removes what waits.
func (w *settling) superseded(a *parameters, items []item) *parameters {
	at := func(i int) *store.Superseding { return w.namedAt(items[i]) }
	a.int8s(len(items), func(i int) int64 { return int64(at(i).Hash) })
	a.int8s(len(items), func(i int) int64 { return at(i).Seq })
	return a.texts(len(items), func(i int) string { return store.SupersededReason(at(i).Seq, at(i).ID) })
}

// supersedeSome returns the statement, which adds to verdicts.
func (w *settling) supersedeSome(s *Store, items []item, verdicts []store.Verdict) call {
	a := &parameters{buf: make([]byte, 0, 64*len(items)+256)}
	a.int4s(len(items), func(i int) int32 { return w.shards[items[i].settlement] })
	a.int8s(len(items), func(i int) int64 { return w.list[items[i].settlement].Version })
	w.superseded(a, items).int8(storekit.MostSuperseded(w.list))
	stay := w.rewritten(items)
	a.int4s(len(stay), func(i int) int32 { return stay[i].shard }).int8s(len(stay), func(i int) int64 { return stay[i].seq })
	a.int8s(len(items), func(i int) int64 { return w.list[items[i].settlement].Token })
	return call{
		st: s.statements.get("supersede_first", ""), args: a,
		reset: func() { clear(verdicts) },
		each: func(r row) error {
			c := columns{rest: r}
			i, n, more := int(c.int8())-1, c.int8(), c.bool()
			if c.err == nil && i >= 0 && i < len(items) {
				v := &verdicts[items[i].settlement]
				v.Superseded, v.More = v.Superseded+n, v.More || more
			}
			return c.err
		},
	}
}

// rewrite is a row that a settlement writes.
type rewrite struct {
	shard int32
	seq   int64
}

// rewritten lists the rows that settlements write that supersede others.
func (w *settling) rewritten(items []item) (out []rewrite) {
	last := -1
	for _, i := range items {
		if i.settlement == last {
			continue
		}
		last = i.settlement
		st := &w.list[last]
		for k := range st.Park {
			out = append(out, rewrite{w.shards[last], st.Park[k].Seq})
		}
		for _, r := range st.Resolve {
			out = append(out, rewrite{w.shards[last], r.Seq})
		}
	}
	return out
}

// leaveOut takes the settlements out for which there is more to supersede.
func (w *settling) leaveOut(first []store.Verdict) {
	for i := range first {
		if first[i].More {
			w.shards[i] = 0
		}
	}
}

// addFirst adds what was superseded first to the verdicts.
func (w *settling) addFirst(first []store.Verdict) {
	for i := range first {
		w.verdicts[i].Superseded += first[i].Superseded
		w.verdicts[i].More = first[i].More
	}
}

// supersede removes the rows that wait for the messages that settlements name, of those that they wrote themselves, and
// asks what still waits of their keys.
func (w *settling) supersede(s *Store, g group) group {
	items := w.superseding()
	if len(items) == 0 {
		return g
	}
	at := func(i int) *store.Superseding { return w.namedAt(items[i]) }
	end := w.superseded(w.under(items), items)
	left := w.under(items).int8s(len(items), func(i int) int64 { return int64(at(i).Hash) })
	left.int8s(len(items), func(i int) int64 { return w.list[items[i].settlement].Token })
	of := func(c *columns) (*store.Verdict, *store.Superseding) {
		i := int(c.int8()) - 1
		if c.err != nil || i < 0 || i >= len(items) {
			return new(store.Verdict), new(store.Superseding)
		}
		return &w.verdicts[items[i].settlement], at(i)
	}
	return append(g, call{st: s.statements.get("supersede", ""), args: end, each: func(r row) error {
		c := columns{rest: r}
		v, _ := of(&c)
		v.Superseded += c.int8()
		return c.err
	}}, call{st: s.statements.get("waiting_left", ""), args: left, each: func(r row) error {
		c := columns{rest: r}
		v, k := of(&c)
		v.Waiting = append(v.Waiting, store.Waiting{Hash: k.Hash, Seq: c.int8()})
		return c.err
	}})
}
