package pgstore

import (
	"slices"
	"strings"

	"github.com/postbag/postbag/store"
)

// settling is the settling half of a turn: one transaction of a few statements,
// of which most only come when there is something for them.
type settling struct {
	list     []store.Settlement
	shards   []int32 // of list; zero: there is no such shard
	sums     []sums
	verdicts []store.Verdict
	// boxes are those of the settled shards, and lasts the last seq that each had
	// given out before the transaction got its id.
	boxes []string
	lasts []int64
	xid   int64
	hit   bool
	// letters are dead letters that are written with it.
	letters letters
}

func newSettling(r *catalog, list []store.Settlement) *settling {
	w := &settling{list: list, shards: make([]int32, len(list)), sums: make([]sums, len(list))}
	for i, st := range list {
		if sub := r.subs[st.Ref]; sub != nil {
			w.shards[i] = sub.shard(st.Slots)
			w.addBox(st.Box)
		}
		w.sums[i] = newSums(st.Tally)
	}
	w.lasts = make([]int64, len(w.boxes))
	return w
}

func (w *settling) addBox(box string) {
	if !slices.Contains(w.boxes, box) {
		w.boxes = append(w.boxes, box)
	}
}

// group returns the transaction.
func (w *settling) group(s *Store, v *server) group {
	g := group{}
	if len(w.boxes) == 0 {
		g = append(g, s.guard(v, "", nil))
	}
	for i, box := range w.boxes {
		if i == 0 {
			g = append(g, s.guard(v, box, &w.lasts[i]))
		} else {
			g = append(g, s.last(box, &w.lasts[i]))
		}
	}
	g = append(g, w.move(s))
	g = w.ledger(s, g)
	touched := w.touched()
	if len(touched) == 0 && !w.any(func(st *store.Settlement) bool {
		return len(st.Done) > 0 || len(st.Resolve) > 0 || len(st.Supersede) > 0 || len(st.Park) > 0
	}) {
		return g
	}
	for _, box := range w.boxes {
		g = w.park(s, g, box)
	}
	g = w.resolve(s, g)
	g = w.discard(s, g)
	g = w.done(s, g)
	if w.hasLetters() {
		g = w.writeLetters(s, g)
	}
	g = w.supersede(s, g)
	if len(touched) > 0 {
		g = append(g, w.lead(s, touched), w.clear(s, touched))
	}
	return g
}

func (w *settling) any(is func(*store.Settlement) bool) bool {
	for i := range w.list {
		if is(&w.list[i]) {
			return true
		}
	}
	return false
}

// move returns the statement that judges the settlements and moves the shards.
func (w *settling) move(s *Store) call {
	n := len(w.list)
	a := &parameters{buf: make([]byte, 0, 256*n+512)}
	a.int4s(n, func(i int) int32 { return w.shards[i] })
	a.int8s(n, func(i int) int64 { return w.list[i].Token })
	a.int8s(n, func(i int) int64 { return w.list[i].Version })
	a.byteas(n, func(i int) string { return string(w.list[i].To) })
	a.int8s(n, func(i int) int64 { return w.sums[i].span })
	for fate := range w.sums[0].kept {
		a.int8s(n, func(i int) int64 { return w.sums[i].kept[fate].Count })
		a.int8s(n, func(i int) int64 { return int64(w.sums[i].kept[fate].SeqSum) })
		a.int8s(n, func(i int) int64 { return int64(w.sums[i].kept[fate].IDSum) })
	}
	return call{
		st: s.statements.get("move", ""), args: a,
		reset: func() { w.verdicts, w.hit = make([]store.Verdict, n), false },
		each: func(r row) error {
			c := columns{rest: r}
			i := int(c.int8()) - 1
			w.xid, w.hit = c.int8(), true
			if c.err == nil && i >= 0 && i < n {
				w.verdicts[i].Applied = true
			}
			return c.err
		},
	}
}

// learn takes the bounds that the transaction proved, once it stands.
func (w *settling) learn(v *server) {
	if !w.hit {
		return
	}
	for i, box := range w.boxes {
		v.of(box).Add(uint64(w.xid), w.lasts[i])
	}
}

// item names an entry of a settlement's list: the settlement, and which one.
type item struct{ settlement, entry int }

// items lists the entries of all settlements, count(i) of each.
func (w *settling) items(count func(st *store.Settlement) int) []item {
	var out []item
	for i := range w.list {
		if w.shards[i] == 0 {
			continue
		}
		for k := range count(&w.list[i]) {
			out = append(out, item{i, k})
		}
	}
	return out
}

// under begins the parameters of a statement that writes entries: each with its
// shard and the version that the shard has if this transaction moved it.
func (w *settling) under(items []item) *parameters {
	a := &parameters{buf: make([]byte, 0, 64*len(items)+256)}
	a.int4s(len(items), func(i int) int32 { return w.shards[items[i].settlement] })
	return a.int8s(len(items), func(i int) int64 { return w.list[items[i].settlement].Version + 1 })
}

