package history

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// naive judges a history by comparing everything with everything. It knows nothing of how the package does it.
type naive struct {
	h *History
	o Options
}

// verdict is how often each promise is broken.
type verdict [promises]int

func (n *naive) fate(tx Tx) (fate Fate, end time.Duration, contradicts bool) {
	said := map[Fate]bool{}
	end = forever
	for _, o := range n.h.outcomes {
		if o.Tx == tx && o.Fate != Unknown {
			said[o.Fate] = true
			end = min(end, o.End)
		}
	}
	switch {
	case said[Committed] && said[RolledBack]:
		return Unknown, forever, true
	case said[RolledBack]:
		return RolledBack, end, false
	case !said[Committed]:
		return Unknown, forever, false
	}
	for _, f := range n.h.faults {
		if f.Rewinds && end > f.RewoundTo && (end <= f.End || f.End < f.Begin || f.End == 0) {
			return Unknown, forever, false
		}
	}
	return Committed, end, false
}

func (n *naive) deliveries(id ID) (all []Delivery) {
	for _, d := range n.h.deliveries {
		if d.ID == id {
			all = append(all, d)
		}
	}
	slices.SortStableFunc(all, func(a, b Delivery) int { return cmp.Compare(a.Position, b.Position) })
	return all
}

func (n *naive) stored(id ID) (s Stored) {
	for _, one := range n.h.stored {
		if one.ID == id && one.State != Absent {
			s = one
		}
	}
	return s
}

// attempts are the most that were seen.
func (n *naive) attempts(id ID) (most int) {
	for _, one := range n.h.stored {
		if one.ID == id {
			most = max(most, one.Attempts)
		}
	}
	return most
}

// removal is the command that removed a message, if there is one: rather one with an answer, and the earliest.
func (n *naive) removal(id ID) (c Command, is bool) {
	for _, one := range n.h.commands {
		if one.ID == id && one.What != Retry && (!is || c.Unknown && !one.Unknown || c.Unknown == one.Unknown && one.Begin < c.Begin) {
			c, is = one, true
		}
	}
	return c, is
}

func (n *naive) refusals(id ID) (count int) {
	for _, r := range n.h.refusals {
		if r.ID == id {
			count++
		}
	}
	return count
}

func (n *naive) judge() (v verdict) {
	txs := map[Tx]bool{}
	for _, o := range n.h.outcomes {
		if _, _, contradicts := n.fate(o.Tx); contradicts && !txs[o.Tx] {
			v[Sound]++
		}
		txs[o.Tx] = true
	}
	delivered := map[ID]bool{}
	for _, d := range n.h.deliveries {
		if !delivered[d.ID] && !slices.ContainsFunc(n.h.intents, func(i Intent) bool { return i.ID == d.ID }) {
			v[Phantom]++
		}
		delivered[d.ID] = true
	}
	for _, m := range n.h.intents {
		n.message(&v, m)
	}
	v[Order] = n.order()
	v[Applied] = n.applied()
	v[Duplicates] = n.duplicates()
	v[Resumes] = n.resumes()
	return v
}

func (n *naive) message(v *verdict, m Intent) {
	fate, _, _ := n.fate(m.Tx)
	all, stored, refusals := n.deliveries(m.ID), n.stored(m.ID), n.refusals(m.ID)
	removal, removed := n.removal(m.ID)
	held := stored.State != Absent
	for _, d := range all {
		if d.Payload != m.Payload {
			v[Bytes]++
		}
		if d.To != 0 && d.To < m.Due {
			v[Schedule]++
		}
	}
	for _, e := range n.effects(m.ID) {
		if e.Payload != m.Payload && fate != RolledBack {
			v[Bytes]++
		}
	}
	if len(all) > 0 && (fate == RolledBack || removed && removal.What == Cancel && !removal.Unknown) {
		v[Phantom]++
	}
	if fate == RolledBack && held {
		v[Phantom]++
	}
	if n.attempts(m.ID) > refusals && !m.Poison {
		v[Attempts]++
	}
	if len(all) > 0 || fate == RolledBack || removed || fate == Unknown && !held {
		return
	}
	if !held {
		v[Lost]++
	}
	if stored.State == Pending && m.Due == 0 {
		v[Rest]++
	}
}

