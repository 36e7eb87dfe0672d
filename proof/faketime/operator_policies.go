package faketime

import (
	"context"
	"time"

	"github.com/postbag/postbag/proof/history"
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
