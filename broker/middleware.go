package broker

import (
	"context"
	"fmt"
	"slices"
)

// Middleware returns a destination that does something with messages before next sees
// them, or with their results afterwards. Wrap calls it once. What it returns usually
// embeds next and replaces Publish. It also replaces Features if it changes what they
// say.
//
// Publish passes on its ctx, or one derived from it, and reports by its caller's places.
// It may hold messages back and report them itself, or make several calls out of one. If
// next is Ordered, or the middleware says so, it keeps the order of each key. In a
// transaction (InTransaction) it passes on all messages in one call, each in its place.
// Or it reports those at fault as Rejected or Misconfigured, and the transaction is
// aborted.
type Middleware func(next Destination) Destination

// Wrap puts middleware before a destination. Of several, the first sees a message first,
// and its result last. What Wrap returns can do what to can, without any code in the
// middleware: ProberOf and TransactionalOf find it. A probe goes straight to to. The
// messages of a transaction go through the middleware, as those of any call do. It has
// to's name, if to is a fmt.Stringer.
//
// Wrap leaves out nil middleware. Without any it returns to.
func Wrap(to Destination, all ...Middleware) Destination {
	all = slices.DeleteFunc(slices.Clone(all), func(m Middleware) bool { return m == nil })
	if len(all) == 0 {
		return to
	}
	w := &wrapped{Destination: to, to: to}
	if t, ok := TransactionalOf(to); ok {
		w.opener, w.Destination = t, &lastStage{to, w}
	}
	for _, m := range slices.Backward(all) {
		w.Destination = m(w.Destination)
	}
	return w
}

// ProberOf returns the Prober of d: d itself, or the destination that it wraps. ok is
// false if neither is a Prober.
func ProberOf(d Destination) (p Prober, ok bool) {
	if w, is := d.(*wrapped); is {
		return ProberOf(w.to)
	}
	p, ok = d.(Prober)
	return p, ok
}

// TransactionalOf returns what opens d's lanes. If d wraps a Transactional destination,
// that is one whose transactions go through the same middleware; otherwise it is d
// itself. ok is false if there is none. Features.Transactions says whether it can be
// used.
func TransactionalOf(d Destination) (t Transactional, ok bool) {
	w, is := d.(*wrapped)
	if !is {
		t, ok = d.(Transactional)
		return t, ok
	}
	if w.opener == nil {
		return nil, false
	}
	return wrappedLanes{w}, true
}

// wrapped is a destination behind middleware.
type wrapped struct {
	Destination // the first stage

	to     Destination
	opener Transactional // nil: to has no transactions
}

// String names the destination behind.
func (w *wrapped) String() string {
	if s, ok := w.to.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", w.to)
}

// lastStage is what the last middleware sees in place of a destination with
// transactions: calls made in one end there.
type lastStage struct {
	Destination

	w *wrapped
}

func (l *lastStage) Publish(ctx context.Context, msgs []Delivery, report func(i int, r Result)) {
	if c := commitOf(ctx, l.w); c != nil {
		c.publish(ctx, msgs, report)
		return
	}
	l.Destination.Publish(ctx, msgs, report)
}
