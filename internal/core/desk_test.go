package core_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

const (
	ttl   = 15 * time.Second
	grace = 10 * time.Second
)

var (
	ref   = store.Ref{Box: "outbox", Subscription: "default"}
	house = store.Ref{Box: "outbox", Subscription: store.Maintenance}
)

// desk is a core with one subscription of one shard, and a store that answers it.
type desk struct {
	*core.Core

	t      *testing.T
	now    time.Duration
	owners map[store.Ref]string
	// unreadable is of the filter of ref.
	unreadable error
	tokens     map[store.Ref]int64
	version    int64 // of the subscription's shard
	life       int64
	pages      []store.Batch // to be read
	sent       time.Duration // the last heartbeat that was answered
	slow       time.Duration // how long an answer to a heartbeat takes
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	ids := 0
	o := core.Options{
		Name: "r", TTL: ttl, PollMax: time.Second, Grace: grace, Upkeep: true,
		NewID: func() string { ids++; return "relay-" + strconv.Itoa(ids) },
		Rand:  func() float64 { return 0.5 },
	}
	c := core.New(o, []*core.Flow{{Ref: ref, Engine: engine.NewFlow(engine.Config{Ref: ref})}})
	return &desk{Core: c, t: t, owners: map[store.Ref]string{ref: "", house: ""}, tokens: map[store.Ref]int64{}, life: 1}
}

// step makes a step and returns what is to be carried out.
func (d *desk) step() []core.Operation {
	d.Step(d.now)
	return slices.Clone(d.Operations())
}

// until answers all operations until one of a kind comes, which it does not answer.
func (d *desk) until(kind core.Kind) *core.Operation {
	d.t.Helper()
	for range 10_000 {
		for all := d.step(); len(all) > 0; all = all[1:] {
			if all[0].Kind == kind {
				return &all[0]
			}
			d.answer(&all[0])
			all = append(all, slices.Clone(d.Operations())...)
		}
		d.now += 10 * time.Millisecond
	}
	d.t.Fatalf("there is no operation of kind %d", kind)
	return nil
}

// reads is until a turn reads.
func (d *desk) reads() *core.Round {
	d.t.Helper()
	for range 1000 {
		r := d.until(core.Turn).Round
		if len(r.Parts) > 0 && len(r.Parts[0].Turn.Read) > 0 {
			return r
		}
		d.land(r)
	}
	d.t.Fatal("nothing is read")
	return nil
}

// answer carries an operation out.
func (d *desk) answer(o *core.Operation) {
	switch o.Kind {
	case core.Beat:
		sent := d.now
		d.now += d.slow
		if d.Beaten(d.now, o.Beat, core.Fine, d.view(o.Beat)) {
			d.sent = sent
		}
	case core.Turn:
		d.land(o.Round)
	case core.Check:
		d.Checked(d.now, core.Fine)
	case core.Load:
		d.LoadEnded(d.now, o.Loading, make([]store.Blocks, 1), make([]error, 1))
	case core.Maintain:
		d.Maintained(d.now, o.Upkeep, core.Fine, &store.Report{NextDue: -1})
	default:
	}
}

// land answers a round: all is settled, and the pages there are come.
func (d *desk) land(r *core.Round) bool {
	l := &store.TurnResult{NextDue: -1, Life: d.life}
	for i := range r.Parts {
		for range r.Parts[i].Turn.Settle {
			l.Verdicts = append(l.Verdicts, store.Verdict{Applied: true})
			d.version++
		}
		for _, q := range r.Parts[i].Turn.Read {
			page := store.Batch{Next: q.From, Whole: true}
			if len(d.pages) > 0 {
				page, d.pages = d.pages[0], d.pages[1:]
			}
			l.Batches = append(l.Batches, page)
		}
	}
	return d.Landed(d.now, r, core.Fine, l)
}

// message has the next page hold a message.
func (d *desk) message() {
	p := store.Batch{Next: "end", Whole: true, Records: make([]store.Record, 1)}
	p.Records[0].Seq = 1
	p.At = func(int) store.Position { return "end" }
	d.pages = append(d.pages, p)
}

// view is what a heartbeat does, and sees.
func (d *desk) view(b *core.Heartbeat) *store.View {
	for r, owner := range d.owners {
		if b.Leave && owner == b.Relay || slices.Contains(b.Former, owner) {
			d.owners[r] = ""
		}
	}
	for _, l := range b.Give {
		d.owners[l.Ref] = ""
	}
	for _, sh := range b.Take {
		d.owners[sh.Ref] = b.Relay
		d.tokens[sh.Ref]++
	}
	v := &store.View{Alive: true, Relays: []store.RelayState{{ID: b.Relay, Expires: time.Hour, Works: b.Works}}}
	for r, owner := range d.owners {
		sh := store.Shard{Ref: r, Slots: store.AllSlots}
		v.Subscriptions = append(v.Subscriptions, store.SubscriptionState{
			Ref: r, Wanted: 1, Unreadable: d.fault(r), Shards: []store.ShardState{{Lease: store.Lease{Shard: sh, Token: d.tokens[r], Version: d.version}, Owner: owner}},
		})
	}
	return v
}

// fault is why the filter of a subscription cannot be read.
func (d *desk) fault(r store.Ref) error {
	if r == ref {
		return d.unreadable
	}
	return nil
}

// has says whether there is an operation of a kind.
func has(all []core.Operation, kind core.Kind) bool {
	return slices.ContainsFunc(all, func(o core.Operation) bool { return o.Kind == kind })
}
