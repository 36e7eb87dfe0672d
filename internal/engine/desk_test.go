package engine_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

const ms = time.Millisecond

// desk is a flow whose world the test plays by hand. Its shards are 2,048 slots,
// low and high; a message of an odd key is of the high one.
type desk struct {
	t   testing.TB
	f   *engine.Flow
	now time.Duration
}

func newDesk(t testing.TB, c engine.Config) *desk {
	t.Helper()
	d := &desk{t: t, f: engine.NewFlow(c)}
	d.f.Expire(time.Hour)
	return d
}

// oneShard is a desk with all slots in one shard, at position "0".
func oneShard(t testing.TB, c engine.Config) *desk {
	t.Helper()
	d := newDesk(t, c)
	d.f.Add(lease(0, 4096, 1, 1), "0", store.Blocks{})
	return d
}

// lease is one of slots from lo up to hi.
func lease(lo, hi int, token, version int64) store.Lease {
	return store.Lease{Shard: store.Shard{Slots: store.Slots{Lo: lo, Hi: hi}}, Token: token, Version: version}
}

// message makes one of a key, which weighs nothing but itself. Key 0 is none.
func message(seq int64, key int) store.Record {
	m := store.Record{Seq: seq, Slot: key%2*2048 + key}
	m.ID = idOf(seq)
	if key != 0 {
		m.Hash = keyHash(key)
	}
	return m
}

// idOf is the id of a message. The ledger counts a thousand times its seq.
func idOf(seq int64) (id postbag.ID) {
	binary.BigEndian.PutUint64(id[8:], uint64(seq)*1000)
	return id
}

// weight is what a message weighs.
var weight = new(store.Record).Size()

// errRead is the error of a read that failed.
var errRead = errors.New("no answer")

func keyHash(key int) uint64 { return uint64(key) + 100 }

// messages makes one a key, with seqs from first on.
func messages(first int64, keys ...int) []store.Record {
	out := make([]store.Record, len(keys))
	for i, k := range keys {
		out[i] = message(first+int64(i), k)
	}
	return out
}

// page is one that ends a window at next.
func page(next store.Position, msgs ...store.Record) store.Batch {
	return store.Batch{
		Records: msgs, Next: next, Whole: true,
		At: func(i int) store.Position { return store.Position(fmt.Sprintf("%s@%d", next, msgs[i].Seq)) },
	}
}

// part is a page with more to come.
func part(next store.Position, msgs ...store.Record) store.Batch {
	p := page(next, msgs...)
	p.More, p.Whole = true, false
	return p
}

// turn returns the turn, which must not be empty.
func (d *desk) turn() store.Turn {
	d.t.Helper()
	t := d.f.Turn(d.now)
	if t.Empty() {
		d.t.Fatalf("no turn is wanted: %s", d.f.Describe())
	}
	return t
}

func (d *desk) noTurn() {
	d.t.Helper()
	if t := d.f.Turn(d.now); !t.Empty() {
		d.t.Fatalf("a turn is wanted: %+v", t)
	}
}

// land answers a turn: all settlements are applied, requests get pages in order,
// and those that are missing find nothing.
func (d *desk) land(t store.Turn, pages ...store.Batch) {
	d.t.Helper()
	d.landCleared(t, nil, pages...)
}

// landCleared has the verdicts clear key hashes.
func (d *desk) landCleared(t store.Turn, cleared []uint64, pages ...store.Batch) {
	d.t.Helper()
	var verdicts []store.Verdict
	for range t.Settle {
		verdicts = append(verdicts, store.Verdict{Applied: true, Cleared: cleared})
	}
	for _, r := range t.Read[min(len(pages), len(t.Read)):] {
		pages = append(pages, store.Batch{Next: r.From, Whole: true})
	}
	d.f.Landed(d.now, verdicts, pages)
	d.f.NextDue(d.now, -1)
	d.f.Absorb(d.now)
	d.audit()
}

func (d *desk) audit() {
	d.t.Helper()
	if err := d.f.Audit(); err != nil {
		d.t.Fatal(err)
	}
}