// effects are those of a message in the order in which they were applied.
func (n *naive) effects(id ID) (all []Effect) {
	for _, e := range n.h.effects {
		if e.ID == id {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b Effect) int { return cmp.Compare(a.Position, b.Position) })
	return all
}

// applied counts the messages that have another number of effects than they should, and those that were applied before one that must
// come before them.
func (n *naive) applied() (count int) {
	seen := map[ID]bool{}
	for _, e := range n.h.effects {
		if seen[e.ID] {
			continue
		}
		seen[e.ID] = true
		if len(n.effects(e.ID)) > 1 {
			count++
		}
		if !slices.ContainsFunc(n.h.intents, func(i Intent) bool { return i.ID == e.ID }) {
			count++
		}
	}
	for _, m := range n.h.intents {
		fate, _, _ := n.fate(m.Tx)
		removal, removed := n.removal(m.ID)
		switch none := len(n.effects(m.ID)) == 0; {
		case !none && (fate == RolledBack || removed && removal.What == Cancel && !removal.Unknown):
			count++
		case none && n.o.Effects != NoEffects && (fate == Committed || fate == Unknown && len(n.deliveries(m.ID)) > 0) && !removed && m.Due == 0 && n.stored(m.ID).State == Absent:
			count++
		}
	}
	if n.o.Effects == OnceInOrder {
		count += n.appliedOrder()
	}
	return count
}

func (n *naive) appliedOrder() int {
	stands := func(m Intent) bool {
		fate, _, _ := n.fate(m.Tx)
		_, removed := n.removal(m.ID)
		return m.Due == 0 && fate != RolledBack && !removed && len(n.effects(m.ID)) > 0
	}
	return n.overtaken(func(a, b Intent) bool {
		return stands(a) && stands(b) && n.effects(a.ID)[0].Position > n.effects(b.ID)[0].Position
	})
}

// order counts the messages that were delivered before one that must come before them: once for a transaction, once for all
// others.
func (n *naive) order() int { return n.overtaken(n.before) }

// overtaken counts the messages b that were before a message a of their key that must come before them: once for a transaction, once
// for all others.
func (n *naive) overtaken(before func(a, b Intent) bool) (count int) {
	for _, b := range n.h.intents {
		within, across := false, false
		for _, a := range n.h.intents {
			if a.Key != b.Key || !before(a, b) {
				continue
			}
			if a.Tx == b.Tx {
				within = within || a.Index < b.Index
				continue
			}
			fate, end, _ := n.fate(a.Tx)
			across = across || fate == Committed && end < b.Begin
		}
		if within {
			count++
		}
		if across {
			count++
		}
	}
	return count
}

// before says whether b was delivered, and a was not delivered before it although it was there to be.
func (n *naive) before(a, b Intent) bool {
	fateA, _, _ := n.fate(a.Tx)
	fateB, _, _ := n.fate(b.Tx)
	ofA, ofB := n.deliveries(a.ID), n.deliveries(b.ID)
	if a.Due > 0 || b.Due > 0 || fateA == RolledBack || fateB == RolledBack || len(ofB) == 0 {
		return false
	}
	if c, removed := n.removal(b.ID); removed && (ofB[0].To == 0 || ofB[0].To >= c.Begin) {
		return false
	}
	held := n.stored(a.ID).State != Absent
	if len(ofA) == 0 && fateA == Unknown && !held {
		return false
	}
	if c, removed := n.removal(a.ID); removed && (len(ofA) == 0 || ofA[0].To == 0 || ofA[0].To >= c.Begin) {
		return ofB[0].To != 0 && ofB[0].To < c.Begin
	}
	if len(ofA) > 0 {
		return ofA[0].Position > ofB[0].Position
	}
	return held
}

