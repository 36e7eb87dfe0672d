package faketime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

// policy is what an operator changes of a box or a subscription while all goes on.
func (w *world) policy(ctx context.Context, c *chance, l *line) {
	switch c.n(3) {
	case 0:
		var lives store.Lifetimes
		if c.coin() {
			lives.Delivered = time.Duration(c.of(1, 5, 30, 600)) * time.Second
		}
		w.must("set a retention", w.store.SetRetention(ctx, audit, l.Box, lives))
	case 1:
		w.narrow(ctx, c, l)
	default:
		w.replay(ctx, c, l)
	}
}

// narrow has a subscription refuse the mails and bills for a while. The first line keeps its filter: a relay that comes with
// another one is refused there, see refused. So does one that supersedes.
func (w *world) narrow(ctx context.Context, c *chance, l *line) {
	if l == w.lines[0] || l.supersedes() {
		return
	}
	w.set(func() { l.changed = true })
	w.must("narrow a filter", w.store.SetFilter(ctx, audit, l.Ref, store.Filter{Types: []string{kinds[0].typ}}))
	lasts(ctx, c, 5*time.Second)
	w.must("widen a filter", w.store.SetFilter(context.WithoutCancel(ctx), audit, l.Ref, store.Filter{Types: l.types}))
}

// replay sends again what lies in a box, to a broker of its own, and is ended by hand.
func (w *world) replay(ctx context.Context, c *chance, l *line) {
	o, err := w.store.Overview(ctx)
	w.must("overview", err)
	last := int64(0)
	for i := range o.Boxes {
		if o.Boxes[i].Name == l.Box {
			last = o.Boxes[i].Last
		}
	}
	if last == 0 {
		return
	}
	w.replays++
	p := store.Replay{
		Ref: store.Ref{Box: l.Box, Subscription: fmt.Sprintf("replay-%d", w.replays)}, Of: l.Subscription, After: int64(c.n(int(last))), Through: last,
		Types: l.types, Shards: 1 + c.n(4),
	}
	w.must("start a replay", w.store.StartReplay(ctx, audit, p))
	to := membroker.New(membroker.Options{Ordered: c.coin()})
	r := w.newRunner(false, func(o *relay.Options) {
		o.NoMaintenance = true
		o.Subscriptions = []relay.Subscription{{To: to, ToName: l.Ref.String(), Replay: &p, InFlight: 20}}
	})
	w.begin(r, r.relay.Run)
	lasts(ctx, c, 10*time.Second)
	ended := c.coin()
	if ended { // while it is worked
		w.must("end a replay", w.store.EndReplay(context.WithoutCancel(ctx), audit, p.Ref, "enough"))
	}
	r.stop()
	<-r.done
	if r.err != nil && !errors.Is(r.err, context.Canceled) {
		w.failf("the relay of a replay ended with: %v", r.err)
	}
	if !ended {
		w.must("end a replay", w.store.EndReplay(context.WithoutCancel(ctx), audit, p.Ref, "enough"))
	}
	w.replayed = append(w.replayed, replayed{of: l, to: to, plan: p})
}

// replayed is what became of a replay.
type replayed struct {
	of   *line
	to   *membroker.Destination
	plan store.Replay
}

// judgeReplays wants replays to have sent what lies between their bounds, that their filter takes, and nothing else.
func (w *world) judgeReplays() {
	for _, r := range w.replayed {
		for _, m := range r.to.First() {
			if m.Seq <= r.plan.After || m.Seq > r.plan.Through || !r.of.wants(m.Topic) {
				w.failf("%s sent seq %d of topic %s, which is not among what it sends again", r.plan.Ref, m.Seq, m.Topic)
			}
		}
	}
}

// fates know what of a line need not arrive, and what keeps no order.
type fates struct {
	line    *line
	arrived map[history.ID]bool
	others  map[history.ID]bool  // of those, what a narrow filter refuses
	latest  map[string]time.Time // of each key, when the latest message of it arrived
}

func (w *world) fatesOf(l *line) *fates {
	f := &fates{line: l, arrived: map[history.ID]bool{}, others: map[history.ID]bool{}, latest: map[string]time.Time{}}
	for _, r := range l.broker.Taken() {
		f.arrived[history.ID(r.ID)] = true
		f.others[history.ID(r.ID)] = r.Topic != kinds[0].topic
		f.latest[r.Key] = r.Taken
	}
	return f
}

// wants says whether the line must have a message delivered, or has.
func (f *fates) wants(m *history.Intent) bool {
	l := f.line
	if m.Box != l.Box || !l.wants(m.Topic) {
		return false
	}
	if f.arrived[m.ID] {
		return true
	}
	refused, is := l.refusals[[16]byte(m.ID)]
	superseded := l.supersedes() && is && !f.latest[m.Key].Before(refused) // one call may bring both answers at one time
	return !superseded && !(l.changed && m.Topic != kinds[0].topic)
}

// optional says that a message keeps no order: a filter refused it now and then.
func (f *fates) optional(id history.ID) bool {
	return f.line.changed && f.others[id]
}