// feed makes the next turn bring the messages, as the end of a window.
func (d *desk) feed(next store.Position, msgs ...store.Record) {
	d.t.Helper()
	for range 5 {
		t := d.f.Turn(d.now)
		if len(t.Read) > 0 && t.Read[0].Limit > 0 {
			d.land(t, page(next, msgs...))
			return
		}
		d.land(t)
		d.now += 30 * ms
	}
	d.t.Fatal("the flow does not read")
}

// settle makes the next turn, waiting for it if it must, and returns its only
// settlement.
func (d *desk) settle(cleared ...uint64) store.Settlement {
	d.t.Helper()
	for range 5 {
		t := d.f.Turn(d.now)
		d.landCleared(t, cleared)
		if len(t.Settle) > 1 {
			d.t.Fatalf("%d settlements", len(t.Settle))
		}
		if len(t.Settle) == 1 {
			return t.Settle[0]
		}
		d.now += 60 * ms
	}
	d.t.Fatal("nothing is settled")
	return store.Settlement{}
}

// call returns the next call, which must hold these seqs.
func (d *desk) call(seqs ...int64) *engine.Call {
	d.t.Helper()
	c := d.f.Next(d.now)
	d.audit()
	if c == nil {
		d.t.Fatalf("no call, want one of %v: %s", seqs, d.f.Describe())
	}
	if got := seqsOf(c); !slices.Equal(got, seqs) {
		d.t.Fatalf("a call of %v, want %v", got, seqs)
	}
	return c
}

func seqsOf(c *engine.Call) []int64 {
	var out []int64
	for _, i := range c.Items {
		out = append(out, i.Seq)
	}
	return out
}

func (d *desk) noCall() {
	d.t.Helper()
	if c := d.f.Next(d.now); c != nil {
		d.t.Fatalf("a call of %v", seqsOf(c))
	}
}

// answer ends a call; the last outcome holds for the rest of its items.
func (d *desk) answer(c *engine.Call, outcomes ...broker.Outcome) {
	d.t.Helper()
	var answers []engine.Answer
	for i := range c.Items {
		answers = append(answers, engine.Answer{Outcome: outcomes[min(i, len(outcomes)-1)], Reason: "why"})
	}
	d.f.Answered(d.now, c.ID, answers)
	d.audit()
}

// deliver makes the next call, of these seqs, and has it accepted.
func (d *desk) deliver(seqs ...int64) {
	d.t.Helper()
	d.answer(d.call(seqs...), broker.Accepted)
}

// due returns the request for parked messages, which there must be.
func (d *desk) due() store.Due {
	d.t.Helper()
	r, ok := d.f.Due(d.now)
	if !ok {
		d.t.Fatalf("parked messages are not asked for: %s", d.f.Describe())
	}
	return r
}

func (d *desk) noDue() {
	d.t.Helper()
	if r, ok := d.f.Due(d.now); ok {
		d.t.Fatalf("parked messages are asked for: %+v", r)
	}
}

// parked makes a parked message as Due brings it.
func parked(seq int64, key, attempts int) store.Parked {
	return parkedOf(message(seq, key), store.Park{State: store.ParkRetrying, Attempts: attempts, Blocking: true})
}

// parkedOf is a message with its row, which is of its seq, slot and hash.
func parkedOf(m store.Record, p store.Park) store.Parked {
	p.Seq, p.Slot, p.Hash = m.Seq, m.Slot, m.Hash
	return store.Parked{Record: m, Park: p}
}

// lot brings parked messages into the flow's hand.
func (d *desk) lot(msgs ...store.Parked) {
	d.t.Helper()
	d.f.NextDue(d.now, 0)
	d.due()
	d.f.DueLanded(d.now, msgs)
	d.audit()
}

// empty checks that nothing at all is kept.
func (d *desk) empty() {
	d.t.Helper()
	if n := d.f.Held(); n != 0 {
		d.t.Fatalf("%d things are kept: %s", n, d.f.Describe())
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}