// duplicates counts those that no fault explains, and for each group of faults that hang together those above its window.
func (n *naive) duplicates() (count int) {
	var faults []Fault
	for _, f := range n.h.faults {
		if f.Window < 0 {
			continue
		}
		if f.Window == 0 {
			f.Window = n.o.InFlight
		}
		if f.End < f.Begin || f.End == 0 {
			f.End = forever - n.o.Slack
		}
		f.End += n.o.Slack
		faults = append(faults, f)
	}
	group := make([]int, len(faults)) // the least fault that each hangs together with
	for i := range group {
		group[i] = i
	}
	for range faults {
		for i, a := range faults {
			for j, b := range faults {
				if a.Begin <= b.End && b.Begin <= a.End {
					group[i], group[j] = min(group[i], group[j]), min(group[i], group[j])
				}
			}
		}
	}
	most, sum, inGroup, total, seen := make([]int, len(faults)), 0, make([]int, len(faults)), 0, map[ID]bool{}
	for i, f := range faults {
		most[group[i]] += f.Window
		total += f.Window
	}
	for _, d := range n.h.deliveries {
		if seen[d.ID] {
			continue
		}
		seen[d.ID] = true
		all := n.deliveries(d.ID)
		for _, again := range all[1:] {
			sum++
			if again.To == 0 {
				continue
			}
			groups := map[int]bool{}
			near := func(from, to time.Duration) {
				for i, f := range faults {
					if f.Begin <= to && from <= f.End {
						groups[group[i]] = true
					}
				}
			}
			if near(again.From, again.To); len(groups) == 0 && all[0].To != 0 {
				near(all[0].From, min(again.To, all[0].To+n.o.Slack))
			}
			if len(groups) == 0 {
				count++
			}
			if len(groups) == 1 {
				for g := range groups {
					inGroup[g]++
				}
			}
		}
	}
	for g, n := range inGroup {
		count += max(0, n-most[g])
	}
	return max(count, sum-total)
}

// resumes counts the stops after whose end nothing came in time of all that was waiting.
func (n *naive) resumes() (count int) {
	var stops []Fault
	for _, f := range n.h.faults {
		if f.End < f.Begin || f.End == 0 {
			f.End = forever - n.o.Resume
		}
		if f.Stops {
			stops = append(stops, f)
		}
	}
	for _, one := range stops {
		end := one.End
		for range stops { // those that begin before the bound has passed make it longer
			for _, f := range stops {
				if f.Begin <= end+n.o.Resume {
					end = max(end, f.End)
				}
			}
		}
		if end != one.End || slices.ContainsFunc(stops[:slices.Index(stops, one)], func(f Fault) bool { return f.End == end }) {
			continue // it is counted with the one that ends last
		}
		next := forever
		for _, m := range n.h.intents {
			fate, committed, _ := n.fate(m.Tx)
			all := n.deliveries(m.ID)
			_, removed := n.removal(m.ID)
			if fate != Committed || committed > end || len(all) == 0 || removed || m.Poison || m.Due > 0 ||
				n.stored(m.ID).State != Absent || n.refusals(m.ID) > 0 || all[0].To == 0 || all[0].To < end {
				continue
			}
			next = min(next, max(all[0].From, end))
		}
		if next < forever && next-end > n.o.Resume {
			count++
		}
	}
	return count
}

// random makes a small history of few keys and times, in which all can happen.
func random(seed uint64) (*History, Options) {
	r := rand.New(rand.NewPCG(seed, 1))
	h := &History{}
	span := 5 + r.IntN(60)
	at := func() time.Duration { return time.Duration(1 + r.IntN(span)) }
	perTx := 1 + r.IntN(4)
	n := r.IntN(25)
	for i := range n {
		tx := i / perTx
		m := Intent{
			Tx: Tx(tx), Index: uint32(i % perTx), ID: id(i), Key: string(rune('a' + r.IntN(3))), Payload: Sum(ids(i)),
			Begin: time.Duration(1+tx*r.IntN(6)) + time.Duration(r.IntN(3)), Poison: r.IntN(10) == 0,
		}
		if r.IntN(12) == 0 {
			m.Due = at()
		}
		h.Intend(m)
	}
	for tx := range n/perTx + 1 {
		for range 1 + r.IntN(8)/7 {
			fate := []Fate{Committed, Committed, Committed, Committed, Committed, Unknown, RolledBack}[r.IntN(7)]
			end := time.Duration(0)
			for _, m := range h.intents {
				if m.Tx == Tx(tx) {
					end = max(end, m.Begin)
				}
			}
			h.End(Outcome{Tx: Tx(tx), Fate: fate, Begin: end, End: end + time.Duration(r.IntN(5))})
		}
	}
	position := uint64(0)
	for i := range n + 1 {
		if r.IntN(8) == 0 {
			continue
		}
		for again := true; again; again = r.IntN(5) == 0 {
			jump := uint64(r.IntN(4) / 3 * r.IntN(40))
			position += 2
			d := Delivery{ID: id(i), Payload: Sum(ids(i)), Position: (position+jump*2)*1000 + uint64(r.IntN(1000)), From: at()}
			d.To = d.From + time.Duration(r.IntN(3))
			if r.IntN(10) == 0 {
				d.From, d.To = 0, 0
			}
			if r.IntN(20) == 0 {
				d.Payload[0]++
			}
			if i < n {
				d.Key = h.intents[i].Key
			}
			h.Deliver(d)
		}
	}
	randomRest(h, r, n, at)
	randomEffects(h, r, n)
	return h, Options{Effects: Effects(r.IntN(3)), InFlight: 1 + r.IntN(3), Slack: time.Duration(r.IntN(5)), Resume: time.Duration(1 + r.IntN(6)), Examples: 1000}
}

