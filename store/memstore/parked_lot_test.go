package memstore

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/postbag/postbag/store"
)

// plain is a parking lot that looks at every row for every question.
type plain map[int64]*plainRow

type plainRow struct {
	store.Park
	due time.Time
}

// firsts returns the rows of a range that count.
func (p plain) firsts(r store.Slots) []*plainRow {
	heads := map[uint64]*plainRow{}
	var out []*plainRow
	for _, row := range p {
		switch {
		case !r.Contains(row.Slot):
		case !row.Blocking:
			out = append(out, row)
		case heads[row.Hash] == nil || heads[row.Hash].Seq > row.Seq:
			heads[row.Hash] = row
		}
	}
	out = append(out, slices.Collect(maps.Values(heads))...)
	return slices.DeleteFunc(out, func(row *plainRow) bool { return row.State != store.ParkRetrying && row.State != store.ParkBlocked })
}

func (p plain) nextDue(ranges []store.Slots, now time.Time) time.Duration {
	next := time.Duration(-1)
	for _, r := range ranges {
		for _, row := range p.firsts(r) {
			d := max(row.due.Sub(now), 0)
			if row.State == store.ParkBlocked {
				d = 0
			}
			if next < 0 || d < next {
				next = d
			}
		}
	}
	return next
}

// ready returns the seqs that are due, each with its followers behind it.
func (p plain) ready(d store.Due, now time.Time) map[int64][]int64 {
	out := map[int64][]int64{}
	for _, r := range d.Slots {
		for _, row := range p.firsts(r) {
			if row.State == store.ParkRetrying && row.due.After(now) || slices.Contains(d.Skip, row.Seq) {
				continue
			}
			out[row.Seq] = p.behind(row, r, d)
		}
	}
	return out
}

func (p plain) behind(first *plainRow, r store.Slots, d store.Due) []int64 {
	if !first.Blocking {
		return nil
	}
	var line []*plainRow
	for _, row := range p {
		if row.Blocking && row.Hash == first.Hash && row.Seq > first.Seq && r.Contains(row.Slot) {
			line = append(line, row)
		}
	}
	slices.SortFunc(line, func(a, b *plainRow) int { return cmp.Compare(a.Seq, b.Seq) })
	var out []int64
	for _, row := range line {
		if row.State != store.ParkBlocked || len(out) == d.Followers || slices.Contains(d.Skip, row.Seq) {
			break
		}
		out = append(out, row.Seq)
	}
	return out
}

// TestTheLotAnswersLikeASimpleImplementation parks, resolves and asks at random, under keys
// and under one hash for all, and compares.
func TestTheLotAnswersLikeASimpleImplementation(t *testing.T) {
	t.Parallel()
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 9))
		strict := seed%3 == 0
		l, p := newLot(), plain{}
		now := time.Unix(1_000_000, 0)
		ranges := store.Split(1 + r.IntN(4))
		for range 200 {
			now = now.Add(time.Duration(r.IntN(3)) * time.Second)
			seq := int64(1 + r.IntN(60))
			switch r.IntN(5) {
			case 0:
				l.resolve(seq, now)
				delete(p, seq)
			case 1:
				shard := ranges[r.IntN(len(ranges))]
				if r.IntN(8) == 0 {
					l.land(shard, now)
					p.land(shard, now)
				}
			default:
				k := randomPark(r, seq, strict)
				l.park(k, &row{Record: store.Record{Seq: seq}}, now)
				p.park(k, now)
			}
			compareLots(t, r, &l, p, ranges, now)
			if t.Failed() {
				t.Fatalf("with seed %d", seed)
			}
		}
	}
}

func randomPark(r *rand.Rand, seq int64, strict bool) store.Park {
	k := store.Park{
		Seq: seq, Slot: int(seq*67) % store.SlotCount, Hash: uint64(seq % 7),
		State: store.ParkState(1 + r.IntN(4)), Blocking: r.IntN(5) > 0, Delay: time.Duration(r.IntN(5)) * time.Second,
	}
	switch {
	case strict:
		k.Hash = 1
	case k.Hash != 0:
		k.Slot = int(k.Hash*601) % store.SlotCount
	}
	return k
}

func (p plain) park(k store.Park, now time.Time) {
	if p[k.Seq] != nil && k.State == store.ParkBlocked {
		return
	}
	k.Blocking = k.Blocking && k.Hash != 0
	p[k.Seq] = &plainRow{Park: k, due: now}
	if k.State == store.ParkRetrying {
		p[k.Seq].due = now.Add(k.Delay)
	}
}

func (p plain) land(r store.Slots, now time.Time) {
	for _, row := range p {
		if row.State == store.ParkInFlight && r.Contains(row.Slot) {
			row.State, row.due = store.ParkRetrying, now
		}
	}
}

func compareLots(t *testing.T, r *rand.Rand, l *lot, p plain, ranges []store.Slots, now time.Time) {
	t.Helper()
	some := ranges[:1+r.IntN(len(ranges))]
	if got, want := l.nextDue(some, now), p.nextDue(some, now); got != want {
		t.Errorf("next due in %s, not %s", got, want)
	}
	d := store.Due{Slots: some, Limit: 1000, Bytes: 1 << 30, Followers: r.IntN(4), Skip: []int64{int64(r.IntN(60)), int64(r.IntN(60))}}
	want := p.ready(d, now)
	got := l.ready(d, now)
	for i := 0; i < len(got); {
		first := got[i].park.Seq
		line, ok := want[first]
		if !ok {
			t.Errorf("seq %d is due, and is not", first)
			return
		}
		delete(want, first)
		i++
		for _, seq := range line {
			if i == len(got) || got[i].park.Seq != seq {
				t.Errorf("seq %d does not follow %d", seq, first)
				return
			}
			i++
		}
	}
	if len(want) > 0 {
		t.Errorf("%d messages that are due do not come", len(want))
	}
	for _, sh := range ranges {
		wanted := map[uint64]bool{}
		for _, row := range p {
			if row.Blocking && sh.Contains(row.Slot) {
				wanted[row.Hash] = true
			}
		}
		hashes := slices.Sorted(slices.Values(l.blocked(sh)))
		if !slices.Equal(hashes, slices.Sorted(maps.Keys(wanted))) {
			t.Errorf("blocked are %v, not %v", hashes, wanted)
		}
		for hash := range uint64(8) {
			if hash > 0 && l.clear(hash, sh) == wanted[hash] {
				t.Errorf("hash %d is clear: %v", hash, !wanted[hash])
			}
		}
	}
}
