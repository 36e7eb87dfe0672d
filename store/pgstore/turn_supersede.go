package pgstore

import "github.com/postbag/postbag/store"

// supersede removes the rows that wait for the messages that settlements name, and asks what still waits of
// their keys.
func (w *settling) supersede(s *Store, g group) group {
	items := w.items(func(st *store.Settlement) int { return len(st.Supersede) })
	if len(items) == 0 {
		return g
	}
	at := func(i int) *store.Superseding { return &w.list[items[i].settlement].Supersede[items[i].entry] }
	named := func() *parameters {
		return w.under(items).int8s(len(items), func(i int) int64 { return int64(at(i).Hash) })
	}
	end := named().int8s(len(items), func(i int) int64 { return at(i).Seq })
	end.texts(len(items), func(i int) string { return store.SupersededReason(at(i).Seq, at(i).ID) })
	left := named().int8s(len(items), func(i int) int64 { return w.list[items[i].settlement].Token })
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