// randomEffects has most messages applied, and some twice.
func randomEffects(h *History, r *rand.Rand, n int) {
	position := uint64(0)
	for i := range n + 1 - r.IntN(2) {
		if r.IntN(15) == 0 {
			continue
		}
		for again := true; again; again = r.IntN(15) == 0 {
			position += 2
			e := Effect{ID: id(i), Payload: Sum(ids(i)), Position: (position+uint64(r.IntN(8)/7*r.IntN(40)*2))*1000 + uint64(r.IntN(1000))}
			if r.IntN(40) == 0 {
				e.Payload[0]++
			}
			if i < n {
				e.Key = h.intents[i].Key
			}
			h.Apply(e)
		}
	}
}

func randomRest(h *History, r *rand.Rand, n int, at func() time.Duration) {
	for range n {
		i := r.IntN(n)
		switch r.IntN(9) {
		case 0:
			h.Hold(Stored{ID: id(i), State: State(r.IntN(4)), Attempts: r.IntN(3)})
		case 1:
			h.Order(Command{ID: id(i), What: Action(r.IntN(3)), Unknown: r.IntN(3) == 0, Begin: at(), End: at()})
		case 2:
			h.Refuse(Refusal{ID: id(i), At: at()})
		}
	}
	for range r.IntN(5) {
		f := Fault{Begin: at(), Window: r.IntN(4) - 1, Stops: r.IntN(3) == 0, Rewinds: r.IntN(8) == 0, RewoundTo: at()}
		if r.IntN(6) > 0 {
			f.End = f.Begin + time.Duration(r.IntN(8))
		}
		h.Break(f)
	}
}

func compare(t *testing.T, seed uint64) *Report {
	t.Helper()
	h, o := random(seed)
	want := (&naive{h: h, o: o}).judge()
	r := h.Check(o)
	for p, n := range want {
		if got := r.Verdicts[p].Broken; got != n {
			t.Fatalf("seed %d: %v is broken %d times, and the naive judge says %d\n%s", seed, Promise(p), got, n, r)
		}
	}
	return r
}

func TestRandomHistoriesAreJudgedAsByComparingAllPairs(t *testing.T) {
	t.Parallel()
	broken := [promises]int{}
	for seed := range uint64(10_000) {
		r := compare(t, seed)
		for p := range broken {
			broken[p] += min(1, r.Verdicts[p].Broken)
		}
	}
	t.Logf("histories that break each promise: %v", broken)
	for p, n := range broken[:Takeovers] {
		if n < 100 {
			t.Errorf("of the histories only %d break %v", n, Promise(p))
		}
	}
	for _, p := range []Promise{Resumes, Applied} {
		if broken[p] < 100 {
			t.Errorf("of the histories only %d break %v", broken[p], p)
		}
	}
}

func FuzzRandomHistoriesAreJudgedAsByComparingAllPairs(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { compare(t, seed) })
}

func TestHistoriesInFilesAreJudgedAsThoseInMemory(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		h, o := random(seed)
		want := h.Check(o).String()
		// Sorters of 300 bytes spill again and again.
		r, err := checkFiles(writeFiles(t, h, 2), o, t.TempDir(), 300)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.String(); got != want {
			t.Fatalf("seed %d: in memory:\n%s\nfrom files:\n%s", seed, want, got)
		}
	}
}
