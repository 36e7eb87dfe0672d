package memstore

import (
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// history runs transactions and readers against each other in an order drawn
// from a seed. Every reader's chain must hold each committed message once, and
// those of a key in the order of their commits.
type history struct {
	*world
	r         *rand.Rand
	open      []*Tx
	keys      map[*Tx]uint64   // the key that an open transaction alone writes to
	wrote     map[*Tx][]uint64 // the messages it has, in order
	committed map[uint64]bool
	last      uint64
	readers   []*reader
}

// reader is a chain, with all positions it passed and what it had there.
type reader struct {
	slots []store.Slots
	at    store.Position
	got   []store.Record
	marks []markAt
}

type markAt struct {
	at    store.Position
	got   int
	whole bool
}

func TestRandomHistoriesLoseNoMessage(t *testing.T) {
	t.Parallel()
	seeds := 120
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		h := &history{
			world: newWorld(t, Options{}), r: rand.New(rand.NewPCG(uint64(seed), 0)),
			keys: map[*Tx]uint64{}, wrote: map[*Tx][]uint64{}, committed: map[uint64]bool{},
		}
		for _, parts := range [][]store.Slots{{store.AllSlots}, store.Split(2)[:1], {store.Split(3)[2], store.Split(3)[0]}} {
			h.readers = append(h.readers, &reader{slots: parts, marks: []markAt{{}}})
		}
		for range 250 {
			h.step()
		}
		for len(h.open) > 0 {
			h.end()
		}
		for _, r := range h.readers {
			for before := r.at; ; before = r.at {
				if b := h.read(r, ""); b.Next == before {
					break
				}
			}
			h.verify(r, seed)
		}
		if t.Failed() {
			return
		}
	}
}

func (h *history) step() {
	switch n := h.r.IntN(12); {
	case n < 3 && len(h.open) < 8:
		tx := h.writer(0)
		h.open = append(h.open, tx)
		h.keys[tx] = h.freeKey()
	case n < 6 && len(h.open) > 0:
		h.write(h.open[h.r.IntN(len(h.open))])
	case n < 8 && len(h.open) > 0:
		h.end()
	case n < 11:
		h.read(h.readers[h.r.IntN(len(h.readers))], "")
	default:
		h.goBack(h.readers[h.r.IntN(len(h.readers))])
	}
}

// freeKey returns a key that no open transaction writes to, so that the
// transactions of each key are ordered.
func (h *history) freeKey() uint64 {
	taken := slices.Collect(maps.Values(h.keys))
	for {
		if k := h.r.Uint64N(20); !slices.Contains(taken, k) {
			return k
		}
	}
}

// write appends a message that says which one it is in its id.
func (h *history) write(tx *Tx) {
	undo := h.r.IntN(6) == 0
	if undo {
		must(h, tx.Savepoint(h.ctx, "s"))
	}
	h.last++
	var id postbag.ID
	binary.BigEndian.PutUint64(id[8:], h.last)
	must(h, h.Append(h.ctx, tx, "outbox", []postbag.Message{{ID: id, Key: string(rune('a' + h.keys[tx])), Payload: []byte("x")}}))
	if undo {
		must(h, tx.RollbackTo(h.ctx, "s"))
		return
	}
	h.wrote[tx] = append(h.wrote[tx], h.last)
}

func (h *history) end() {
	i := h.r.IntN(len(h.open))
	tx := h.open[i]
	h.open = slices.Delete(h.open, i, i+1)
	delete(h.keys, tx)
	if h.r.IntN(5) == 0 {
		must(h, tx.Rollback(h.ctx))
		return
	}
	must(h, tx.Commit(h.ctx))
	for _, n := range h.wrote[tx] {
		h.committed[n] = true
	}
}

// read reads a page, and marks a position in the middle of it and its end.
func (h *history) read(r *reader, until store.Position) store.Batch {
	res, err := h.Turn(h.ctx, store.Turn{Read: []store.Request{
		{Ref: h.ref, Slots: r.slots, From: r.at, Until: until, Limit: 1 + h.r.IntN(12), Bytes: 1 + h.r.IntN(20)},
	}})
	must(h, err)
	b := res.Batches[0]
	must(h, b.Err)
	if n := len(b.Records); n > 0 && h.r.IntN(2) == 0 {
		i := h.r.IntN(n)
		r.marks = append(r.marks, markAt{b.At(i), len(r.got) + i + 1, false})
	}
	r.got = append(r.got, b.Records...)
	r.at = b.Next
	r.marks = append(r.marks, markAt{b.Next, len(r.got), b.Whole})
	return b
}

// goBack returns to an earlier mark, and from there reads again: freely, or until
// a later mark, where it must then have what it had.
func (h *history) goBack(r *reader) {
	i := h.r.IntN(len(r.marks))
	from := r.marks[i]
	to := markAt{}
	for _, m := range r.marks[i:] {
		if m.whole && h.r.IntN(3) > 0 {
			to = m
		}
	}
	had := r.got[:to.got]
	r.at, r.got, r.marks = from.at, slices.Clip(r.got[:from.got]), slices.Clip(r.marks[:i+1])
	if to.at == "" {
		return
	}
	for r.at != to.at {
		if b := h.read(r, to.at); b.Ahead {
			r.marks = r.marks[:len(r.marks)-1] // it stands in a window that leads beyond: it reads on alone
			return
		}
	}
	ids := func(rs []store.Record) []int64 {
		var out []int64
		for _, x := range rs {
			out = append(out, x.Seq)
		}
		slices.Sort(out)
		return out
	}
	if !slices.Equal(ids(r.got), ids(had)) {
		h.Fatalf("a straggler had %d messages where its group had %d, or others", len(r.got), len(had))
	}
}

func (h *history) verify(r *reader, seed int) {
	seen := map[uint64]bool{}
	last := map[string]uint64{}
	for _, x := range r.got {
		n := binary.BigEndian.Uint64(x.ID[8:])
		switch {
		case seen[n]:
			h.Errorf("seed %d: message %d came twice", seed, n)
		case !h.committed[n]:
			h.Errorf("seed %d: message %d was never committed", seed, n)
		case last[x.Key] > n:
			h.Errorf("seed %d: message %d came after %d of its key", seed, n, last[x.Key])
		}
		seen[n], last[x.Key] = true, n
	}
	want := 0
	for seq := int64(1); seq <= h.boxes["outbox"].log.last; seq++ {
		if x := h.boxes["outbox"].log.at(seq); x != nil && inSlots(r.slots, x.Slot) {
			want++
		}
	}
	if len(seen) != want {
		h.Errorf("seed %d: %d of %d messages came", seed, len(seen), want)
	}
}