// park returns the statement that writes the parked rows of a box.
func (w *settling) park(s *Store, g group, box string) group {
	items := w.items(func(st *store.Settlement) int {
		if st.Box != box {
			return 0
		}
		return len(st.Park)
	})
	n := len(items)
	if n == 0 {
		return g
	}
	at := func(i int) *store.Park { return &w.list[items[i].settlement].Park[items[i].entry] }
	a := w.under(items)
	a.int8s(n, func(i int) int64 { return at(i).Seq })
	a.int2s(n, func(i int) int { return at(i).Slot })
	a.int8s(n, func(i int) int64 { return int64(at(i).Hash) })
	a.int2s(n, func(i int) int { return int(at(i).State) })
	a.bools(n, func(i int) bool { return at(i).Blocking && at(i).Hash != 0 })
	a.int4s(n, func(i int) int32 { return int32(at(i).Attempts) })
	a.int8s(n, func(i int) int64 { return at(i).Delay.Microseconds() })
	a.texts(n, func(i int) string { return cleanReason(at(i).Reason) }).texts(n, func(i int) string { return at(i).Topic })
	return append(g, call{st: s.statements.get("park", box), args: a})
}

// maxReason is the most bytes of a parked row's reason.
const maxReason = 1024

// cleanReason makes a text that the database takes.
func cleanReason(s string) string {
	s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	if len(s) > maxReason {
		s = s[:maxReason]
	}
	return strings.ToValidUTF8(s, "")
}

func (w *settling) resolve(s *Store, g group) group {
	items := w.items(func(st *store.Settlement) int { return len(st.Resolve) })
	if len(items) == 0 {
		return g
	}
	a := w.under(items)
	a.int8s(len(items), func(i int) int64 { return w.list[items[i].settlement].Resolve[items[i].entry].Seq })
	discards := w.discards(true)
	a.int4s(len(discards), func(i int) int32 { return w.shards[discards[i].settlement] })
	a.int8s(len(discards), func(i int) int64 { return w.doneAt(discards[i]).Seq })
	return append(g, call{st: s.statements.get("resolve", ""), args: a})
}

// discards lists the discards that are done, of messages that their settlement
// resolves, or of the others.
func (w *settling) discards(resolved bool) []item {
	all := w.items(func(st *store.Settlement) int { return len(st.Done) })
	return slices.DeleteFunc(all, func(i item) bool {
		d := w.doneAt(i)
		return d.Kind != store.Discard || resolved != slices.ContainsFunc(w.list[i.settlement].Resolve, func(r store.Resolved) bool {
			return r.Seq == d.Seq
		})
	})
}

// discard notes which messages without a row are discarded.
func (w *settling) discard(s *Store, g group) group {
	items := w.discards(false)
	if len(items) == 0 {
		return g
	}
	a := w.under(items).int8s(len(items), func(i int) int64 { return w.doneAt(items[i]).Seq })
	return append(g, call{st: s.statements.get("discard", ""), args: a})
}

func (w *settling) done(s *Store, g group) group {
	items := w.items(func(st *store.Settlement) int { return len(st.Done) })
	if len(items) == 0 {
		return g
	}
	a := w.under(items)
	a.int8s(len(items), func(i int) int64 { return int64(w.doneAt(items[i]).ID) })
	a.int2s(len(items), func(i int) int { return int(w.doneAt(items[i]).Kind) })
	a.int8s(len(items), func(i int) int64 { return w.doneAt(items[i]).Seq })
	return append(g, call{st: s.statements.get("done", ""), args: a})
}

func (w *settling) doneAt(i item) *store.Done { return &w.list[i.settlement].Done[i.entry] }

// touch is a hash of which rows were parked or resolved.
type touch struct {
	settlement int
	hash       uint64
	parks      int32
}

// touched lists the hashes of what is parked and resolved, each once a shard.
func (w *settling) touched() []touch {
	var out []touch
	for i := range w.list {
		if w.shards[i] == 0 {
			continue
		}
		seen := map[uint64]int{}
		add := func(hash uint64, parks int32) {
			if hash == 0 {
				return
			}
			k, ok := seen[hash]
			if !ok {
				k = len(out)
				seen[hash] = k
				out = append(out, touch{settlement: i, hash: hash})
			}
			out[k].parks += parks
		}
		for _, p := range w.list[i].Park {
			add(p.Hash, 1)
		}
		for _, r := range w.list[i].Resolve {
			add(r.Hash, 0)
		}
	}
	return out
}

func (w *settling) hashes(touched []touch) *parameters {
	items := make([]item, len(touched))
	for i, t := range touched {
		items[i].settlement = t.settlement
	}
	return w.under(items).int8s(len(touched), func(i int) int64 { return int64(touched[i].hash) })
}

// lead returns the statement that has the first row of each hash count, and no
// other.
func (w *settling) lead(s *Store, touched []touch) call {
	a := w.hashes(touched).int4s(len(touched), func(i int) int32 { return touched[i].parks })
	return call{st: s.statements.get("lead", ""), args: a}
}

// clear returns the statement that says which hashes block nothing any more.
func (w *settling) clear(s *Store, touched []touch) call {
	a := w.hashes(touched)
	a.int8s(len(touched), func(i int) int64 { return w.list[touched[i].settlement].Token })
	return call{st: s.statements.get("cleared", ""), args: a, each: func(r row) error {
		c := columns{rest: r}
		i := int(c.int8()) - 1
		if c.err == nil && i >= 0 && i < len(touched) {
			v := &w.verdicts[touched[i].settlement]
			v.Cleared = append(v.Cleared, touched[i].hash)
		}
		return c.err
	}}
}
