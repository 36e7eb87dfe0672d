package pgstore

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// catalog is what a turn needs to know of boxes, subscriptions and shards beyond
// their rows' names. It is read as a whole, and again when the epoch shows that
// something has changed.
type catalog struct {
	epoch int64
	boxes map[string]*catalogBox
	subs  map[store.Ref]*catalogSubscription
}

type catalogBox struct {
	id      int32
	foreign int64 // see position.base
	// numbering is the file that the box's sequence had when it was last looked through; zero: not known.
	numbering int64
	slots     store.SlotRule
}

type catalogSubscription struct {
	id     int32
	ref    store.Ref
	box    *catalogBox
	filter filter
	fault  error // the filter cannot be read
	shards []catalogShard
}

// unreadable: the filter cannot be read, so that nothing may be sent.
func (e *catalogSubscription) unreadable() bool { return e.fault != nil }

type catalogShard struct {
	id int32
	store.Slots
}

// filter is a subscription's, with what of it statements ask for. The zero filter takes everything.
type filter struct {
	storekit.Filter

	types, topics names
}

func newFilter(asks store.Filter) filter {
	f := filter{Filter: storekit.FilterOf(asks)}
	f.types, f.topics = namesOf(asks.Types), namesOf(asks.Topics)
	return f
}

// names are types or topics, as a statement asks for them.
type names struct {
	exact []string
	like  []string // patterns of LIKE
}

// inPattern has what is special to LIKE stand for itself.
var inPattern = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

func namesOf(all []string) (n names) {
	for _, name := range all {
		if p, ok := storekit.TypePrefix(name); ok {
			n.like = append(n.like, inPattern.Replace(p)+"%")
		} else {
			n.exact = append(n.exact, name)
		}
	}
	return n
}

func (n *names) empty() bool { return len(n.exact)+len(n.like) == 0 }

func (n *names) same(other *names) bool {
	return slices.Equal(n.exact, other.exact) && slices.Equal(n.like, other.like)
}

// append adds the parameters of a statement that asks for names: two lists.
func (n *names) append(a *parameters) {
	a.texts(len(n.exact), func(i int) string { return n.exact[i] })
	a.texts(len(n.like), func(i int) string { return n.like[i] })
}

// same says whether two filters take the same.
func (f *filter) same(other *filter) bool {
	return f.types.same(&other.types) && f.Same(&other.Filter)
}

// shard returns the id of the shard with just these slots, or zero.
func (e *catalogSubscription) shard(slots store.Slots) int32 {
	for _, sh := range e.shards {
		if sh.Slots == slots {
			return sh.id
		}
	}
	return 0
}

// overlapping appends the ids of the shards that have slots among ranges.
func (e *catalogSubscription) overlapping(ids []int32, ranges ...store.Slots) []int32 {
	for _, sh := range e.shards {
		for _, r := range ranges {
			if sh.Lo < r.Hi && r.Lo < sh.Hi {
				ids = append(ids, sh.id)
				break
			}
		}
	}
	return ids
}

// known returns the catalog, read at most once by this call.
func (s *Store) known(ctx context.Context) (*catalog, error) {
	if r := s.catalog.Load(); r != nil {
		return r, nil
	}
	return s.readCatalog(ctx)
}

func (s *Store) readCatalog(ctx context.Context) (*catalog, error) {
	out := &catalog{boxes: map[string]*catalogBox{}, subs: map[store.Ref]*catalogSubscription{}}
	err := s.run(ctx, call{st: s.statements.get("catalog", ""), each: out.take})
	if err != nil {
		return nil, schemaError(err)
	}
	s.catalog.Store(out)
	return out, nil
}

// take reads a row: a box, perhaps with one of its subscriptions.
func (o *catalog) take(r row) error {
	c := columns{rest: r}
	o.epoch = c.int8()
	name := c.text()
	id, foreign, numbering, slots := c.int4(), c.int8(), c.int8(), c.int2()
	box := o.boxes[name]
	if box == nil && name != "" {
		box = &catalogBox{id: id, foreign: foreign, numbering: numbering, slots: storekit.RuleOf(slots)}
		o.boxes[name] = box
	}
	sub := &catalogSubscription{id: c.int4(), box: box}
	sub.ref = store.Ref{Box: name, Subscription: c.text()}
	asks, err := c.filter()
	sub.filter, sub.fault = newFilter(asks), err
	ids, los, his := c.int4s(), c.int4s(), c.int4s()
	if sub.id == 0 || c.err != nil || len(los) != len(ids) || len(his) != len(ids) {
		return c.err
	}
	for i := range ids {
		sub.shards = append(sub.shards, catalogShard{ids[i], store.Slots{Lo: int(los[i]), Hi: int(his[i])}})
	}
	o.subs[sub.ref] = sub
	return nil
}

// filter reads types, and the rest of a filter.
func (c *columns) filter() (f store.Filter, err error) {
	f.Types = c.texts()
	f.Where, err = storekit.ParseWhere(c.text())
	return f, err
}

// int4s reads an array of integers without nulls.
func (c *columns) int4s() []int32 {
	v, ok := c.next(-1)
	if !ok || len(v) < 20 {
		return nil
	}
	n := int(binary.BigEndian.Uint32(v[12:]))
	v = v[20:]
	if len(v) != 8*n {
		c.fail()
		return nil
	}
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(binary.BigEndian.Uint32(v[8*i+4:]))
	}
	return out
}

// noted has the catalog read again if it is older than the epoch seen.
func (s *Store) noted(r *catalog, epoch int64) {
	if r != nil && r.epoch != epoch {
		s.catalog.CompareAndSwap(r, nil)
	}
}
